//! Memory of ports; and whether the messages of a posted test fit into that of this machine, before any of it is asked for.
//! Tests of other kinds hold a few messages at a time.

use super::error::ConnectError;
use crate::error::MeasureError;
use crate::host::available_bytes;
use crate::sync::SharedBytes;
use wirespeed_schema::case::{Case, GroupKind};
use wirespeed_schema::posted::CacheState;
use wirespeed_schema::units::{format_asked_size, format_size};

/// Zeroed memory of a port: `bytes` for `what`.
pub fn buffer(what: &'static str, bytes: usize) -> Result<SharedBytes, ConnectError> {
    SharedBytes::heap(bytes).ok_or_else(|| ConnectError::memory(what, bytes))
}

/// An error where this machine has less memory than `bytes`, which are for `what`.
pub fn check_available(what: &'static str, bytes: usize) -> Result<(), ConnectError> {
    match bytes as u64 > available_bytes() {
        true => Err(ConnectError::memory(what, bytes)),
        false => Ok(()),
    }
}

/// What one rank needs: for its messages, and for everything.
struct Need {
    messages: u64,
    all: u64,
    formula: String,
    /// Of all, what flushes caches.
    filler: u64,
}

/// Refuse a case whose ranks on this machine need more than is available. With `emulated` matching, messages that come
/// early may be kept once more. How many ranks of a job share a machine is not known here: at least this one is there.
pub fn check(case: &Case, emulated: bool) -> Result<(), MeasureError> {
    let local = match case.group {
        GroupKind::Threads | GroupKind::Processes => case.ranks.len(),
        GroupKind::Hosts => case.ranks.len().div_ceil(2),
        GroupKind::Job => 1,
    };
    match obstacle(case, local, emulated) {
        Some(why) => Err(MeasureError::Unsupported(format!("{}: {why}", case.label()))),
        None => Ok(()),
    }
}

/// Why `local` ranks of a case on this machine have no memory for it, matching messages by the transport's own means.
pub fn memory_obstacle(case: &Case, local: usize) -> Option<String> {
    obstacle(case, local, false)
}

fn obstacle(case: &Case, local: usize, emulated: bool) -> Option<String> {
    let need = need(case, emulated)?;
    let local = local as u64;
    let available = available_bytes();
    let asked = need.all.saturating_mul(local);
    if asked <= available {
        return None;
    }
    let filler = match need.filler {
        0 => String::new(),
        bytes => format!(", and {} to flush caches", format_size(bytes)),
    };
    Some(format!(
        "the buffers of a rank need {} ({}){filler}, {local} ranks need {} in all, and {} of memory are available",
        format_size(need.messages),
        need.formula,
        format_size(asked),
        format_size(available)
    ))
}

fn need(case: &Case, emulated: bool) -> Option<Need> {
    match case.test.msgrate() {
        Some(test) => {
            let peers = test.neighbours();
            let messages = test.buffer_bytes(peers);
            let early = if emulated {
                messages / test.rotations(peers) / 2
            } else {
                0
            };
            let filler = match test.cache_state {
                CacheState::Flushed => test.cache_bytes,
                _ => 0,
            };
            Some(Need {
                messages,
                all: messages.saturating_add(early).saturating_add(filler),
                formula: format!(
                    "2 x {peers} peers x {} messages x {}",
                    test.window_msgs,
                    format_asked_size(test.size_bytes)
                ),
                filler,
            })
        }
        None => case.test.defined().map(|test| Need {
            messages: test.buffer_bytes(),
            all: test.buffer_bytes(),
            formula: format!(
                "2 x {} messages x {}",
                test.window_msgs,
                format_asked_size(test.size_bytes)
            ),
            filler: 0,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::transport::registry::Registry;
    use wirespeed_schema::case::{RankSpec, Role};
    use wirespeed_schema::posted::{MsgRate, Pattern};
    use wirespeed_schema::test::Test;

    fn stencil(size_bytes: u64) -> Case {
        let rank = RankSpec::new(Role::Neighbour);
        let stencil = MsgRate::new(size_bytes, Pattern::PrePost, 26, 128);
        let test = Test::Msgrate(stencil.with_caches(CacheState::Flushed, 1 << 20));
        Case::new(test, "shm")
            .with_group(GroupKind::Processes)
            .with_ranks(vec![rank; 27])
    }

    #[test]
    fn what_exceeds_memory_is_refused_with_its_figure() {
        let registry = Registry::builtin();
        let entry = registry.find("shm").unwrap();
        let error = (entry.check)(&stencil(16 << 20)).unwrap_err().to_string();
        assert!(
            error.contains(
                "104 GiB (2 x 26 peers x 128 messages x 16 MiB), and 1 MiB to flush caches, 27 ranks need"
            ),
            "{error}"
        );
        assert!(!error.contains('\n'));
        (entry.check)(&stencil(8)).unwrap();
    }
}
