//! A wire between a client and a daemon. It must not change what it passes on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A wire between a client and the daemon that can be cut, or fall silent.
pub struct Proxy {
    pub address: SocketAddr,
    silent: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    pub fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            address: listener.local_addr().unwrap(),
            silent: Arc::default(),
            streams: Arc::default(),
        };
        let (silent, streams) = (proxy.silent.clone(), proxy.streams.clone());
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(target).unwrap();
            for (from, to) in [(&client, &server), (&server, &client)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                streams.lock().unwrap().push(from.try_clone().unwrap());
                let silent = silent.clone();
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(n @ 1..) = from.read(&mut buffer) {
                        if !silent.load(Ordering::Acquire) && to.write_all(&buffer[..n]).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        proxy
    }

    /// Pass nothing on any more.
    pub fn fall_silent(&self) {
        self.silent.store(true, Ordering::Release);
    }

    /// End both connections.
    pub fn cut(&self) {
        for stream in self.streams.lock().unwrap().iter() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}
