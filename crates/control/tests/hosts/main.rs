//! A daemon and its clients, over loopback.

#[path = "../common/mod.rs"]
mod common;
mod daemon;
mod deaths;
mod identity;
mod proxy;
mod several;
mod strangers;
mod turns;

#[test]
fn rank_entry() {
    common::rank_entry();
}
