//! Capabilities made out of others: matched messages, and put, get and atomics, over any port of active messages.
//!
//! A transport offers them in two lines and says so: `Support::Emulated(tagged::MEANS)`, and an implementation without an
//! `open` of its own. No adapter may know which transport it runs over.

mod fixed_queue;
pub mod one_sided;
pub mod tagged;

mod requests;
mod served;
mod unexpected;

pub use fixed_queue::FixedQueue;

use super::{Connect, Needs};

/// `ctx` for the port of messages below an adapter.
fn below<'a>(ctx: &Connect<'a>, message_bytes: usize) -> Connect<'a> {
    ctx.with_needs(Needs::of_messages(message_bytes, ctx.needs.window_msgs))
}
