//! What a transport may have beside active messages: put, get and atomics, and matched messages. Who has no port of its own
//! for them gets one over its messages.
//!
//! It must never be needed by an adapter: those know messages alone.

use super::{Connect, Messages, OneSidedRunner, Ran, TaggedRunner, adapt};

/// A transport with put, get and atomics: over its active messages, unless it opens a port of its own.
pub trait OneSided: Messages {
    /// Connect to all peers and run.
    fn open<R: OneSidedRunner>(ctx: &Connect, options: &Self::Options, runner: R) -> Ran<R::Output> {
        adapt::one_sided::open::<Self, R>(ctx, options, runner)
    }
}

/// A transport with matched sends and receives: over its active messages, unless it opens a port of its own.
pub trait Tagged: Messages {
    /// Connect to all peers and run.
    fn open<R: TaggedRunner>(ctx: &Connect, options: &Self::Options, runner: R) -> Ran<R::Output> {
        adapt::tagged::open::<Self, R>(ctx, options, runner)
    }
}
