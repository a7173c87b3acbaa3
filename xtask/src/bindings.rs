//! Writes the bindings of foreign libraries anew from the headers on this machine; they are committed, so that a build
//! needs neither headers nor libclang.
//!
//! It must never run as part of a build or a test.

use crate::command;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// The release of the generator, so that two machines write the same file.
const BINDGEN: &str = "0.73.2";

/// Functions of libucp, libuct and libucs that are looked up when the library is loaded; every release from 1.13 on has
/// all of them.
const UCX_FUNCTIONS: &str = concat!(
    "uct_(query_components|release_component_list|component_query|md_open|md_close|md_query|md_query_tl_resources|",
    "release_tl_resource_list|md_config_read|md_iface_config_read|config_release|worker_create|worker_destroy|",
    "iface_open|iface_close|iface_query|iface_get_device_address|iface_get_address|iface_is_reachable|",
    "iface_mem_alloc|iface_mem_free|iface_set_am_handler|md_mkey_pack|rkey_unpack|rkey_release|ep_create|ep_destroy|",
    "ep_get_address|ep_connect_to_ep)|",
    "ucs_(async_context_create|async_context_destroy|status_string)|",
    "ucp_(get_version|get_version_string|init_version|cleanup|config_read|config_modify|config_release|",
    "worker_create|worker_destroy|worker_get_address|worker_release_address|worker_progress|worker_wait|worker_signal|",
    "worker_arm|worker_get_efd|worker_fence|worker_flush_nbx|worker_set_am_recv_handler|ep_create|ep_query|mem_query|ep_close_nbx|",
    "ep_flush_nbx|mem_map|mem_unmap|rkey_pack|rkey_buffer_release|ep_rkey_unpack|rkey_destroy|tag_send_nbx|",
    "tag_send_sync_nbx|tag_recv_nbx|tag_probe_nb|tag_msg_recv_nbx|am_send_nbx|am_recv_data_nbx|am_data_release|",
    "put_nbx|get_nbx|atomic_op_nbx|stream_send_nbx|stream_recv_nbx|stream_recv_data_nb|stream_data_release|request_check_status|request_free|request_cancel)",
);
const UCX_TYPES: &str = concat!(
    "uct_(iface_ops|iface|ep|iface_attr|md_attr|tl_resource_desc|completion|allocated_memory|rkey_bundle|",
    "component_attr|iov|atomic_op|ep_params|iface_params|device_type|progress_types|md_mem_flags).*|",
    "ucp_.*|",
    "ucs_(async_mode|log_level|thread_mode|memory_type).*",
);

/// Write the bindings of `library`.
pub fn run(root: &Path, library: Option<&str>) -> Result<()> {
    match library {
        Some("ucx") => ucx(root),
        _ => bail!("name a library: cargo xtask bindings ucx"),
    }
}

fn ucx(root: &Path) -> Result<()> {
    let tools = root.join("target/tools");
    let bindgen = tools.join("bin/bindgen");
    if !bindgen.is_file() {
        command::run(
            Command::new(command::cargo())
                .args([
                    "install",
                    "--locked",
                    "--version",
                    BINDGEN,
                    "bindgen-cli",
                    "--root",
                ])
                .arg(&tools),
        )?;
    }
    let output = root.join("sys/ucx/src/bindings.rs");
    let raw = "//! Made by `cargo xtask bindings ucx` from the headers of UCX 1.13; never edit it.\n\n\
               /// A stream of the C library; only pointers to it pass through.\n\
               pub type FILE = libc::FILE;";
    command::run(
        Command::new(bindgen)
            .current_dir(root)
            .args([
                "sys/ucx/wrapper.h",
                "--default-enum-style",
                "consts",
                "--no-prepend-enum-name",
            ])
            .args([
                "--use-core",
                "--no-doc-comments",
                "--clang-macro-fallback",
                "--disable-header-comment",
            ])
            .args(["--clang-macro-fallback-build-dir", "target/tools"])
            .args([
                "--allowlist-function",
                UCX_FUNCTIONS,
                "--allowlist-type",
                UCX_TYPES,
            ])
            .args([
                "--allowlist-var",
                "UC[PTS]_.*",
                "--blocklist-type",
                "FILE|_IO_.*",
                "--raw-line",
                raw,
            ])
            .args(["--dynamic-loading", "Ucx", "--dynamic-link-require-all", "-o"])
            .arg(&output),
    )
    .context("the headers (package libucx-dev) and libclang (package libclang1-14) must be here")?;
    let bindings = std::fs::read_to_string(&output)?;
    Ok(std::fs::write(&output, inlined(&bindings))?)
}

/// `bindings` with calls that become a part of the loops around them: they only go through a table.
fn inlined(bindings: &str) -> String {
    bindings.replace("    pub unsafe fn uc", "    #[inline]\n    pub unsafe fn uc")
}

#[cfg(test)]
mod tests {
    /// A call of a library from a loop must be no call of ours as well.
    #[test]
    fn every_call_of_the_committed_bindings_is_inlined() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../sys/ucx/src/bindings.rs");
        let committed = std::fs::read_to_string(path).unwrap();
        let plain = committed.replace("    #[inline]\n", "");
        assert!(plain.matches("pub unsafe fn uc").count() > 50);
        assert_eq!(super::inlined(&plain), committed);
    }
}
