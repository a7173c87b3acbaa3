//! One end of the checks on a one-sided port: every operation, repeated until the port takes it.
//!
//! It must never judge what it brings: the checks do.

use super::{WORD_AT, Ways};
use crate::group::{Me, ensure, link};
use wirespeed::schema::test::Layout;
use wirespeed::transport::port::{AtomicOp, LinkError, OneSidedPort, Post, Posted, Width, WordOp};

/// A rank's port.
pub(super) struct End<'a, P> {
    pub(super) me: &'a Me<'a>,
    pub(super) port: P,
    pub(super) sizes: Vec<usize>,
    pub(super) ways: Ways,
}

impl<P: OneSidedPort> End<'_, P> {
    pub(super) fn meet(&mut self) -> Result<(), String> {
        let port = &mut self.port;
        self.me.meet(|| port.poll())
    }

    /// Repeat `post` until it is accepted.
    pub(super) fn until_done(&mut self, mut post: impl FnMut(&mut P) -> Posted) -> Result<(), String> {
        while post(&mut self.port).map_err(link)? == Post::Busy {
            self.port.poll().map_err(link)?;
            self.me.pause()?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        while !self.port.flush().map_err(link)? {
            self.port.poll().map_err(link)?;
            self.me.pause()?;
        }
        Ok(())
    }

    pub(super) fn put(&mut self, layout: Layout, to: usize, data: &[u8]) -> Result<(), String> {
        let before = self.port.completed();
        self.until_done(|port| match layout {
            Layout::Shortiov => Err(LinkError::Unsupported("a put has no shortiov")),
            Layout::Short => port.put_short(0, to, data),
            Layout::Bcopy => port.put_bcopy(0, to, data.len(), |room| room.copy_from_slice(data)),
            Layout::Zcopy => {
                port.local().write(0, data);
                port.put_zcopy(0, to, 0, data.len())
            }
        })?;
        match layout {
            Layout::Zcopy => self.completes(before + 1),
            _ => Ok(()),
        }
    }

    pub(super) fn put_some_way(&mut self, to: usize, data: &[u8]) -> Result<(), String> {
        self.put(self.ways.put.unwrap_or(Layout::Bcopy), to, data)
    }

    pub(super) fn get_some_way(&mut self, from: usize, to: usize, len: usize) -> Result<(), String> {
        let zcopy = self.ways.get == Some(Layout::Zcopy);
        self.until_done(|port| match zcopy {
            true => port.get_zcopy(0, from, to, len),
            false => port.get_bcopy(0, from, to, len),
        })
    }

    pub(super) fn completes(&mut self, count: u64) -> Result<(), String> {
        while self.port.completed() < count {
            self.port.poll().map_err(link)?;
            self.me.pause()?;
        }
        let completed = self.port.completed();
        ensure(completed == count, || {
            format!("{completed} operations completed, {count} were posted")
        })
    }

    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        width: Width,
        operand: u64,
        compare: u64,
    ) -> Result<u64, String> {
        let before = self.port.completed();
        let asked = WordOp::new(op, width, WORD_AT, operand, compare, 1);
        self.until_done(|port| port.atomic(0, asked))?;
        if op == AtomicOp::Add {
            self.flush()?;
            return Ok(0);
        }
        self.completes(before + 1)?;
        Ok(self.port.fetched(1))
    }

    /// The region around the data still holds `edge`.
    pub(super) fn untouched(&self, at: usize, len: usize, edge: u8) -> Result<(), String> {
        let region = self.port.region();
        let (before, after) = (region.load_u8(at - 1), region.load_u8(at + len));
        ensure(before == edge && after == edge, || {
            format!("bytes beside {len} bytes at {at} changed")
        })
    }
}
