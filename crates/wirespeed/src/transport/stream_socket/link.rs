//! The system calls of stream sockets: each one call, none hidden. "Would block" is 0 bytes, end of file is `Closed`.
//!
//! It must never loop, sleep unless its name says so, or know frames.

use crate::sync::SharedBytes;
use crate::transport::link_errno::last_errno;
use crate::transport::port::LinkError;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::os::fd::{AsRawFd, BorrowedFd};

/// `SO_EE_ORIGIN_ZEROCOPY` and `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h.
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;

const SEND_NOW: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

#[cold]
#[inline(never)]
fn failed(op: &'static str, errno: Errno) -> Result<usize, LinkError> {
    match errno {
        Errno::AGAIN | Errno::INTR => Ok(0),
        _ => Err(LinkError::from_errno(op, errno.raw_os_error())),
    }
}

/// Send what the kernel takes at once of `bytes`, which are not empty.
#[inline(always)]
pub fn send_now(fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, LinkError> {
    rustix::net::send(fd, bytes, SEND_NOW).or_else(|errno| failed("send", errno))
}

/// Receive what is there; 0 for nothing. `space` is not empty.
#[inline(always)]
pub fn receive_now(fd: BorrowedFd<'_>, space: &mut [u8]) -> Result<usize, LinkError> {
    receive(fd, space, RecvFlags::DONTWAIT)
}

/// Receive, sleeping until something is there; 0 when a signal came. `space` is not empty.
#[inline(always)]
pub fn receive_asleep(fd: BorrowedFd<'_>, space: &mut [u8]) -> Result<usize, LinkError> {
    receive(fd, space, RecvFlags::empty())
}

#[inline(always)]
fn receive(fd: BorrowedFd<'_>, space: &mut [u8], flags: RecvFlags) -> Result<usize, LinkError> {
    match rustix::net::recv(fd, space, flags) {
        Ok((0, _)) => Err(LinkError::Closed),
        Ok((count, _)) => Ok(count),
        Err(errno) => failed("recv", errno),
    }
}

fn iovec(base: *const u8, len: usize) -> libc::iovec {
    libc::iovec {
        iov_base: base.cast_mut().cast(),
        iov_len: len,
    }
}

#[inline(always)]
fn message(parts: &mut [libc::iovec]) -> libc::msghdr {
    // SAFETY: a zeroed msghdr is a valid one: no name, no parts, no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len() as _;
    message
}

#[inline(always)]
fn send_message(fd: BorrowedFd<'_>, parts: &mut [libc::iovec; 2], flags: i32) -> Result<usize, LinkError> {
    let message = message(parts);
    let flags = flags | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: `message` and the parts it points to live through the call; callers vouch for what the parts point to.
    let sent = unsafe { libc::sendmsg(fd.as_raw_fd(), &message, flags) };
    match usize::try_from(sent) {
        Ok(count) => Ok(count),
        Err(_) => match last_errno() {
            // The kernel has no memory left to remember zero-copy sends in; finished ones give it back.
            Errno::NOBUFS if flags & libc::MSG_ZEROCOPY != 0 => Ok(0),
            errno => failed("sendmsg", errno),
        },
    }
}

/// Send what the kernel takes at once of `head` and, after it, `body`: one call.
#[inline(always)]
pub fn send_both_now(fd: BorrowedFd<'_>, head: &[u8], body: &[u8]) -> Result<usize, LinkError> {
    let mut parts = [iovec(head.as_ptr(), head.len()), iovec(body.as_ptr(), body.len())];
    // Both parts are borrowed slices, valid through the call.
    send_message(fd, &mut parts, 0)
}

/// Send what the kernel takes at once of `head` and `len` bytes of `body` from `offset`, which it may go on reading
/// until the call is reported by [`finished_zerocopy`].
#[inline(always)]
pub fn send_zerocopy_now(
    fd: BorrowedFd<'_>,
    head: &[u8],
    body: &SharedBytes,
    offset: usize,
    len: usize,
) -> Result<usize, LinkError> {
    // Within the buffer; the kernel only reads, and no Rust reference is made.
    let Some(start) = body.place(offset, len) else {
        return Err(LinkError::Unsupported("a send from outside the buffer"));
    };
    let mut parts = [iovec(head.as_ptr(), head.len()), iovec(start, len)];
    send_message(fd, &mut parts, libc::MSG_ZEROCOPY)
}

/// Ask for zero-copy sends on `fd`.
pub fn enable_zerocopy(fd: BorrowedFd<'_>) -> std::io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option is an int, given with its size.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ZEROCOPY,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// One report of the error queue: calls `first..=last` are finished.
#[derive(Debug, Clone, Copy)]
pub struct Finished {
    /// First call.
    pub first: u32,
    /// Last call.
    pub last: u32,
    /// Whether the kernel copied the data after all.
    pub copied: bool,
}

/// Control buffer of one report, aligned as `cmsghdr` wants it.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// The next report of finished zero-copy sends, if there is one.
pub fn finished_zerocopy(fd: BorrowedFd<'_>) -> Result<Option<Finished>, LinkError> {
    let mut control = Control([0; 128]);
    let mut message = message(&mut []);
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: `message` points to a control buffer of the stated size, and to no data.
    let result = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut message, flags) };
    if result < 0 {
        return failed("recvmsg", last_errno()).map(|_| None);
    }
    // SAFETY: the kernel filled `msg_control` and `msg_controllen`; the header is within them or null.
    let header = unsafe { libc::CMSG_FIRSTHDR(&message) };
    if header.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, so a whole, aligned header lies there.
    let (level, kind, len) = unsafe {
        (
            (*header).cmsg_level,
            (*header).cmsg_type,
            (*header).cmsg_len as usize,
        )
    };
    let is_error = matches!(
        (level, kind),
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
    );
    // SAFETY: CMSG_LEN only computes.
    let needed = unsafe { libc::CMSG_LEN(size_of::<libc::sock_extended_err>() as u32) } as usize;
    if !is_error || len < needed {
        return Ok(None);
    }
    // SAFETY: the data of this header hold a whole `sock_extended_err`, by the length checked above.
    let report =
        unsafe { std::ptr::read_unaligned(libc::CMSG_DATA(header).cast::<libc::sock_extended_err>()) };
    if report.ee_origin != ORIGIN_ZEROCOPY {
        return Ok(None);
    }
    Ok(Some(Finished {
        first: report.ee_info,
        last: report.ee_data,
        copied: report.ee_code & CODE_COPIED != 0,
    }))
}

/// File descriptors to sleep on: a fixed number of places, so that sleeping allocates nothing.
pub struct PollSet(Box<[libc::pollfd]>);

/// A place that never wakes.
const NO_FD: libc::pollfd = libc::pollfd {
    fd: -1,
    events: 0,
    revents: 0,
};

impl PollSet {
    /// `count` places that never wake.
    pub fn new(count: usize) -> Self {
        PollSet(vec![NO_FD; count].into_boxed_slice())
    }

    /// From place `index`, wake when `fd` can be read, or written where `write` is set; always when it fails.
    pub fn set(&mut self, index: usize, fd: BorrowedFd<'_>, read: bool, write: bool) {
        let wanted = |yes: bool, event: i16| if yes { event } else { 0 };
        self.0[index] = libc::pollfd {
            fd: fd.as_raw_fd(),
            events: wanted(read, libc::POLLIN) | wanted(write, libc::POLLOUT),
            revents: 0,
        };
    }

    /// Whether entry `index` woke the last sleep.
    pub fn woke(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(|entry| entry.revents != 0)
    }

    /// Sleep until one of them is ready or a signal comes.
    pub fn sleep(&mut self) -> Result<(), LinkError> {
        // SAFETY: the slice holds so many entries.
        let result = unsafe { libc::poll(self.0.as_mut_ptr(), self.0.len() as libc::nfds_t, -1) };
        if result >= 0 {
            return Ok(());
        }
        failed("poll", last_errno()).map(drop)
    }
}
