//! UCX's protocol layer: UCX chooses devices and protocols, as it does for the programs that use it.
//!
//! It must never say more about the transport than UCX does: which device carried the data is UCX's choice.

mod link_arrivals;
mod link_endpoint;
mod link_inflow;
mod link_lists;
mod link_memory;
mod link_messages;
mod link_one_sided;
mod link_requests;
mod link_sends;
mod link_stream;
mod link_tagged;
mod link_worker;

use crate::options::{
    HEADER, IOV, NO_YES, NONBLOCK, PASSIVE, STRIDE, THREAD_MODE, THREAD_MODES, UCX, available, header_bytes,
    library, word,
};
use crate::pieces::Iov;
use std::path::PathBuf;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::Facts;
use wirespeed::transport::{
    Atomics, Availability, Connect, ConnectError, Limits, MessageRunner, Messages, OneSided, OneSidedRunner,
    Ran, SizeLimit, Support, Tagged, TaggedRunner, Transport,
};
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_ucx_sys::{Loaded, ucs_thread_mode_t};

/// Largest message that is copied before it is sent.
const COPIED_BYTES_MAX: u64 = 1 << 20;
/// Largest message: four of them find room at the receiver.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;
/// Largest put, get or matched message: no limit of UCX's, but four of them must find room.
const RMA_BYTES_MAX: u64 = 4 << 30;
/// Most ranks: the addresses of a rank's workers must fit into what ranks exchange.
const RANKS_MAX: u32 = 32;

const NO_GATHERED_SHORT: SizeLimit =
    SizeLimit::never("UCP gathers by lists of pieces: take layout zcopy with option iov");
const NO_COPIED_GET: SizeLimit = SizeLimit::never("UCP reads straight into the caller's memory: take zcopy");
const ONLY_MESSAGES: SizeLimit = SizeLimit::never("only messages are gathered by a short send");
const NO_PIECES: SizeLimit =
    SizeLimit::never("UCP's put, get and atomics take one piece: leave option iov out");
const NO_COPIED_PIECES: SizeLimit =
    SizeLimit::never("copied data are one piece: take layout zcopy, or iov=1");

/// Why a test needs tags.
const TELLS: &str = "tells messages apart by their tags";

/// The transport.
pub struct Ucp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Poll,
    Sleep,
}

/// How matched messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    /// As tagged messages.
    No,
    /// In the stream of an endpoint, received into the engine's memory.
    Recv,
    /// In the stream, received where UCX has them.
    Data,
}

const STREAMS: [(&str, Stream); 3] = [("no", Stream::No), ("recv", Stream::Recv), ("data", Stream::Data)];

/// Which end hands its data over as a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// Both, where there are several pieces.
    Pieces,
    /// Both.
    Both,
    Send,
    Recv,
}

const LISTED: [(&str, Listed); 4] = [
    ("pieces", Listed::Pieces),
    ("both", Listed::Both),
    ("send", Listed::Send),
    ("recv", Listed::Recv),
];

/// Its options.
#[derive(Debug, Clone)]
pub struct UcpOptions {
    ucx: Option<PathBuf>,
    tls: Option<String>,
    devices: Option<String>,
    wait: Wait,
    iov: Iov,
    header_bytes: usize,
    listed: Listed,
    stream: Stream,
    thread_mode: ucs_thread_mode_t,
    nonblock: bool,
    passive: bool,
    receive_copy: bool,
    peer_errors: bool,
    register: bool,
    sync: bool,
    wildcard: bool,
    unexpected: bool,
}

impl UcpOptions {
    fn library(&self) -> Result<&'static Loaded, ConnectError> {
        library(self.ucx.as_ref()).map_err(|e| ConnectError::Other(e.to_string()))
    }

    /// Which end hands its data over as a list: the receiver, the sender.
    fn lists(&self) -> [bool; 2] {
        match self.listed {
            Listed::Pieces => [self.iov.count() > 1 || self.iov.is_apart(); 2],
            Listed::Both => [true; 2],
            Listed::Send => [false, true],
            Listed::Recv => [true, false],
        }
    }

    fn facts(&self, loaded: &Loaded) -> Facts {
        let mut facts = Facts::new();
        let mut fact = |name: &str, value: String| facts.insert(name.to_owned(), value);
        let either = |yes: bool, word: &str, other: &str| if yes { word } else { other }.to_owned();
        fact("ucx", loaded.version.to_string());
        fact("ucx_library", loaded.path.display().to_string());
        fact(
            "tls",
            self.tls.clone().unwrap_or_else(|| "UCX's choice".to_owned()),
        );
        fact("wait", either(self.wait == Wait::Sleep, "sleep", "poll"));
        fact("errors", either(self.peer_errors, "peer", "none"));
        fact("iov", self.iov.text());
        fact("stride", self.iov.stride().to_string());
        fact("header", self.header_bytes.to_string());
        fact("listed", word(&LISTED, self.listed));
        fact("stream", word(&STREAMS, self.stream));
        fact("nonblock", word(&NO_YES, self.nonblock));
        fact("passive", word(&NO_YES, self.passive));
        fact("receive_copy", word(&NO_YES, self.receive_copy));
        fact("thread_mode", word(&THREAD_MODES, self.thread_mode));
        fact("register", either(self.register, "yes", "no"));
        facts
    }
}

impl Transport for Ucp {
    const NAME: &'static str = "ucp";
    const SUMMARY: &'static str = "UCX's protocol layer: UCX chooses the transport";
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec::new("tls", "LIST", "UCX's transports that it may use, as UCX_TLS: posix,cma; without it all"),
        OptionSpec::new("devices", "LIST", "network devices that it may use, as UCX_NET_DEVICES; without it all"),
        OptionSpec::new("wait", "poll|sleep", "poll without pause, or sleep in the kernel until UCX is woken (put, get and atomics always poll)").with_default("poll"),
        OptionSpec::new("errors", "none|peer", "peer: UCX watches its endpoints and reports a lost peer itself; it may then choose other devices").with_default("none"),
        OptionSpec::new("register", "no|yes", "yes: hand over registered memory with its handle, so that UCX need not look it up").with_default("no"),
        OptionSpec::new("sync", "no|yes", "yes: a tagged send is done when its message has been matched").with_default("no"),
        OptionSpec::new("wildcard", "no|yes", "yes: tagged receives take any tag").with_default("no"),
        OptionSpec::new("unexpected", "no|yes", "yes: receive a tagged message only after it has come").with_default("no"),
        OptionSpec::new("stream", "no|recv|data", "matched messages go as bytes of the endpoint's stream: received into place, or where UCX has the data").with_default("no"),
        OptionSpec::new("receive_copy", "no|yes", "yes: the handler of active messages copies each once more").with_default("no"),
        OptionSpec::new("listed", "pieces|both|send|recv", "which end of matched messages hands its data over as a list: both where there are several pieces").with_default("pieces"),
        IOV,
        STRIDE,
        HEADER,
        THREAD_MODE,
        NONBLOCK,
        PASSIVE,
        UCX,
    ];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Native;
    const ONE_SIDED: Support = Support::Native;
    type Options = UcpOptions;

    fn parse(options: &TransportOptions) -> Result<UcpOptions, OptionError> {
        let reader = OptionReader::new(Self::NAME, Self::OPTIONS, options)?;
        let text = |name: &'static str| reader.text(name).map(str::to_owned);
        Ok(UcpOptions {
            ucx: text(UCX.name).map(PathBuf::from),
            tls: text("tls"),
            devices: text("devices"),
            wait: reader.choice("wait", &[("poll", Wait::Poll), ("sleep", Wait::Sleep)])?,
            iov: Iov::parse(&reader)?,
            header_bytes: header_bytes(&reader)?,
            listed: reader.choice("listed", &LISTED)?,
            stream: reader.choice("stream", &STREAMS)?,
            thread_mode: reader.choice(THREAD_MODE.name, &THREAD_MODES)?,
            nonblock: reader.choice(NONBLOCK.name, &NO_YES)?,
            passive: reader.choice(PASSIVE.name, &NO_YES)?,
            receive_copy: reader.choice("receive_copy", &NO_YES)?,
            peer_errors: reader.choice("errors", &[("none", false), ("peer", true)])?,
            register: reader.choice("register", &NO_YES)?,
            sync: reader.choice("sync", &NO_YES)?,
            wildcard: reader.choice("wildcard", &NO_YES)?,
            unexpected: reader.choice("unexpected", &NO_YES)?,
        })
    }

    fn probe() -> Availability {
        available(None)
    }

    fn about() -> Facts {
        crate::options::about()
    }

    fn ready(options: &UcpOptions) -> Availability {
        available(options.ucx.as_ref())
    }

    fn limits(options: &UcpOptions) -> Limits {
        let one_piece = options.iov == Iov::default() && options.listed == Listed::Pieces;
        let or = |limit: SizeLimit, why: SizeLimit| if one_piece { limit } else { why };
        let copied = || or(SizeLimit::UpTo(COPIED_BYTES_MAX), NO_COPIED_PIECES);
        let moved = || or(SizeLimit::UpTo(RMA_BYTES_MAX), NO_PIECES);
        let messages = [
            copied(),
            copied(),
            SizeLimit::UpTo(MESSAGE_BYTES_MAX),
            NO_GATHERED_SHORT,
        ];
        let put = [
            or(SizeLimit::UpTo(COPIED_BYTES_MAX), NO_PIECES),
            or(SizeLimit::UpTo(COPIED_BYTES_MAX), NO_PIECES),
            moved(),
            ONLY_MESSAGES,
        ];
        let get = [
            SizeLimit::never("a get has nothing to inline"),
            NO_COPIED_GET,
            moved(),
            ONLY_MESSAGES,
        ];
        let groups = &[GroupKind::Threads, GroupKind::Processes, GroupKind::Hosts];
        Limits::of_messages(groups, messages)
            .with_tagged(SizeLimit::UpTo(RMA_BYTES_MAX))
            .with_one_sided(put, get)
            .with_atomics(Atomics::ALL)
            .with_ranks_max(RANKS_MAX)
    }
}

impl Messages for Ucp {
    fn open<R: MessageRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
        link_messages::open(ctx, options, runner)
    }
}

impl Tagged for Ucp {
    fn open<R: TaggedRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
        let is_pair = !ctx.case.test.is_posted();
        // With several tags under way a receive of any tag would take another one's message.
        let refused = |what: &str| {
            Err(ConnectError::Other(format!(
                "{what}, and {} {TELLS}",
                ctx.case.test.name()
            )))
        };
        if options.wildcard && !is_pair {
            return refused("wildcard=yes receives whatever comes");
        }
        match options.stream {
            Stream::No => link_tagged::open(ctx, options, runner),
            _ if !is_pair => refused("a stream receives in the order of sending"),
            _ if options.sync || options.wildcard || options.unexpected => Err(ConnectError::Other(
                "a stream has no tags: leave sync, wildcard and unexpected out".to_owned(),
            )),
            Stream::Recv => link_stream::open::<R, false>(ctx, options, runner),
            Stream::Data => link_stream::open::<R, true>(ctx, options, runner),
        }
    }
}

impl OneSided for Ucp {
    fn open<R: OneSidedRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
        link_one_sided::open(ctx, options, runner)
    }
}
