//! Whether a rank works for its peers: the target of one-sided tests may be told not to.

use crate::options::PASSIVE_POLLS;
use wirespeed::transport::Connect;
use wirespeed_schema::case::Role;

/// Counts the polls of a passive target.
pub struct Progress {
    is_passive: bool,
    polls: u32,
}

impl Progress {
    /// Of the rank of `ctx`, where targets are `passive` or not.
    pub fn of(ctx: &Connect, passive: bool) -> Self {
        let me = ctx.case.ranks.get(ctx.bootstrap.rank() as usize);
        Progress {
            is_passive: passive && me.is_some_and(|rank| rank.role == Role::Sink),
            polls: 0,
        }
    }

    /// Whether this poll makes no progress.
    #[inline(always)]
    pub fn is_left_out(&mut self) -> bool {
        if !self.is_passive {
            return false;
        }
        self.polls = (self.polls + 1) % PASSIVE_POLLS;
        self.polls != 0
    }
}
