//! wirespeed for C: parameters by the names of the command line, ranks that meet through the caller's own runtime, a
//! callback at intervals, figures by the names of the published document.
//!
//! It must never print, exit, or let a panic cross into C. The functions are in `ffi`; this file only names the parts.

mod agree;
mod build;
pub mod ffi;
mod figures;

use wirespeed::Registry;

/// Every transport of the library: its own, and those of UCX, which is loaded when a case first asks for it.
fn registry() -> Registry {
    let registry = Registry::builtin();
    #[cfg(feature = "ucx")]
    let registry = wirespeed_ucx::join(registry);
    registry
}
