//! A client's connection: connected by a deadline, proven where the service asks for it, and small exchanges over it.
//! Whatever it waits for, it must hear the wish to stop at once.

use super::found::coding;
use super::metered::Metered;
use super::{ClientOptions, Direction};
use crate::http::HttpError;
use crate::http::body::Body;
use crate::http::channel::{BUFFER_BYTES, Channel};
use crate::http::head::ResponseHead;
use rustix::net::sockopt;
use std::io::{self, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed::bulk::{BulkError, BulkErrorKind, Wire};
use wirespeed_control::auth::http::SecureStream;
use wirespeed_control::{ControlError, Subscription, reach};

/// How long a host may take to answer.
const CONNECT: Duration = Duration::from_secs(5);
/// Pause before a service is asked again.
const PAUSE: Duration = Duration::from_millis(100);
/// Time between two questions whether a host is still there, and how many may stay unanswered.
const PROBE: Duration = Duration::from_secs(1);
const PROBES: u32 = 5;
/// Silence after which the kernel asks.
const SILENCE: Duration = Duration::from_secs(10);
/// Largest answer that is held: properties, facts, digests.
const SMALL_BYTES_MAX: u64 = 1 << 20;

/// An open connection.
pub(super) struct Session {
    pub reader: BufReader<Metered>,
    /// Lines that every request carries: host and, inside TLS, the credential.
    pub common: String,
    /// Ends every wait on the socket when the user wants to stop.
    _stop: Subscription,
}

/// A small answer.
pub(super) struct Small {
    pub head: ResponseHead,
    pub body: String,
}

impl From<HttpError> for BulkError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Io(error) => error.into(),
            HttpError::Closed => BulkError::passing(error.to_string()).with_remedy(
                "see whether the service still runs there and speaks HTTP, and give the same command again",
            ),
            other => BulkError::passing(other.to_string())
                .with_remedy("check that HTTP is spoken there; behind TLS its address begins with https://"),
        }
    }
}

impl Session {
    /// Connect, for exchanges beside the transfer.
    pub fn connect(options: &ClientOptions) -> Result<Session, BulkError> {
        Session::over(options, &Arc::default())
    }

    /// Connect, and count in `wire` what passes.
    pub fn over(options: &ClientOptions, wire: &Arc<Wire>) -> Result<Session, BulkError> {
        let url = &options.url;
        let stream = connect(options)?;
        let stop = reach::ended_by(&options.stop, &stream)?;
        stream.set_nodelay(true)?;
        let mut common = format!(
            "Host: {}\r\nUser-Agent: wirespeed\r\nAccept-Encoding: identity\r\n",
            url.authority()
        );
        if let (Some(congestion), Direction::Get) = (&options.congestion, options.direction) {
            common.push_str(&format!("Wirespeed-Congestion: {congestion}\r\n"));
        } else if let Some(congestion) = &options.congestion {
            let set = socket2::SockRef::from(&stream).set_tcp_congestion(congestion.as_bytes());
            set.map_err(|e| {
                BulkError::lasting(format!("congestion control {congestion}: {e}"))
                    .with_remedy("choose one of /proc/sys/net/ipv4/tcp_allowed_congestion_control")
            })?;
        }
        let mut channel = match (&options.identity, url.secure) {
            (_, false) => Channel::plain(stream),
            (None, true) => {
                let why = "the address is https, and there is no identity to know the service by";
                return Err(BulkError::lasting(why).with_remedy("name its key file or identity"));
            }
            (Some(identity), true) => {
                let deadline = Instant::now() + options.patience;
                let secure = SecureStream::connect(stream, identity, deadline).map_err(|e| {
                    let kind = match e.kind() {
                        io::ErrorKind::PermissionDenied => BulkErrorKind::Refused,
                        _ => BulkErrorKind::Other,
                    };
                    BulkError::lasting(format!(
                        "{} is not the service that this key belongs to, or speaks no TLS: {e}",
                        url.authority()
                    ))
                    .with_remedy("check the address, and that the key or identity is that of the service")
                    .of_kind(kind)
                })?;
                common.push_str(&format!("Authorization: {}\r\n", secure.proof(identity)?));
                Channel::secure(secure)
            }
        };
        channel.set_patience(options.patience)?;
        Ok(Session {
            reader: BufReader::with_capacity(BUFFER_BYTES, Metered::new(channel, wire)?),
            common,
            _stop: stop,
        })
    }

    /// The head of the answer that is awaited.
    pub fn answer(&mut self) -> Result<ResponseHead, BulkError> {
        self.awaits();
        Ok(ResponseHead::read(&mut self.reader)?)
    }

    /// An answer is awaited.
    pub fn awaits(&mut self) {
        let begun = !self.reader.buffer().is_empty();
        self.reader.get_mut().awaits(begun);
    }

    /// One small exchange; the connection can be used again when the answer says so.
    pub fn small(&mut self, method: &str, target: &str, more: &str, body: &str) -> Result<Small, BulkError> {
        self.send(method, target, more, body)?;
        let mut head = self.answer()?;
        let mut body = Body::new(&mut self.reader, head.framing);
        let body = match (method, head.status) {
            ("HEAD", _) => String::new(),
            // A page that cannot be read must not hide the status that it comes with.
            (_, 300..) => {
                let said = page(&head, &mut body);
                head.keeps &= body.drain(0).unwrap_or(false);
                said
            }
            _ => body.small_text(SMALL_BYTES_MAX)?,
        };
        Ok(Small { head, body })
    }

    /// A small request.
    pub fn send(&mut self, method: &str, target: &str, more: &str, body: &str) -> Result<(), BulkError> {
        let length = match (method, body.len()) {
            ("GET" | "HEAD", _) => String::new(),
            (_, length) => format!("Content-Length: {length}\r\n"),
        };
        let request = format!(
            "{method} {target} HTTP/1.1\r\n{}{length}{more}\r\n{body}",
            self.common
        );
        Ok(self.reader.get_mut().write_all(request.as_bytes())?)
    }
}

/// What a page that comes with a status says; where it is coded, that nobody here can read it.
pub(super) fn page(head: &ResponseHead, body: &mut Body<'_, BufReader<Metered>>) -> String {
    match coding(&head.headers) {
        Some(coding) => format!("a page coded as {coding}"),
        None => body.small_text(4096).unwrap_or_default().trim().to_owned(),
    }
}

/// Attempt again what may succeed yet, until `waited` is the longest silence.
pub(super) fn insist<T>(
    options: &ClientOptions,
    waited: impl Fn() -> Duration,
    mut attempt: impl FnMut() -> Result<T, BulkError>,
) -> Result<T, BulkError> {
    loop {
        match attempt() {
            Err(error) if error.retry && waited() < options.patience && options.stop.pause(PAUSE) => {}
            done => return done,
        }
    }
}

/// A TCP connection to the host.
fn connect(options: &ClientOptions) -> Result<TcpStream, BulkError> {
    let (url, stop) = (&options.url, &options.stop);
    let found = reach::resolve(&url.host, url.port, options.patience, stop);
    let connected = found.and_then(|found| reach::connect(&found, CONNECT.min(options.patience), stop));
    let watched = connected.map(|(stream, _)| {
        // However long an answer may take, a host that is gone is noticed. Where this cannot be had, its silence is borne.
        let _ = notice_loss(&stream);
        stream
    });
    watched.map_err(|error| match error {
        ControlError::Interrupted => BulkError::lasting(STOPPED),
        ControlError::Connect { source, .. } => {
            BulkError::passing(format!("cannot connect to {}: {source}", url.authority()))
                .with_remedy("check the address, and whether the service runs there")
        }
        other => BulkError::lasting(other.to_string()).with_remedy(other.remedy()),
    })
}

/// Have the kernel ask a silent host for a sign of life.
fn notice_loss(stream: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_tcp_keepidle(stream, SILENCE)?;
    sockopt::set_tcp_keepintvl(stream, PROBE)?;
    sockopt::set_tcp_keepcnt(stream, PROBES)?;
    sockopt::set_socket_keepalive(stream, true)
}

/// Why nothing more is tried.
pub(super) const STOPPED: &str = "stopped";
