//! The same identity for HTTP: TLS 1.3 with the pinned certificate, and who the client is in its `Authorization`.
//!
//! A client of this program proves the token over the connection (`Wirespeed PROOF`); it never travels. Other people's
//! clients can only send a password: the token as `Bearer TOKEN`, inside TLS and nowhere else.

use super::keyfile::KeyFile;
use super::{Identity, tls};
use crate::deadlined::uninterrupted;
use crate::error::ControlError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use rustls::{Connection, ServerConfig};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

/// A connection inside TLS, for one thread.
pub struct SecureStream {
    connection: Connection,
    stream: TcpStream,
}

/// Accepts connections with the key of this machine.
#[derive(Clone)]
pub struct SecureServer {
    config: Arc<ServerConfig>,
    identity: Identity,
}

impl SecureServer {
    /// With the certificate and token of `key`.
    pub fn new(key: &KeyFile) -> Result<Self, ControlError> {
        Ok(SecureServer {
            config: tls::server_config(key, tls::HTTP)?,
            identity: key.identity().clone(),
        })
    }

    /// Shake hands by `deadline`.
    pub fn accept(&self, stream: TcpStream, deadline: Instant) -> io::Result<SecureStream> {
        let connection = tls::server(&self.config).map_err(io::Error::other)?;
        SecureStream::shaken(stream, connection, deadline)
    }

    /// Whether a client that sent this `Authorization` over `stream` knows the token.
    pub fn admits(&self, stream: &SecureStream, authorization: &str) -> bool {
        let Some((scheme, value)) = authorization.trim().split_once(' ') else {
            return false;
        };
        let Ok(value) = URL_SAFE_NO_PAD.decode(value.trim()) else {
            return false;
        };
        let channel = tls::channel_value(&stream.connection);
        match scheme.to_ascii_lowercase().as_str() {
            "wirespeed" => channel.is_ok_and(|channel| self.identity.verify(&channel, &value)),
            "bearer" => self.identity.is_token(&value),
            _ => false,
        }
    }
}

impl Identity {
    /// The token as other people's clients send it: `Authorization: Bearer TOKEN`. A secret.
    pub fn bearer(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.token)
    }

    /// Whether `word` is [`Identity::bearer`].
    pub fn is_bearer(&self, word: &str) -> bool {
        URL_SAFE_NO_PAD
            .decode(word)
            .is_ok_and(|value| self.is_token(&value))
    }

    /// Compared through a MAC, which takes the same time whatever was sent.
    fn is_token(&self, value: &[u8]) -> bool {
        let sent = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, value), b"bearer");
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.token);
        hmac::verify(&key, b"bearer", sent.as_ref()).is_ok()
    }
}

impl SecureStream {
    /// Connect to the server that `identity` knows, over `stream`. `PermissionDenied`: it is another one.
    pub fn connect(stream: TcpStream, identity: &Identity, deadline: Instant) -> io::Result<SecureStream> {
        let connection = tls::client(identity, tls::HTTP).map_err(io::Error::other)?;
        SecureStream::shaken(stream, connection, deadline).map_err(|error| {
            let words = match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Some("it did not answer in time"),
                _ => tls::words_of(&error),
            };
            let kind = match tls::is_anothers(&error) {
                true => io::ErrorKind::PermissionDenied,
                false => io::ErrorKind::Other,
            };
            words.map_or(error, |words| io::Error::new(kind, words))
        })
    }

    fn shaken(stream: TcpStream, mut connection: Connection, deadline: Instant) -> io::Result<SecureStream> {
        tls::shake_hands(&stream, &mut connection, deadline)?;
        Ok(SecureStream { connection, stream })
    }

    /// The value of `Authorization` that proves `identity` over this connection.
    pub fn proof(&self, identity: &Identity) -> io::Result<String> {
        let proof = identity.prove(&tls::channel_value(&self.connection)?);
        Ok(format!("Wirespeed {}", URL_SAFE_NO_PAD.encode(proof)))
    }

    /// The socket, for its options and counters; bytes must not pass by TLS.
    pub fn socket(&self) -> &TcpStream {
        &self.stream
    }

    fn send_all(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            uninterrupted(|| self.connection.write_tls(&mut self.stream))?;
        }
        Ok(())
    }
}

impl Read for SecureStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut began = None;
        loop {
            match self.connection.reader().read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            // A record that comes in drops waits no longer than one that does not come.
            match began {
                None => began = Some(Instant::now()),
                Some(began) => {
                    let limit = self.stream.read_timeout()?;
                    if limit.is_some_and(|limit| began.elapsed() >= limit) {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
            }
            if uninterrupted(|| self.connection.read_tls(&mut self.stream))? == 0 {
                return Ok(0);
            }
            let state = self.connection.process_new_packets();
            state.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
            self.send_all()?;
        }
    }
}

impl Write for SecureStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.connection.writer().write(bytes)?;
        self.send_all()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_all()
    }
}
