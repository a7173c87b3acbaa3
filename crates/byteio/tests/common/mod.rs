//! A service on loopback in this process, and a client's options for it.

// Each test file uses a part of this.
#![allow(dead_code)]

use std::io::BufRead;
use std::path::Path;
use std::time::Duration;
use wirespeed_byteio::client::{ClientOptions, Direction, Target, TransferOptions, Url, Way};
use wirespeed_byteio::service::{Limits, Service, ServiceOptions};
use wirespeed_control::auth::http::SecureServer;
use wirespeed_control::serve::Listen;
use wirespeed_control::{Identity, StopFlag};

/// A running service; stopped when dropped.
pub struct Running {
    stop: StopFlag,
    pub port: u16,
}

impl Running {
    pub fn start(path: &Path, writable: bool, secure: Option<SecureServer>) -> Running {
        let limits = Limits {
            patience: Duration::from_secs(3),
            ..Limits::default()
        };
        Running::with(path, writable, secure, limits)
    }

    pub fn with(path: &Path, writable: bool, secure: Option<SecureServer>, limits: Limits) -> Running {
        Running::try_with(path, writable, secure, limits).unwrap()
    }

    /// As [`Running::with`]; an error is why there is no service.
    pub fn try_with(
        path: &Path,
        writable: bool,
        secure: Option<SecureServer>,
        limits: Limits,
    ) -> Result<Running, String> {
        let stop = StopFlag::new();
        let options = ServiceOptions {
            path: path.to_owned(),
            listen: Listen::Loopback,
            port: 0,
            writable,
            secure,
            limits,
        };
        let service = Service::bind(options, &stop).map_err(|error| error.to_string())?;
        let port = service.addresses()[0].port();
        std::thread::spawn(move || service.run());
        Ok(Running { stop, port })
    }

    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}{path}", self.port)).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
    }
}

/// A get of everything with small blocks.
pub fn get(url: Url, way: Way) -> TransferOptions {
    TransferOptions {
        client: ClientOptions {
            url,
            identity: None::<Identity>,
            direction: Direction::Get,
            way,
            stream: false,
            patience: Duration::from_secs(3),
            stop: StopFlag::new(),
            congestion: None,
        },
        threads: 3,
        depth: 2,
        block_bytes: 100_000,
        attempts_max: 3,
        target: Target::Discard,
        source: None,
        digest: None,
        size_bytes: None,
    }
}

/// Bytes that repeat nowhere near.
pub fn data(size: usize) -> Vec<u8> {
    let mut state = 7u64;
    (0..size)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        })
        .collect()
}

/// The head of the next request; none where the connection has ended.
pub fn head(reader: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

/// What is served, in order of names, hidden files too.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
