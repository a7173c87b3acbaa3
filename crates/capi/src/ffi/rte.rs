//! The caller's runtime: how its ranks meet.

use std::ffi::{CStr, c_char, c_void};
use std::net::{IpAddr, Ipv4Addr};
use wirespeed::schema::case::GroupKind;
use wirespeed::transport::bootstrap::BLOB_BYTES_MAX;
use wirespeed::{Bootstrap, BootstrapError, Cancel};

/// Largest blob of an exchange, in bytes.
pub const WS_BLOB_BYTES_MAX: usize = 65536;
const _: () = assert!(WS_BLOB_BYTES_MAX == BLOB_BYTES_MAX);

/// Where the ranks live.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ws_group {
    /// Threads of one process.
    WS_THREADS = 0,
    /// Processes of one machine and one user.
    WS_PROCESSES = 1,
    /// Machines. Each rank says at which address it is reached.
    WS_HOSTS = 2,
}

/// A number from C may be anything.
fn group_of(number: u32) -> Option<GroupKind> {
    let known = [
        (ws_group::WS_THREADS, GroupKind::Threads),
        (ws_group::WS_PROCESSES, GroupKind::Processes),
        (ws_group::WS_HOSTS, GroupKind::Hosts),
    ];
    known
        .into_iter()
        .find_map(|(name, kind)| (name as u32 == number).then_some(kind))
}

/// Makes progress on the transport; call it again and again while waiting in a barrier, at least every 10 ms.
pub type ws_progress = Option<extern "C" fn(argument: *mut c_void)>;

/// Wait until every rank has called it. While waiting, call `progress(argument)`. Returns 0, or anything else when a rank
/// is gone.
pub type ws_barrier =
    Option<extern "C" fn(context: *mut c_void, progress: ws_progress, argument: *mut c_void) -> i32>;

/// Give `blob` (`blob_bytes` long, at most WS_BLOB_BYTES_MAX) to every rank. The blob of rank i, the own included, goes to
/// `blobs + i * stride_bytes`, its length to `sizes[i]`; there is room for `stride_bytes` each. Returns 0, or anything else
/// when a rank is gone.
pub type ws_exchange = Option<
    extern "C" fn(
        context: *mut c_void,
        blob: *const c_void,
        blob_bytes: usize,
        blobs: *mut c_void,
        stride_bytes: usize,
        sizes: *mut usize,
    ) -> i32,
>;

/// The caller's runtime, as one rank sees it. Barrier and exchange are collective and are called in the thread that
/// measures.
#[repr(C)]
pub struct ws_rte {
    /// Handed to the callbacks.
    pub context: *mut c_void,
    /// This rank, from 0.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Where they live: a ws_group.
    pub group: u32,
    /// Required.
    pub barrier: ws_barrier,
    /// Required.
    pub exchange: ws_exchange,
    /// The IP address at which the other ranks reach this one: required for WS_HOSTS; NULL is loopback.
    pub address: *const c_char,
}

type Barrier = extern "C" fn(*mut c_void, ws_progress, *mut c_void) -> i32;
type Exchange = extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void, usize, *mut usize) -> i32;

/// A `ws_rte` as the library wants it.
pub struct Runtime {
    context: *mut c_void,
    rank: u32,
    size: u32,
    /// Where the ranks live.
    pub group: GroupKind,
    barrier: Barrier,
    exchange: Exchange,
    address: IpAddr,
    cancel: Cancel,
}

/// A cause and a remedy.
type Wrong = (&'static str, &'static str);

/// What to do about an address.
const ADDRESS: &str = "set address to the IP address at which the other ranks reach this one";

impl Runtime {
    /// `rte`, with both callbacks; otherwise what is wrong with it, and what to do.
    ///
    /// # Safety
    /// The address is NULL or ends with a zero.
    pub unsafe fn new(rte: &ws_rte, cancel: Cancel) -> Result<Self, Wrong> {
        if rte.rank >= rte.size {
            return Err(("the runtime's rank is not below its size", "set rank and size"));
        }
        let group = group_of(rte.group).ok_or((
            "the runtime's group is none of ws_group",
            "set group to WS_THREADS, WS_PROCESSES or WS_HOSTS",
        ))?;
        let address = match rte.address.is_null() {
            true if group == GroupKind::Hosts => {
                return Err(("the runtime spans machines and has no address", ADDRESS));
            }
            true => IpAddr::V4(Ipv4Addr::LOCALHOST),
            false => {
                // SAFETY: the caller's promise.
                let text = unsafe { CStr::from_ptr(rte.address) }.to_str().ok();
                text.and_then(|text| text.parse().ok())
                    .ok_or(("the runtime's address is no IP address", ADDRESS))?
            }
        };
        Ok(Runtime {
            context: rte.context,
            rank: rte.rank,
            size: rte.size,
            group,
            address,
            barrier: rte.barrier.ok_or(("the runtime has no barrier", "set barrier"))?,
            exchange: rte
                .exchange
                .ok_or(("the runtime has no exchange", "set exchange"))?,
            cancel,
        })
    }
}

/// A closure behind a C pointer.
struct Progress<'a>(&'a mut dyn FnMut());

extern "C" fn call_progress(argument: *mut c_void) {
    // SAFETY: `Bootstrap::barrier` below passes a pointer to a Progress that outlives the callback; C hands it back.
    let progress = unsafe { argument.cast::<Progress>().as_mut() };
    if let Some(progress) = progress {
        // A panic must not cross into C; the case that caused it fails at its next step.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (progress.0)()));
    }
}

fn lost(code: i32) -> BootstrapError {
    BootstrapError::Channel(format!("the caller's runtime returned {code}"))
}

impl Bootstrap for Runtime {
    fn size(&self) -> u32 {
        self.size
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError> {
        // The caller's callbacks know nothing of the flag.
        if self.cancel.reason().is_some() {
            return Err(BootstrapError::Cancelled);
        }
        let mut progress = Progress(progress);
        let argument = (&raw mut progress).cast::<c_void>();
        match (self.barrier)(self.context, Some(call_progress), argument) {
            0 if self.cancel.reason().is_some() => Err(BootstrapError::Cancelled),
            0 => Ok(()),
            code => Err(lost(code)),
        }
    }

    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        // The caller's slots hold no more.
        if blob.len() > WS_BLOB_BYTES_MAX {
            let told = format!("{} bytes are more than an exchange takes", blob.len());
            return Err(BootstrapError::Channel(told));
        }
        if self.cancel.reason().is_some() {
            return Err(BootstrapError::Cancelled);
        }
        let size = self.size as usize;
        let mut blobs = vec![0u8; size * WS_BLOB_BYTES_MAX];
        let mut sizes = vec![0usize; size];
        let code = (self.exchange)(
            self.context,
            blob.as_ptr().cast(),
            blob.len(),
            blobs.as_mut_ptr().cast(),
            WS_BLOB_BYTES_MAX,
            sizes.as_mut_ptr(),
        );
        if code != 0 {
            return Err(lost(code));
        }
        let slots = blobs.chunks_exact(WS_BLOB_BYTES_MAX).zip(&sizes);
        slots
            .map(|(slot, &bytes)| slot.get(..bytes).map(<[u8]>::to_vec))
            .collect::<Option<_>>()
            .ok_or_else(|| BootstrapError::Channel("the caller's exchange gave an impossible length".into()))
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    fn bind_address(&self) -> IpAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;
    use wirespeed::transport::cancel::CancelReason;

    extern "C" fn barrier(_: *mut c_void, _: ws_progress, _: *mut c_void) -> i32 {
        7
    }

    extern "C" fn exchange(
        _: *mut c_void,
        _: *const c_void,
        blob_bytes: usize,
        _: *mut c_void,
        stride_bytes: usize,
        _: *mut usize,
    ) -> i32 {
        assert!(blob_bytes <= stride_bytes);
        7
    }

    fn of(group: ws_group, address: *const c_char) -> Result<Runtime, Wrong> {
        let rte = ws_rte {
            context: std::ptr::null_mut(),
            rank: 0,
            size: 2,
            group: group as u32,
            barrier: Some(barrier),
            exchange: Some(exchange),
            address,
        };
        // SAFETY: NULL, or a literal that ends with a zero.
        unsafe { Runtime::new(&rte, Cancel::default()) }
    }

    #[test]
    fn ranks_of_several_machines_say_where_they_are_reached() {
        let address = |runtime: Result<Runtime, _>| runtime.map(|runtime| runtime.bind_address().to_string());
        assert_eq!(
            address(of(ws_group::WS_PROCESSES, null())),
            Ok("127.0.0.1".into())
        );
        let remedy = |runtime: Result<Runtime, Wrong>| runtime.err().map(|(_, remedy)| remedy);
        assert_eq!(remedy(of(ws_group::WS_HOSTS, null())), Some(ADDRESS));
        assert_eq!(
            address(of(ws_group::WS_HOSTS, c"192.0.2.7".as_ptr())),
            Ok("192.0.2.7".into())
        );
        assert_eq!(
            address(of(ws_group::WS_HOSTS, c"2001:db8::7".as_ptr())),
            Ok("2001:db8::7".into())
        );
        assert_eq!(remedy(of(ws_group::WS_HOSTS, c"far".as_ptr())), Some(ADDRESS));
    }

    #[test]
    fn callbacks_get_what_the_header_promises_and_nothing_after_a_cancel() {
        let runtime = of(ws_group::WS_THREADS, null()).ok().unwrap();
        let told = |error: BootstrapError| error.to_string();
        let most = runtime.exchange(&vec![0; WS_BLOB_BYTES_MAX]).map_err(told);
        assert!(most.unwrap_err().contains("returned 7"));
        let more = runtime.exchange(&vec![0; WS_BLOB_BYTES_MAX + 1]).map_err(told);
        assert!(more.unwrap_err().contains("more than an exchange takes"));
        runtime.cancel().cancel(CancelReason::PeerLost);
        assert!(matches!(runtime.exchange(&[]), Err(BootstrapError::Cancelled)));
        assert!(matches!(
            runtime.barrier(&mut || ()),
            Err(BootstrapError::Cancelled)
        ));
    }
}
