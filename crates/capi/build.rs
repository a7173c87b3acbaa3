//! Gives the shared library the name that programs ask the loader for, and keeps it loaded.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libwirespeed.so.{major}");
    // UCX and MPI stay loaded, and call back into it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
