//! Calls around the measurement: initialise, meet, find the nodes, duplicate communicators, leave. None is made while a
//! measurement runs.

use crate::link_error::{cold_error, text_of};
use crate::{link_pmi, link_pmix};
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wirespeed::transport::ConnectError;
use wirespeed::transport::cancel::{Cancel, CancelReason};
use wirespeed::transport::port::LinkError;
use wirespeed_mpi_sys::constants::ThreadLevel;
use wirespeed_mpi_sys::{Handle, Mpi, SUCCESS};

/// Longest name of a processor in all families, and its end.
const NAME_BYTES: usize = 256 + 1;

/// How long leaving may take before the process simply ends: a rank that is gone cannot take part.
const LEAVE_TIME: Duration = Duration::from_secs(10);
/// The same where one is known to be gone: what is waited for is the library's own look at that.
const LEAVE_TIME_LOST: Duration = Duration::from_secs(2);
/// How long telling the launcher may take: the client library itself gives its server 2 s, on a machine that is not busy.
const TELL_TIME: Duration = Duration::from_secs(10);

/// Set when something of the library was left in use: after that, leaving in order may wait for ever.
static DAMAGED: AtomicBool = AtomicBool::new(false);

/// Set when that was because another rank was lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Set when a duplication of the world was left under way: the next one of a rank that was not there would match it, and that
/// of this rank nothing.
static ABANDONED: AtomicBool = AtomicBool::new(false);

/// A port could not be closed in order.
pub fn note_damage() {
    DAMAGED.store(true, Ordering::Release);
}

/// Whether some port could not be closed in order.
pub fn is_damaged() -> bool {
    DAMAGED.load(Ordering::Acquire)
}

/// The same with the reason why its case ended: a launcher must not hear of success where a rank was lost.
fn note_damage_by(reason: Option<CancelReason>) {
    note_damage();
    LOST.fetch_or(reason == Some(CancelReason::PeerLost), Ordering::AcqRel);
}

/// Leave memory to the library for good: an operation that never ended may still use it.
pub fn abandon<T: 'static>(memory: T) {
    note_damage();
    Box::leak(Box::new(memory));
}

pub fn checked<H: Handle>(mpi: &Mpi<H>, op: &str, code: c_int) -> Result<(), String> {
    if code == SUCCESS {
        Ok(())
    } else {
        Err(format!("{op}: {}", text_of(mpi, code)))
    }
}

/// Initialise MPI, once a process. Gives rank, size and the thread level that was got.
pub fn initialise<H: Handle>(
    mpi: &'static Mpi<H>,
    wanted: ThreadLevel,
) -> Result<(u32, u32, ThreadLevel), String> {
    let (f, c) = (&mpi.functions, &mpi.constants);
    let (mut got, mut rank, mut size) = (0, 0, 0);
    // SAFETY: called once, before any other function but the version's; null arguments are allowed since MPI-2.
    let code = unsafe { (f.init_thread)(null_mut(), null_mut(), c.thread_level(wanted), &mut got) };
    checked(mpi, "MPI_Init_thread", code)?;
    // SAFETY: MPI is initialised; the handles are the library's own.
    let code = unsafe { (f.comm_set_errhandler)(c.comm_world, c.errors_return) };
    checked(mpi, "MPI_Comm_set_errhandler", code)?;
    // SAFETY: as above; the numbers are written by the call.
    checked(mpi, "MPI_Comm_rank", unsafe {
        (f.comm_rank)(c.comm_world, &mut rank)
    })?;
    // SAFETY: as above.
    checked(mpi, "MPI_Comm_size", unsafe {
        (f.comm_size)(c.comm_world, &mut size)
    })?;
    Ok((rank as u32, size as u32, c.named_thread_level(got)))
}

/// The lowest world rank of this node, and the node's name. Collective.
pub fn node<H: Handle>(mpi: &'static Mpi<H>, rank: u32) -> Result<(u32, String), String> {
    let (f, c) = (&mpi.functions, &mpi.constants);
    let mut shared = H::BLANK;
    // SAFETY: MPI is initialised; all ranks make this call. The key orders the new ranks as the old ones.
    let code = unsafe {
        (f.comm_split_type)(
            c.comm_world,
            c.comm_type_shared,
            rank as c_int,
            c.info_null,
            &mut shared,
        )
    };
    checked(mpi, "MPI_Comm_split_type", code)?;
    let mut leader = rank as c_int;
    // SAFETY: all ranks of the new communicator make this call; the buffer holds one integer.
    let code = unsafe { (f.bcast)((&raw mut leader).cast(), 4, c.byte, 0, shared) };
    checked(mpi, "MPI_Bcast", code)?;
    // SAFETY: nothing uses the communicator any more.
    checked(mpi, "MPI_Comm_free", unsafe { (f.comm_free)(&mut shared) })?;
    let mut name = [0u8; NAME_BYTES];
    let mut length = 0;
    // SAFETY: the name has the largest size of all families.
    let code = unsafe { (f.get_processor_name)(name.as_mut_ptr().cast::<c_char>(), &mut length) };
    checked(mpi, "MPI_Get_processor_name", code)?;
    let name = &name[..usize::try_from(length).unwrap_or(0).min(NAME_BYTES)];
    Ok((leader as u32, String::from_utf8_lossy(name).into_owned()))
}

/// Rank 0's bytes, at every rank. Collective.
pub fn broadcast<H: Handle>(mpi: &'static Mpi<H>, mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let (f, c) = (&mpi.functions, &mpi.constants);
    let mut length = bytes.len() as u64;
    // SAFETY: MPI is initialised; all ranks make this call with a buffer of 8 bytes.
    let code = unsafe { (f.bcast)((&raw mut length).cast(), 8, c.byte, 0, c.comm_world) };
    checked(mpi, "MPI_Bcast", code)?;
    let count = c_int::try_from(length).map_err(|_| "MPI_Bcast: too many bytes".to_owned())?;
    bytes.resize(length as usize, 0);
    // SAFETY: every rank's buffer has `length` bytes.
    let code = unsafe { (f.bcast)(bytes.as_mut_ptr().cast(), count, c.byte, 0, c.comm_world) };
    checked(mpi, "MPI_Bcast", code)?;
    Ok(bytes)
}

/// Every rank's bytes at every rank. Collective.
pub fn gather<H: Handle>(mpi: &'static Mpi<H>, own: &[u8], size: u32) -> Result<Vec<Vec<u8>>, String> {
    let (f, c) = (&mpi.functions, &mpi.constants);
    let too_many = |_| "MPI_Allgatherv: too many bytes".to_owned();
    let length = c_int::try_from(own.len()).map_err(too_many)?;
    let mut lengths: Vec<c_int> = vec![0; size as usize];
    // SAFETY: every rank gives 4 bytes, and there is room for 4 of each.
    let code = unsafe {
        (f.allgather)(
            (&raw const length).cast(),
            4,
            c.byte,
            lengths.as_mut_ptr().cast(),
            4,
            c.byte,
            c.comm_world,
        )
    };
    checked(mpi, "MPI_Allgather", code)?;
    let mut places: Vec<c_int> = Vec::with_capacity(lengths.len());
    let mut total: c_int = 0;
    for length in &lengths {
        places.push(total);
        total = total
            .checked_add(*length)
            .ok_or_else(|| "MPI_Allgatherv: too many bytes".to_owned())?;
    }
    let mut all = vec![0u8; total as usize];
    // SAFETY: the places and lengths are those that every rank gave, and the memory holds their sum.
    let code = unsafe {
        (f.allgatherv)(
            own.as_ptr().cast(),
            length,
            c.byte,
            all.as_mut_ptr().cast(),
            lengths.as_ptr(),
            places.as_ptr(),
            c.byte,
            c.comm_world,
        )
    };
    checked(mpi, "MPI_Allgatherv", code)?;
    let piece =
        |(place, length): (&c_int, &c_int)| all[*place as usize..(*place + *length) as usize].to_vec();
    Ok(places.iter().zip(&lengths).map(piece).collect())
}

/// Leave MPI with `code`, where one of the ranks is known to be lost or not. A process that cannot, because ranks are gone,
/// operations never ended or the machine is too busy, ends here after its time, and that of telling the launcher: what it had
/// to say has been said.
pub fn finalise<H: Handle>(mpi: &'static Mpi<H>, code: u8, is_lost: bool) -> u8 {
    if is_damaged() {
        // Some launchers say of a job what the rank says that ends first: a lost rank is no success.
        let code = code.max(u8::from(LOST.load(Ordering::Acquire)));
        tell_launcher(code, is_lost, None);
        return code;
    }
    let patience = if is_lost { LEAVE_TIME_LOST } else { LEAVE_TIME };
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    // SAFETY: asks for this thread's own name.
    let this = unsafe { libc::pthread_self() };
    let watch = std::thread::Builder::new().name("leaving".into()).spawn(move || {
        let in_time = waiting.recv_timeout(patience);
        if matches!(in_time, Err(std::sync::mpsc::RecvTimeoutError::Timeout)) {
            tell_launcher(code, is_lost, Some(this));
            // SAFETY: ends the process without running anything of the library that hangs.
            unsafe { libc::_exit(c_int::from(code)) }
        }
    });
    // SAFETY: the last call into the library, by the thread that initialised it.
    unsafe { (mpi.functions.finalize)() };
    let _ = done.send(());
    if let Ok(watch) = watch {
        let _ = watch.join();
    }
    code
}

/// Tell the launcher that this process leaves, past a library that cannot: else it calls a job a failure whose result is whole.
/// A failure, of this rank or by the loss of another, is left for it to see. `within`: the thread that is in the library.
fn tell_launcher(code: u8, is_lost: bool, within: Option<libc::pthread_t>) {
    if code != 0 || is_lost {
        return;
    }
    let (done, told) = std::sync::mpsc::channel::<()>();
    let tell = move || {
        link_pmix::leave();
        link_pmi::leave(within);
        let _ = done.send(());
    };
    if std::thread::Builder::new()
        .name("telling".into())
        .spawn(tell)
        .is_ok()
    {
        let _ = told.recv_timeout(TELL_TIME);
    }
}

/// A communicator of a port's own, so that nothing of another case can be matched.
pub struct Comm<H: Handle> {
    pub mpi: &'static Mpi<H>,
    pub handle: H,
    /// Whether nothing is outstanding, so that it may be freed.
    pub quiet: bool,
    /// It belongs to the job, and is not freed.
    is_of_job: bool,
    /// Tells whether the port's case ended badly.
    cancel: Cancel,
}

impl<H: Handle> Comm<H> {
    /// Duplicate the world. Collective; looks at the cancel flag while other ranks are not there yet. Once one was left under
    /// way no further one is begun, which ends the others' wait.
    pub fn duplicate(mpi: &'static Mpi<H>, cancel: &Cancel) -> Result<Self, ConnectError> {
        if ABANDONED.load(Ordering::Acquire) {
            return Err(ConnectError::Other(
                "a case before it ended while ranks were connecting: start the job again".into(),
            ));
        }
        let (f, c) = (&mpi.functions, &mpi.constants);
        let failed = |op, code| ConnectError::Other(cold_error(mpi, op, code).to_string());
        // The library writes it when the request completes: it must not move, nor vanish with an error.
        let handle: *mut H = Box::into_raw(Box::new(c.comm_null));
        let mut request = c.request_null;
        // SAFETY: MPI is initialised; every rank makes this call. The memory lives until it is freed below, or for ever.
        let code = unsafe { (f.comm_idup)(c.comm_world, handle, &mut request) };
        if code != SUCCESS {
            return Err(failed("MPI_Comm_idup", code));
        }
        let mut done = 0;
        while done == 0 {
            // SAFETY: the request is the one from above.
            let code = unsafe { (f.test)(&mut request, &mut done, c.status_ignore) };
            if code != SUCCESS {
                ABANDONED.store(true, Ordering::Release);
                return Err(failed("MPI_Comm_idup", code));
            }
            if done == 0 && cancel.reason().is_some() {
                ABANDONED.store(true, Ordering::Release);
                note_damage_by(cancel.reason());
                return Err(ConnectError::Other(LinkError::Cancelled.to_string()));
            }
            std::thread::yield_now();
        }
        // SAFETY: the request is complete, so nobody writes there any more; it came from `Box::into_raw`.
        let handle = *unsafe { Box::from_raw(handle) };
        // SAFETY: a communicator of this library, and its own error handler.
        let code = unsafe { (f.comm_set_errhandler)(handle, c.errors_return) };
        if code != SUCCESS {
            return Err(failed("MPI_Comm_set_errhandler", code));
        }
        Ok(Comm {
            mpi,
            handle,
            quiet: true,
            is_of_job: false,
            cancel: cancel.clone(),
        })
    }

    /// A communicator that outlives the port: `cancel` tells whether the port's case left something in it.
    pub fn of_job(mpi: &'static Mpi<H>, handle: H, cancel: &Cancel) -> Self {
        Comm {
            mpi,
            handle,
            quiet: true,
            is_of_job: true,
            cancel: cancel.clone(),
        }
    }

    /// Let the library move what it has under way, for others, too: it does so inside of calls alone, and a message may be
    /// here while its sender still waits for word of that. A probe changes nothing. Gives the library's code.
    #[inline(always)]
    pub fn turn(&self) -> c_int {
        let (f, c) = (&self.mpi.functions, &self.mpi.constants);
        let mut found = 0;
        // SAFETY: a probe of a live communicator of this port, without a status.
        unsafe { (f.iprobe)(c.any_source, c.any_tag, self.handle, &mut found, c.status_ignore) }
    }

    /// Largest tag.
    pub fn tag_max(&self) -> u64 {
        /// What the standard promises.
        const PROMISED: u64 = 32767;
        let (f, c) = (&self.mpi.functions, &self.mpi.constants);
        let mut value: *const c_int = null();
        let mut found = 0;
        // SAFETY: the attribute's value is a pointer to an `int` that lives as long as the communicator.
        let code = unsafe {
            (f.comm_get_attr)(
                c.comm_world,
                c.tag_ub,
                (&raw mut value).cast::<c_void>(),
                &mut found,
            )
        };
        if code != SUCCESS || found == 0 || value.is_null() {
            return PROMISED;
        }
        // SAFETY: as above.
        u64::try_from(unsafe { *value }).unwrap_or(PROMISED)
    }
}

impl<H: Handle> Drop for Comm<H> {
    fn drop(&mut self) {
        let reason = self.cancel.reason();
        if !self.quiet || self.is_of_job && reason.is_some() {
            // Freeing it would wait for what never ends.
            note_damage_by(reason);
            return;
        }
        if self.is_of_job {
            return;
        }
        // SAFETY: nothing is outstanding on it, and no copy of the handle is used after this.
        unsafe { (self.mpi.functions.comm_free)(&mut self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use wirespeed_mpi_sys::{Loaded, find, load};

    static BEGUN: AtomicU32 = AtomicU32::new(0);

    extern "C" fn begins<H: Handle>(_: H, _: *mut H, _: *mut H) -> c_int {
        BEGUN.fetch_add(1, Ordering::AcqRel);
        SUCCESS
    }

    extern "C" fn never_ends<H: Handle>(_: *mut H, _: *mut c_int, _: *mut c_void) -> c_int {
        SUCCESS
    }

    fn twice<H: Handle>(mut mpi: Mpi<H>) {
        (mpi.functions.comm_idup, mpi.functions.test) = (begins::<H>, never_ends::<H>);
        let mpi = Box::leak(Box::new(mpi));
        let cancel = Cancel::new();
        cancel.cancel(CancelReason::PeerLost);
        assert!(Comm::duplicate(mpi, &cancel).is_err());
        let again = Comm::duplicate(mpi, &cancel).err().unwrap().to_string();
        assert!(again.contains("start the job again"), "{again}");
        assert_eq!(BEGUN.load(Ordering::Acquire), 1);
    }

    #[test]
    fn no_duplication_begins_behind_one_that_was_abandoned() {
        let all = find::candidates(None).into_iter();
        match all.map(|candidate| load(&candidate.path)).find_map(Result::ok) {
            Some(Loaded::Pointers(mpi)) => twice(mpi),
            Some(Loaded::Integers(mpi)) => twice(mpi),
            None => eprintln!("skipped: no MPI library here"),
        }
    }
}
