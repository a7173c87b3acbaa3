//! The functions that wirespeed calls, with their parameters as the standard gives them. `H` is what a handle is.
//!
//! Counts beyond 2^31 - 1 go through the `_c` functions of MPI 4.0 where the library has them.

use crate::Handle;
use crate::constants::Status;
use crate::library::{Library, LoadError};
use core::ffi::{c_char, c_int, c_void};

/// `MPI_Aint`.
pub type Aint = isize;
/// `MPI_Count`.
pub type Count = i64;

type Send<H, N> = unsafe extern "C" fn(*const c_void, N, H, c_int, c_int, H, *mut H) -> c_int;
type Receive<H, N> = unsafe extern "C" fn(*mut c_void, N, H, c_int, c_int, H, *mut H) -> c_int;
type Put<H, N> = unsafe extern "C" fn(*const c_void, N, H, c_int, Aint, N, H, H) -> c_int;
type Get<H, N> = unsafe extern "C" fn(*mut c_void, N, H, c_int, Aint, N, H, H) -> c_int;
type PutRequest<H, N> = unsafe extern "C" fn(*const c_void, N, H, c_int, Aint, N, H, H, *mut H) -> c_int;
type GetRequest<H, N> = unsafe extern "C" fn(*mut c_void, N, H, c_int, Aint, N, H, H, *mut H) -> c_int;
type Accumulate<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, Aint, c_int, H, H, H) -> c_int;
type FetchAndOp<H> = unsafe extern "C" fn(*const c_void, *mut c_void, H, c_int, Aint, H, H) -> c_int;
type CompareAndSwap<H> =
    unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void, H, c_int, Aint, H) -> c_int;
type GetAttribute<H> = unsafe extern "C" fn(H, c_int, *mut c_void, *mut c_int) -> c_int;
type ProbeNow<H> = unsafe extern "C" fn(c_int, c_int, H, *mut c_int, *mut c_void) -> c_int;

/// `MPI_*`, by name. Each is called as the MPI standard says of the function of that name.
#[allow(missing_docs)] // the standard documents each of them
#[derive(Clone, Copy)]
pub struct Functions<H> {
    pub init_thread: unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int,
    pub initialized: unsafe extern "C" fn(*mut c_int) -> c_int,
    pub finalize: unsafe extern "C" fn() -> c_int,
    pub error_string: unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> c_int,
    pub error_class: unsafe extern "C" fn(c_int, *mut c_int) -> c_int,
    pub get_processor_name: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,

    pub comm_rank: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    pub comm_size: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    pub comm_dup: unsafe extern "C" fn(H, *mut H) -> c_int,
    pub comm_idup: unsafe extern "C" fn(H, *mut H, *mut H) -> c_int,
    pub comm_free: unsafe extern "C" fn(*mut H) -> c_int,
    pub comm_split_type: unsafe extern "C" fn(H, c_int, c_int, H, *mut H) -> c_int,
    pub comm_set_errhandler: unsafe extern "C" fn(H, H) -> c_int,
    pub comm_get_attr: GetAttribute<H>,
    pub barrier: unsafe extern "C" fn(H) -> c_int,
    pub bcast: unsafe extern "C" fn(*mut c_void, c_int, H, c_int, H) -> c_int,
    pub allgather: unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int,
    pub allgatherv:
        unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, *const c_int, *const c_int, H, H) -> c_int,

    pub send: unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H) -> c_int,
    pub recv: unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut c_void) -> c_int,
    pub isend: Send<H, c_int>,
    pub irecv: Receive<H, c_int>,
    pub isend_c: Option<Send<H, Count>>,
    pub irecv_c: Option<Receive<H, Count>>,
    pub send_init: Send<H, c_int>,
    pub recv_init: Receive<H, c_int>,
    pub start: unsafe extern "C" fn(*mut H) -> c_int,
    pub test: unsafe extern "C" fn(*mut H, *mut c_int, *mut c_void) -> c_int,
    pub testall: unsafe extern "C" fn(c_int, *mut H, *mut c_int, *mut c_void) -> c_int,
    pub waitall: unsafe extern "C" fn(c_int, *mut H, *mut c_void) -> c_int,
    pub cancel: unsafe extern "C" fn(*mut H) -> c_int,
    pub request_free: unsafe extern "C" fn(*mut H) -> c_int,
    pub iprobe: ProbeNow<H>,
    pub get_count: unsafe extern "C" fn(*const Status, H, *mut c_int) -> c_int,

    pub type_contiguous: unsafe extern "C" fn(c_int, H, *mut H) -> c_int,
    pub type_create_struct: unsafe extern "C" fn(c_int, *const c_int, *const Aint, *const H, *mut H) -> c_int,
    pub type_commit: unsafe extern "C" fn(*mut H) -> c_int,
    pub type_free: unsafe extern "C" fn(*mut H) -> c_int,

    pub win_allocate: unsafe extern "C" fn(Aint, c_int, H, H, *mut c_void, *mut H) -> c_int,
    pub win_create: unsafe extern "C" fn(*mut c_void, Aint, c_int, H, H, *mut H) -> c_int,
    pub win_set_errhandler: unsafe extern "C" fn(H, H) -> c_int,
    pub win_free: unsafe extern "C" fn(*mut H) -> c_int,
    pub win_lock_all: unsafe extern "C" fn(c_int, H) -> c_int,
    pub win_unlock_all: unsafe extern "C" fn(H) -> c_int,
    pub win_sync: unsafe extern "C" fn(H) -> c_int,
    pub win_flush: unsafe extern "C" fn(c_int, H) -> c_int,
    pub win_flush_all: unsafe extern "C" fn(H) -> c_int,
    pub win_flush_local: unsafe extern "C" fn(c_int, H) -> c_int,
    pub win_flush_local_all: unsafe extern "C" fn(H) -> c_int,
    pub put: Put<H, c_int>,
    pub put_c: Option<Put<H, Count>>,
    pub rput: PutRequest<H, c_int>,
    pub rput_c: Option<PutRequest<H, Count>>,
    pub rget: GetRequest<H, c_int>,
    pub rget_c: Option<GetRequest<H, Count>>,
    pub get: Get<H, c_int>,
    pub accumulate: Accumulate<H>,
    pub fetch_and_op: FetchAndOp<H>,
    pub compare_and_swap: CompareAndSwap<H>,
}

impl<H: Handle> Functions<H> {
    /// Look all of them up in `library`, whose handles are `H`.
    pub fn of(library: &Library) -> Result<Self, LoadError> {
        // SAFETY: every field's type is that of the function of its name in MPI 3.1 (the `_c` ones: 4.0), with handles
        // as the library's family has them.
        let functions = unsafe {
            Functions {
                init_thread: library.function("MPI_Init_thread")?,
                initialized: library.function("MPI_Initialized")?,
                finalize: library.function("MPI_Finalize")?,
                error_string: library.function("MPI_Error_string")?,
                error_class: library.function("MPI_Error_class")?,
                get_processor_name: library.function("MPI_Get_processor_name")?,
                comm_rank: library.function("MPI_Comm_rank")?,
                comm_size: library.function("MPI_Comm_size")?,
                comm_dup: library.function("MPI_Comm_dup")?,
                comm_idup: library.function("MPI_Comm_idup")?,
                comm_free: library.function("MPI_Comm_free")?,
                comm_split_type: library.function("MPI_Comm_split_type")?,
                comm_set_errhandler: library.function("MPI_Comm_set_errhandler")?,
                comm_get_attr: library.function("MPI_Comm_get_attr")?,
                barrier: library.function("MPI_Barrier")?,
                bcast: library.function("MPI_Bcast")?,
                allgather: library.function("MPI_Allgather")?,
                allgatherv: library.function("MPI_Allgatherv")?,
                send: library.function("MPI_Send")?,
                recv: library.function("MPI_Recv")?,
                isend: library.function("MPI_Isend")?,
                irecv: library.function("MPI_Irecv")?,
                isend_c: library.function("MPI_Isend_c").ok(),
                irecv_c: library.function("MPI_Irecv_c").ok(),
                send_init: library.function("MPI_Send_init")?,
                recv_init: library.function("MPI_Recv_init")?,
                start: library.function("MPI_Start")?,
                test: library.function("MPI_Test")?,
                testall: library.function("MPI_Testall")?,
                waitall: library.function("MPI_Waitall")?,
                cancel: library.function("MPI_Cancel")?,
                request_free: library.function("MPI_Request_free")?,
                iprobe: library.function("MPI_Iprobe")?,
                get_count: library.function("MPI_Get_count")?,
                type_contiguous: library.function("MPI_Type_contiguous")?,
                type_create_struct: library.function("MPI_Type_create_struct")?,
                type_commit: library.function("MPI_Type_commit")?,
                type_free: library.function("MPI_Type_free")?,
                win_allocate: library.function("MPI_Win_allocate")?,
                win_create: library.function("MPI_Win_create")?,
                win_set_errhandler: library.function("MPI_Win_set_errhandler")?,
                win_free: library.function("MPI_Win_free")?,
                win_lock_all: library.function("MPI_Win_lock_all")?,
                win_unlock_all: library.function("MPI_Win_unlock_all")?,
                win_sync: library.function("MPI_Win_sync")?,
                win_flush: library.function("MPI_Win_flush")?,
                win_flush_all: library.function("MPI_Win_flush_all")?,
                win_flush_local: library.function("MPI_Win_flush_local")?,
                win_flush_local_all: library.function("MPI_Win_flush_local_all")?,
                put: library.function("MPI_Put")?,
                put_c: library.function("MPI_Put_c").ok(),
                rput: library.function("MPI_Rput")?,
                rput_c: library.function("MPI_Rput_c").ok(),
                rget: library.function("MPI_Rget")?,
                rget_c: library.function("MPI_Rget_c").ok(),
                get: library.function("MPI_Get")?,
                accumulate: library.function("MPI_Accumulate")?,
                fetch_and_op: library.function("MPI_Fetch_and_op")?,
                compare_and_swap: library.function("MPI_Compare_and_swap")?,
            }
        };
        Ok(functions)
    }
}
