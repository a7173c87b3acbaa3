//! Made by `cargo xtask bindings ucx` from the headers of UCX 1.13; never edit it.

/// A stream of the C library; only pointers to it pass through.
pub type FILE = libc::FILE;

pub const UCS_ALLOCA_MAX_SIZE: u32 = 1200;
pub const UCS_MEMORY_TYPES_CPU_ACCESSIBLE: u32 = 17;
pub const UCP_ENTITY_NAME_MAX: u32 = 32;
pub const UCP_VERSION_MAJOR_SHIFT: u32 = 24;
pub const UCP_VERSION_MINOR_SHIFT: u32 = 16;
pub const UCP_API_MAJOR: u32 = 1;
pub const UCP_API_MINOR: u32 = 13;
pub const UCP_API_VERSION: u32 = 17629184;
pub const UCS_CPU_SETSIZE: u32 = 1024;
pub const UCS_NCPUBITS: u32 = 64;
pub const UCT_COMPONENT_NAME_MAX: u32 = 16;
pub const UCT_TL_NAME_MAX: u32 = 10;
pub const UCT_MD_NAME_MAX: u32 = 16;
pub const UCT_DEVICE_NAME_MAX: u32 = 32;
pub const UCT_PENDING_REQ_PRIV_LEN: u32 = 40;
pub const UCT_TAG_PRIV_LEN: u32 = 32;
pub const UCT_AM_ID_BITS: u32 = 5;
pub const UCT_AM_ID_MAX: u32 = 32;
pub const UCT_INVALID_RKEY: i32 = -1;
pub const UCS_CALLBACKQ_FAST_COUNT: u32 = 7;
pub const UCS_CALLBACKQ_ID_NULL: i32 = -1;
pub const UCT_VERNO_MAJOR: u32 = 1;
pub const UCT_VERNO_MINOR: u32 = 13;
pub const UCT_VERNO_PATCH: u32 = 1;
pub const UCT_VERNO_EXTRA: &[u8; 1] = b"\0";
pub const UCT_VERNO_STRING: &[u8; 7] = b"1.13.1\0";
pub const UCT_SCM_VERSION: &[u8; 8] = b"0000000\0";
pub const UCT_SCM_BRANCH: &[u8; 10] = b"<unknown>\0";
pub const UCT_MINOR_BIT: u32 = 16;
pub const UCT_MAJOR_BIT: u32 = 24;
pub const UCT_API: u32 = 17629184;
pub const UCS_ASYNC_PTHREAD_ID_NULL: i32 = -1;
pub const UCS_SYS_DEVICE_ID_MAX: u32 = 255;
pub const UCS_SYS_DEVICE_ID_UNKNOWN: u32 = 255;
pub const UCS_SYS_BDF_NAME_MAX: u32 = 16;
pub const UCT_TL_RESOURCE_DESC_FMT: &[u8; 6] = b"%s/%s\0";
pub const UCT_IFACE_FLAG_AM_SHORT: u32 = 1;
pub const UCT_IFACE_FLAG_AM_BCOPY: u32 = 2;
pub const UCT_IFACE_FLAG_AM_ZCOPY: u32 = 4;
pub const UCT_IFACE_FLAG_PENDING: u32 = 8;
pub const UCT_IFACE_FLAG_PUT_SHORT: u32 = 16;
pub const UCT_IFACE_FLAG_PUT_BCOPY: u32 = 32;
pub const UCT_IFACE_FLAG_PUT_ZCOPY: u32 = 64;
pub const UCT_IFACE_FLAG_GET_SHORT: u32 = 256;
pub const UCT_IFACE_FLAG_GET_BCOPY: u32 = 512;
pub const UCT_IFACE_FLAG_GET_ZCOPY: u32 = 1024;
pub const UCT_IFACE_FLAG_ATOMIC_CPU: u32 = 1073741824;
pub const UCT_IFACE_FLAG_ATOMIC_DEVICE: u32 = 2147483648;
pub const UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF: u64 = 4294967296;
pub const UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF: u64 = 8589934592;
pub const UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF: u64 = 17179869184;
pub const UCT_IFACE_FLAG_ERRHANDLE_AM_ID: u64 = 34359738368;
pub const UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM: u64 = 68719476736;
pub const UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN: u64 = 137438953472;
pub const UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE: u64 = 274877906944;
pub const UCT_IFACE_FLAG_EP_CHECK: u64 = 549755813888;
pub const UCT_IFACE_FLAG_CONNECT_TO_IFACE: u64 = 1099511627776;
pub const UCT_IFACE_FLAG_CONNECT_TO_EP: u64 = 2199023255552;
pub const UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR: u64 = 4398046511104;
pub const UCT_IFACE_FLAG_AM_DUP: u64 = 8796093022208;
pub const UCT_IFACE_FLAG_CB_SYNC: u64 = 17592186044416;
pub const UCT_IFACE_FLAG_CB_ASYNC: u64 = 35184372088832;
pub const UCT_IFACE_FLAG_EP_KEEPALIVE: u64 = 70368744177664;
pub const UCT_IFACE_FLAG_TAG_EAGER_SHORT: u64 = 1125899906842624;
pub const UCT_IFACE_FLAG_TAG_EAGER_BCOPY: u64 = 2251799813685248;
pub const UCT_IFACE_FLAG_TAG_EAGER_ZCOPY: u64 = 4503599627370496;
pub const UCT_IFACE_FLAG_TAG_RNDV_ZCOPY: u64 = 9007199254740992;
pub const UCT_IFACE_FLAG_EVENT_SEND_COMP: u32 = 1;
pub const UCT_IFACE_FLAG_EVENT_RECV: u32 = 2;
pub const UCT_IFACE_FLAG_EVENT_RECV_SIG: u32 = 4;
pub const UCT_IFACE_FLAG_EVENT_FD: u32 = 8;
pub const UCT_IFACE_FLAG_EVENT_ASYNC_CB: u32 = 16;
pub const UCS_MEMORY_TYPE_HOST: ucs_memory_type = 0;
pub const UCS_MEMORY_TYPE_CUDA: ucs_memory_type = 1;
pub const UCS_MEMORY_TYPE_CUDA_MANAGED: ucs_memory_type = 2;
pub const UCS_MEMORY_TYPE_ROCM: ucs_memory_type = 3;
pub const UCS_MEMORY_TYPE_ROCM_MANAGED: ucs_memory_type = 4;
pub const UCS_MEMORY_TYPE_LAST: ucs_memory_type = 5;
pub const UCS_MEMORY_TYPE_UNKNOWN: ucs_memory_type = 5;
pub type ucs_memory_type = ::core::ffi::c_uint;
pub use self::ucs_memory_type as ucs_memory_type_t;
pub const UCS_OK: ucs_status_t = 0;
pub const UCS_INPROGRESS: ucs_status_t = 1;
pub const UCS_ERR_NO_MESSAGE: ucs_status_t = -1;
pub const UCS_ERR_NO_RESOURCE: ucs_status_t = -2;
pub const UCS_ERR_IO_ERROR: ucs_status_t = -3;
pub const UCS_ERR_NO_MEMORY: ucs_status_t = -4;
pub const UCS_ERR_INVALID_PARAM: ucs_status_t = -5;
pub const UCS_ERR_UNREACHABLE: ucs_status_t = -6;
pub const UCS_ERR_INVALID_ADDR: ucs_status_t = -7;
pub const UCS_ERR_NOT_IMPLEMENTED: ucs_status_t = -8;
pub const UCS_ERR_MESSAGE_TRUNCATED: ucs_status_t = -9;
pub const UCS_ERR_NO_PROGRESS: ucs_status_t = -10;
pub const UCS_ERR_BUFFER_TOO_SMALL: ucs_status_t = -11;
pub const UCS_ERR_NO_ELEM: ucs_status_t = -12;
pub const UCS_ERR_SOME_CONNECTS_FAILED: ucs_status_t = -13;
pub const UCS_ERR_NO_DEVICE: ucs_status_t = -14;
pub const UCS_ERR_BUSY: ucs_status_t = -15;
pub const UCS_ERR_CANCELED: ucs_status_t = -16;
pub const UCS_ERR_SHMEM_SEGMENT: ucs_status_t = -17;
pub const UCS_ERR_ALREADY_EXISTS: ucs_status_t = -18;
pub const UCS_ERR_OUT_OF_RANGE: ucs_status_t = -19;
pub const UCS_ERR_TIMED_OUT: ucs_status_t = -20;
pub const UCS_ERR_EXCEEDS_LIMIT: ucs_status_t = -21;
pub const UCS_ERR_UNSUPPORTED: ucs_status_t = -22;
pub const UCS_ERR_REJECTED: ucs_status_t = -23;
pub const UCS_ERR_NOT_CONNECTED: ucs_status_t = -24;
pub const UCS_ERR_CONNECTION_RESET: ucs_status_t = -25;
pub const UCS_ERR_FIRST_LINK_FAILURE: ucs_status_t = -40;
pub const UCS_ERR_LAST_LINK_FAILURE: ucs_status_t = -59;
pub const UCS_ERR_FIRST_ENDPOINT_FAILURE: ucs_status_t = -60;
pub const UCS_ERR_ENDPOINT_TIMEOUT: ucs_status_t = -80;
pub const UCS_ERR_LAST_ENDPOINT_FAILURE: ucs_status_t = -89;
pub const UCS_ERR_LAST: ucs_status_t = -100;
pub type ucs_status_t = ::core::ffi::c_schar;
pub type ucs_status_ptr_t = *mut ::core::ffi::c_void;
pub type __socklen_t = ::core::ffi::c_uint;
pub type socklen_t = __socklen_t;
pub type sa_family_t = ::core::ffi::c_ushort;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sockaddr {
    pub sa_family: sa_family_t,
    pub sa_data: [::core::ffi::c_char; 14usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sockaddr"][::core::mem::size_of::<sockaddr>() - 16usize];
    ["Alignment of sockaddr"][::core::mem::align_of::<sockaddr>() - 2usize];
    ["Offset of field: sockaddr::sa_family"][::core::mem::offset_of!(sockaddr, sa_family) - 0usize];
    ["Offset of field: sockaddr::sa_data"][::core::mem::offset_of!(sockaddr, sa_data) - 2usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sockaddr_storage {
    pub ss_family: sa_family_t,
    pub __ss_padding: [::core::ffi::c_char; 118usize],
    pub __ss_align: ::core::ffi::c_ulong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sockaddr_storage"][::core::mem::size_of::<sockaddr_storage>() - 128usize];
    ["Alignment of sockaddr_storage"][::core::mem::align_of::<sockaddr_storage>() - 8usize];
    ["Offset of field: sockaddr_storage::ss_family"]
        [::core::mem::offset_of!(sockaddr_storage, ss_family) - 0usize];
    ["Offset of field: sockaddr_storage::__ss_padding"]
        [::core::mem::offset_of!(sockaddr_storage, __ss_padding) - 2usize];
    ["Offset of field: sockaddr_storage::__ss_align"]
        [::core::mem::offset_of!(sockaddr_storage, __ss_align) - 120usize];
};
pub const UCS_LOG_LEVEL_FATAL: ucs_log_level_t = 0;
pub const UCS_LOG_LEVEL_ERROR: ucs_log_level_t = 1;
pub const UCS_LOG_LEVEL_WARN: ucs_log_level_t = 2;
pub const UCS_LOG_LEVEL_DIAG: ucs_log_level_t = 3;
pub const UCS_LOG_LEVEL_INFO: ucs_log_level_t = 4;
pub const UCS_LOG_LEVEL_DEBUG: ucs_log_level_t = 5;
pub const UCS_LOG_LEVEL_TRACE: ucs_log_level_t = 6;
pub const UCS_LOG_LEVEL_TRACE_REQ: ucs_log_level_t = 7;
pub const UCS_LOG_LEVEL_TRACE_DATA: ucs_log_level_t = 8;
pub const UCS_LOG_LEVEL_TRACE_ASYNC: ucs_log_level_t = 9;
pub const UCS_LOG_LEVEL_TRACE_FUNC: ucs_log_level_t = 10;
pub const UCS_LOG_LEVEL_TRACE_POLL: ucs_log_level_t = 11;
pub const UCS_LOG_LEVEL_LAST: ucs_log_level_t = 12;
pub const UCS_LOG_LEVEL_PRINT: ucs_log_level_t = 13;
pub type ucs_log_level_t = ::core::ffi::c_uint;
pub const UCS_ASYNC_MODE_SIGNAL: ucs_async_mode_t = 0;
pub const UCS_ASYNC_MODE_THREAD: ucs_async_mode_t = 1;
pub const UCS_ASYNC_MODE_THREAD_SPINLOCK: ucs_async_mode_t = 1;
pub const UCS_ASYNC_MODE_THREAD_MUTEX: ucs_async_mode_t = 2;
pub const UCS_ASYNC_MODE_POLL: ucs_async_mode_t = 3;
pub const UCS_ASYNC_MODE_LAST: ucs_async_mode_t = 4;
pub type ucs_async_mode_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucs_sock_addr {
    pub addr: *const sockaddr,
    pub addrlen: socklen_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucs_sock_addr"][::core::mem::size_of::<ucs_sock_addr>() - 16usize];
    ["Alignment of ucs_sock_addr"][::core::mem::align_of::<ucs_sock_addr>() - 8usize];
    ["Offset of field: ucs_sock_addr::addr"][::core::mem::offset_of!(ucs_sock_addr, addr) - 0usize];
    ["Offset of field: ucs_sock_addr::addrlen"][::core::mem::offset_of!(ucs_sock_addr, addrlen) - 8usize];
};
pub type ucs_sock_addr_t = ucs_sock_addr;
pub type ucp_tag_recv_info_t = ucp_tag_recv_info;
pub type ucp_am_recv_param_t = ucp_am_recv_param;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_context {
    _unused: [u8; 0],
}
pub type ucp_context_h = *mut ucp_context;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_config {
    _unused: [u8; 0],
}
pub type ucp_config_t = ucp_config;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_ep {
    _unused: [u8; 0],
}
pub type ucp_ep_h = *mut ucp_ep;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_conn_request {
    _unused: [u8; 0],
}
pub type ucp_conn_request_h = *mut ucp_conn_request;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_address {
    _unused: [u8; 0],
}
pub type ucp_address_t = ucp_address;
pub const UCP_ERR_HANDLING_MODE_NONE: ucp_err_handling_mode_t = 0;
pub const UCP_ERR_HANDLING_MODE_PEER: ucp_err_handling_mode_t = 1;
pub type ucp_err_handling_mode_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_rkey {
    _unused: [u8; 0],
}
pub type ucp_rkey_h = *mut ucp_rkey;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_mem {
    _unused: [u8; 0],
}
pub type ucp_mem_h = *mut ucp_mem;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_listener {
    _unused: [u8; 0],
}
pub type ucp_listener_h = *mut ucp_listener;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_mem_attr {
    pub field_mask: u64,
    pub address: *mut ::core::ffi::c_void,
    pub length: usize,
    pub mem_type: ucs_memory_type_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_mem_attr"][::core::mem::size_of::<ucp_mem_attr>() - 32usize];
    ["Alignment of ucp_mem_attr"][::core::mem::align_of::<ucp_mem_attr>() - 8usize];
    ["Offset of field: ucp_mem_attr::field_mask"][::core::mem::offset_of!(ucp_mem_attr, field_mask) - 0usize];
    ["Offset of field: ucp_mem_attr::address"][::core::mem::offset_of!(ucp_mem_attr, address) - 8usize];
    ["Offset of field: ucp_mem_attr::length"][::core::mem::offset_of!(ucp_mem_attr, length) - 16usize];
    ["Offset of field: ucp_mem_attr::mem_type"][::core::mem::offset_of!(ucp_mem_attr, mem_type) - 24usize];
};
pub type ucp_mem_attr_t = ucp_mem_attr;
pub const UCP_MEM_ATTR_FIELD_ADDRESS: ucp_mem_attr_field = 1;
pub const UCP_MEM_ATTR_FIELD_LENGTH: ucp_mem_attr_field = 2;
pub const UCP_MEM_ATTR_FIELD_MEM_TYPE: ucp_mem_attr_field = 4;
pub type ucp_mem_attr_field = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_worker {
    _unused: [u8; 0],
}
pub type ucp_worker_h = *mut ucp_worker;
pub type ucp_tag_t = u64;
#[repr(C)]
#[derive(Debug)]
pub struct ucp_recv_desc {
    _unused: [u8; 0],
}
pub type ucp_tag_message_h = *mut ucp_recv_desc;
pub type ucp_datatype_t = u64;
pub type ucp_request_init_callback_t =
    ::core::option::Option<unsafe extern "C" fn(request: *mut ::core::ffi::c_void)>;
pub type ucp_request_cleanup_callback_t =
    ::core::option::Option<unsafe extern "C" fn(request: *mut ::core::ffi::c_void)>;
pub type ucp_send_callback_t =
    ::core::option::Option<unsafe extern "C" fn(request: *mut ::core::ffi::c_void, status: ucs_status_t)>;
pub type ucp_send_nbx_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        request: *mut ::core::ffi::c_void,
        status: ucs_status_t,
        user_data: *mut ::core::ffi::c_void,
    ),
>;
pub type ucp_err_handler_cb_t = ::core::option::Option<
    unsafe extern "C" fn(arg: *mut ::core::ffi::c_void, ep: ucp_ep_h, status: ucs_status_t),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_err_handler {
    pub cb: ucp_err_handler_cb_t,
    pub arg: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_err_handler"][::core::mem::size_of::<ucp_err_handler>() - 16usize];
    ["Alignment of ucp_err_handler"][::core::mem::align_of::<ucp_err_handler>() - 8usize];
    ["Offset of field: ucp_err_handler::cb"][::core::mem::offset_of!(ucp_err_handler, cb) - 0usize];
    ["Offset of field: ucp_err_handler::arg"][::core::mem::offset_of!(ucp_err_handler, arg) - 8usize];
};
pub type ucp_err_handler_t = ucp_err_handler;
pub type ucp_listener_accept_callback_t =
    ::core::option::Option<unsafe extern "C" fn(ep: ucp_ep_h, arg: *mut ::core::ffi::c_void)>;
pub type ucp_listener_conn_callback_t = ::core::option::Option<
    unsafe extern "C" fn(conn_request: ucp_conn_request_h, arg: *mut ::core::ffi::c_void),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_listener_conn_handler {
    pub cb: ucp_listener_conn_callback_t,
    pub arg: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_listener_conn_handler"][::core::mem::size_of::<ucp_listener_conn_handler>() - 16usize];
    ["Alignment of ucp_listener_conn_handler"][::core::mem::align_of::<ucp_listener_conn_handler>() - 8usize];
    ["Offset of field: ucp_listener_conn_handler::cb"]
        [::core::mem::offset_of!(ucp_listener_conn_handler, cb) - 0usize];
    ["Offset of field: ucp_listener_conn_handler::arg"]
        [::core::mem::offset_of!(ucp_listener_conn_handler, arg) - 8usize];
};
pub type ucp_listener_conn_handler_t = ucp_listener_conn_handler;
pub type ucp_stream_recv_callback_t = ::core::option::Option<
    unsafe extern "C" fn(request: *mut ::core::ffi::c_void, status: ucs_status_t, length: usize),
>;
pub type ucp_stream_recv_nbx_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        request: *mut ::core::ffi::c_void,
        status: ucs_status_t,
        length: usize,
        user_data: *mut ::core::ffi::c_void,
    ),
>;
pub type ucp_tag_recv_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        request: *mut ::core::ffi::c_void,
        status: ucs_status_t,
        info: *mut ucp_tag_recv_info_t,
    ),
>;
pub type ucp_tag_recv_nbx_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        request: *mut ::core::ffi::c_void,
        status: ucs_status_t,
        tag_info: *const ucp_tag_recv_info_t,
        user_data: *mut ::core::ffi::c_void,
    ),
>;
pub type ucp_am_recv_data_nbx_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        request: *mut ::core::ffi::c_void,
        status: ucs_status_t,
        length: usize,
        user_data: *mut ::core::ffi::c_void,
    ),
>;
pub const UCP_WAKEUP_RMA: ucp_wakeup_event_types = 1;
pub const UCP_WAKEUP_AMO: ucp_wakeup_event_types = 2;
pub const UCP_WAKEUP_TAG_SEND: ucp_wakeup_event_types = 4;
pub const UCP_WAKEUP_TAG_RECV: ucp_wakeup_event_types = 8;
pub const UCP_WAKEUP_TX: ucp_wakeup_event_types = 1024;
pub const UCP_WAKEUP_RX: ucp_wakeup_event_types = 2048;
pub const UCP_WAKEUP_EDGE: ucp_wakeup_event_types = 65536;
pub type ucp_wakeup_event_types = ::core::ffi::c_uint;
pub use self::ucp_wakeup_event_types as ucp_wakeup_event_t;
pub type ucp_am_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        arg: *mut ::core::ffi::c_void,
        data: *mut ::core::ffi::c_void,
        length: usize,
        reply_ep: ucp_ep_h,
        flags: ::core::ffi::c_uint,
    ) -> ucs_status_t,
>;
pub type ucp_am_recv_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        arg: *mut ::core::ffi::c_void,
        header: *const ::core::ffi::c_void,
        header_length: usize,
        data: *mut ::core::ffi::c_void,
        length: usize,
        param: *const ucp_am_recv_param_t,
    ) -> ucs_status_t,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_ep_params {
    pub field_mask: u64,
    pub address: *const ucp_address_t,
    pub err_mode: ucp_err_handling_mode_t,
    pub err_handler: ucp_err_handler_t,
    pub user_data: *mut ::core::ffi::c_void,
    pub flags: ::core::ffi::c_uint,
    pub sockaddr: ucs_sock_addr_t,
    pub conn_request: ucp_conn_request_h,
    pub name: *const ::core::ffi::c_char,
    pub local_sockaddr: ucs_sock_addr_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_ep_params"][::core::mem::size_of::<ucp_ep_params>() - 104usize];
    ["Alignment of ucp_ep_params"][::core::mem::align_of::<ucp_ep_params>() - 8usize];
    ["Offset of field: ucp_ep_params::field_mask"]
        [::core::mem::offset_of!(ucp_ep_params, field_mask) - 0usize];
    ["Offset of field: ucp_ep_params::address"][::core::mem::offset_of!(ucp_ep_params, address) - 8usize];
    ["Offset of field: ucp_ep_params::err_mode"][::core::mem::offset_of!(ucp_ep_params, err_mode) - 16usize];
    ["Offset of field: ucp_ep_params::err_handler"]
        [::core::mem::offset_of!(ucp_ep_params, err_handler) - 24usize];
    ["Offset of field: ucp_ep_params::user_data"]
        [::core::mem::offset_of!(ucp_ep_params, user_data) - 40usize];
    ["Offset of field: ucp_ep_params::flags"][::core::mem::offset_of!(ucp_ep_params, flags) - 48usize];
    ["Offset of field: ucp_ep_params::sockaddr"][::core::mem::offset_of!(ucp_ep_params, sockaddr) - 56usize];
    ["Offset of field: ucp_ep_params::conn_request"]
        [::core::mem::offset_of!(ucp_ep_params, conn_request) - 72usize];
    ["Offset of field: ucp_ep_params::name"][::core::mem::offset_of!(ucp_ep_params, name) - 80usize];
    ["Offset of field: ucp_ep_params::local_sockaddr"]
        [::core::mem::offset_of!(ucp_ep_params, local_sockaddr) - 88usize];
};
pub type ucp_ep_params_t = ucp_ep_params;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_listener_accept_handler {
    pub cb: ucp_listener_accept_callback_t,
    pub arg: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_listener_accept_handler"][::core::mem::size_of::<ucp_listener_accept_handler>() - 16usize];
    ["Alignment of ucp_listener_accept_handler"]
        [::core::mem::align_of::<ucp_listener_accept_handler>() - 8usize];
    ["Offset of field: ucp_listener_accept_handler::cb"]
        [::core::mem::offset_of!(ucp_listener_accept_handler, cb) - 0usize];
    ["Offset of field: ucp_listener_accept_handler::arg"]
        [::core::mem::offset_of!(ucp_listener_accept_handler, arg) - 8usize];
};
pub type ucp_listener_accept_handler_t = ucp_listener_accept_handler;
pub const UCS_THREAD_MODE_SINGLE: ucs_thread_mode_t = 0;
pub const UCS_THREAD_MODE_SERIALIZED: ucs_thread_mode_t = 1;
pub const UCS_THREAD_MODE_MULTI: ucs_thread_mode_t = 2;
pub const UCS_THREAD_MODE_LAST: ucs_thread_mode_t = 3;
pub type ucs_thread_mode_t = ::core::ffi::c_uint;
pub type ucs_cpu_mask_t = ::core::ffi::c_ulong;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucs_cpu_set_t {
    pub ucs_bits: [ucs_cpu_mask_t; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucs_cpu_set_t"][::core::mem::size_of::<ucs_cpu_set_t>() - 128usize];
    ["Alignment of ucs_cpu_set_t"][::core::mem::align_of::<ucs_cpu_set_t>() - 8usize];
    ["Offset of field: ucs_cpu_set_t::ucs_bits"][::core::mem::offset_of!(ucs_cpu_set_t, ucs_bits) - 0usize];
};
pub const UCP_PARAM_FIELD_FEATURES: ucp_params_field = 1;
pub const UCP_PARAM_FIELD_REQUEST_SIZE: ucp_params_field = 2;
pub const UCP_PARAM_FIELD_REQUEST_INIT: ucp_params_field = 4;
pub const UCP_PARAM_FIELD_REQUEST_CLEANUP: ucp_params_field = 8;
pub const UCP_PARAM_FIELD_TAG_SENDER_MASK: ucp_params_field = 16;
pub const UCP_PARAM_FIELD_MT_WORKERS_SHARED: ucp_params_field = 32;
pub const UCP_PARAM_FIELD_ESTIMATED_NUM_EPS: ucp_params_field = 64;
pub const UCP_PARAM_FIELD_ESTIMATED_NUM_PPN: ucp_params_field = 128;
pub const UCP_PARAM_FIELD_NAME: ucp_params_field = 256;
pub type ucp_params_field = ::core::ffi::c_uint;
pub const UCP_FEATURE_TAG: ucp_feature = 1;
pub const UCP_FEATURE_RMA: ucp_feature = 2;
pub const UCP_FEATURE_AMO32: ucp_feature = 4;
pub const UCP_FEATURE_AMO64: ucp_feature = 8;
pub const UCP_FEATURE_WAKEUP: ucp_feature = 16;
pub const UCP_FEATURE_STREAM: ucp_feature = 32;
pub const UCP_FEATURE_AM: ucp_feature = 64;
pub type ucp_feature = ::core::ffi::c_uint;
pub const UCP_WORKER_PARAM_FIELD_THREAD_MODE: ucp_worker_params_field = 1;
pub const UCP_WORKER_PARAM_FIELD_CPU_MASK: ucp_worker_params_field = 2;
pub const UCP_WORKER_PARAM_FIELD_EVENTS: ucp_worker_params_field = 4;
pub const UCP_WORKER_PARAM_FIELD_USER_DATA: ucp_worker_params_field = 8;
pub const UCP_WORKER_PARAM_FIELD_EVENT_FD: ucp_worker_params_field = 16;
pub const UCP_WORKER_PARAM_FIELD_FLAGS: ucp_worker_params_field = 32;
pub const UCP_WORKER_PARAM_FIELD_NAME: ucp_worker_params_field = 64;
pub const UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT: ucp_worker_params_field = 128;
pub const UCP_WORKER_PARAM_FIELD_CLIENT_ID: ucp_worker_params_field = 256;
pub type ucp_worker_params_field = ::core::ffi::c_uint;
pub const UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK: ucp_worker_flags_t = 1;
pub type ucp_worker_flags_t = ::core::ffi::c_uint;
pub const UCP_LISTENER_PARAM_FIELD_SOCK_ADDR: ucp_listener_params_field = 1;
pub const UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER: ucp_listener_params_field = 2;
pub const UCP_LISTENER_PARAM_FIELD_CONN_HANDLER: ucp_listener_params_field = 4;
pub type ucp_listener_params_field = ::core::ffi::c_uint;
pub const UCP_WORKER_ADDRESS_FLAG_NET_ONLY: ucp_worker_address_flags_t = 1;
pub type ucp_worker_address_flags_t = ::core::ffi::c_uint;
pub const UCP_EP_PARAM_FIELD_REMOTE_ADDRESS: ucp_ep_params_field = 1;
pub const UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE: ucp_ep_params_field = 2;
pub const UCP_EP_PARAM_FIELD_ERR_HANDLER: ucp_ep_params_field = 4;
pub const UCP_EP_PARAM_FIELD_USER_DATA: ucp_ep_params_field = 8;
pub const UCP_EP_PARAM_FIELD_SOCK_ADDR: ucp_ep_params_field = 16;
pub const UCP_EP_PARAM_FIELD_FLAGS: ucp_ep_params_field = 32;
pub const UCP_EP_PARAM_FIELD_CONN_REQUEST: ucp_ep_params_field = 64;
pub const UCP_EP_PARAM_FIELD_NAME: ucp_ep_params_field = 128;
pub const UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR: ucp_ep_params_field = 256;
pub type ucp_ep_params_field = ::core::ffi::c_uint;
pub const UCP_EP_PARAMS_FLAGS_CLIENT_SERVER: ucp_ep_params_flags_field = 1;
pub const UCP_EP_PARAMS_FLAGS_NO_LOOPBACK: ucp_ep_params_flags_field = 2;
pub const UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID: ucp_ep_params_flags_field = 4;
pub type ucp_ep_params_flags_field = ::core::ffi::c_uint;
pub const UCP_EP_CLOSE_FLAG_FORCE: ucp_ep_close_flags_t = 1;
pub type ucp_ep_close_flags_t = ::core::ffi::c_uint;
pub const UCP_EP_CLOSE_MODE_FORCE: ucp_ep_close_mode = 0;
pub const UCP_EP_CLOSE_MODE_FLUSH: ucp_ep_close_mode = 1;
pub type ucp_ep_close_mode = ::core::ffi::c_uint;
pub const UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE: ucp_ep_perf_param_field = 1;
pub type ucp_ep_perf_param_field = ::core::ffi::c_uint;
pub use self::ucp_ep_perf_param_field as ucp_ep_perf_param_field_t;
pub const UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME: ucp_ep_perf_attr_field = 1;
pub type ucp_ep_perf_attr_field = ::core::ffi::c_uint;
pub use self::ucp_ep_perf_attr_field as ucp_ep_perf_attr_field_t;
pub const UCP_MEM_MAP_PARAM_FIELD_ADDRESS: ucp_mem_map_params_field = 1;
pub const UCP_MEM_MAP_PARAM_FIELD_LENGTH: ucp_mem_map_params_field = 2;
pub const UCP_MEM_MAP_PARAM_FIELD_FLAGS: ucp_mem_map_params_field = 4;
pub const UCP_MEM_MAP_PARAM_FIELD_PROT: ucp_mem_map_params_field = 8;
pub const UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE: ucp_mem_map_params_field = 16;
pub type ucp_mem_map_params_field = ::core::ffi::c_uint;
pub const UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS: ucp_mem_advise_params_field = 1;
pub const UCP_MEM_ADVISE_PARAM_FIELD_LENGTH: ucp_mem_advise_params_field = 2;
pub const UCP_MEM_ADVISE_PARAM_FIELD_ADVICE: ucp_mem_advise_params_field = 4;
pub type ucp_mem_advise_params_field = ::core::ffi::c_uint;
pub const UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL: ucp_lib_attr_field = 1;
pub type ucp_lib_attr_field = ::core::ffi::c_uint;
pub const UCP_ATTR_FIELD_REQUEST_SIZE: ucp_context_attr_field = 1;
pub const UCP_ATTR_FIELD_THREAD_MODE: ucp_context_attr_field = 2;
pub const UCP_ATTR_FIELD_MEMORY_TYPES: ucp_context_attr_field = 4;
pub const UCP_ATTR_FIELD_NAME: ucp_context_attr_field = 8;
pub type ucp_context_attr_field = ::core::ffi::c_uint;
pub const UCP_WORKER_ATTR_FIELD_THREAD_MODE: ucp_worker_attr_field = 1;
pub const UCP_WORKER_ATTR_FIELD_ADDRESS: ucp_worker_attr_field = 2;
pub const UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS: ucp_worker_attr_field = 4;
pub const UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER: ucp_worker_attr_field = 8;
pub const UCP_WORKER_ATTR_FIELD_NAME: ucp_worker_attr_field = 16;
pub const UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING: ucp_worker_attr_field = 32;
pub type ucp_worker_attr_field = ::core::ffi::c_uint;
pub const UCP_WORKER_ADDRESS_ATTR_FIELD_UID: ucp_worker_address_attr_field = 1;
pub type ucp_worker_address_attr_field = ::core::ffi::c_uint;
pub const UCP_LISTENER_ATTR_FIELD_SOCKADDR: ucp_listener_attr_field = 1;
pub type ucp_listener_attr_field = ::core::ffi::c_uint;
pub const UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR: ucp_conn_request_attr_field = 1;
pub const UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID: ucp_conn_request_attr_field = 2;
pub type ucp_conn_request_attr_field = ::core::ffi::c_uint;
pub const UCP_DATATYPE_CONTIG: ucp_dt_type = 0;
pub const UCP_DATATYPE_STRIDED: ucp_dt_type = 1;
pub const UCP_DATATYPE_IOV: ucp_dt_type = 2;
pub const UCP_DATATYPE_GENERIC: ucp_dt_type = 7;
pub const UCP_DATATYPE_SHIFT: ucp_dt_type = 3;
pub const UCP_DATATYPE_CLASS_MASK: ucp_dt_type = 7;
pub type ucp_dt_type = ::core::ffi::c_uint;
pub const UCP_MEM_MAP_NONBLOCK: _bindgen_ty_4 = 1;
pub const UCP_MEM_MAP_ALLOCATE: _bindgen_ty_4 = 2;
pub const UCP_MEM_MAP_FIXED: _bindgen_ty_4 = 4;
pub type _bindgen_ty_4 = ::core::ffi::c_uint;
pub const UCP_MEM_MAP_PROT_LOCAL_READ: _bindgen_ty_5 = 1;
pub const UCP_MEM_MAP_PROT_LOCAL_WRITE: _bindgen_ty_5 = 2;
pub const UCP_MEM_MAP_PROT_REMOTE_READ: _bindgen_ty_5 = 256;
pub const UCP_MEM_MAP_PROT_REMOTE_WRITE: _bindgen_ty_5 = 512;
pub type _bindgen_ty_5 = ::core::ffi::c_uint;
pub const UCP_AM_FLAG_WHOLE_MSG: ucp_am_cb_flags = 1;
pub const UCP_AM_FLAG_PERSISTENT_DATA: ucp_am_cb_flags = 2;
pub type ucp_am_cb_flags = ::core::ffi::c_uint;
pub const UCP_AM_SEND_FLAG_REPLY: ucp_send_am_flags = 1;
pub const UCP_AM_SEND_FLAG_EAGER: ucp_send_am_flags = 2;
pub const UCP_AM_SEND_FLAG_RNDV: ucp_send_am_flags = 4;
pub const UCP_AM_SEND_REPLY: ucp_send_am_flags = 1;
pub type ucp_send_am_flags = ::core::ffi::c_uint;
pub const UCP_CB_PARAM_FLAG_DATA: ucp_cb_param_flags = 1;
pub type ucp_cb_param_flags = ::core::ffi::c_uint;
pub const UCP_ATOMIC_POST_OP_ADD: ucp_atomic_post_op_t = 0;
pub const UCP_ATOMIC_POST_OP_AND: ucp_atomic_post_op_t = 1;
pub const UCP_ATOMIC_POST_OP_OR: ucp_atomic_post_op_t = 2;
pub const UCP_ATOMIC_POST_OP_XOR: ucp_atomic_post_op_t = 3;
pub const UCP_ATOMIC_POST_OP_LAST: ucp_atomic_post_op_t = 4;
pub type ucp_atomic_post_op_t = ::core::ffi::c_uint;
pub const UCP_ATOMIC_FETCH_OP_FADD: ucp_atomic_fetch_op_t = 0;
pub const UCP_ATOMIC_FETCH_OP_SWAP: ucp_atomic_fetch_op_t = 1;
pub const UCP_ATOMIC_FETCH_OP_CSWAP: ucp_atomic_fetch_op_t = 2;
pub const UCP_ATOMIC_FETCH_OP_FAND: ucp_atomic_fetch_op_t = 3;
pub const UCP_ATOMIC_FETCH_OP_FOR: ucp_atomic_fetch_op_t = 4;
pub const UCP_ATOMIC_FETCH_OP_FXOR: ucp_atomic_fetch_op_t = 5;
pub const UCP_ATOMIC_FETCH_OP_LAST: ucp_atomic_fetch_op_t = 6;
pub type ucp_atomic_fetch_op_t = ::core::ffi::c_uint;
pub const UCP_ATOMIC_OP_ADD: ucp_atomic_op_t = 0;
pub const UCP_ATOMIC_OP_SWAP: ucp_atomic_op_t = 1;
pub const UCP_ATOMIC_OP_CSWAP: ucp_atomic_op_t = 2;
pub const UCP_ATOMIC_OP_AND: ucp_atomic_op_t = 3;
pub const UCP_ATOMIC_OP_OR: ucp_atomic_op_t = 4;
pub const UCP_ATOMIC_OP_XOR: ucp_atomic_op_t = 5;
pub const UCP_ATOMIC_OP_LAST: ucp_atomic_op_t = 6;
pub type ucp_atomic_op_t = ::core::ffi::c_uint;
pub const UCP_STREAM_RECV_FLAG_WAITALL: ucp_stream_recv_flags_t = 1;
pub type ucp_stream_recv_flags_t = ::core::ffi::c_uint;
pub const UCP_OP_ATTR_FIELD_REQUEST: ucp_op_attr_t = 1;
pub const UCP_OP_ATTR_FIELD_CALLBACK: ucp_op_attr_t = 2;
pub const UCP_OP_ATTR_FIELD_USER_DATA: ucp_op_attr_t = 4;
pub const UCP_OP_ATTR_FIELD_DATATYPE: ucp_op_attr_t = 8;
pub const UCP_OP_ATTR_FIELD_FLAGS: ucp_op_attr_t = 16;
pub const UCP_OP_ATTR_FIELD_REPLY_BUFFER: ucp_op_attr_t = 32;
pub const UCP_OP_ATTR_FIELD_MEMORY_TYPE: ucp_op_attr_t = 64;
pub const UCP_OP_ATTR_FIELD_RECV_INFO: ucp_op_attr_t = 128;
pub const UCP_OP_ATTR_FIELD_MEMH: ucp_op_attr_t = 256;
pub const UCP_OP_ATTR_FLAG_NO_IMM_CMPL: ucp_op_attr_t = 65536;
pub const UCP_OP_ATTR_FLAG_FAST_CMPL: ucp_op_attr_t = 131072;
pub const UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL: ucp_op_attr_t = 262144;
pub const UCP_OP_ATTR_FLAG_MULTI_SEND: ucp_op_attr_t = 524288;
pub type ucp_op_attr_t = ::core::ffi::c_uint;
pub const UCP_REQUEST_ATTR_FIELD_INFO_STRING: ucp_req_attr_field = 1;
pub const UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE: ucp_req_attr_field = 2;
pub const UCP_REQUEST_ATTR_FIELD_STATUS: ucp_req_attr_field = 4;
pub const UCP_REQUEST_ATTR_FIELD_MEM_TYPE: ucp_req_attr_field = 8;
pub type ucp_req_attr_field = ::core::ffi::c_uint;
pub const UCP_AM_RECV_ATTR_FIELD_REPLY_EP: ucp_am_recv_attr_t = 1;
pub const UCP_AM_RECV_ATTR_FLAG_DATA: ucp_am_recv_attr_t = 65536;
pub const UCP_AM_RECV_ATTR_FLAG_RNDV: ucp_am_recv_attr_t = 131072;
pub type ucp_am_recv_attr_t = ::core::ffi::c_uint;
pub const UCP_AM_HANDLER_PARAM_FIELD_ID: ucp_am_handler_param_field = 1;
pub const UCP_AM_HANDLER_PARAM_FIELD_FLAGS: ucp_am_handler_param_field = 2;
pub const UCP_AM_HANDLER_PARAM_FIELD_CB: ucp_am_handler_param_field = 4;
pub const UCP_AM_HANDLER_PARAM_FIELD_ARG: ucp_am_handler_param_field = 8;
pub type ucp_am_handler_param_field = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_dt_iov {
    pub buffer: *mut ::core::ffi::c_void,
    pub length: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_dt_iov"][::core::mem::size_of::<ucp_dt_iov>() - 16usize];
    ["Alignment of ucp_dt_iov"][::core::mem::align_of::<ucp_dt_iov>() - 8usize];
    ["Offset of field: ucp_dt_iov::buffer"][::core::mem::offset_of!(ucp_dt_iov, buffer) - 0usize];
    ["Offset of field: ucp_dt_iov::length"][::core::mem::offset_of!(ucp_dt_iov, length) - 8usize];
};
pub type ucp_dt_iov_t = ucp_dt_iov;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_generic_dt_ops {
    pub start_pack: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            buffer: *const ::core::ffi::c_void,
            count: usize,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub start_unpack: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            buffer: *mut ::core::ffi::c_void,
            count: usize,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub packed_size: ::core::option::Option<unsafe extern "C" fn(state: *mut ::core::ffi::c_void) -> usize>,
    pub pack: ::core::option::Option<
        unsafe extern "C" fn(
            state: *mut ::core::ffi::c_void,
            offset: usize,
            dest: *mut ::core::ffi::c_void,
            max_length: usize,
        ) -> usize,
    >,
    pub unpack: ::core::option::Option<
        unsafe extern "C" fn(
            state: *mut ::core::ffi::c_void,
            offset: usize,
            src: *const ::core::ffi::c_void,
            length: usize,
        ) -> ucs_status_t,
    >,
    pub finish: ::core::option::Option<unsafe extern "C" fn(state: *mut ::core::ffi::c_void)>,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_generic_dt_ops"][::core::mem::size_of::<ucp_generic_dt_ops>() - 48usize];
    ["Alignment of ucp_generic_dt_ops"][::core::mem::align_of::<ucp_generic_dt_ops>() - 8usize];
    ["Offset of field: ucp_generic_dt_ops::start_pack"]
        [::core::mem::offset_of!(ucp_generic_dt_ops, start_pack) - 0usize];
    ["Offset of field: ucp_generic_dt_ops::start_unpack"]
        [::core::mem::offset_of!(ucp_generic_dt_ops, start_unpack) - 8usize];
    ["Offset of field: ucp_generic_dt_ops::packed_size"]
        [::core::mem::offset_of!(ucp_generic_dt_ops, packed_size) - 16usize];
    ["Offset of field: ucp_generic_dt_ops::pack"]
        [::core::mem::offset_of!(ucp_generic_dt_ops, pack) - 24usize];
    ["Offset of field: ucp_generic_dt_ops::unpack"]
        [::core::mem::offset_of!(ucp_generic_dt_ops, unpack) - 32usize];
    ["Offset of field: ucp_generic_dt_ops::finish"]
        [::core::mem::offset_of!(ucp_generic_dt_ops, finish) - 40usize];
};
pub type ucp_generic_dt_ops_t = ucp_generic_dt_ops;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_params {
    pub field_mask: u64,
    pub features: u64,
    pub request_size: usize,
    pub request_init: ucp_request_init_callback_t,
    pub request_cleanup: ucp_request_cleanup_callback_t,
    pub tag_sender_mask: u64,
    pub mt_workers_shared: ::core::ffi::c_int,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub name: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_params"][::core::mem::size_of::<ucp_params>() - 80usize];
    ["Alignment of ucp_params"][::core::mem::align_of::<ucp_params>() - 8usize];
    ["Offset of field: ucp_params::field_mask"][::core::mem::offset_of!(ucp_params, field_mask) - 0usize];
    ["Offset of field: ucp_params::features"][::core::mem::offset_of!(ucp_params, features) - 8usize];
    ["Offset of field: ucp_params::request_size"]
        [::core::mem::offset_of!(ucp_params, request_size) - 16usize];
    ["Offset of field: ucp_params::request_init"]
        [::core::mem::offset_of!(ucp_params, request_init) - 24usize];
    ["Offset of field: ucp_params::request_cleanup"]
        [::core::mem::offset_of!(ucp_params, request_cleanup) - 32usize];
    ["Offset of field: ucp_params::tag_sender_mask"]
        [::core::mem::offset_of!(ucp_params, tag_sender_mask) - 40usize];
    ["Offset of field: ucp_params::mt_workers_shared"]
        [::core::mem::offset_of!(ucp_params, mt_workers_shared) - 48usize];
    ["Offset of field: ucp_params::estimated_num_eps"]
        [::core::mem::offset_of!(ucp_params, estimated_num_eps) - 56usize];
    ["Offset of field: ucp_params::estimated_num_ppn"]
        [::core::mem::offset_of!(ucp_params, estimated_num_ppn) - 64usize];
    ["Offset of field: ucp_params::name"][::core::mem::offset_of!(ucp_params, name) - 72usize];
};
pub type ucp_params_t = ucp_params;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_lib_attr {
    pub field_mask: u64,
    pub max_thread_level: ucs_thread_mode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_lib_attr"][::core::mem::size_of::<ucp_lib_attr>() - 16usize];
    ["Alignment of ucp_lib_attr"][::core::mem::align_of::<ucp_lib_attr>() - 8usize];
    ["Offset of field: ucp_lib_attr::field_mask"][::core::mem::offset_of!(ucp_lib_attr, field_mask) - 0usize];
    ["Offset of field: ucp_lib_attr::max_thread_level"]
        [::core::mem::offset_of!(ucp_lib_attr, max_thread_level) - 8usize];
};
pub type ucp_lib_attr_t = ucp_lib_attr;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_context_attr {
    pub field_mask: u64,
    pub request_size: usize,
    pub thread_mode: ucs_thread_mode_t,
    pub memory_types: u64,
    pub name: [::core::ffi::c_char; 32usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_context_attr"][::core::mem::size_of::<ucp_context_attr>() - 64usize];
    ["Alignment of ucp_context_attr"][::core::mem::align_of::<ucp_context_attr>() - 8usize];
    ["Offset of field: ucp_context_attr::field_mask"]
        [::core::mem::offset_of!(ucp_context_attr, field_mask) - 0usize];
    ["Offset of field: ucp_context_attr::request_size"]
        [::core::mem::offset_of!(ucp_context_attr, request_size) - 8usize];
    ["Offset of field: ucp_context_attr::thread_mode"]
        [::core::mem::offset_of!(ucp_context_attr, thread_mode) - 16usize];
    ["Offset of field: ucp_context_attr::memory_types"]
        [::core::mem::offset_of!(ucp_context_attr, memory_types) - 24usize];
    ["Offset of field: ucp_context_attr::name"][::core::mem::offset_of!(ucp_context_attr, name) - 32usize];
};
pub type ucp_context_attr_t = ucp_context_attr;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_worker_attr {
    pub field_mask: u64,
    pub thread_mode: ucs_thread_mode_t,
    pub address_flags: u32,
    pub address: *mut ucp_address_t,
    pub address_length: usize,
    pub max_am_header: usize,
    pub name: [::core::ffi::c_char; 32usize],
    pub max_debug_string: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_worker_attr"][::core::mem::size_of::<ucp_worker_attr>() - 80usize];
    ["Alignment of ucp_worker_attr"][::core::mem::align_of::<ucp_worker_attr>() - 8usize];
    ["Offset of field: ucp_worker_attr::field_mask"]
        [::core::mem::offset_of!(ucp_worker_attr, field_mask) - 0usize];
    ["Offset of field: ucp_worker_attr::thread_mode"]
        [::core::mem::offset_of!(ucp_worker_attr, thread_mode) - 8usize];
    ["Offset of field: ucp_worker_attr::address_flags"]
        [::core::mem::offset_of!(ucp_worker_attr, address_flags) - 12usize];
    ["Offset of field: ucp_worker_attr::address"]
        [::core::mem::offset_of!(ucp_worker_attr, address) - 16usize];
    ["Offset of field: ucp_worker_attr::address_length"]
        [::core::mem::offset_of!(ucp_worker_attr, address_length) - 24usize];
    ["Offset of field: ucp_worker_attr::max_am_header"]
        [::core::mem::offset_of!(ucp_worker_attr, max_am_header) - 32usize];
    ["Offset of field: ucp_worker_attr::name"][::core::mem::offset_of!(ucp_worker_attr, name) - 40usize];
    ["Offset of field: ucp_worker_attr::max_debug_string"]
        [::core::mem::offset_of!(ucp_worker_attr, max_debug_string) - 72usize];
};
pub type ucp_worker_attr_t = ucp_worker_attr;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_worker_params {
    pub field_mask: u64,
    pub thread_mode: ucs_thread_mode_t,
    pub cpu_mask: ucs_cpu_set_t,
    pub events: ::core::ffi::c_uint,
    pub user_data: *mut ::core::ffi::c_void,
    pub event_fd: ::core::ffi::c_int,
    pub flags: u64,
    pub name: *const ::core::ffi::c_char,
    pub am_alignment: usize,
    pub client_id: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_worker_params"][::core::mem::size_of::<ucp_worker_params>() - 200usize];
    ["Alignment of ucp_worker_params"][::core::mem::align_of::<ucp_worker_params>() - 8usize];
    ["Offset of field: ucp_worker_params::field_mask"]
        [::core::mem::offset_of!(ucp_worker_params, field_mask) - 0usize];
    ["Offset of field: ucp_worker_params::thread_mode"]
        [::core::mem::offset_of!(ucp_worker_params, thread_mode) - 8usize];
    ["Offset of field: ucp_worker_params::cpu_mask"]
        [::core::mem::offset_of!(ucp_worker_params, cpu_mask) - 16usize];
    ["Offset of field: ucp_worker_params::events"]
        [::core::mem::offset_of!(ucp_worker_params, events) - 144usize];
    ["Offset of field: ucp_worker_params::user_data"]
        [::core::mem::offset_of!(ucp_worker_params, user_data) - 152usize];
    ["Offset of field: ucp_worker_params::event_fd"]
        [::core::mem::offset_of!(ucp_worker_params, event_fd) - 160usize];
    ["Offset of field: ucp_worker_params::flags"]
        [::core::mem::offset_of!(ucp_worker_params, flags) - 168usize];
    ["Offset of field: ucp_worker_params::name"][::core::mem::offset_of!(ucp_worker_params, name) - 176usize];
    ["Offset of field: ucp_worker_params::am_alignment"]
        [::core::mem::offset_of!(ucp_worker_params, am_alignment) - 184usize];
    ["Offset of field: ucp_worker_params::client_id"]
        [::core::mem::offset_of!(ucp_worker_params, client_id) - 192usize];
};
pub type ucp_worker_params_t = ucp_worker_params;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_worker_address_attr {
    pub field_mask: u64,
    pub worker_uid: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_worker_address_attr"][::core::mem::size_of::<ucp_worker_address_attr>() - 16usize];
    ["Alignment of ucp_worker_address_attr"][::core::mem::align_of::<ucp_worker_address_attr>() - 8usize];
    ["Offset of field: ucp_worker_address_attr::field_mask"]
        [::core::mem::offset_of!(ucp_worker_address_attr, field_mask) - 0usize];
    ["Offset of field: ucp_worker_address_attr::worker_uid"]
        [::core::mem::offset_of!(ucp_worker_address_attr, worker_uid) - 8usize];
};
pub type ucp_worker_address_attr_t = ucp_worker_address_attr;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_ep_evaluate_perf_param_t {
    pub field_mask: u64,
    pub message_size: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_ep_evaluate_perf_param_t"]
        [::core::mem::size_of::<ucp_ep_evaluate_perf_param_t>() - 16usize];
    ["Alignment of ucp_ep_evaluate_perf_param_t"]
        [::core::mem::align_of::<ucp_ep_evaluate_perf_param_t>() - 8usize];
    ["Offset of field: ucp_ep_evaluate_perf_param_t::field_mask"]
        [::core::mem::offset_of!(ucp_ep_evaluate_perf_param_t, field_mask) - 0usize];
    ["Offset of field: ucp_ep_evaluate_perf_param_t::message_size"]
        [::core::mem::offset_of!(ucp_ep_evaluate_perf_param_t, message_size) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_ep_evaluate_perf_attr_t {
    pub field_mask: u64,
    pub estimated_time: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_ep_evaluate_perf_attr_t"][::core::mem::size_of::<ucp_ep_evaluate_perf_attr_t>() - 16usize];
    ["Alignment of ucp_ep_evaluate_perf_attr_t"]
        [::core::mem::align_of::<ucp_ep_evaluate_perf_attr_t>() - 8usize];
    ["Offset of field: ucp_ep_evaluate_perf_attr_t::field_mask"]
        [::core::mem::offset_of!(ucp_ep_evaluate_perf_attr_t, field_mask) - 0usize];
    ["Offset of field: ucp_ep_evaluate_perf_attr_t::estimated_time"]
        [::core::mem::offset_of!(ucp_ep_evaluate_perf_attr_t, estimated_time) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_listener_attr {
    pub field_mask: u64,
    pub sockaddr: sockaddr_storage,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_listener_attr"][::core::mem::size_of::<ucp_listener_attr>() - 136usize];
    ["Alignment of ucp_listener_attr"][::core::mem::align_of::<ucp_listener_attr>() - 8usize];
    ["Offset of field: ucp_listener_attr::field_mask"]
        [::core::mem::offset_of!(ucp_listener_attr, field_mask) - 0usize];
    ["Offset of field: ucp_listener_attr::sockaddr"]
        [::core::mem::offset_of!(ucp_listener_attr, sockaddr) - 8usize];
};
pub type ucp_listener_attr_t = ucp_listener_attr;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_conn_request_attr {
    pub field_mask: u64,
    pub client_address: sockaddr_storage,
    pub client_id: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_conn_request_attr"][::core::mem::size_of::<ucp_conn_request_attr>() - 144usize];
    ["Alignment of ucp_conn_request_attr"][::core::mem::align_of::<ucp_conn_request_attr>() - 8usize];
    ["Offset of field: ucp_conn_request_attr::field_mask"]
        [::core::mem::offset_of!(ucp_conn_request_attr, field_mask) - 0usize];
    ["Offset of field: ucp_conn_request_attr::client_address"]
        [::core::mem::offset_of!(ucp_conn_request_attr, client_address) - 8usize];
    ["Offset of field: ucp_conn_request_attr::client_id"]
        [::core::mem::offset_of!(ucp_conn_request_attr, client_id) - 136usize];
};
pub type ucp_conn_request_attr_t = ucp_conn_request_attr;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_listener_params {
    pub field_mask: u64,
    pub sockaddr: ucs_sock_addr_t,
    pub accept_handler: ucp_listener_accept_handler_t,
    pub conn_handler: ucp_listener_conn_handler_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_listener_params"][::core::mem::size_of::<ucp_listener_params>() - 56usize];
    ["Alignment of ucp_listener_params"][::core::mem::align_of::<ucp_listener_params>() - 8usize];
    ["Offset of field: ucp_listener_params::field_mask"]
        [::core::mem::offset_of!(ucp_listener_params, field_mask) - 0usize];
    ["Offset of field: ucp_listener_params::sockaddr"]
        [::core::mem::offset_of!(ucp_listener_params, sockaddr) - 8usize];
    ["Offset of field: ucp_listener_params::accept_handler"]
        [::core::mem::offset_of!(ucp_listener_params, accept_handler) - 24usize];
    ["Offset of field: ucp_listener_params::conn_handler"]
        [::core::mem::offset_of!(ucp_listener_params, conn_handler) - 40usize];
};
pub type ucp_listener_params_t = ucp_listener_params;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_stream_poll_ep {
    pub ep: ucp_ep_h,
    pub user_data: *mut ::core::ffi::c_void,
    pub flags: ::core::ffi::c_uint,
    pub reserved: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_stream_poll_ep"][::core::mem::size_of::<ucp_stream_poll_ep>() - 40usize];
    ["Alignment of ucp_stream_poll_ep"][::core::mem::align_of::<ucp_stream_poll_ep>() - 8usize];
    ["Offset of field: ucp_stream_poll_ep::ep"][::core::mem::offset_of!(ucp_stream_poll_ep, ep) - 0usize];
    ["Offset of field: ucp_stream_poll_ep::user_data"]
        [::core::mem::offset_of!(ucp_stream_poll_ep, user_data) - 8usize];
    ["Offset of field: ucp_stream_poll_ep::flags"]
        [::core::mem::offset_of!(ucp_stream_poll_ep, flags) - 16usize];
    ["Offset of field: ucp_stream_poll_ep::reserved"]
        [::core::mem::offset_of!(ucp_stream_poll_ep, reserved) - 20usize];
};
pub type ucp_stream_poll_ep_t = ucp_stream_poll_ep;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_mem_map_params {
    pub field_mask: u64,
    pub address: *mut ::core::ffi::c_void,
    pub length: usize,
    pub flags: ::core::ffi::c_uint,
    pub prot: ::core::ffi::c_uint,
    pub memory_type: ucs_memory_type_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_mem_map_params"][::core::mem::size_of::<ucp_mem_map_params>() - 40usize];
    ["Alignment of ucp_mem_map_params"][::core::mem::align_of::<ucp_mem_map_params>() - 8usize];
    ["Offset of field: ucp_mem_map_params::field_mask"]
        [::core::mem::offset_of!(ucp_mem_map_params, field_mask) - 0usize];
    ["Offset of field: ucp_mem_map_params::address"]
        [::core::mem::offset_of!(ucp_mem_map_params, address) - 8usize];
    ["Offset of field: ucp_mem_map_params::length"]
        [::core::mem::offset_of!(ucp_mem_map_params, length) - 16usize];
    ["Offset of field: ucp_mem_map_params::flags"]
        [::core::mem::offset_of!(ucp_mem_map_params, flags) - 24usize];
    ["Offset of field: ucp_mem_map_params::prot"]
        [::core::mem::offset_of!(ucp_mem_map_params, prot) - 28usize];
    ["Offset of field: ucp_mem_map_params::memory_type"]
        [::core::mem::offset_of!(ucp_mem_map_params, memory_type) - 32usize];
};
pub type ucp_mem_map_params_t = ucp_mem_map_params;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_tag_recv_info {
    pub sender_tag: ucp_tag_t,
    pub length: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_tag_recv_info"][::core::mem::size_of::<ucp_tag_recv_info>() - 16usize];
    ["Alignment of ucp_tag_recv_info"][::core::mem::align_of::<ucp_tag_recv_info>() - 8usize];
    ["Offset of field: ucp_tag_recv_info::sender_tag"]
        [::core::mem::offset_of!(ucp_tag_recv_info, sender_tag) - 0usize];
    ["Offset of field: ucp_tag_recv_info::length"]
        [::core::mem::offset_of!(ucp_tag_recv_info, length) - 8usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ucp_request_param_t {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut ::core::ffi::c_void,
    pub cb: ucp_request_param_t__bindgen_ty_1,
    pub datatype: ucp_datatype_t,
    pub user_data: *mut ::core::ffi::c_void,
    pub reply_buffer: *mut ::core::ffi::c_void,
    pub memory_type: ucs_memory_type_t,
    pub recv_info: ucp_request_param_t__bindgen_ty_2,
    pub memh: ucp_mem_h,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union ucp_request_param_t__bindgen_ty_1 {
    pub send: ucp_send_nbx_callback_t,
    pub recv: ucp_tag_recv_nbx_callback_t,
    pub recv_stream: ucp_stream_recv_nbx_callback_t,
    pub recv_am: ucp_am_recv_data_nbx_callback_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_request_param_t__bindgen_ty_1"]
        [::core::mem::size_of::<ucp_request_param_t__bindgen_ty_1>() - 8usize];
    ["Alignment of ucp_request_param_t__bindgen_ty_1"]
        [::core::mem::align_of::<ucp_request_param_t__bindgen_ty_1>() - 8usize];
    ["Offset of field: ucp_request_param_t__bindgen_ty_1::send"]
        [::core::mem::offset_of!(ucp_request_param_t__bindgen_ty_1, send) - 0usize];
    ["Offset of field: ucp_request_param_t__bindgen_ty_1::recv"]
        [::core::mem::offset_of!(ucp_request_param_t__bindgen_ty_1, recv) - 0usize];
    ["Offset of field: ucp_request_param_t__bindgen_ty_1::recv_stream"]
        [::core::mem::offset_of!(ucp_request_param_t__bindgen_ty_1, recv_stream) - 0usize];
    ["Offset of field: ucp_request_param_t__bindgen_ty_1::recv_am"]
        [::core::mem::offset_of!(ucp_request_param_t__bindgen_ty_1, recv_am) - 0usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub union ucp_request_param_t__bindgen_ty_2 {
    pub length: *mut usize,
    pub tag_info: *mut ucp_tag_recv_info_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_request_param_t__bindgen_ty_2"]
        [::core::mem::size_of::<ucp_request_param_t__bindgen_ty_2>() - 8usize];
    ["Alignment of ucp_request_param_t__bindgen_ty_2"]
        [::core::mem::align_of::<ucp_request_param_t__bindgen_ty_2>() - 8usize];
    ["Offset of field: ucp_request_param_t__bindgen_ty_2::length"]
        [::core::mem::offset_of!(ucp_request_param_t__bindgen_ty_2, length) - 0usize];
    ["Offset of field: ucp_request_param_t__bindgen_ty_2::tag_info"]
        [::core::mem::offset_of!(ucp_request_param_t__bindgen_ty_2, tag_info) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_request_param_t"][::core::mem::size_of::<ucp_request_param_t>() - 72usize];
    ["Alignment of ucp_request_param_t"][::core::mem::align_of::<ucp_request_param_t>() - 8usize];
    ["Offset of field: ucp_request_param_t::op_attr_mask"]
        [::core::mem::offset_of!(ucp_request_param_t, op_attr_mask) - 0usize];
    ["Offset of field: ucp_request_param_t::flags"]
        [::core::mem::offset_of!(ucp_request_param_t, flags) - 4usize];
    ["Offset of field: ucp_request_param_t::request"]
        [::core::mem::offset_of!(ucp_request_param_t, request) - 8usize];
    ["Offset of field: ucp_request_param_t::cb"][::core::mem::offset_of!(ucp_request_param_t, cb) - 16usize];
    ["Offset of field: ucp_request_param_t::datatype"]
        [::core::mem::offset_of!(ucp_request_param_t, datatype) - 24usize];
    ["Offset of field: ucp_request_param_t::user_data"]
        [::core::mem::offset_of!(ucp_request_param_t, user_data) - 32usize];
    ["Offset of field: ucp_request_param_t::reply_buffer"]
        [::core::mem::offset_of!(ucp_request_param_t, reply_buffer) - 40usize];
    ["Offset of field: ucp_request_param_t::memory_type"]
        [::core::mem::offset_of!(ucp_request_param_t, memory_type) - 48usize];
    ["Offset of field: ucp_request_param_t::recv_info"]
        [::core::mem::offset_of!(ucp_request_param_t, recv_info) - 56usize];
    ["Offset of field: ucp_request_param_t::memh"]
        [::core::mem::offset_of!(ucp_request_param_t, memh) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_request_attr_t {
    pub field_mask: u64,
    pub debug_string: *mut ::core::ffi::c_char,
    pub debug_string_size: usize,
    pub status: ucs_status_t,
    pub mem_type: ucs_memory_type_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_request_attr_t"][::core::mem::size_of::<ucp_request_attr_t>() - 32usize];
    ["Alignment of ucp_request_attr_t"][::core::mem::align_of::<ucp_request_attr_t>() - 8usize];
    ["Offset of field: ucp_request_attr_t::field_mask"]
        [::core::mem::offset_of!(ucp_request_attr_t, field_mask) - 0usize];
    ["Offset of field: ucp_request_attr_t::debug_string"]
        [::core::mem::offset_of!(ucp_request_attr_t, debug_string) - 8usize];
    ["Offset of field: ucp_request_attr_t::debug_string_size"]
        [::core::mem::offset_of!(ucp_request_attr_t, debug_string_size) - 16usize];
    ["Offset of field: ucp_request_attr_t::status"]
        [::core::mem::offset_of!(ucp_request_attr_t, status) - 24usize];
    ["Offset of field: ucp_request_attr_t::mem_type"]
        [::core::mem::offset_of!(ucp_request_attr_t, mem_type) - 28usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_am_handler_param {
    pub field_mask: u64,
    pub id: ::core::ffi::c_uint,
    pub flags: u32,
    pub cb: ucp_am_recv_callback_t,
    pub arg: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_am_handler_param"][::core::mem::size_of::<ucp_am_handler_param>() - 32usize];
    ["Alignment of ucp_am_handler_param"][::core::mem::align_of::<ucp_am_handler_param>() - 8usize];
    ["Offset of field: ucp_am_handler_param::field_mask"]
        [::core::mem::offset_of!(ucp_am_handler_param, field_mask) - 0usize];
    ["Offset of field: ucp_am_handler_param::id"][::core::mem::offset_of!(ucp_am_handler_param, id) - 8usize];
    ["Offset of field: ucp_am_handler_param::flags"]
        [::core::mem::offset_of!(ucp_am_handler_param, flags) - 12usize];
    ["Offset of field: ucp_am_handler_param::cb"]
        [::core::mem::offset_of!(ucp_am_handler_param, cb) - 16usize];
    ["Offset of field: ucp_am_handler_param::arg"]
        [::core::mem::offset_of!(ucp_am_handler_param, arg) - 24usize];
};
pub type ucp_am_handler_param_t = ucp_am_handler_param;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_am_recv_param {
    pub recv_attr: u64,
    pub reply_ep: ucp_ep_h,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_am_recv_param"][::core::mem::size_of::<ucp_am_recv_param>() - 16usize];
    ["Alignment of ucp_am_recv_param"][::core::mem::align_of::<ucp_am_recv_param>() - 8usize];
    ["Offset of field: ucp_am_recv_param::recv_attr"]
        [::core::mem::offset_of!(ucp_am_recv_param, recv_attr) - 0usize];
    ["Offset of field: ucp_am_recv_param::reply_ep"]
        [::core::mem::offset_of!(ucp_am_recv_param, reply_ep) - 8usize];
};
pub const UCP_MADV_NORMAL: ucp_mem_advice = 0;
pub const UCP_MADV_WILLNEED: ucp_mem_advice = 1;
pub type ucp_mem_advice = ::core::ffi::c_uint;
pub use self::ucp_mem_advice as ucp_mem_advice_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_mem_advise_params {
    pub field_mask: u64,
    pub address: *mut ::core::ffi::c_void,
    pub length: usize,
    pub advice: ucp_mem_advice_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_mem_advise_params"][::core::mem::size_of::<ucp_mem_advise_params>() - 32usize];
    ["Alignment of ucp_mem_advise_params"][::core::mem::align_of::<ucp_mem_advise_params>() - 8usize];
    ["Offset of field: ucp_mem_advise_params::field_mask"]
        [::core::mem::offset_of!(ucp_mem_advise_params, field_mask) - 0usize];
    ["Offset of field: ucp_mem_advise_params::address"]
        [::core::mem::offset_of!(ucp_mem_advise_params, address) - 8usize];
    ["Offset of field: ucp_mem_advise_params::length"]
        [::core::mem::offset_of!(ucp_mem_advise_params, length) - 16usize];
    ["Offset of field: ucp_mem_advise_params::advice"]
        [::core::mem::offset_of!(ucp_mem_advise_params, advice) - 24usize];
};
pub type ucp_mem_advise_params_t = ucp_mem_advise_params;
pub const UCP_EP_ATTR_FIELD_NAME: ucp_ep_attr_field = 1;
pub const UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR: ucp_ep_attr_field = 2;
pub const UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR: ucp_ep_attr_field = 4;
pub type ucp_ep_attr_field = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucp_ep_attr {
    pub field_mask: u64,
    pub name: [::core::ffi::c_char; 32usize],
    pub local_sockaddr: sockaddr_storage,
    pub remote_sockaddr: sockaddr_storage,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucp_ep_attr"][::core::mem::size_of::<ucp_ep_attr>() - 296usize];
    ["Alignment of ucp_ep_attr"][::core::mem::align_of::<ucp_ep_attr>() - 8usize];
    ["Offset of field: ucp_ep_attr::field_mask"][::core::mem::offset_of!(ucp_ep_attr, field_mask) - 0usize];
    ["Offset of field: ucp_ep_attr::name"][::core::mem::offset_of!(ucp_ep_attr, name) - 8usize];
    ["Offset of field: ucp_ep_attr::local_sockaddr"]
        [::core::mem::offset_of!(ucp_ep_attr, local_sockaddr) - 40usize];
    ["Offset of field: ucp_ep_attr::remote_sockaddr"]
        [::core::mem::offset_of!(ucp_ep_attr, remote_sockaddr) - 168usize];
};
pub type ucp_ep_attr_t = ucp_ep_attr;
#[repr(C)]
#[derive(Debug)]
pub struct uct_component {
    _unused: [u8; 0],
}
pub type uct_component_h = *mut uct_component;
pub type uct_iface_h = *mut uct_iface;
#[repr(C)]
#[derive(Debug)]
pub struct uct_iface_config {
    _unused: [u8; 0],
}
pub type uct_iface_config_t = uct_iface_config;
#[repr(C)]
#[derive(Debug)]
pub struct uct_md_config {
    _unused: [u8; 0],
}
pub type uct_md_config_t = uct_md_config;
pub type uct_ep_h = *mut uct_ep;
pub type uct_mem_h = *mut ::core::ffi::c_void;
pub type uct_rkey_t = usize;
#[repr(C)]
#[derive(Debug)]
pub struct uct_md {
    _unused: [u8; 0],
}
pub type uct_md_h = *mut uct_md;
pub type uct_iface_attr_t = uct_iface_attr;
pub type uct_iface_params_t = uct_iface_params;
#[repr(C)]
#[derive(Debug)]
pub struct uct_ep_attr {
    _unused: [u8; 0],
}
pub type uct_ep_attr_t = uct_ep_attr;
pub type uct_md_attr_t = uct_md_attr;
pub type uct_completion_t = uct_completion;
pub type uct_pending_req_t = uct_pending_req;
pub type uct_worker_h = *mut uct_worker;
#[repr(C)]
#[derive(Debug)]
pub struct uct_device_addr {
    _unused: [u8; 0],
}
pub type uct_device_addr_t = uct_device_addr;
#[repr(C)]
#[derive(Debug)]
pub struct uct_iface_addr {
    _unused: [u8; 0],
}
pub type uct_iface_addr_t = uct_iface_addr;
#[repr(C)]
#[derive(Debug)]
pub struct uct_ep_addr {
    _unused: [u8; 0],
}
pub type uct_ep_addr_t = uct_ep_addr;
pub type uct_ep_params_t = uct_ep_params;
pub type uct_ep_connect_params_t = uct_ep_connect_params;
#[repr(C)]
#[derive(Debug)]
pub struct uct_cm {
    _unused: [u8; 0],
}
pub type uct_cm_t = uct_cm;
pub type uct_cm_h = *mut uct_cm_t;
pub type uct_tag_context_t = uct_tag_context;
pub type uct_tag_t = u64;
pub type uct_conn_request_h = *mut ::core::ffi::c_void;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iov {
    pub buffer: *mut ::core::ffi::c_void,
    pub length: usize,
    pub memh: uct_mem_h,
    pub stride: usize,
    pub count: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iov"][::core::mem::size_of::<uct_iov>() - 40usize];
    ["Alignment of uct_iov"][::core::mem::align_of::<uct_iov>() - 8usize];
    ["Offset of field: uct_iov::buffer"][::core::mem::offset_of!(uct_iov, buffer) - 0usize];
    ["Offset of field: uct_iov::length"][::core::mem::offset_of!(uct_iov, length) - 8usize];
    ["Offset of field: uct_iov::memh"][::core::mem::offset_of!(uct_iov, memh) - 16usize];
    ["Offset of field: uct_iov::stride"][::core::mem::offset_of!(uct_iov, stride) - 24usize];
    ["Offset of field: uct_iov::count"][::core::mem::offset_of!(uct_iov, count) - 32usize];
};
pub type uct_iov_t = uct_iov;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_cm_ep_priv_data_pack_args {
    pub field_mask: u64,
    pub dev_name: [::core::ffi::c_char; 32usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_cm_ep_priv_data_pack_args"]
        [::core::mem::size_of::<uct_cm_ep_priv_data_pack_args>() - 40usize];
    ["Alignment of uct_cm_ep_priv_data_pack_args"]
        [::core::mem::align_of::<uct_cm_ep_priv_data_pack_args>() - 8usize];
    ["Offset of field: uct_cm_ep_priv_data_pack_args::field_mask"]
        [::core::mem::offset_of!(uct_cm_ep_priv_data_pack_args, field_mask) - 0usize];
    ["Offset of field: uct_cm_ep_priv_data_pack_args::dev_name"]
        [::core::mem::offset_of!(uct_cm_ep_priv_data_pack_args, dev_name) - 8usize];
};
pub type uct_cm_ep_priv_data_pack_args_t = uct_cm_ep_priv_data_pack_args;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_cm_ep_resolve_args {
    pub field_mask: u64,
    pub dev_name: [::core::ffi::c_char; 32usize],
    pub status: ucs_status_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_cm_ep_resolve_args"][::core::mem::size_of::<uct_cm_ep_resolve_args>() - 48usize];
    ["Alignment of uct_cm_ep_resolve_args"][::core::mem::align_of::<uct_cm_ep_resolve_args>() - 8usize];
    ["Offset of field: uct_cm_ep_resolve_args::field_mask"]
        [::core::mem::offset_of!(uct_cm_ep_resolve_args, field_mask) - 0usize];
    ["Offset of field: uct_cm_ep_resolve_args::dev_name"]
        [::core::mem::offset_of!(uct_cm_ep_resolve_args, dev_name) - 8usize];
    ["Offset of field: uct_cm_ep_resolve_args::status"]
        [::core::mem::offset_of!(uct_cm_ep_resolve_args, status) - 40usize];
};
pub type uct_cm_ep_resolve_args_t = uct_cm_ep_resolve_args;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_cm_remote_data {
    pub field_mask: u64,
    pub dev_addr: *const uct_device_addr_t,
    pub dev_addr_length: usize,
    pub conn_priv_data: *const ::core::ffi::c_void,
    pub conn_priv_data_length: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_cm_remote_data"][::core::mem::size_of::<uct_cm_remote_data>() - 40usize];
    ["Alignment of uct_cm_remote_data"][::core::mem::align_of::<uct_cm_remote_data>() - 8usize];
    ["Offset of field: uct_cm_remote_data::field_mask"]
        [::core::mem::offset_of!(uct_cm_remote_data, field_mask) - 0usize];
    ["Offset of field: uct_cm_remote_data::dev_addr"]
        [::core::mem::offset_of!(uct_cm_remote_data, dev_addr) - 8usize];
    ["Offset of field: uct_cm_remote_data::dev_addr_length"]
        [::core::mem::offset_of!(uct_cm_remote_data, dev_addr_length) - 16usize];
    ["Offset of field: uct_cm_remote_data::conn_priv_data"]
        [::core::mem::offset_of!(uct_cm_remote_data, conn_priv_data) - 24usize];
    ["Offset of field: uct_cm_remote_data::conn_priv_data_length"]
        [::core::mem::offset_of!(uct_cm_remote_data, conn_priv_data_length) - 32usize];
};
pub type uct_cm_remote_data_t = uct_cm_remote_data;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_cm_ep_client_connect_args {
    pub field_mask: u64,
    pub remote_data: *const uct_cm_remote_data_t,
    pub status: ucs_status_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_cm_ep_client_connect_args"]
        [::core::mem::size_of::<uct_cm_ep_client_connect_args>() - 24usize];
    ["Alignment of uct_cm_ep_client_connect_args"]
        [::core::mem::align_of::<uct_cm_ep_client_connect_args>() - 8usize];
    ["Offset of field: uct_cm_ep_client_connect_args::field_mask"]
        [::core::mem::offset_of!(uct_cm_ep_client_connect_args, field_mask) - 0usize];
    ["Offset of field: uct_cm_ep_client_connect_args::remote_data"]
        [::core::mem::offset_of!(uct_cm_ep_client_connect_args, remote_data) - 8usize];
    ["Offset of field: uct_cm_ep_client_connect_args::status"]
        [::core::mem::offset_of!(uct_cm_ep_client_connect_args, status) - 16usize];
};
pub type uct_cm_ep_client_connect_args_t = uct_cm_ep_client_connect_args;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_cm_ep_server_conn_notify_args {
    pub field_mask: u64,
    pub status: ucs_status_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_cm_ep_server_conn_notify_args"]
        [::core::mem::size_of::<uct_cm_ep_server_conn_notify_args>() - 16usize];
    ["Alignment of uct_cm_ep_server_conn_notify_args"]
        [::core::mem::align_of::<uct_cm_ep_server_conn_notify_args>() - 8usize];
    ["Offset of field: uct_cm_ep_server_conn_notify_args::field_mask"]
        [::core::mem::offset_of!(uct_cm_ep_server_conn_notify_args, field_mask) - 0usize];
    ["Offset of field: uct_cm_ep_server_conn_notify_args::status"]
        [::core::mem::offset_of!(uct_cm_ep_server_conn_notify_args, status) - 8usize];
};
pub type uct_cm_ep_server_conn_notify_args_t = uct_cm_ep_server_conn_notify_args;
pub type uct_am_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        arg: *mut ::core::ffi::c_void,
        data: *mut ::core::ffi::c_void,
        length: usize,
        flags: ::core::ffi::c_uint,
    ) -> ucs_status_t,
>;
pub type uct_completion_callback_t =
    ::core::option::Option<unsafe extern "C" fn(self_: *mut uct_completion_t)>;
pub type uct_pending_callback_t =
    ::core::option::Option<unsafe extern "C" fn(self_: *mut uct_pending_req_t) -> ucs_status_t>;
pub type uct_error_handler_t = ::core::option::Option<
    unsafe extern "C" fn(arg: *mut ::core::ffi::c_void, ep: uct_ep_h, status: ucs_status_t) -> ucs_status_t,
>;
pub type uct_pending_purge_callback_t = ::core::option::Option<
    unsafe extern "C" fn(self_: *mut uct_pending_req_t, arg: *mut ::core::ffi::c_void),
>;
pub type uct_pack_callback_t = ::core::option::Option<
    unsafe extern "C" fn(dest: *mut ::core::ffi::c_void, arg: *mut ::core::ffi::c_void) -> usize,
>;
pub type uct_unpack_callback_t = ::core::option::Option<
    unsafe extern "C" fn(arg: *mut ::core::ffi::c_void, data: *const ::core::ffi::c_void, length: usize),
>;
pub type uct_sockaddr_conn_request_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        arg: *mut ::core::ffi::c_void,
        conn_request: uct_conn_request_h,
        conn_priv_data: *const ::core::ffi::c_void,
        length: usize,
    ),
>;
pub type uct_cm_ep_server_conn_notify_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        arg: *mut ::core::ffi::c_void,
        connect_args: *const uct_cm_ep_server_conn_notify_args_t,
    ),
>;
pub type uct_cm_ep_client_connect_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        arg: *mut ::core::ffi::c_void,
        connect_args: *const uct_cm_ep_client_connect_args_t,
    ),
>;
pub type uct_ep_disconnect_cb_t =
    ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h, arg: *mut ::core::ffi::c_void)>;
pub type uct_cm_ep_priv_data_pack_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        arg: *mut ::core::ffi::c_void,
        pack_args: *const uct_cm_ep_priv_data_pack_args_t,
        priv_data: *mut ::core::ffi::c_void,
    ) -> isize,
>;
pub type uct_cm_ep_resolve_callback_t = ::core::option::Option<
    unsafe extern "C" fn(
        user_data: *mut ::core::ffi::c_void,
        resolve_args: *const uct_cm_ep_resolve_args_t,
    ) -> ucs_status_t,
>;
pub type uct_tag_unexp_eager_cb_t = ::core::option::Option<
    unsafe extern "C" fn(
        arg: *mut ::core::ffi::c_void,
        data: *mut ::core::ffi::c_void,
        length: usize,
        flags: ::core::ffi::c_uint,
        stag: uct_tag_t,
        imm: u64,
        context: *mut *mut ::core::ffi::c_void,
    ) -> ucs_status_t,
>;
pub type uct_tag_unexp_rndv_cb_t = ::core::option::Option<
    unsafe extern "C" fn(
        arg: *mut ::core::ffi::c_void,
        flags: ::core::ffi::c_uint,
        stag: u64,
        header: *const ::core::ffi::c_void,
        header_length: ::core::ffi::c_uint,
        remote_addr: u64,
        length: usize,
        rkey_buf: *const ::core::ffi::c_void,
    ) -> ucs_status_t,
>;
pub type uct_async_event_cb_t =
    ::core::option::Option<unsafe extern "C" fn(arg: *mut ::core::ffi::c_void, flags: ::core::ffi::c_uint)>;
pub type ucs_callbackq_t = ucs_callbackq;
pub type ucs_callbackq_elem_t = ucs_callbackq_elem;
pub type ucs_callback_t =
    ::core::option::Option<unsafe extern "C" fn(arg: *mut ::core::ffi::c_void) -> ::core::ffi::c_uint>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucs_callbackq_elem {
    pub cb: ucs_callback_t,
    pub arg: *mut ::core::ffi::c_void,
    pub flags: ::core::ffi::c_uint,
    pub id: ::core::ffi::c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucs_callbackq_elem"][::core::mem::size_of::<ucs_callbackq_elem>() - 24usize];
    ["Alignment of ucs_callbackq_elem"][::core::mem::align_of::<ucs_callbackq_elem>() - 8usize];
    ["Offset of field: ucs_callbackq_elem::cb"][::core::mem::offset_of!(ucs_callbackq_elem, cb) - 0usize];
    ["Offset of field: ucs_callbackq_elem::arg"][::core::mem::offset_of!(ucs_callbackq_elem, arg) - 8usize];
    ["Offset of field: ucs_callbackq_elem::flags"]
        [::core::mem::offset_of!(ucs_callbackq_elem, flags) - 16usize];
    ["Offset of field: ucs_callbackq_elem::id"][::core::mem::offset_of!(ucs_callbackq_elem, id) - 20usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucs_callbackq {
    pub fast_elems: [ucs_callbackq_elem_t; 8usize],
    pub priv_: [::core::ffi::c_char; 72usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucs_callbackq"][::core::mem::size_of::<ucs_callbackq>() - 264usize];
    ["Alignment of ucs_callbackq"][::core::mem::align_of::<ucs_callbackq>() - 8usize];
    ["Offset of field: ucs_callbackq::fast_elems"]
        [::core::mem::offset_of!(ucs_callbackq, fast_elems) - 0usize];
    ["Offset of field: ucs_callbackq::priv_"][::core::mem::offset_of!(ucs_callbackq, priv_) - 192usize];
};
pub type uct_ep_put_short_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        buffer: *const ::core::ffi::c_void,
        length: ::core::ffi::c_uint,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_put_bcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        pack_cb: uct_pack_callback_t,
        arg: *mut ::core::ffi::c_void,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> isize,
>;
pub type uct_ep_put_zcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        iov: *const uct_iov_t,
        iovcnt: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_get_short_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        buffer: *mut ::core::ffi::c_void,
        length: ::core::ffi::c_uint,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_get_bcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        unpack_cb: uct_unpack_callback_t,
        arg: *mut ::core::ffi::c_void,
        length: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_get_zcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        iov: *const uct_iov_t,
        iovcnt: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_am_short_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        header: u64,
        payload: *const ::core::ffi::c_void,
        length: ::core::ffi::c_uint,
    ) -> ucs_status_t,
>;
pub type uct_ep_am_short_iov_func_t = ::core::option::Option<
    unsafe extern "C" fn(ep: uct_ep_h, id: u8, iov: *const uct_iov_t, iovcnt: usize) -> ucs_status_t,
>;
pub type uct_ep_am_bcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        pack_cb: uct_pack_callback_t,
        arg: *mut ::core::ffi::c_void,
        flags: ::core::ffi::c_uint,
    ) -> isize,
>;
pub type uct_ep_am_zcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        header: *const ::core::ffi::c_void,
        header_length: ::core::ffi::c_uint,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: ::core::ffi::c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_atomic_cswap64_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        compare: u64,
        swap: u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
        result: *mut u64,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_atomic_cswap32_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        compare: u32,
        swap: u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
        result: *mut u32,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_atomic32_post_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: ::core::ffi::c_uint,
        value: u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_atomic64_post_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: ::core::ffi::c_uint,
        value: u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_atomic32_fetch_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: ::core::ffi::c_uint,
        value: u32,
        result: *mut u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_atomic64_fetch_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: ::core::ffi::c_uint,
        value: u64,
        result: *mut u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_tag_eager_short_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        data: *const ::core::ffi::c_void,
        length: usize,
    ) -> ucs_status_t,
>;
pub type uct_ep_tag_eager_bcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        imm: u64,
        pack_cb: uct_pack_callback_t,
        arg: *mut ::core::ffi::c_void,
        flags: ::core::ffi::c_uint,
    ) -> isize,
>;
pub type uct_ep_tag_eager_zcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        imm: u64,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: ::core::ffi::c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_tag_rndv_zcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        header: *const ::core::ffi::c_void,
        header_length: ::core::ffi::c_uint,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: ::core::ffi::c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_ptr_t,
>;
pub type uct_ep_tag_rndv_cancel_func_t =
    ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h, op: *mut ::core::ffi::c_void) -> ucs_status_t>;
pub type uct_ep_tag_rndv_request_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        header: *const ::core::ffi::c_void,
        header_length: ::core::ffi::c_uint,
        flags: ::core::ffi::c_uint,
    ) -> ucs_status_t,
>;
pub type uct_iface_tag_recv_zcopy_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        tag: uct_tag_t,
        tag_mask: uct_tag_t,
        iov: *const uct_iov_t,
        iovcnt: usize,
        ctx: *mut uct_tag_context_t,
    ) -> ucs_status_t,
>;
pub type uct_iface_tag_recv_cancel_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        ctx: *mut uct_tag_context_t,
        force: ::core::ffi::c_int,
    ) -> ucs_status_t,
>;
pub type uct_ep_pending_add_func_t = ::core::option::Option<
    unsafe extern "C" fn(ep: uct_ep_h, n: *mut uct_pending_req_t, flags: ::core::ffi::c_uint) -> ucs_status_t,
>;
pub type uct_ep_pending_purge_func_t = ::core::option::Option<
    unsafe extern "C" fn(ep: uct_ep_h, cb: uct_pending_purge_callback_t, arg: *mut ::core::ffi::c_void),
>;
pub type uct_ep_flush_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        flags: ::core::ffi::c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_fence_func_t =
    ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h, flags: ::core::ffi::c_uint) -> ucs_status_t>;
pub type uct_ep_check_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        flags: ::core::ffi::c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_ep_create_func_t = ::core::option::Option<
    unsafe extern "C" fn(params: *const uct_ep_params_t, ep_p: *mut uct_ep_h) -> ucs_status_t,
>;
pub type uct_ep_connect_func_t = ::core::option::Option<
    unsafe extern "C" fn(ep: uct_ep_h, params: *const uct_ep_connect_params_t) -> ucs_status_t,
>;
pub type uct_ep_disconnect_func_t =
    ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h, flags: ::core::ffi::c_uint) -> ucs_status_t>;
pub type uct_cm_ep_conn_notify_func_t =
    ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h) -> ucs_status_t>;
pub type uct_ep_destroy_func_t = ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h)>;
pub type uct_ep_get_address_func_t =
    ::core::option::Option<unsafe extern "C" fn(ep: uct_ep_h, addr: *mut uct_ep_addr_t) -> ucs_status_t>;
pub type uct_ep_connect_to_ep_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        dev_addr: *const uct_device_addr_t,
        ep_addr: *const uct_ep_addr_t,
    ) -> ucs_status_t,
>;
pub type uct_iface_accept_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, conn_request: uct_conn_request_h) -> ucs_status_t,
>;
pub type uct_iface_reject_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, conn_request: uct_conn_request_h) -> ucs_status_t,
>;
pub type uct_iface_flush_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        flags: ::core::ffi::c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;
pub type uct_iface_fence_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, flags: ::core::ffi::c_uint) -> ucs_status_t,
>;
pub type uct_iface_progress_enable_func_t =
    ::core::option::Option<unsafe extern "C" fn(iface: uct_iface_h, flags: ::core::ffi::c_uint)>;
pub type uct_iface_progress_disable_func_t =
    ::core::option::Option<unsafe extern "C" fn(iface: uct_iface_h, flags: ::core::ffi::c_uint)>;
pub type uct_iface_progress_func_t =
    ::core::option::Option<unsafe extern "C" fn(iface: uct_iface_h) -> ::core::ffi::c_uint>;
pub type uct_iface_event_fd_get_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, fd_p: *mut ::core::ffi::c_int) -> ucs_status_t,
>;
pub type uct_iface_event_arm_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, events: ::core::ffi::c_uint) -> ucs_status_t,
>;
pub type uct_iface_close_func_t = ::core::option::Option<unsafe extern "C" fn(iface: uct_iface_h)>;
pub type uct_iface_query_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, iface_attr: *mut uct_iface_attr_t) -> ucs_status_t,
>;
pub type uct_iface_get_device_address_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_device_addr_t) -> ucs_status_t,
>;
pub type uct_iface_get_address_func_t = ::core::option::Option<
    unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_iface_addr_t) -> ucs_status_t,
>;
pub type uct_iface_is_reachable_func_t = ::core::option::Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        dev_addr: *const uct_device_addr_t,
        iface_addr: *const uct_iface_addr_t,
    ) -> ::core::ffi::c_int,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_ops {
    pub ep_put_short: uct_ep_put_short_func_t,
    pub ep_put_bcopy: uct_ep_put_bcopy_func_t,
    pub ep_put_zcopy: uct_ep_put_zcopy_func_t,
    pub ep_get_short: uct_ep_get_short_func_t,
    pub ep_get_bcopy: uct_ep_get_bcopy_func_t,
    pub ep_get_zcopy: uct_ep_get_zcopy_func_t,
    pub ep_am_short: uct_ep_am_short_func_t,
    pub ep_am_short_iov: uct_ep_am_short_iov_func_t,
    pub ep_am_bcopy: uct_ep_am_bcopy_func_t,
    pub ep_am_zcopy: uct_ep_am_zcopy_func_t,
    pub ep_atomic_cswap64: uct_ep_atomic_cswap64_func_t,
    pub ep_atomic_cswap32: uct_ep_atomic_cswap32_func_t,
    pub ep_atomic32_post: uct_ep_atomic32_post_func_t,
    pub ep_atomic64_post: uct_ep_atomic64_post_func_t,
    pub ep_atomic32_fetch: uct_ep_atomic32_fetch_func_t,
    pub ep_atomic64_fetch: uct_ep_atomic64_fetch_func_t,
    pub ep_tag_eager_short: uct_ep_tag_eager_short_func_t,
    pub ep_tag_eager_bcopy: uct_ep_tag_eager_bcopy_func_t,
    pub ep_tag_eager_zcopy: uct_ep_tag_eager_zcopy_func_t,
    pub ep_tag_rndv_zcopy: uct_ep_tag_rndv_zcopy_func_t,
    pub ep_tag_rndv_cancel: uct_ep_tag_rndv_cancel_func_t,
    pub ep_tag_rndv_request: uct_ep_tag_rndv_request_func_t,
    pub iface_tag_recv_zcopy: uct_iface_tag_recv_zcopy_func_t,
    pub iface_tag_recv_cancel: uct_iface_tag_recv_cancel_func_t,
    pub ep_pending_add: uct_ep_pending_add_func_t,
    pub ep_pending_purge: uct_ep_pending_purge_func_t,
    pub ep_flush: uct_ep_flush_func_t,
    pub ep_fence: uct_ep_fence_func_t,
    pub ep_check: uct_ep_check_func_t,
    pub ep_create: uct_ep_create_func_t,
    pub ep_connect: uct_ep_connect_func_t,
    pub ep_disconnect: uct_ep_disconnect_func_t,
    pub cm_ep_conn_notify: uct_cm_ep_conn_notify_func_t,
    pub ep_destroy: uct_ep_destroy_func_t,
    pub ep_get_address: uct_ep_get_address_func_t,
    pub ep_connect_to_ep: uct_ep_connect_to_ep_func_t,
    pub iface_accept: uct_iface_accept_func_t,
    pub iface_reject: uct_iface_reject_func_t,
    pub iface_flush: uct_iface_flush_func_t,
    pub iface_fence: uct_iface_fence_func_t,
    pub iface_progress_enable: uct_iface_progress_enable_func_t,
    pub iface_progress_disable: uct_iface_progress_disable_func_t,
    pub iface_progress: uct_iface_progress_func_t,
    pub iface_event_fd_get: uct_iface_event_fd_get_func_t,
    pub iface_event_arm: uct_iface_event_arm_func_t,
    pub iface_close: uct_iface_close_func_t,
    pub iface_query: uct_iface_query_func_t,
    pub iface_get_device_address: uct_iface_get_device_address_func_t,
    pub iface_get_address: uct_iface_get_address_func_t,
    pub iface_is_reachable: uct_iface_is_reachable_func_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_ops"][::core::mem::size_of::<uct_iface_ops>() - 400usize];
    ["Alignment of uct_iface_ops"][::core::mem::align_of::<uct_iface_ops>() - 8usize];
    ["Offset of field: uct_iface_ops::ep_put_short"]
        [::core::mem::offset_of!(uct_iface_ops, ep_put_short) - 0usize];
    ["Offset of field: uct_iface_ops::ep_put_bcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_put_bcopy) - 8usize];
    ["Offset of field: uct_iface_ops::ep_put_zcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_put_zcopy) - 16usize];
    ["Offset of field: uct_iface_ops::ep_get_short"]
        [::core::mem::offset_of!(uct_iface_ops, ep_get_short) - 24usize];
    ["Offset of field: uct_iface_ops::ep_get_bcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_get_bcopy) - 32usize];
    ["Offset of field: uct_iface_ops::ep_get_zcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_get_zcopy) - 40usize];
    ["Offset of field: uct_iface_ops::ep_am_short"]
        [::core::mem::offset_of!(uct_iface_ops, ep_am_short) - 48usize];
    ["Offset of field: uct_iface_ops::ep_am_short_iov"]
        [::core::mem::offset_of!(uct_iface_ops, ep_am_short_iov) - 56usize];
    ["Offset of field: uct_iface_ops::ep_am_bcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_am_bcopy) - 64usize];
    ["Offset of field: uct_iface_ops::ep_am_zcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_am_zcopy) - 72usize];
    ["Offset of field: uct_iface_ops::ep_atomic_cswap64"]
        [::core::mem::offset_of!(uct_iface_ops, ep_atomic_cswap64) - 80usize];
    ["Offset of field: uct_iface_ops::ep_atomic_cswap32"]
        [::core::mem::offset_of!(uct_iface_ops, ep_atomic_cswap32) - 88usize];
    ["Offset of field: uct_iface_ops::ep_atomic32_post"]
        [::core::mem::offset_of!(uct_iface_ops, ep_atomic32_post) - 96usize];
    ["Offset of field: uct_iface_ops::ep_atomic64_post"]
        [::core::mem::offset_of!(uct_iface_ops, ep_atomic64_post) - 104usize];
    ["Offset of field: uct_iface_ops::ep_atomic32_fetch"]
        [::core::mem::offset_of!(uct_iface_ops, ep_atomic32_fetch) - 112usize];
    ["Offset of field: uct_iface_ops::ep_atomic64_fetch"]
        [::core::mem::offset_of!(uct_iface_ops, ep_atomic64_fetch) - 120usize];
    ["Offset of field: uct_iface_ops::ep_tag_eager_short"]
        [::core::mem::offset_of!(uct_iface_ops, ep_tag_eager_short) - 128usize];
    ["Offset of field: uct_iface_ops::ep_tag_eager_bcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_tag_eager_bcopy) - 136usize];
    ["Offset of field: uct_iface_ops::ep_tag_eager_zcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_tag_eager_zcopy) - 144usize];
    ["Offset of field: uct_iface_ops::ep_tag_rndv_zcopy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_tag_rndv_zcopy) - 152usize];
    ["Offset of field: uct_iface_ops::ep_tag_rndv_cancel"]
        [::core::mem::offset_of!(uct_iface_ops, ep_tag_rndv_cancel) - 160usize];
    ["Offset of field: uct_iface_ops::ep_tag_rndv_request"]
        [::core::mem::offset_of!(uct_iface_ops, ep_tag_rndv_request) - 168usize];
    ["Offset of field: uct_iface_ops::iface_tag_recv_zcopy"]
        [::core::mem::offset_of!(uct_iface_ops, iface_tag_recv_zcopy) - 176usize];
    ["Offset of field: uct_iface_ops::iface_tag_recv_cancel"]
        [::core::mem::offset_of!(uct_iface_ops, iface_tag_recv_cancel) - 184usize];
    ["Offset of field: uct_iface_ops::ep_pending_add"]
        [::core::mem::offset_of!(uct_iface_ops, ep_pending_add) - 192usize];
    ["Offset of field: uct_iface_ops::ep_pending_purge"]
        [::core::mem::offset_of!(uct_iface_ops, ep_pending_purge) - 200usize];
    ["Offset of field: uct_iface_ops::ep_flush"][::core::mem::offset_of!(uct_iface_ops, ep_flush) - 208usize];
    ["Offset of field: uct_iface_ops::ep_fence"][::core::mem::offset_of!(uct_iface_ops, ep_fence) - 216usize];
    ["Offset of field: uct_iface_ops::ep_check"][::core::mem::offset_of!(uct_iface_ops, ep_check) - 224usize];
    ["Offset of field: uct_iface_ops::ep_create"]
        [::core::mem::offset_of!(uct_iface_ops, ep_create) - 232usize];
    ["Offset of field: uct_iface_ops::ep_connect"]
        [::core::mem::offset_of!(uct_iface_ops, ep_connect) - 240usize];
    ["Offset of field: uct_iface_ops::ep_disconnect"]
        [::core::mem::offset_of!(uct_iface_ops, ep_disconnect) - 248usize];
    ["Offset of field: uct_iface_ops::cm_ep_conn_notify"]
        [::core::mem::offset_of!(uct_iface_ops, cm_ep_conn_notify) - 256usize];
    ["Offset of field: uct_iface_ops::ep_destroy"]
        [::core::mem::offset_of!(uct_iface_ops, ep_destroy) - 264usize];
    ["Offset of field: uct_iface_ops::ep_get_address"]
        [::core::mem::offset_of!(uct_iface_ops, ep_get_address) - 272usize];
    ["Offset of field: uct_iface_ops::ep_connect_to_ep"]
        [::core::mem::offset_of!(uct_iface_ops, ep_connect_to_ep) - 280usize];
    ["Offset of field: uct_iface_ops::iface_accept"]
        [::core::mem::offset_of!(uct_iface_ops, iface_accept) - 288usize];
    ["Offset of field: uct_iface_ops::iface_reject"]
        [::core::mem::offset_of!(uct_iface_ops, iface_reject) - 296usize];
    ["Offset of field: uct_iface_ops::iface_flush"]
        [::core::mem::offset_of!(uct_iface_ops, iface_flush) - 304usize];
    ["Offset of field: uct_iface_ops::iface_fence"]
        [::core::mem::offset_of!(uct_iface_ops, iface_fence) - 312usize];
    ["Offset of field: uct_iface_ops::iface_progress_enable"]
        [::core::mem::offset_of!(uct_iface_ops, iface_progress_enable) - 320usize];
    ["Offset of field: uct_iface_ops::iface_progress_disable"]
        [::core::mem::offset_of!(uct_iface_ops, iface_progress_disable) - 328usize];
    ["Offset of field: uct_iface_ops::iface_progress"]
        [::core::mem::offset_of!(uct_iface_ops, iface_progress) - 336usize];
    ["Offset of field: uct_iface_ops::iface_event_fd_get"]
        [::core::mem::offset_of!(uct_iface_ops, iface_event_fd_get) - 344usize];
    ["Offset of field: uct_iface_ops::iface_event_arm"]
        [::core::mem::offset_of!(uct_iface_ops, iface_event_arm) - 352usize];
    ["Offset of field: uct_iface_ops::iface_close"]
        [::core::mem::offset_of!(uct_iface_ops, iface_close) - 360usize];
    ["Offset of field: uct_iface_ops::iface_query"]
        [::core::mem::offset_of!(uct_iface_ops, iface_query) - 368usize];
    ["Offset of field: uct_iface_ops::iface_get_device_address"]
        [::core::mem::offset_of!(uct_iface_ops, iface_get_device_address) - 376usize];
    ["Offset of field: uct_iface_ops::iface_get_address"]
        [::core::mem::offset_of!(uct_iface_ops, iface_get_address) - 384usize];
    ["Offset of field: uct_iface_ops::iface_is_reachable"]
        [::core::mem::offset_of!(uct_iface_ops, iface_is_reachable) - 392usize];
};
pub type uct_iface_ops_t = uct_iface_ops;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_worker {
    pub progress_q: ucs_callbackq_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_worker"][::core::mem::size_of::<uct_worker>() - 264usize];
    ["Alignment of uct_worker"][::core::mem::align_of::<uct_worker>() - 8usize];
    ["Offset of field: uct_worker::progress_q"][::core::mem::offset_of!(uct_worker, progress_q) - 0usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface {
    pub ops: uct_iface_ops_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface"][::core::mem::size_of::<uct_iface>() - 400usize];
    ["Alignment of uct_iface"][::core::mem::align_of::<uct_iface>() - 8usize];
    ["Offset of field: uct_iface::ops"][::core::mem::offset_of!(uct_iface, ops) - 0usize];
};
pub type uct_iface_t = uct_iface;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_ep {
    pub iface: uct_iface_h,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_ep"][::core::mem::size_of::<uct_ep>() - 8usize];
    ["Alignment of uct_ep"][::core::mem::align_of::<uct_ep>() - 8usize];
    ["Offset of field: uct_ep::iface"][::core::mem::offset_of!(uct_ep, iface) - 0usize];
};
pub type uct_ep_t = uct_ep;
pub type ucs_time_t = ::core::ffi::c_ulong;
#[repr(C)]
#[derive(Debug)]
pub struct ucs_async_context {
    _unused: [u8; 0],
}
pub type ucs_async_context_t = ucs_async_context;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ucs_linear_func_t {
    pub c: f64,
    pub m: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ucs_linear_func_t"][::core::mem::size_of::<ucs_linear_func_t>() - 16usize];
    ["Alignment of ucs_linear_func_t"][::core::mem::align_of::<ucs_linear_func_t>() - 8usize];
    ["Offset of field: ucs_linear_func_t::c"][::core::mem::offset_of!(ucs_linear_func_t, c) - 0usize];
    ["Offset of field: ucs_linear_func_t::m"][::core::mem::offset_of!(ucs_linear_func_t, m) - 8usize];
};
#[repr(C)]
#[derive(Debug)]
pub struct ucs_stats_node {
    _unused: [u8; 0],
}
pub type ucs_stats_node_t = ucs_stats_node;
pub type ucs_sys_device_t = u8;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_md_resource_desc {
    pub md_name: [::core::ffi::c_char; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_md_resource_desc"][::core::mem::size_of::<uct_md_resource_desc>() - 16usize];
    ["Alignment of uct_md_resource_desc"][::core::mem::align_of::<uct_md_resource_desc>() - 1usize];
    ["Offset of field: uct_md_resource_desc::md_name"]
        [::core::mem::offset_of!(uct_md_resource_desc, md_name) - 0usize];
};
pub type uct_md_resource_desc_t = uct_md_resource_desc;
pub const UCT_COMPONENT_ATTR_FIELD_NAME: uct_component_attr_field = 1;
pub const UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT: uct_component_attr_field = 2;
pub const UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES: uct_component_attr_field = 4;
pub const UCT_COMPONENT_ATTR_FIELD_FLAGS: uct_component_attr_field = 8;
pub type uct_component_attr_field = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_component_attr {
    pub field_mask: u64,
    pub name: [::core::ffi::c_char; 16usize],
    pub md_resource_count: ::core::ffi::c_uint,
    pub md_resources: *mut uct_md_resource_desc_t,
    pub flags: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_component_attr"][::core::mem::size_of::<uct_component_attr>() - 48usize];
    ["Alignment of uct_component_attr"][::core::mem::align_of::<uct_component_attr>() - 8usize];
    ["Offset of field: uct_component_attr::field_mask"]
        [::core::mem::offset_of!(uct_component_attr, field_mask) - 0usize];
    ["Offset of field: uct_component_attr::name"][::core::mem::offset_of!(uct_component_attr, name) - 8usize];
    ["Offset of field: uct_component_attr::md_resource_count"]
        [::core::mem::offset_of!(uct_component_attr, md_resource_count) - 24usize];
    ["Offset of field: uct_component_attr::md_resources"]
        [::core::mem::offset_of!(uct_component_attr, md_resources) - 32usize];
    ["Offset of field: uct_component_attr::flags"]
        [::core::mem::offset_of!(uct_component_attr, flags) - 40usize];
};
pub type uct_component_attr_t = uct_component_attr;
pub const UCT_COMPONENT_FLAG_CM: _bindgen_ty_7 = 1;
pub type _bindgen_ty_7 = ::core::ffi::c_uint;
pub const UCT_DEVICE_TYPE_NET: uct_device_type_t = 0;
pub const UCT_DEVICE_TYPE_SHM: uct_device_type_t = 1;
pub const UCT_DEVICE_TYPE_ACC: uct_device_type_t = 2;
pub const UCT_DEVICE_TYPE_SELF: uct_device_type_t = 3;
pub const UCT_DEVICE_TYPE_LAST: uct_device_type_t = 4;
pub type uct_device_type_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_tl_resource_desc {
    pub tl_name: [::core::ffi::c_char; 10usize],
    pub dev_name: [::core::ffi::c_char; 32usize],
    pub dev_type: uct_device_type_t,
    pub sys_device: ucs_sys_device_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_tl_resource_desc"][::core::mem::size_of::<uct_tl_resource_desc>() - 52usize];
    ["Alignment of uct_tl_resource_desc"][::core::mem::align_of::<uct_tl_resource_desc>() - 4usize];
    ["Offset of field: uct_tl_resource_desc::tl_name"]
        [::core::mem::offset_of!(uct_tl_resource_desc, tl_name) - 0usize];
    ["Offset of field: uct_tl_resource_desc::dev_name"]
        [::core::mem::offset_of!(uct_tl_resource_desc, dev_name) - 10usize];
    ["Offset of field: uct_tl_resource_desc::dev_type"]
        [::core::mem::offset_of!(uct_tl_resource_desc, dev_type) - 44usize];
    ["Offset of field: uct_tl_resource_desc::sys_device"]
        [::core::mem::offset_of!(uct_tl_resource_desc, sys_device) - 48usize];
};
pub type uct_tl_resource_desc_t = uct_tl_resource_desc;
pub const UCT_ATOMIC_OP_ADD: uct_atomic_op = 0;
pub const UCT_ATOMIC_OP_AND: uct_atomic_op = 1;
pub const UCT_ATOMIC_OP_OR: uct_atomic_op = 2;
pub const UCT_ATOMIC_OP_XOR: uct_atomic_op = 3;
pub const UCT_ATOMIC_OP_SWAP: uct_atomic_op = 4;
pub const UCT_ATOMIC_OP_CSWAP: uct_atomic_op = 5;
pub const UCT_ATOMIC_OP_LAST: uct_atomic_op = 6;
pub type uct_atomic_op = ::core::ffi::c_uint;
pub use self::uct_atomic_op as uct_atomic_op_t;
pub const UCT_ALLOC_METHOD_THP: uct_alloc_method_t = 0;
pub const UCT_ALLOC_METHOD_MD: uct_alloc_method_t = 1;
pub const UCT_ALLOC_METHOD_HEAP: uct_alloc_method_t = 2;
pub const UCT_ALLOC_METHOD_MMAP: uct_alloc_method_t = 3;
pub const UCT_ALLOC_METHOD_HUGE: uct_alloc_method_t = 4;
pub const UCT_ALLOC_METHOD_LAST: uct_alloc_method_t = 5;
pub const UCT_ALLOC_METHOD_DEFAULT: uct_alloc_method_t = 5;
pub type uct_alloc_method_t = ::core::ffi::c_uint;
pub const UCT_EVENT_SEND_COMP: uct_iface_event_types = 1;
pub const UCT_EVENT_RECV: uct_iface_event_types = 2;
pub const UCT_EVENT_RECV_SIG: uct_iface_event_types = 4;
pub type uct_iface_event_types = ::core::ffi::c_uint;
pub const UCT_PROGRESS_SEND: uct_progress_types = 1;
pub const UCT_PROGRESS_RECV: uct_progress_types = 2;
pub const UCT_PROGRESS_THREAD_SAFE: uct_progress_types = 128;
pub type uct_progress_types = ::core::ffi::c_uint;
pub const UCT_IFACE_OPEN_MODE_DEVICE: uct_iface_open_mode = 1;
pub const UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER: uct_iface_open_mode = 2;
pub const UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT: uct_iface_open_mode = 4;
pub type uct_iface_open_mode = ::core::ffi::c_uint;
pub const UCT_IFACE_PARAM_FIELD_CPU_MASK: uct_iface_params_field = 1;
pub const UCT_IFACE_PARAM_FIELD_OPEN_MODE: uct_iface_params_field = 2;
pub const UCT_IFACE_PARAM_FIELD_DEVICE: uct_iface_params_field = 4;
pub const UCT_IFACE_PARAM_FIELD_SOCKADDR: uct_iface_params_field = 8;
pub const UCT_IFACE_PARAM_FIELD_STATS_ROOT: uct_iface_params_field = 16;
pub const UCT_IFACE_PARAM_FIELD_RX_HEADROOM: uct_iface_params_field = 32;
pub const UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG: uct_iface_params_field = 64;
pub const UCT_IFACE_PARAM_FIELD_ERR_HANDLER: uct_iface_params_field = 128;
pub const UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS: uct_iface_params_field = 256;
pub const UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG: uct_iface_params_field = 512;
pub const UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB: uct_iface_params_field = 1024;
pub const UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG: uct_iface_params_field = 2048;
pub const UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB: uct_iface_params_field = 4096;
pub const UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG: uct_iface_params_field = 8192;
pub const UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB: uct_iface_params_field = 16384;
pub const UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL: uct_iface_params_field = 32768;
pub const UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT: uct_iface_params_field = 65536;
pub const UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET: uct_iface_params_field = 131072;
pub const UCT_IFACE_PARAM_FIELD_FEATURES: uct_iface_params_field = 262144;
pub type uct_iface_params_field = ::core::ffi::c_uint;
pub const UCT_MD_FLAG_ALLOC: _bindgen_ty_8 = 1;
pub const UCT_MD_FLAG_REG: _bindgen_ty_8 = 2;
pub const UCT_MD_FLAG_NEED_MEMH: _bindgen_ty_8 = 4;
pub const UCT_MD_FLAG_NEED_RKEY: _bindgen_ty_8 = 8;
pub const UCT_MD_FLAG_ADVISE: _bindgen_ty_8 = 16;
pub const UCT_MD_FLAG_FIXED: _bindgen_ty_8 = 32;
pub const UCT_MD_FLAG_RKEY_PTR: _bindgen_ty_8 = 64;
pub const UCT_MD_FLAG_SOCKADDR: _bindgen_ty_8 = 128;
pub const UCT_MD_FLAG_INVALIDATE: _bindgen_ty_8 = 256;
pub type _bindgen_ty_8 = ::core::ffi::c_uint;
pub const UCT_MD_MEM_FLAG_NONBLOCK: uct_md_mem_flags = 1;
pub const UCT_MD_MEM_FLAG_FIXED: uct_md_mem_flags = 2;
pub const UCT_MD_MEM_FLAG_LOCK: uct_md_mem_flags = 4;
pub const UCT_MD_MEM_FLAG_HIDE_ERRORS: uct_md_mem_flags = 8;
pub const UCT_MD_MEM_ACCESS_REMOTE_PUT: uct_md_mem_flags = 32;
pub const UCT_MD_MEM_ACCESS_REMOTE_GET: uct_md_mem_flags = 64;
pub const UCT_MD_MEM_ACCESS_REMOTE_ATOMIC: uct_md_mem_flags = 128;
pub const UCT_MD_MEM_ACCESS_LOCAL_READ: uct_md_mem_flags = 256;
pub const UCT_MD_MEM_ACCESS_LOCAL_WRITE: uct_md_mem_flags = 512;
pub const UCT_MD_MEM_ACCESS_ALL: uct_md_mem_flags = 992;
pub const UCT_MD_MEM_ACCESS_RMA: uct_md_mem_flags = 864;
pub type uct_md_mem_flags = ::core::ffi::c_uint;
pub const UCT_EP_PARAM_FIELD_IFACE: uct_ep_params_field = 1;
pub const UCT_EP_PARAM_FIELD_USER_DATA: uct_ep_params_field = 2;
pub const UCT_EP_PARAM_FIELD_DEV_ADDR: uct_ep_params_field = 4;
pub const UCT_EP_PARAM_FIELD_IFACE_ADDR: uct_ep_params_field = 8;
pub const UCT_EP_PARAM_FIELD_SOCKADDR: uct_ep_params_field = 16;
pub const UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS: uct_ep_params_field = 32;
pub const UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB: uct_ep_params_field = 64;
pub const UCT_EP_PARAM_FIELD_CM: uct_ep_params_field = 128;
pub const UCT_EP_PARAM_FIELD_CONN_REQUEST: uct_ep_params_field = 256;
pub const UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT: uct_ep_params_field = 512;
pub const UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER: uct_ep_params_field = 1024;
pub const UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB: uct_ep_params_field = 2048;
pub const UCT_EP_PARAM_FIELD_PATH_INDEX: uct_ep_params_field = 4096;
pub const UCT_EP_PARAM_FIELD_CM_RESOLVE_CB: uct_ep_params_field = 8192;
pub const UCT_EP_PARAM_FIELD_PRIV_DATA: uct_ep_params_field = 16384;
pub const UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH: uct_ep_params_field = 32768;
pub const UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR: uct_ep_params_field = 65536;
pub type uct_ep_params_field = ::core::ffi::c_uint;
pub const UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA: uct_ep_connect_params_field = 1;
pub const UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH: uct_ep_connect_params_field = 2;
pub type uct_ep_connect_params_field = ::core::ffi::c_uint;
pub const UCT_IFACE_FEATURE_AM: uct_iface_feature = 1;
pub const UCT_IFACE_FEATURE_PUT: uct_iface_feature = 2;
pub const UCT_IFACE_FEATURE_GET: uct_iface_feature = 4;
pub const UCT_IFACE_FEATURE_AMO32: uct_iface_feature = 8;
pub const UCT_IFACE_FEATURE_AMO64: uct_iface_feature = 16;
pub const UCT_IFACE_FEATURE_TAG: uct_iface_feature = 32;
pub const UCT_IFACE_FEATURE_LAST: uct_iface_feature = 64;
pub type uct_iface_feature = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_ppn_bandwidth {
    pub dedicated: f64,
    pub shared: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_ppn_bandwidth"][::core::mem::size_of::<uct_ppn_bandwidth>() - 16usize];
    ["Alignment of uct_ppn_bandwidth"][::core::mem::align_of::<uct_ppn_bandwidth>() - 8usize];
    ["Offset of field: uct_ppn_bandwidth::dedicated"]
        [::core::mem::offset_of!(uct_ppn_bandwidth, dedicated) - 0usize];
    ["Offset of field: uct_ppn_bandwidth::shared"]
        [::core::mem::offset_of!(uct_ppn_bandwidth, shared) - 8usize];
};
pub type uct_ppn_bandwidth_t = uct_ppn_bandwidth;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr {
    pub cap: uct_iface_attr__bindgen_ty_1,
    pub device_addr_len: usize,
    pub iface_addr_len: usize,
    pub ep_addr_len: usize,
    pub max_conn_priv: usize,
    pub listen_sockaddr: sockaddr_storage,
    pub overhead: f64,
    pub bandwidth: uct_ppn_bandwidth_t,
    pub latency: ucs_linear_func_t,
    pub priority: u8,
    pub max_num_eps: usize,
    pub dev_num_paths: ::core::ffi::c_uint,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1 {
    pub put: uct_iface_attr__bindgen_ty_1__bindgen_ty_1,
    pub get: uct_iface_attr__bindgen_ty_1__bindgen_ty_2,
    pub am: uct_iface_attr__bindgen_ty_1__bindgen_ty_3,
    pub tag: uct_iface_attr__bindgen_ty_1__bindgen_ty_4,
    pub atomic32: uct_iface_attr__bindgen_ty_1__bindgen_ty_5,
    pub atomic64: uct_iface_attr__bindgen_ty_1__bindgen_ty_5,
    pub flags: u64,
    pub event_flags: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_1 {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub opt_zcopy_align: usize,
    pub align_mtu: usize,
    pub max_iov: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_1"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_1>() - 56usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_1"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_1>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::max_short"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, max_short) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::max_bcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, max_bcopy) - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::min_zcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, min_zcopy) - 16usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::max_zcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, max_zcopy) - 24usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::opt_zcopy_align"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, opt_zcopy_align) - 32usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::align_mtu"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, align_mtu) - 40usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_1::max_iov"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_1, max_iov) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_2 {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub opt_zcopy_align: usize,
    pub align_mtu: usize,
    pub max_iov: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_2"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_2>() - 56usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_2"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_2>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::max_short"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, max_short) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::max_bcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, max_bcopy) - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::min_zcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, min_zcopy) - 16usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::max_zcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, max_zcopy) - 24usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::opt_zcopy_align"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, opt_zcopy_align) - 32usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::align_mtu"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, align_mtu) - 40usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_2::max_iov"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_2, max_iov) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_3 {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub opt_zcopy_align: usize,
    pub align_mtu: usize,
    pub max_hdr: usize,
    pub max_iov: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_3"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_3>() - 64usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_3"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_3>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::max_short"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, max_short) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::max_bcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, max_bcopy) - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::min_zcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, min_zcopy) - 16usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::max_zcopy"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, max_zcopy) - 24usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::opt_zcopy_align"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, opt_zcopy_align) - 32usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::align_mtu"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, align_mtu) - 40usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::max_hdr"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, max_hdr) - 48usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_3::max_iov"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_3, max_iov) - 56usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_4 {
    pub recv: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1,
    pub eager: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2,
    pub rndv: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1 {
    pub min_recv: usize,
    pub max_zcopy: usize,
    pub max_iov: usize,
    pub max_outstanding: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1>() - 32usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1::min_recv"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1,
        min_recv
    ) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1::max_zcopy"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1,
        max_zcopy
    ) - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1::max_iov"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1,
        max_iov
    ) - 16usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1::max_outstanding"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_1,
        max_outstanding
    )
        - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2 {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub max_zcopy: usize,
    pub max_iov: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2>() - 32usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2::max_short"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2,
        max_short
    ) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2::max_bcopy"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2,
        max_bcopy
    ) - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2::max_zcopy"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2,
        max_zcopy
    ) - 16usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2::max_iov"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_2,
        max_iov
    ) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3 {
    pub max_zcopy: usize,
    pub max_hdr: usize,
    pub max_iov: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3>() - 24usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3::max_zcopy"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3,
        max_zcopy
    ) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3::max_hdr"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3, max_hdr) - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3::max_iov"][::core::mem::offset_of!(
        uct_iface_attr__bindgen_ty_1__bindgen_ty_4__bindgen_ty_3,
        max_iov
    ) - 16usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_4"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4>() - 88usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_4"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_4>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4::recv"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_4, recv) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4::eager"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_4, eager) - 32usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_4::rndv"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_4, rndv) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_attr__bindgen_ty_1__bindgen_ty_5 {
    pub op_flags: u64,
    pub fop_flags: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1__bindgen_ty_5"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_5>() - 16usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1__bindgen_ty_5"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1__bindgen_ty_5>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_5::op_flags"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_5, op_flags) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1__bindgen_ty_5::fop_flags"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1__bindgen_ty_5, fop_flags) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr__bindgen_ty_1"]
        [::core::mem::size_of::<uct_iface_attr__bindgen_ty_1>() - 312usize];
    ["Alignment of uct_iface_attr__bindgen_ty_1"]
        [::core::mem::align_of::<uct_iface_attr__bindgen_ty_1>() - 8usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::put"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, put) - 0usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::get"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, get) - 56usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::am"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, am) - 112usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::tag"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, tag) - 176usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::atomic32"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, atomic32) - 264usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::atomic64"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, atomic64) - 280usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::flags"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, flags) - 296usize];
    ["Offset of field: uct_iface_attr__bindgen_ty_1::event_flags"]
        [::core::mem::offset_of!(uct_iface_attr__bindgen_ty_1, event_flags) - 304usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_attr"][::core::mem::size_of::<uct_iface_attr>() - 536usize];
    ["Alignment of uct_iface_attr"][::core::mem::align_of::<uct_iface_attr>() - 8usize];
    ["Offset of field: uct_iface_attr::cap"][::core::mem::offset_of!(uct_iface_attr, cap) - 0usize];
    ["Offset of field: uct_iface_attr::device_addr_len"]
        [::core::mem::offset_of!(uct_iface_attr, device_addr_len) - 312usize];
    ["Offset of field: uct_iface_attr::iface_addr_len"]
        [::core::mem::offset_of!(uct_iface_attr, iface_addr_len) - 320usize];
    ["Offset of field: uct_iface_attr::ep_addr_len"]
        [::core::mem::offset_of!(uct_iface_attr, ep_addr_len) - 328usize];
    ["Offset of field: uct_iface_attr::max_conn_priv"]
        [::core::mem::offset_of!(uct_iface_attr, max_conn_priv) - 336usize];
    ["Offset of field: uct_iface_attr::listen_sockaddr"]
        [::core::mem::offset_of!(uct_iface_attr, listen_sockaddr) - 344usize];
    ["Offset of field: uct_iface_attr::overhead"]
        [::core::mem::offset_of!(uct_iface_attr, overhead) - 472usize];
    ["Offset of field: uct_iface_attr::bandwidth"]
        [::core::mem::offset_of!(uct_iface_attr, bandwidth) - 480usize];
    ["Offset of field: uct_iface_attr::latency"][::core::mem::offset_of!(uct_iface_attr, latency) - 496usize];
    ["Offset of field: uct_iface_attr::priority"]
        [::core::mem::offset_of!(uct_iface_attr, priority) - 512usize];
    ["Offset of field: uct_iface_attr::max_num_eps"]
        [::core::mem::offset_of!(uct_iface_attr, max_num_eps) - 520usize];
    ["Offset of field: uct_iface_attr::dev_num_paths"]
        [::core::mem::offset_of!(uct_iface_attr, dev_num_paths) - 528usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct uct_iface_params {
    pub field_mask: u64,
    pub cpu_mask: ucs_cpu_set_t,
    pub open_mode: u64,
    pub mode: uct_iface_params__bindgen_ty_1,
    pub stats_root: *mut ucs_stats_node_t,
    pub rx_headroom: usize,
    pub err_handler_arg: *mut ::core::ffi::c_void,
    pub err_handler: uct_error_handler_t,
    pub err_handler_flags: u32,
    pub eager_arg: *mut ::core::ffi::c_void,
    pub eager_cb: uct_tag_unexp_eager_cb_t,
    pub rndv_arg: *mut ::core::ffi::c_void,
    pub rndv_cb: uct_tag_unexp_rndv_cb_t,
    pub async_event_arg: *mut ::core::ffi::c_void,
    pub async_event_cb: uct_async_event_cb_t,
    pub keepalive_interval: ucs_time_t,
    pub am_alignment: usize,
    pub am_align_offset: usize,
    pub features: u64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union uct_iface_params__bindgen_ty_1 {
    pub device: uct_iface_params__bindgen_ty_1__bindgen_ty_1,
    pub sockaddr: uct_iface_params__bindgen_ty_1__bindgen_ty_2,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_params__bindgen_ty_1__bindgen_ty_1 {
    pub tl_name: *const ::core::ffi::c_char,
    pub dev_name: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_params__bindgen_ty_1__bindgen_ty_1"]
        [::core::mem::size_of::<uct_iface_params__bindgen_ty_1__bindgen_ty_1>() - 16usize];
    ["Alignment of uct_iface_params__bindgen_ty_1__bindgen_ty_1"]
        [::core::mem::align_of::<uct_iface_params__bindgen_ty_1__bindgen_ty_1>() - 8usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1__bindgen_ty_1::tl_name"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1__bindgen_ty_1, tl_name) - 0usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1__bindgen_ty_1::dev_name"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1__bindgen_ty_1, dev_name) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_iface_params__bindgen_ty_1__bindgen_ty_2 {
    pub listen_sockaddr: ucs_sock_addr_t,
    pub conn_request_arg: *mut ::core::ffi::c_void,
    pub conn_request_cb: uct_sockaddr_conn_request_callback_t,
    pub cb_flags: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_params__bindgen_ty_1__bindgen_ty_2"]
        [::core::mem::size_of::<uct_iface_params__bindgen_ty_1__bindgen_ty_2>() - 40usize];
    ["Alignment of uct_iface_params__bindgen_ty_1__bindgen_ty_2"]
        [::core::mem::align_of::<uct_iface_params__bindgen_ty_1__bindgen_ty_2>() - 8usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1__bindgen_ty_2::listen_sockaddr"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1__bindgen_ty_2, listen_sockaddr) - 0usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1__bindgen_ty_2::conn_request_arg"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1__bindgen_ty_2, conn_request_arg) - 16usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1__bindgen_ty_2::conn_request_cb"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1__bindgen_ty_2, conn_request_cb) - 24usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1__bindgen_ty_2::cb_flags"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1__bindgen_ty_2, cb_flags) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_params__bindgen_ty_1"]
        [::core::mem::size_of::<uct_iface_params__bindgen_ty_1>() - 40usize];
    ["Alignment of uct_iface_params__bindgen_ty_1"]
        [::core::mem::align_of::<uct_iface_params__bindgen_ty_1>() - 8usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1::device"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1, device) - 0usize];
    ["Offset of field: uct_iface_params__bindgen_ty_1::sockaddr"]
        [::core::mem::offset_of!(uct_iface_params__bindgen_ty_1, sockaddr) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_iface_params"][::core::mem::size_of::<uct_iface_params>() - 304usize];
    ["Alignment of uct_iface_params"][::core::mem::align_of::<uct_iface_params>() - 8usize];
    ["Offset of field: uct_iface_params::field_mask"]
        [::core::mem::offset_of!(uct_iface_params, field_mask) - 0usize];
    ["Offset of field: uct_iface_params::cpu_mask"]
        [::core::mem::offset_of!(uct_iface_params, cpu_mask) - 8usize];
    ["Offset of field: uct_iface_params::open_mode"]
        [::core::mem::offset_of!(uct_iface_params, open_mode) - 136usize];
    ["Offset of field: uct_iface_params::mode"][::core::mem::offset_of!(uct_iface_params, mode) - 144usize];
    ["Offset of field: uct_iface_params::stats_root"]
        [::core::mem::offset_of!(uct_iface_params, stats_root) - 184usize];
    ["Offset of field: uct_iface_params::rx_headroom"]
        [::core::mem::offset_of!(uct_iface_params, rx_headroom) - 192usize];
    ["Offset of field: uct_iface_params::err_handler_arg"]
        [::core::mem::offset_of!(uct_iface_params, err_handler_arg) - 200usize];
    ["Offset of field: uct_iface_params::err_handler"]
        [::core::mem::offset_of!(uct_iface_params, err_handler) - 208usize];
    ["Offset of field: uct_iface_params::err_handler_flags"]
        [::core::mem::offset_of!(uct_iface_params, err_handler_flags) - 216usize];
    ["Offset of field: uct_iface_params::eager_arg"]
        [::core::mem::offset_of!(uct_iface_params, eager_arg) - 224usize];
    ["Offset of field: uct_iface_params::eager_cb"]
        [::core::mem::offset_of!(uct_iface_params, eager_cb) - 232usize];
    ["Offset of field: uct_iface_params::rndv_arg"]
        [::core::mem::offset_of!(uct_iface_params, rndv_arg) - 240usize];
    ["Offset of field: uct_iface_params::rndv_cb"]
        [::core::mem::offset_of!(uct_iface_params, rndv_cb) - 248usize];
    ["Offset of field: uct_iface_params::async_event_arg"]
        [::core::mem::offset_of!(uct_iface_params, async_event_arg) - 256usize];
    ["Offset of field: uct_iface_params::async_event_cb"]
        [::core::mem::offset_of!(uct_iface_params, async_event_cb) - 264usize];
    ["Offset of field: uct_iface_params::keepalive_interval"]
        [::core::mem::offset_of!(uct_iface_params, keepalive_interval) - 272usize];
    ["Offset of field: uct_iface_params::am_alignment"]
        [::core::mem::offset_of!(uct_iface_params, am_alignment) - 280usize];
    ["Offset of field: uct_iface_params::am_align_offset"]
        [::core::mem::offset_of!(uct_iface_params, am_align_offset) - 288usize];
    ["Offset of field: uct_iface_params::features"]
        [::core::mem::offset_of!(uct_iface_params, features) - 296usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_ep_params {
    pub field_mask: u64,
    pub iface: uct_iface_h,
    pub user_data: *mut ::core::ffi::c_void,
    pub dev_addr: *const uct_device_addr_t,
    pub iface_addr: *const uct_iface_addr_t,
    pub sockaddr: *const ucs_sock_addr_t,
    pub sockaddr_cb_flags: u32,
    pub sockaddr_pack_cb: uct_cm_ep_priv_data_pack_callback_t,
    pub cm: uct_cm_h,
    pub conn_request: uct_conn_request_h,
    pub sockaddr_cb_client: uct_cm_ep_client_connect_callback_t,
    pub sockaddr_cb_server: uct_cm_ep_server_conn_notify_callback_t,
    pub disconnect_cb: uct_ep_disconnect_cb_t,
    pub path_index: ::core::ffi::c_uint,
    pub cm_resolve_cb: uct_cm_ep_resolve_callback_t,
    pub private_data: *const ::core::ffi::c_void,
    pub private_data_length: usize,
    pub local_sockaddr: *const ucs_sock_addr_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_ep_params"][::core::mem::size_of::<uct_ep_params>() - 144usize];
    ["Alignment of uct_ep_params"][::core::mem::align_of::<uct_ep_params>() - 8usize];
    ["Offset of field: uct_ep_params::field_mask"]
        [::core::mem::offset_of!(uct_ep_params, field_mask) - 0usize];
    ["Offset of field: uct_ep_params::iface"][::core::mem::offset_of!(uct_ep_params, iface) - 8usize];
    ["Offset of field: uct_ep_params::user_data"]
        [::core::mem::offset_of!(uct_ep_params, user_data) - 16usize];
    ["Offset of field: uct_ep_params::dev_addr"][::core::mem::offset_of!(uct_ep_params, dev_addr) - 24usize];
    ["Offset of field: uct_ep_params::iface_addr"]
        [::core::mem::offset_of!(uct_ep_params, iface_addr) - 32usize];
    ["Offset of field: uct_ep_params::sockaddr"][::core::mem::offset_of!(uct_ep_params, sockaddr) - 40usize];
    ["Offset of field: uct_ep_params::sockaddr_cb_flags"]
        [::core::mem::offset_of!(uct_ep_params, sockaddr_cb_flags) - 48usize];
    ["Offset of field: uct_ep_params::sockaddr_pack_cb"]
        [::core::mem::offset_of!(uct_ep_params, sockaddr_pack_cb) - 56usize];
    ["Offset of field: uct_ep_params::cm"][::core::mem::offset_of!(uct_ep_params, cm) - 64usize];
    ["Offset of field: uct_ep_params::conn_request"]
        [::core::mem::offset_of!(uct_ep_params, conn_request) - 72usize];
    ["Offset of field: uct_ep_params::sockaddr_cb_client"]
        [::core::mem::offset_of!(uct_ep_params, sockaddr_cb_client) - 80usize];
    ["Offset of field: uct_ep_params::sockaddr_cb_server"]
        [::core::mem::offset_of!(uct_ep_params, sockaddr_cb_server) - 88usize];
    ["Offset of field: uct_ep_params::disconnect_cb"]
        [::core::mem::offset_of!(uct_ep_params, disconnect_cb) - 96usize];
    ["Offset of field: uct_ep_params::path_index"]
        [::core::mem::offset_of!(uct_ep_params, path_index) - 104usize];
    ["Offset of field: uct_ep_params::cm_resolve_cb"]
        [::core::mem::offset_of!(uct_ep_params, cm_resolve_cb) - 112usize];
    ["Offset of field: uct_ep_params::private_data"]
        [::core::mem::offset_of!(uct_ep_params, private_data) - 120usize];
    ["Offset of field: uct_ep_params::private_data_length"]
        [::core::mem::offset_of!(uct_ep_params, private_data_length) - 128usize];
    ["Offset of field: uct_ep_params::local_sockaddr"]
        [::core::mem::offset_of!(uct_ep_params, local_sockaddr) - 136usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_ep_connect_params {
    pub field_mask: u64,
    pub private_data: *const ::core::ffi::c_void,
    pub private_data_length: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_ep_connect_params"][::core::mem::size_of::<uct_ep_connect_params>() - 24usize];
    ["Alignment of uct_ep_connect_params"][::core::mem::align_of::<uct_ep_connect_params>() - 8usize];
    ["Offset of field: uct_ep_connect_params::field_mask"]
        [::core::mem::offset_of!(uct_ep_connect_params, field_mask) - 0usize];
    ["Offset of field: uct_ep_connect_params::private_data"]
        [::core::mem::offset_of!(uct_ep_connect_params, private_data) - 8usize];
    ["Offset of field: uct_ep_connect_params::private_data_length"]
        [::core::mem::offset_of!(uct_ep_connect_params, private_data_length) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_md_attr {
    pub cap: uct_md_attr__bindgen_ty_1,
    pub reg_cost: ucs_linear_func_t,
    pub component_name: [::core::ffi::c_char; 16usize],
    pub rkey_packed_size: usize,
    pub local_cpus: ucs_cpu_set_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_md_attr__bindgen_ty_1 {
    pub max_alloc: u64,
    pub max_reg: usize,
    pub flags: u64,
    pub reg_mem_types: u64,
    pub detect_mem_types: u64,
    pub alloc_mem_types: u64,
    pub access_mem_types: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_md_attr__bindgen_ty_1"][::core::mem::size_of::<uct_md_attr__bindgen_ty_1>() - 56usize];
    ["Alignment of uct_md_attr__bindgen_ty_1"][::core::mem::align_of::<uct_md_attr__bindgen_ty_1>() - 8usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::max_alloc"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, max_alloc) - 0usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::max_reg"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, max_reg) - 8usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::flags"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, flags) - 16usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::reg_mem_types"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, reg_mem_types) - 24usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::detect_mem_types"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, detect_mem_types) - 32usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::alloc_mem_types"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, alloc_mem_types) - 40usize];
    ["Offset of field: uct_md_attr__bindgen_ty_1::access_mem_types"]
        [::core::mem::offset_of!(uct_md_attr__bindgen_ty_1, access_mem_types) - 48usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_md_attr"][::core::mem::size_of::<uct_md_attr>() - 224usize];
    ["Alignment of uct_md_attr"][::core::mem::align_of::<uct_md_attr>() - 8usize];
    ["Offset of field: uct_md_attr::cap"][::core::mem::offset_of!(uct_md_attr, cap) - 0usize];
    ["Offset of field: uct_md_attr::reg_cost"][::core::mem::offset_of!(uct_md_attr, reg_cost) - 56usize];
    ["Offset of field: uct_md_attr::component_name"]
        [::core::mem::offset_of!(uct_md_attr, component_name) - 72usize];
    ["Offset of field: uct_md_attr::rkey_packed_size"]
        [::core::mem::offset_of!(uct_md_attr, rkey_packed_size) - 88usize];
    ["Offset of field: uct_md_attr::local_cpus"][::core::mem::offset_of!(uct_md_attr, local_cpus) - 96usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_allocated_memory {
    pub address: *mut ::core::ffi::c_void,
    pub length: usize,
    pub method: uct_alloc_method_t,
    pub mem_type: ucs_memory_type_t,
    pub md: uct_md_h,
    pub memh: uct_mem_h,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_allocated_memory"][::core::mem::size_of::<uct_allocated_memory>() - 40usize];
    ["Alignment of uct_allocated_memory"][::core::mem::align_of::<uct_allocated_memory>() - 8usize];
    ["Offset of field: uct_allocated_memory::address"]
        [::core::mem::offset_of!(uct_allocated_memory, address) - 0usize];
    ["Offset of field: uct_allocated_memory::length"]
        [::core::mem::offset_of!(uct_allocated_memory, length) - 8usize];
    ["Offset of field: uct_allocated_memory::method"]
        [::core::mem::offset_of!(uct_allocated_memory, method) - 16usize];
    ["Offset of field: uct_allocated_memory::mem_type"]
        [::core::mem::offset_of!(uct_allocated_memory, mem_type) - 20usize];
    ["Offset of field: uct_allocated_memory::md"]
        [::core::mem::offset_of!(uct_allocated_memory, md) - 24usize];
    ["Offset of field: uct_allocated_memory::memh"]
        [::core::mem::offset_of!(uct_allocated_memory, memh) - 32usize];
};
pub type uct_allocated_memory_t = uct_allocated_memory;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_rkey_bundle {
    pub rkey: uct_rkey_t,
    pub handle: *mut ::core::ffi::c_void,
    pub type_: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_rkey_bundle"][::core::mem::size_of::<uct_rkey_bundle>() - 24usize];
    ["Alignment of uct_rkey_bundle"][::core::mem::align_of::<uct_rkey_bundle>() - 8usize];
    ["Offset of field: uct_rkey_bundle::rkey"][::core::mem::offset_of!(uct_rkey_bundle, rkey) - 0usize];
    ["Offset of field: uct_rkey_bundle::handle"][::core::mem::offset_of!(uct_rkey_bundle, handle) - 8usize];
    ["Offset of field: uct_rkey_bundle::type_"][::core::mem::offset_of!(uct_rkey_bundle, type_) - 16usize];
};
pub type uct_rkey_bundle_t = uct_rkey_bundle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_completion {
    pub func: uct_completion_callback_t,
    pub count: ::core::ffi::c_int,
    pub status: ucs_status_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_completion"][::core::mem::size_of::<uct_completion>() - 16usize];
    ["Alignment of uct_completion"][::core::mem::align_of::<uct_completion>() - 8usize];
    ["Offset of field: uct_completion::func"][::core::mem::offset_of!(uct_completion, func) - 0usize];
    ["Offset of field: uct_completion::count"][::core::mem::offset_of!(uct_completion, count) - 8usize];
    ["Offset of field: uct_completion::status"][::core::mem::offset_of!(uct_completion, status) - 12usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_pending_req {
    pub func: uct_pending_callback_t,
    pub priv_: [::core::ffi::c_char; 40usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_pending_req"][::core::mem::size_of::<uct_pending_req>() - 48usize];
    ["Alignment of uct_pending_req"][::core::mem::align_of::<uct_pending_req>() - 8usize];
    ["Offset of field: uct_pending_req::func"][::core::mem::offset_of!(uct_pending_req, func) - 0usize];
    ["Offset of field: uct_pending_req::priv_"][::core::mem::offset_of!(uct_pending_req, priv_) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct uct_tag_context {
    pub tag_consumed_cb: ::core::option::Option<unsafe extern "C" fn(self_: *mut uct_tag_context_t)>,
    pub completed_cb: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut uct_tag_context_t,
            stag: uct_tag_t,
            imm: u64,
            length: usize,
            inline_data: *mut ::core::ffi::c_void,
            status: ucs_status_t,
        ),
    >,
    pub rndv_cb: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut uct_tag_context_t,
            stag: uct_tag_t,
            header: *const ::core::ffi::c_void,
            header_length: ::core::ffi::c_uint,
            status: ucs_status_t,
            flags: ::core::ffi::c_uint,
        ),
    >,
    pub priv_: [::core::ffi::c_char; 32usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uct_tag_context"][::core::mem::size_of::<uct_tag_context>() - 56usize];
    ["Alignment of uct_tag_context"][::core::mem::align_of::<uct_tag_context>() - 8usize];
    ["Offset of field: uct_tag_context::tag_consumed_cb"]
        [::core::mem::offset_of!(uct_tag_context, tag_consumed_cb) - 0usize];
    ["Offset of field: uct_tag_context::completed_cb"]
        [::core::mem::offset_of!(uct_tag_context, completed_cb) - 8usize];
    ["Offset of field: uct_tag_context::rndv_cb"]
        [::core::mem::offset_of!(uct_tag_context, rndv_cb) - 16usize];
    ["Offset of field: uct_tag_context::priv_"][::core::mem::offset_of!(uct_tag_context, priv_) - 24usize];
};
pub const UCT_TAG_RECV_CB_INLINE_DATA: _bindgen_ty_9 = 1;
pub type _bindgen_ty_9 = ::core::ffi::c_uint;
pub struct Ucx {
    __library: ::libloading::Library,
    pub ucs_status_string: unsafe extern "C" fn(status: ucs_status_t) -> *const ::core::ffi::c_char,
    pub ucp_config_read: unsafe extern "C" fn(
        env_prefix: *const ::core::ffi::c_char,
        filename: *const ::core::ffi::c_char,
        config_p: *mut *mut ucp_config_t,
    ) -> ucs_status_t,
    pub ucp_config_release: unsafe extern "C" fn(config: *mut ucp_config_t),
    pub ucp_config_modify: unsafe extern "C" fn(
        config: *mut ucp_config_t,
        name: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> ucs_status_t,
    pub ucp_get_version: unsafe extern "C" fn(
        major_version: *mut ::core::ffi::c_uint,
        minor_version: *mut ::core::ffi::c_uint,
        release_number: *mut ::core::ffi::c_uint,
    ),
    pub ucp_get_version_string: unsafe extern "C" fn() -> *const ::core::ffi::c_char,
    pub ucp_init_version: unsafe extern "C" fn(
        api_major_version: ::core::ffi::c_uint,
        api_minor_version: ::core::ffi::c_uint,
        params: *const ucp_params_t,
        config: *const ucp_config_t,
        context_p: *mut ucp_context_h,
    ) -> ucs_status_t,
    pub ucp_cleanup: unsafe extern "C" fn(context_p: ucp_context_h),
    pub ucp_worker_create: unsafe extern "C" fn(
        context: ucp_context_h,
        params: *const ucp_worker_params_t,
        worker_p: *mut ucp_worker_h,
    ) -> ucs_status_t,
    pub ucp_worker_destroy: unsafe extern "C" fn(worker: ucp_worker_h),
    pub ucp_worker_get_address: unsafe extern "C" fn(
        worker: ucp_worker_h,
        address_p: *mut *mut ucp_address_t,
        address_length_p: *mut usize,
    ) -> ucs_status_t,
    pub ucp_worker_release_address: unsafe extern "C" fn(worker: ucp_worker_h, address: *mut ucp_address_t),
    pub ucp_worker_progress: unsafe extern "C" fn(worker: ucp_worker_h) -> ::core::ffi::c_uint,
    pub ucp_worker_get_efd:
        unsafe extern "C" fn(worker: ucp_worker_h, fd: *mut ::core::ffi::c_int) -> ucs_status_t,
    pub ucp_worker_wait: unsafe extern "C" fn(worker: ucp_worker_h) -> ucs_status_t,
    pub ucp_worker_arm: unsafe extern "C" fn(worker: ucp_worker_h) -> ucs_status_t,
    pub ucp_worker_signal: unsafe extern "C" fn(worker: ucp_worker_h) -> ucs_status_t,
    pub ucp_ep_create: unsafe extern "C" fn(
        worker: ucp_worker_h,
        params: *const ucp_ep_params_t,
        ep_p: *mut ucp_ep_h,
    ) -> ucs_status_t,
    pub ucp_ep_close_nbx:
        unsafe extern "C" fn(ep: ucp_ep_h, param: *const ucp_request_param_t) -> ucs_status_ptr_t,
    pub ucp_ep_flush_nbx:
        unsafe extern "C" fn(ep: ucp_ep_h, param: *const ucp_request_param_t) -> ucs_status_ptr_t,
    pub ucp_mem_map: unsafe extern "C" fn(
        context: ucp_context_h,
        params: *const ucp_mem_map_params_t,
        memh_p: *mut ucp_mem_h,
    ) -> ucs_status_t,
    pub ucp_mem_unmap: unsafe extern "C" fn(context: ucp_context_h, memh: ucp_mem_h) -> ucs_status_t,
    pub ucp_mem_query: unsafe extern "C" fn(memh: ucp_mem_h, attr: *mut ucp_mem_attr_t) -> ucs_status_t,
    pub ucp_rkey_pack: unsafe extern "C" fn(
        context: ucp_context_h,
        memh: ucp_mem_h,
        rkey_buffer_p: *mut *mut ::core::ffi::c_void,
        size_p: *mut usize,
    ) -> ucs_status_t,
    pub ucp_rkey_buffer_release: unsafe extern "C" fn(rkey_buffer: *mut ::core::ffi::c_void),
    pub ucp_ep_rkey_unpack: unsafe extern "C" fn(
        ep: ucp_ep_h,
        rkey_buffer: *const ::core::ffi::c_void,
        rkey_p: *mut ucp_rkey_h,
    ) -> ucs_status_t,
    pub ucp_rkey_destroy: unsafe extern "C" fn(rkey: ucp_rkey_h),
    pub ucp_worker_set_am_recv_handler:
        unsafe extern "C" fn(worker: ucp_worker_h, param: *const ucp_am_handler_param_t) -> ucs_status_t,
    pub ucp_am_send_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        id: ::core::ffi::c_uint,
        header: *const ::core::ffi::c_void,
        header_length: usize,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_am_recv_data_nbx: unsafe extern "C" fn(
        worker: ucp_worker_h,
        data_desc: *mut ::core::ffi::c_void,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_am_data_release: unsafe extern "C" fn(worker: ucp_worker_h, data: *mut ::core::ffi::c_void),
    pub ucp_stream_send_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_tag_send_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        tag: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_tag_send_sync_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        tag: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_stream_recv_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        length: *mut usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_stream_recv_data_nb: unsafe extern "C" fn(ep: ucp_ep_h, length: *mut usize) -> ucs_status_ptr_t,
    pub ucp_tag_recv_nbx: unsafe extern "C" fn(
        worker: ucp_worker_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        tag: ucp_tag_t,
        tag_mask: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_tag_probe_nb: unsafe extern "C" fn(
        worker: ucp_worker_h,
        tag: ucp_tag_t,
        tag_mask: ucp_tag_t,
        remove: ::core::ffi::c_int,
        info: *mut ucp_tag_recv_info_t,
    ) -> ucp_tag_message_h,
    pub ucp_tag_msg_recv_nbx: unsafe extern "C" fn(
        worker: ucp_worker_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        message: ucp_tag_message_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_put_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        remote_addr: u64,
        rkey: ucp_rkey_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_get_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        remote_addr: u64,
        rkey: ucp_rkey_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_atomic_op_nbx: unsafe extern "C" fn(
        ep: ucp_ep_h,
        opcode: ucp_atomic_op_t,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        remote_addr: u64,
        rkey: ucp_rkey_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t,
    pub ucp_request_check_status: unsafe extern "C" fn(request: *mut ::core::ffi::c_void) -> ucs_status_t,
    pub ucp_request_cancel: unsafe extern "C" fn(worker: ucp_worker_h, request: *mut ::core::ffi::c_void),
    pub ucp_request_free: unsafe extern "C" fn(request: *mut ::core::ffi::c_void),
    pub ucp_stream_data_release: unsafe extern "C" fn(ep: ucp_ep_h, data: *mut ::core::ffi::c_void),
    pub ucp_worker_fence: unsafe extern "C" fn(worker: ucp_worker_h) -> ucs_status_t,
    pub ucp_worker_flush_nbx:
        unsafe extern "C" fn(worker: ucp_worker_h, param: *const ucp_request_param_t) -> ucs_status_ptr_t,
    pub ucp_ep_query: unsafe extern "C" fn(ep: ucp_ep_h, attr: *mut ucp_ep_attr_t) -> ucs_status_t,
    pub ucs_async_context_create:
        unsafe extern "C" fn(mode: ucs_async_mode_t, async_p: *mut *mut ucs_async_context_t) -> ucs_status_t,
    pub ucs_async_context_destroy: unsafe extern "C" fn(async_: *mut ucs_async_context_t),
    pub uct_query_components: unsafe extern "C" fn(
        components_p: *mut *mut uct_component_h,
        num_components_p: *mut ::core::ffi::c_uint,
    ) -> ucs_status_t,
    pub uct_release_component_list: unsafe extern "C" fn(components: *mut uct_component_h),
    pub uct_component_query: unsafe extern "C" fn(
        component: uct_component_h,
        component_attr: *mut uct_component_attr_t,
    ) -> ucs_status_t,
    pub uct_md_open: unsafe extern "C" fn(
        component: uct_component_h,
        md_name: *const ::core::ffi::c_char,
        config: *const uct_md_config_t,
        md_p: *mut uct_md_h,
    ) -> ucs_status_t,
    pub uct_md_close: unsafe extern "C" fn(md: uct_md_h),
    pub uct_md_query_tl_resources: unsafe extern "C" fn(
        md: uct_md_h,
        resources_p: *mut *mut uct_tl_resource_desc_t,
        num_resources_p: *mut ::core::ffi::c_uint,
    ) -> ucs_status_t,
    pub uct_release_tl_resource_list: unsafe extern "C" fn(resources: *mut uct_tl_resource_desc_t),
    pub uct_worker_create: unsafe extern "C" fn(
        async_: *mut ucs_async_context_t,
        thread_mode: ucs_thread_mode_t,
        worker_p: *mut uct_worker_h,
    ) -> ucs_status_t,
    pub uct_worker_destroy: unsafe extern "C" fn(worker: uct_worker_h),
    pub uct_md_iface_config_read: unsafe extern "C" fn(
        md: uct_md_h,
        tl_name: *const ::core::ffi::c_char,
        env_prefix: *const ::core::ffi::c_char,
        filename: *const ::core::ffi::c_char,
        config_p: *mut *mut uct_iface_config_t,
    ) -> ucs_status_t,
    pub uct_config_release: unsafe extern "C" fn(config: *mut ::core::ffi::c_void),
    pub uct_iface_open: unsafe extern "C" fn(
        md: uct_md_h,
        worker: uct_worker_h,
        params: *const uct_iface_params_t,
        config: *const uct_iface_config_t,
        iface_p: *mut uct_iface_h,
    ) -> ucs_status_t,
    pub uct_iface_close: unsafe extern "C" fn(iface: uct_iface_h),
    pub uct_iface_query:
        unsafe extern "C" fn(iface: uct_iface_h, iface_attr: *mut uct_iface_attr_t) -> ucs_status_t,
    pub uct_iface_get_device_address:
        unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_device_addr_t) -> ucs_status_t,
    pub uct_iface_get_address:
        unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_iface_addr_t) -> ucs_status_t,
    pub uct_iface_is_reachable: unsafe extern "C" fn(
        iface: uct_iface_h,
        dev_addr: *const uct_device_addr_t,
        iface_addr: *const uct_iface_addr_t,
    ) -> ::core::ffi::c_int,
    pub uct_iface_mem_alloc: unsafe extern "C" fn(
        iface: uct_iface_h,
        length: usize,
        flags: ::core::ffi::c_uint,
        name: *const ::core::ffi::c_char,
        mem: *mut uct_allocated_memory_t,
    ) -> ucs_status_t,
    pub uct_iface_mem_free: unsafe extern "C" fn(mem: *const uct_allocated_memory_t),
    pub uct_iface_set_am_handler: unsafe extern "C" fn(
        iface: uct_iface_h,
        id: u8,
        cb: uct_am_callback_t,
        arg: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> ucs_status_t,
    pub uct_ep_create:
        unsafe extern "C" fn(params: *const uct_ep_params_t, ep_p: *mut uct_ep_h) -> ucs_status_t,
    pub uct_ep_destroy: unsafe extern "C" fn(ep: uct_ep_h),
    pub uct_ep_get_address: unsafe extern "C" fn(ep: uct_ep_h, addr: *mut uct_ep_addr_t) -> ucs_status_t,
    pub uct_ep_connect_to_ep: unsafe extern "C" fn(
        ep: uct_ep_h,
        dev_addr: *const uct_device_addr_t,
        ep_addr: *const uct_ep_addr_t,
    ) -> ucs_status_t,
    pub uct_md_query: unsafe extern "C" fn(md: uct_md_h, md_attr: *mut uct_md_attr_t) -> ucs_status_t,
    pub uct_md_config_read: unsafe extern "C" fn(
        component: uct_component_h,
        env_prefix: *const ::core::ffi::c_char,
        filename: *const ::core::ffi::c_char,
        config_p: *mut *mut uct_md_config_t,
    ) -> ucs_status_t,
    pub uct_md_mkey_pack: unsafe extern "C" fn(
        md: uct_md_h,
        memh: uct_mem_h,
        rkey_buffer: *mut ::core::ffi::c_void,
    ) -> ucs_status_t,
    pub uct_rkey_unpack: unsafe extern "C" fn(
        component: uct_component_h,
        rkey_buffer: *const ::core::ffi::c_void,
        rkey_ob: *mut uct_rkey_bundle_t,
    ) -> ucs_status_t,
    pub uct_rkey_release:
        unsafe extern "C" fn(component: uct_component_h, rkey_ob: *const uct_rkey_bundle_t) -> ucs_status_t,
}
impl Ucx {
    pub unsafe fn new<P>(path: P) -> Result<Self, ::libloading::Error>
    where
        P: AsRef<::std::ffi::OsStr>,
    {
        let path = path.as_ref();
        let library = ::libloading::Library::new(path)?;
        Self::from_library(library)
    }
    pub unsafe fn from_library<L>(library: L) -> Result<Self, ::libloading::Error>
    where
        L: Into<::libloading::Library>,
    {
        let __library = library.into();
        let ucs_status_string = __library.get(b"ucs_status_string\0").map(|sym| *sym)?;
        let ucp_config_read = __library.get(b"ucp_config_read\0").map(|sym| *sym)?;
        let ucp_config_release = __library.get(b"ucp_config_release\0").map(|sym| *sym)?;
        let ucp_config_modify = __library.get(b"ucp_config_modify\0").map(|sym| *sym)?;
        let ucp_get_version = __library.get(b"ucp_get_version\0").map(|sym| *sym)?;
        let ucp_get_version_string = __library.get(b"ucp_get_version_string\0").map(|sym| *sym)?;
        let ucp_init_version = __library.get(b"ucp_init_version\0").map(|sym| *sym)?;
        let ucp_cleanup = __library.get(b"ucp_cleanup\0").map(|sym| *sym)?;
        let ucp_worker_create = __library.get(b"ucp_worker_create\0").map(|sym| *sym)?;
        let ucp_worker_destroy = __library.get(b"ucp_worker_destroy\0").map(|sym| *sym)?;
        let ucp_worker_get_address = __library.get(b"ucp_worker_get_address\0").map(|sym| *sym)?;
        let ucp_worker_release_address = __library.get(b"ucp_worker_release_address\0").map(|sym| *sym)?;
        let ucp_worker_progress = __library.get(b"ucp_worker_progress\0").map(|sym| *sym)?;
        let ucp_worker_get_efd = __library.get(b"ucp_worker_get_efd\0").map(|sym| *sym)?;
        let ucp_worker_wait = __library.get(b"ucp_worker_wait\0").map(|sym| *sym)?;
        let ucp_worker_arm = __library.get(b"ucp_worker_arm\0").map(|sym| *sym)?;
        let ucp_worker_signal = __library.get(b"ucp_worker_signal\0").map(|sym| *sym)?;
        let ucp_ep_create = __library.get(b"ucp_ep_create\0").map(|sym| *sym)?;
        let ucp_ep_close_nbx = __library.get(b"ucp_ep_close_nbx\0").map(|sym| *sym)?;
        let ucp_ep_flush_nbx = __library.get(b"ucp_ep_flush_nbx\0").map(|sym| *sym)?;
        let ucp_mem_map = __library.get(b"ucp_mem_map\0").map(|sym| *sym)?;
        let ucp_mem_unmap = __library.get(b"ucp_mem_unmap\0").map(|sym| *sym)?;
        let ucp_mem_query = __library.get(b"ucp_mem_query\0").map(|sym| *sym)?;
        let ucp_rkey_pack = __library.get(b"ucp_rkey_pack\0").map(|sym| *sym)?;
        let ucp_rkey_buffer_release = __library.get(b"ucp_rkey_buffer_release\0").map(|sym| *sym)?;
        let ucp_ep_rkey_unpack = __library.get(b"ucp_ep_rkey_unpack\0").map(|sym| *sym)?;
        let ucp_rkey_destroy = __library.get(b"ucp_rkey_destroy\0").map(|sym| *sym)?;
        let ucp_worker_set_am_recv_handler = __library
            .get(b"ucp_worker_set_am_recv_handler\0")
            .map(|sym| *sym)?;
        let ucp_am_send_nbx = __library.get(b"ucp_am_send_nbx\0").map(|sym| *sym)?;
        let ucp_am_recv_data_nbx = __library.get(b"ucp_am_recv_data_nbx\0").map(|sym| *sym)?;
        let ucp_am_data_release = __library.get(b"ucp_am_data_release\0").map(|sym| *sym)?;
        let ucp_stream_send_nbx = __library.get(b"ucp_stream_send_nbx\0").map(|sym| *sym)?;
        let ucp_tag_send_nbx = __library.get(b"ucp_tag_send_nbx\0").map(|sym| *sym)?;
        let ucp_tag_send_sync_nbx = __library.get(b"ucp_tag_send_sync_nbx\0").map(|sym| *sym)?;
        let ucp_stream_recv_nbx = __library.get(b"ucp_stream_recv_nbx\0").map(|sym| *sym)?;
        let ucp_stream_recv_data_nb = __library.get(b"ucp_stream_recv_data_nb\0").map(|sym| *sym)?;
        let ucp_tag_recv_nbx = __library.get(b"ucp_tag_recv_nbx\0").map(|sym| *sym)?;
        let ucp_tag_probe_nb = __library.get(b"ucp_tag_probe_nb\0").map(|sym| *sym)?;
        let ucp_tag_msg_recv_nbx = __library.get(b"ucp_tag_msg_recv_nbx\0").map(|sym| *sym)?;
        let ucp_put_nbx = __library.get(b"ucp_put_nbx\0").map(|sym| *sym)?;
        let ucp_get_nbx = __library.get(b"ucp_get_nbx\0").map(|sym| *sym)?;
        let ucp_atomic_op_nbx = __library.get(b"ucp_atomic_op_nbx\0").map(|sym| *sym)?;
        let ucp_request_check_status = __library.get(b"ucp_request_check_status\0").map(|sym| *sym)?;
        let ucp_request_cancel = __library.get(b"ucp_request_cancel\0").map(|sym| *sym)?;
        let ucp_request_free = __library.get(b"ucp_request_free\0").map(|sym| *sym)?;
        let ucp_stream_data_release = __library.get(b"ucp_stream_data_release\0").map(|sym| *sym)?;
        let ucp_worker_fence = __library.get(b"ucp_worker_fence\0").map(|sym| *sym)?;
        let ucp_worker_flush_nbx = __library.get(b"ucp_worker_flush_nbx\0").map(|sym| *sym)?;
        let ucp_ep_query = __library.get(b"ucp_ep_query\0").map(|sym| *sym)?;
        let ucs_async_context_create = __library.get(b"ucs_async_context_create\0").map(|sym| *sym)?;
        let ucs_async_context_destroy = __library.get(b"ucs_async_context_destroy\0").map(|sym| *sym)?;
        let uct_query_components = __library.get(b"uct_query_components\0").map(|sym| *sym)?;
        let uct_release_component_list = __library.get(b"uct_release_component_list\0").map(|sym| *sym)?;
        let uct_component_query = __library.get(b"uct_component_query\0").map(|sym| *sym)?;
        let uct_md_open = __library.get(b"uct_md_open\0").map(|sym| *sym)?;
        let uct_md_close = __library.get(b"uct_md_close\0").map(|sym| *sym)?;
        let uct_md_query_tl_resources = __library.get(b"uct_md_query_tl_resources\0").map(|sym| *sym)?;
        let uct_release_tl_resource_list =
            __library.get(b"uct_release_tl_resource_list\0").map(|sym| *sym)?;
        let uct_worker_create = __library.get(b"uct_worker_create\0").map(|sym| *sym)?;
        let uct_worker_destroy = __library.get(b"uct_worker_destroy\0").map(|sym| *sym)?;
        let uct_md_iface_config_read = __library.get(b"uct_md_iface_config_read\0").map(|sym| *sym)?;
        let uct_config_release = __library.get(b"uct_config_release\0").map(|sym| *sym)?;
        let uct_iface_open = __library.get(b"uct_iface_open\0").map(|sym| *sym)?;
        let uct_iface_close = __library.get(b"uct_iface_close\0").map(|sym| *sym)?;
        let uct_iface_query = __library.get(b"uct_iface_query\0").map(|sym| *sym)?;
        let uct_iface_get_device_address =
            __library.get(b"uct_iface_get_device_address\0").map(|sym| *sym)?;
        let uct_iface_get_address = __library.get(b"uct_iface_get_address\0").map(|sym| *sym)?;
        let uct_iface_is_reachable = __library.get(b"uct_iface_is_reachable\0").map(|sym| *sym)?;
        let uct_iface_mem_alloc = __library.get(b"uct_iface_mem_alloc\0").map(|sym| *sym)?;
        let uct_iface_mem_free = __library.get(b"uct_iface_mem_free\0").map(|sym| *sym)?;
        let uct_iface_set_am_handler = __library.get(b"uct_iface_set_am_handler\0").map(|sym| *sym)?;
        let uct_ep_create = __library.get(b"uct_ep_create\0").map(|sym| *sym)?;
        let uct_ep_destroy = __library.get(b"uct_ep_destroy\0").map(|sym| *sym)?;
        let uct_ep_get_address = __library.get(b"uct_ep_get_address\0").map(|sym| *sym)?;
        let uct_ep_connect_to_ep = __library.get(b"uct_ep_connect_to_ep\0").map(|sym| *sym)?;
        let uct_md_query = __library.get(b"uct_md_query\0").map(|sym| *sym)?;
        let uct_md_config_read = __library.get(b"uct_md_config_read\0").map(|sym| *sym)?;
        let uct_md_mkey_pack = __library.get(b"uct_md_mkey_pack\0").map(|sym| *sym)?;
        let uct_rkey_unpack = __library.get(b"uct_rkey_unpack\0").map(|sym| *sym)?;
        let uct_rkey_release = __library.get(b"uct_rkey_release\0").map(|sym| *sym)?;
        Ok(Ucx {
            __library,
            ucs_status_string,
            ucp_config_read,
            ucp_config_release,
            ucp_config_modify,
            ucp_get_version,
            ucp_get_version_string,
            ucp_init_version,
            ucp_cleanup,
            ucp_worker_create,
            ucp_worker_destroy,
            ucp_worker_get_address,
            ucp_worker_release_address,
            ucp_worker_progress,
            ucp_worker_get_efd,
            ucp_worker_wait,
            ucp_worker_arm,
            ucp_worker_signal,
            ucp_ep_create,
            ucp_ep_close_nbx,
            ucp_ep_flush_nbx,
            ucp_mem_map,
            ucp_mem_unmap,
            ucp_mem_query,
            ucp_rkey_pack,
            ucp_rkey_buffer_release,
            ucp_ep_rkey_unpack,
            ucp_rkey_destroy,
            ucp_worker_set_am_recv_handler,
            ucp_am_send_nbx,
            ucp_am_recv_data_nbx,
            ucp_am_data_release,
            ucp_stream_send_nbx,
            ucp_tag_send_nbx,
            ucp_tag_send_sync_nbx,
            ucp_stream_recv_nbx,
            ucp_stream_recv_data_nb,
            ucp_tag_recv_nbx,
            ucp_tag_probe_nb,
            ucp_tag_msg_recv_nbx,
            ucp_put_nbx,
            ucp_get_nbx,
            ucp_atomic_op_nbx,
            ucp_request_check_status,
            ucp_request_cancel,
            ucp_request_free,
            ucp_stream_data_release,
            ucp_worker_fence,
            ucp_worker_flush_nbx,
            ucp_ep_query,
            ucs_async_context_create,
            ucs_async_context_destroy,
            uct_query_components,
            uct_release_component_list,
            uct_component_query,
            uct_md_open,
            uct_md_close,
            uct_md_query_tl_resources,
            uct_release_tl_resource_list,
            uct_worker_create,
            uct_worker_destroy,
            uct_md_iface_config_read,
            uct_config_release,
            uct_iface_open,
            uct_iface_close,
            uct_iface_query,
            uct_iface_get_device_address,
            uct_iface_get_address,
            uct_iface_is_reachable,
            uct_iface_mem_alloc,
            uct_iface_mem_free,
            uct_iface_set_am_handler,
            uct_ep_create,
            uct_ep_destroy,
            uct_ep_get_address,
            uct_ep_connect_to_ep,
            uct_md_query,
            uct_md_config_read,
            uct_md_mkey_pack,
            uct_rkey_unpack,
            uct_rkey_release,
        })
    }
    #[inline]
    pub unsafe fn ucs_status_string(&self, status: ucs_status_t) -> *const ::core::ffi::c_char {
        (self.ucs_status_string)(status)
    }
    #[inline]
    pub unsafe fn ucp_config_read(
        &self,
        env_prefix: *const ::core::ffi::c_char,
        filename: *const ::core::ffi::c_char,
        config_p: *mut *mut ucp_config_t,
    ) -> ucs_status_t {
        (self.ucp_config_read)(env_prefix, filename, config_p)
    }
    #[inline]
    pub unsafe fn ucp_config_release(&self, config: *mut ucp_config_t) {
        (self.ucp_config_release)(config)
    }
    #[inline]
    pub unsafe fn ucp_config_modify(
        &self,
        config: *mut ucp_config_t,
        name: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> ucs_status_t {
        (self.ucp_config_modify)(config, name, value)
    }
    #[inline]
    pub unsafe fn ucp_get_version(
        &self,
        major_version: *mut ::core::ffi::c_uint,
        minor_version: *mut ::core::ffi::c_uint,
        release_number: *mut ::core::ffi::c_uint,
    ) {
        (self.ucp_get_version)(major_version, minor_version, release_number)
    }
    #[inline]
    pub unsafe fn ucp_get_version_string(&self) -> *const ::core::ffi::c_char {
        (self.ucp_get_version_string)()
    }
    #[inline]
    pub unsafe fn ucp_init_version(
        &self,
        api_major_version: ::core::ffi::c_uint,
        api_minor_version: ::core::ffi::c_uint,
        params: *const ucp_params_t,
        config: *const ucp_config_t,
        context_p: *mut ucp_context_h,
    ) -> ucs_status_t {
        (self.ucp_init_version)(api_major_version, api_minor_version, params, config, context_p)
    }
    #[inline]
    pub unsafe fn ucp_cleanup(&self, context_p: ucp_context_h) {
        (self.ucp_cleanup)(context_p)
    }
    #[inline]
    pub unsafe fn ucp_worker_create(
        &self,
        context: ucp_context_h,
        params: *const ucp_worker_params_t,
        worker_p: *mut ucp_worker_h,
    ) -> ucs_status_t {
        (self.ucp_worker_create)(context, params, worker_p)
    }
    #[inline]
    pub unsafe fn ucp_worker_destroy(&self, worker: ucp_worker_h) {
        (self.ucp_worker_destroy)(worker)
    }
    #[inline]
    pub unsafe fn ucp_worker_get_address(
        &self,
        worker: ucp_worker_h,
        address_p: *mut *mut ucp_address_t,
        address_length_p: *mut usize,
    ) -> ucs_status_t {
        (self.ucp_worker_get_address)(worker, address_p, address_length_p)
    }
    #[inline]
    pub unsafe fn ucp_worker_release_address(&self, worker: ucp_worker_h, address: *mut ucp_address_t) {
        (self.ucp_worker_release_address)(worker, address)
    }
    #[inline]
    pub unsafe fn ucp_worker_progress(&self, worker: ucp_worker_h) -> ::core::ffi::c_uint {
        (self.ucp_worker_progress)(worker)
    }
    #[inline]
    pub unsafe fn ucp_worker_get_efd(
        &self,
        worker: ucp_worker_h,
        fd: *mut ::core::ffi::c_int,
    ) -> ucs_status_t {
        (self.ucp_worker_get_efd)(worker, fd)
    }
    #[inline]
    pub unsafe fn ucp_worker_wait(&self, worker: ucp_worker_h) -> ucs_status_t {
        (self.ucp_worker_wait)(worker)
    }
    #[inline]
    pub unsafe fn ucp_worker_arm(&self, worker: ucp_worker_h) -> ucs_status_t {
        (self.ucp_worker_arm)(worker)
    }
    #[inline]
    pub unsafe fn ucp_worker_signal(&self, worker: ucp_worker_h) -> ucs_status_t {
        (self.ucp_worker_signal)(worker)
    }
    #[inline]
    pub unsafe fn ucp_ep_create(
        &self,
        worker: ucp_worker_h,
        params: *const ucp_ep_params_t,
        ep_p: *mut ucp_ep_h,
    ) -> ucs_status_t {
        (self.ucp_ep_create)(worker, params, ep_p)
    }
    #[inline]
    pub unsafe fn ucp_ep_close_nbx(
        &self,
        ep: ucp_ep_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_ep_close_nbx)(ep, param)
    }
    #[inline]
    pub unsafe fn ucp_ep_flush_nbx(
        &self,
        ep: ucp_ep_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_ep_flush_nbx)(ep, param)
    }
    #[inline]
    pub unsafe fn ucp_mem_map(
        &self,
        context: ucp_context_h,
        params: *const ucp_mem_map_params_t,
        memh_p: *mut ucp_mem_h,
    ) -> ucs_status_t {
        (self.ucp_mem_map)(context, params, memh_p)
    }
    #[inline]
    pub unsafe fn ucp_mem_unmap(&self, context: ucp_context_h, memh: ucp_mem_h) -> ucs_status_t {
        (self.ucp_mem_unmap)(context, memh)
    }
    #[inline]
    pub unsafe fn ucp_mem_query(&self, memh: ucp_mem_h, attr: *mut ucp_mem_attr_t) -> ucs_status_t {
        (self.ucp_mem_query)(memh, attr)
    }
    #[inline]
    pub unsafe fn ucp_rkey_pack(
        &self,
        context: ucp_context_h,
        memh: ucp_mem_h,
        rkey_buffer_p: *mut *mut ::core::ffi::c_void,
        size_p: *mut usize,
    ) -> ucs_status_t {
        (self.ucp_rkey_pack)(context, memh, rkey_buffer_p, size_p)
    }
    #[inline]
    pub unsafe fn ucp_rkey_buffer_release(&self, rkey_buffer: *mut ::core::ffi::c_void) {
        (self.ucp_rkey_buffer_release)(rkey_buffer)
    }
    #[inline]
    pub unsafe fn ucp_ep_rkey_unpack(
        &self,
        ep: ucp_ep_h,
        rkey_buffer: *const ::core::ffi::c_void,
        rkey_p: *mut ucp_rkey_h,
    ) -> ucs_status_t {
        (self.ucp_ep_rkey_unpack)(ep, rkey_buffer, rkey_p)
    }
    #[inline]
    pub unsafe fn ucp_rkey_destroy(&self, rkey: ucp_rkey_h) {
        (self.ucp_rkey_destroy)(rkey)
    }
    #[inline]
    pub unsafe fn ucp_worker_set_am_recv_handler(
        &self,
        worker: ucp_worker_h,
        param: *const ucp_am_handler_param_t,
    ) -> ucs_status_t {
        (self.ucp_worker_set_am_recv_handler)(worker, param)
    }
    #[inline]
    pub unsafe fn ucp_am_send_nbx(
        &self,
        ep: ucp_ep_h,
        id: ::core::ffi::c_uint,
        header: *const ::core::ffi::c_void,
        header_length: usize,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_am_send_nbx)(ep, id, header, header_length, buffer, count, param)
    }
    #[inline]
    pub unsafe fn ucp_am_recv_data_nbx(
        &self,
        worker: ucp_worker_h,
        data_desc: *mut ::core::ffi::c_void,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_am_recv_data_nbx)(worker, data_desc, buffer, count, param)
    }
    #[inline]
    pub unsafe fn ucp_am_data_release(&self, worker: ucp_worker_h, data: *mut ::core::ffi::c_void) {
        (self.ucp_am_data_release)(worker, data)
    }
    #[inline]
    pub unsafe fn ucp_stream_send_nbx(
        &self,
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_stream_send_nbx)(ep, buffer, count, param)
    }
    #[inline]
    pub unsafe fn ucp_tag_send_nbx(
        &self,
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        tag: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_tag_send_nbx)(ep, buffer, count, tag, param)
    }
    #[inline]
    pub unsafe fn ucp_tag_send_sync_nbx(
        &self,
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        tag: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_tag_send_sync_nbx)(ep, buffer, count, tag, param)
    }
    #[inline]
    pub unsafe fn ucp_stream_recv_nbx(
        &self,
        ep: ucp_ep_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        length: *mut usize,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_stream_recv_nbx)(ep, buffer, count, length, param)
    }
    #[inline]
    pub unsafe fn ucp_stream_recv_data_nb(&self, ep: ucp_ep_h, length: *mut usize) -> ucs_status_ptr_t {
        (self.ucp_stream_recv_data_nb)(ep, length)
    }
    #[inline]
    pub unsafe fn ucp_tag_recv_nbx(
        &self,
        worker: ucp_worker_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        tag: ucp_tag_t,
        tag_mask: ucp_tag_t,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_tag_recv_nbx)(worker, buffer, count, tag, tag_mask, param)
    }
    #[inline]
    pub unsafe fn ucp_tag_probe_nb(
        &self,
        worker: ucp_worker_h,
        tag: ucp_tag_t,
        tag_mask: ucp_tag_t,
        remove: ::core::ffi::c_int,
        info: *mut ucp_tag_recv_info_t,
    ) -> ucp_tag_message_h {
        (self.ucp_tag_probe_nb)(worker, tag, tag_mask, remove, info)
    }
    #[inline]
    pub unsafe fn ucp_tag_msg_recv_nbx(
        &self,
        worker: ucp_worker_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        message: ucp_tag_message_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_tag_msg_recv_nbx)(worker, buffer, count, message, param)
    }
    #[inline]
    pub unsafe fn ucp_put_nbx(
        &self,
        ep: ucp_ep_h,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        remote_addr: u64,
        rkey: ucp_rkey_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_put_nbx)(ep, buffer, count, remote_addr, rkey, param)
    }
    #[inline]
    pub unsafe fn ucp_get_nbx(
        &self,
        ep: ucp_ep_h,
        buffer: *mut ::core::ffi::c_void,
        count: usize,
        remote_addr: u64,
        rkey: ucp_rkey_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_get_nbx)(ep, buffer, count, remote_addr, rkey, param)
    }
    #[inline]
    pub unsafe fn ucp_atomic_op_nbx(
        &self,
        ep: ucp_ep_h,
        opcode: ucp_atomic_op_t,
        buffer: *const ::core::ffi::c_void,
        count: usize,
        remote_addr: u64,
        rkey: ucp_rkey_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_atomic_op_nbx)(ep, opcode, buffer, count, remote_addr, rkey, param)
    }
    #[inline]
    pub unsafe fn ucp_request_check_status(&self, request: *mut ::core::ffi::c_void) -> ucs_status_t {
        (self.ucp_request_check_status)(request)
    }
    #[inline]
    pub unsafe fn ucp_request_cancel(&self, worker: ucp_worker_h, request: *mut ::core::ffi::c_void) {
        (self.ucp_request_cancel)(worker, request)
    }
    #[inline]
    pub unsafe fn ucp_request_free(&self, request: *mut ::core::ffi::c_void) {
        (self.ucp_request_free)(request)
    }
    #[inline]
    pub unsafe fn ucp_stream_data_release(&self, ep: ucp_ep_h, data: *mut ::core::ffi::c_void) {
        (self.ucp_stream_data_release)(ep, data)
    }
    #[inline]
    pub unsafe fn ucp_worker_fence(&self, worker: ucp_worker_h) -> ucs_status_t {
        (self.ucp_worker_fence)(worker)
    }
    #[inline]
    pub unsafe fn ucp_worker_flush_nbx(
        &self,
        worker: ucp_worker_h,
        param: *const ucp_request_param_t,
    ) -> ucs_status_ptr_t {
        (self.ucp_worker_flush_nbx)(worker, param)
    }
    #[inline]
    pub unsafe fn ucp_ep_query(&self, ep: ucp_ep_h, attr: *mut ucp_ep_attr_t) -> ucs_status_t {
        (self.ucp_ep_query)(ep, attr)
    }
    #[inline]
    pub unsafe fn ucs_async_context_create(
        &self,
        mode: ucs_async_mode_t,
        async_p: *mut *mut ucs_async_context_t,
    ) -> ucs_status_t {
        (self.ucs_async_context_create)(mode, async_p)
    }
    #[inline]
    pub unsafe fn ucs_async_context_destroy(&self, async_: *mut ucs_async_context_t) {
        (self.ucs_async_context_destroy)(async_)
    }
    #[inline]
    pub unsafe fn uct_query_components(
        &self,
        components_p: *mut *mut uct_component_h,
        num_components_p: *mut ::core::ffi::c_uint,
    ) -> ucs_status_t {
        (self.uct_query_components)(components_p, num_components_p)
    }
    #[inline]
    pub unsafe fn uct_release_component_list(&self, components: *mut uct_component_h) {
        (self.uct_release_component_list)(components)
    }
    #[inline]
    pub unsafe fn uct_component_query(
        &self,
        component: uct_component_h,
        component_attr: *mut uct_component_attr_t,
    ) -> ucs_status_t {
        (self.uct_component_query)(component, component_attr)
    }
    #[inline]
    pub unsafe fn uct_md_open(
        &self,
        component: uct_component_h,
        md_name: *const ::core::ffi::c_char,
        config: *const uct_md_config_t,
        md_p: *mut uct_md_h,
    ) -> ucs_status_t {
        (self.uct_md_open)(component, md_name, config, md_p)
    }
    #[inline]
    pub unsafe fn uct_md_close(&self, md: uct_md_h) {
        (self.uct_md_close)(md)
    }
    #[inline]
    pub unsafe fn uct_md_query_tl_resources(
        &self,
        md: uct_md_h,
        resources_p: *mut *mut uct_tl_resource_desc_t,
        num_resources_p: *mut ::core::ffi::c_uint,
    ) -> ucs_status_t {
        (self.uct_md_query_tl_resources)(md, resources_p, num_resources_p)
    }
    #[inline]
    pub unsafe fn uct_release_tl_resource_list(&self, resources: *mut uct_tl_resource_desc_t) {
        (self.uct_release_tl_resource_list)(resources)
    }
    #[inline]
    pub unsafe fn uct_worker_create(
        &self,
        async_: *mut ucs_async_context_t,
        thread_mode: ucs_thread_mode_t,
        worker_p: *mut uct_worker_h,
    ) -> ucs_status_t {
        (self.uct_worker_create)(async_, thread_mode, worker_p)
    }
    #[inline]
    pub unsafe fn uct_worker_destroy(&self, worker: uct_worker_h) {
        (self.uct_worker_destroy)(worker)
    }
    #[inline]
    pub unsafe fn uct_md_iface_config_read(
        &self,
        md: uct_md_h,
        tl_name: *const ::core::ffi::c_char,
        env_prefix: *const ::core::ffi::c_char,
        filename: *const ::core::ffi::c_char,
        config_p: *mut *mut uct_iface_config_t,
    ) -> ucs_status_t {
        (self.uct_md_iface_config_read)(md, tl_name, env_prefix, filename, config_p)
    }
    #[inline]
    pub unsafe fn uct_config_release(&self, config: *mut ::core::ffi::c_void) {
        (self.uct_config_release)(config)
    }
    #[inline]
    pub unsafe fn uct_iface_open(
        &self,
        md: uct_md_h,
        worker: uct_worker_h,
        params: *const uct_iface_params_t,
        config: *const uct_iface_config_t,
        iface_p: *mut uct_iface_h,
    ) -> ucs_status_t {
        (self.uct_iface_open)(md, worker, params, config, iface_p)
    }
    #[inline]
    pub unsafe fn uct_iface_close(&self, iface: uct_iface_h) {
        (self.uct_iface_close)(iface)
    }
    #[inline]
    pub unsafe fn uct_iface_query(
        &self,
        iface: uct_iface_h,
        iface_attr: *mut uct_iface_attr_t,
    ) -> ucs_status_t {
        (self.uct_iface_query)(iface, iface_attr)
    }
    #[inline]
    pub unsafe fn uct_iface_get_device_address(
        &self,
        iface: uct_iface_h,
        addr: *mut uct_device_addr_t,
    ) -> ucs_status_t {
        (self.uct_iface_get_device_address)(iface, addr)
    }
    #[inline]
    pub unsafe fn uct_iface_get_address(
        &self,
        iface: uct_iface_h,
        addr: *mut uct_iface_addr_t,
    ) -> ucs_status_t {
        (self.uct_iface_get_address)(iface, addr)
    }
    #[inline]
    pub unsafe fn uct_iface_is_reachable(
        &self,
        iface: uct_iface_h,
        dev_addr: *const uct_device_addr_t,
        iface_addr: *const uct_iface_addr_t,
    ) -> ::core::ffi::c_int {
        (self.uct_iface_is_reachable)(iface, dev_addr, iface_addr)
    }
    #[inline]
    pub unsafe fn uct_iface_mem_alloc(
        &self,
        iface: uct_iface_h,
        length: usize,
        flags: ::core::ffi::c_uint,
        name: *const ::core::ffi::c_char,
        mem: *mut uct_allocated_memory_t,
    ) -> ucs_status_t {
        (self.uct_iface_mem_alloc)(iface, length, flags, name, mem)
    }
    #[inline]
    pub unsafe fn uct_iface_mem_free(&self, mem: *const uct_allocated_memory_t) {
        (self.uct_iface_mem_free)(mem)
    }
    #[inline]
    pub unsafe fn uct_iface_set_am_handler(
        &self,
        iface: uct_iface_h,
        id: u8,
        cb: uct_am_callback_t,
        arg: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> ucs_status_t {
        (self.uct_iface_set_am_handler)(iface, id, cb, arg, flags)
    }
    #[inline]
    pub unsafe fn uct_ep_create(&self, params: *const uct_ep_params_t, ep_p: *mut uct_ep_h) -> ucs_status_t {
        (self.uct_ep_create)(params, ep_p)
    }
    #[inline]
    pub unsafe fn uct_ep_destroy(&self, ep: uct_ep_h) {
        (self.uct_ep_destroy)(ep)
    }
    #[inline]
    pub unsafe fn uct_ep_get_address(&self, ep: uct_ep_h, addr: *mut uct_ep_addr_t) -> ucs_status_t {
        (self.uct_ep_get_address)(ep, addr)
    }
    #[inline]
    pub unsafe fn uct_ep_connect_to_ep(
        &self,
        ep: uct_ep_h,
        dev_addr: *const uct_device_addr_t,
        ep_addr: *const uct_ep_addr_t,
    ) -> ucs_status_t {
        (self.uct_ep_connect_to_ep)(ep, dev_addr, ep_addr)
    }
    #[inline]
    pub unsafe fn uct_md_query(&self, md: uct_md_h, md_attr: *mut uct_md_attr_t) -> ucs_status_t {
        (self.uct_md_query)(md, md_attr)
    }
    #[inline]
    pub unsafe fn uct_md_config_read(
        &self,
        component: uct_component_h,
        env_prefix: *const ::core::ffi::c_char,
        filename: *const ::core::ffi::c_char,
        config_p: *mut *mut uct_md_config_t,
    ) -> ucs_status_t {
        (self.uct_md_config_read)(component, env_prefix, filename, config_p)
    }
    #[inline]
    pub unsafe fn uct_md_mkey_pack(
        &self,
        md: uct_md_h,
        memh: uct_mem_h,
        rkey_buffer: *mut ::core::ffi::c_void,
    ) -> ucs_status_t {
        (self.uct_md_mkey_pack)(md, memh, rkey_buffer)
    }
    #[inline]
    pub unsafe fn uct_rkey_unpack(
        &self,
        component: uct_component_h,
        rkey_buffer: *const ::core::ffi::c_void,
        rkey_ob: *mut uct_rkey_bundle_t,
    ) -> ucs_status_t {
        (self.uct_rkey_unpack)(component, rkey_buffer, rkey_ob)
    }
    #[inline]
    pub unsafe fn uct_rkey_release(
        &self,
        component: uct_component_h,
        rkey_ob: *const uct_rkey_bundle_t,
    ) -> ucs_status_t {
        (self.uct_rkey_release)(component, rkey_ob)
    }
}
