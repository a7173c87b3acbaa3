//! Writes answers: a head with a known length, then bytes or a file's bytes. An answer to HEAD must never have a body,
//! whatever it says: its reader would take that for the next answer.

use super::layout::total_bytes;
use crate::http::channel::Channel;
use crate::http::range::Span;
use crate::soap::base64;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

/// What an answer's head says.
pub struct Answer<'a> {
    status: &'a str,
    content_type: &'a str,
    more: &'a str,
    keep: bool,
}

impl<'a> Answer<'a> {
    /// Status code and its phrase, `200 OK`; `Content-Type`; whether the connection stays open.
    pub fn new(status: &'a str, content_type: &'a str, keep: bool) -> Self {
        Answer {
            status,
            content_type,
            more: "",
            keep,
        }
    }

    /// With further lines, each with its line end.
    pub fn with(self, more: &'a str) -> Self {
        Answer { more, ..self }
    }

    fn head(&self, length: u64) -> String {
        let connection = if self.keep { "" } else { "Connection: close\r\n" };
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {length}\r\n{}{connection}\r\n",
            self.status, self.content_type, self.more
        )
    }

    /// With a small body.
    pub fn send(&self, channel: &mut Channel, body: &[u8]) -> io::Result<()> {
        let mut bytes = self.head(body.len() as u64).into_bytes();
        if !channel.has_heads_only() {
            bytes.extend_from_slice(body);
        }
        channel.write_all(&bytes)
    }

    /// With a file's bytes between two small pieces, straight from the page cache.
    pub fn send_file(
        &self,
        channel: &mut Channel,
        before: &[u8],
        (file, places): (&File, &[Span]),
        behind: &[u8],
    ) -> io::Result<()> {
        let data = total_bytes(places);
        let head = self.head(data + (before.len() + behind.len()) as u64);
        let first = [head.as_bytes(), before].concat();
        if channel.has_heads_only() {
            return channel.write_all(head.as_bytes());
        }
        if data == 0 && behind.is_empty() {
            return channel.write_all(&first);
        }
        channel.write_more(&first)?;
        for place in places {
            channel.send_file(file, place.start_bytes, place.size_bytes)?;
        }
        channel.write_all(behind)
    }

    /// With a file's bytes as base64 between two small pieces, through one window.
    pub fn send_base64(
        &self,
        channel: &mut Channel,
        before: &str,
        (file, places): (&File, &[Span]),
        behind: &str,
    ) -> io::Result<()> {
        let data = total_bytes(places);
        let length = base64::encoded_bytes(data) + (before.len() + behind.len()) as u64;
        if channel.has_heads_only() {
            return channel.write_all(self.head(length).as_bytes());
        }
        channel.write_more(&[self.head(length).as_bytes(), before.as_bytes()].concat())?;
        let (mut window, mut text) = (vec![0; base64::ENCODE_BYTES], Vec::new());
        let mut filled = 0;
        for place in places {
            let (mut offset, mut left) = (place.start_bytes, place.size_bytes);
            while left > 0 {
                let want = (window.len() - filled).min(usize::try_from(left).unwrap_or(usize::MAX));
                file.read_exact_at(&mut window[filled..filled + want], offset)?;
                (filled, offset, left) = (filled + want, offset + want as u64, left - want as u64);
                if filled == window.len() {
                    base64::encode(&window, &mut text);
                    channel.write_more(&text)?;
                    filled = 0;
                }
            }
        }
        base64::encode(&window[..filled], &mut text);
        text.extend_from_slice(behind.as_bytes());
        channel.write_all(&text)
    }
}
