//! TLS over TCP, usable from a reading and several sending threads.
//!
//! The reader waits in the socket without a lock. Encrypted bytes leave under a lock of their own, so that a slow
//! receiver never keeps this end from reading.

use super::{ReadDeadline, WRITE_TIMEOUT, Wire, WireReader};
use crate::deadlined::uninterrupted;
use parking_lot::Mutex;
use rustls::Connection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Plain bytes encrypted at once: bounds the memory of a large frame.
const CHUNK_BYTES: usize = 64 << 10;

/// How long a farewell may take.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

pub(crate) struct TlsWire {
    stream: TcpStream,
    connection: Mutex<Connection>,
    // Held while encrypted bytes leave, so that they leave in order. Taken before `connection`.
    leaving: Mutex<()>,
}

pub(crate) struct TlsReader {
    wire: Arc<TlsWire>,
    encrypted: Vec<u8>,
    // What of `encrypted` was read and not yet decrypted.
    pending: Range<usize>,
    deadline: ReadDeadline,
}

/// Both halves of a connection whose handshake is done.
pub(crate) fn halves(stream: TcpStream, connection: Connection) -> io::Result<(Arc<TlsWire>, TlsReader)> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let wire = Arc::new(TlsWire {
        stream,
        connection: Mutex::new(connection),
        leaving: Mutex::new(()),
    });
    let reader = TlsReader {
        wire: wire.clone(),
        encrypted: vec![0; 16 << 10],
        pending: 0..0,
        // The handshake may have left a timeout on the socket.
        deadline: ReadDeadline::limited(),
    };
    Ok((wire, reader))
}

impl TlsWire {
    /// Send what `fill` makes the connection want to send. The caller holds `leaving`.
    fn leave(&self, fill: impl FnOnce(&mut Connection) -> io::Result<()>) -> io::Result<()> {
        let mut encrypted = Vec::new();
        {
            let mut connection = self.connection.lock();
            fill(&mut connection)?;
            while connection.wants_write() {
                connection.write_tls(&mut encrypted)?;
            }
        }
        (&self.stream).write_all(&encrypted)
    }
}

impl Wire for TlsWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        // One lock for the whole frame: chunks of two frames must not mix.
        let _leaving = self.leaving.lock();
        let sent = bytes
            .chunks(CHUNK_BYTES)
            .try_for_each(|chunk| self.leave(|connection| connection.writer().write_all(chunk)));
        if sent.is_err() {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        sent
    }

    fn close(&self) {
        // A sender that is stuck in a write must not hold the closing up.
        if let Some(_leaving) = self.leaving.try_lock() {
            let _ = self.stream.set_write_timeout(Some(CLOSE_TIMEOUT));
            // The other end may be gone already.
            let _ = self.leave(|connection| {
                connection.send_close_notify();
                Ok(())
            });
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl TlsReader {
    /// Decrypt some of what is pending. Plain text stays in the connection, which is empty of it before the call.
    fn decrypt(&mut self) -> io::Result<()> {
        let mut rest = &self.encrypted[self.pending.clone()];
        let mut connection = self.wire.connection.lock();
        self.pending.start += connection.read_tls(&mut rest)?;
        let state = connection.process_new_packets();
        state
            .map(drop)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }
}

impl WireReader for TlsReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = self.wire.connection.lock().reader().read(buffer);
            match ready {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            if self.pending.is_empty() {
                let stream = &self.wire.stream;
                let count = uninterrupted(|| {
                    self.deadline.apply(|timeout| stream.set_read_timeout(timeout))?;
                    let mut stream = stream;
                    stream.read(&mut self.encrypted)
                })?;
                if count == 0 {
                    return Ok(0);
                }
                self.pending = 0..count;
            }
            self.decrypt()?;
            let wants_write = self.wire.connection.lock().wants_write();
            if wants_write {
                let _leaving = self.wire.leaving.lock();
                self.wire.leave(|_| Ok(()))?;
            }
        }
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }
}
