//! How many files this process may have open: raised where many ends need more, as far as it may be. Nothing is started where
//! not all would fit.

use crate::error::ControlError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a message calls hosts.
pub const HOSTS: &str = "hosts";
/// What a message calls ranks.
const RANKS: &str = "ranks";
/// Open files of one rank of this machine here: its channel with its copies, and what a process's start takes for a moment.
const FILES_OF_RANK: u64 = 4;
/// Open files beside those of the ends: of the program itself, and of those that start at a time.
const FILES_BESIDE: u64 = 128;

/// Whether this process may have as many files open as so many ranks of this machine take; as [`check_files`].
pub fn check_ranks(count: usize) -> Result<(), ControlError> {
    check_files(RANKS, count, FILES_OF_RANK)
}

/// Whether this process may have as many files open as `count` of `kind` take, `of_each` for one of them; raises its limit
/// where that is enough.
pub fn check_files(kind: &'static str, count: usize, of_each: u64) -> Result<(), ControlError> {
    let limit = getrlimit(Resource::Nofile);
    let needed = FILES_BESIDE + of_each * count as u64;
    let too_few = |allowed: Option<u64>| ControlError::TooFewFiles {
        kind,
        count,
        files: needed,
        allowed: allowed.unwrap_or(u64::MAX),
    };
    let Some(current) = to_raise(needed, &limit).map_err(too_few)? else {
        return Ok(());
    };
    let raised = Rlimit {
        current: Some(current),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|_| too_few(limit.current))
}

/// The limit to set so that `needed` files may be open, if any; where it may not be so high, how high it may be.
fn to_raise(needed: u64, limit: &Rlimit) -> Result<Option<u64>, Option<u64>> {
    let allows = |limit: Option<u64>| limit.is_none_or(|allowed| allowed >= needed);
    match (allows(limit.current), allows(limit.maximum)) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(needed)),
        (false, false) => Err(limit.maximum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_where_it_may_be() {
        let limit = |current, maximum| Rlimit { current, maximum };
        let few = Some(256);
        assert_eq!(to_raise(14_128, &limit(few, few)), Err(few));
        assert_eq!(to_raise(14_128, &limit(few, Some(1 << 20))), Ok(Some(14_128)));
        assert_eq!(to_raise(14_128, &limit(few, None)), Ok(Some(14_128)));
        for enough in [None, Some(1 << 20)] {
            assert_eq!(to_raise(14_128, &limit(enough, enough)), Ok(None));
        }
        assert_eq!(to_raise(240, &limit(few, few)), Ok(None));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_limit_that_would_do() {
        let few = check_files(HOSTS, 1 << 40, 14).unwrap_err();
        let text = few.to_string();
        assert!(text.starts_with("1099511627776 hosts need "), "{text}");
        let remedy = few.remedy();
        assert!(remedy.starts_with("raise the limit: ulimit -n "), "{remedy}");
        assert!(remedy.ends_with("; or have fewer hosts"), "{remedy}");
    }
}
