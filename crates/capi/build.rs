//! Gives the shared library the name that programs ask the loader for.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libwirespeed.so.{major}");
    println!("cargo::rerun-if-changed=build.rs");
}
