//! Requests on conditions (RFC 9110, 13): what is asked of, or written to, a version that the client knows. A write whose
//! condition does not hold must change nothing.

use super::exchange::{Asked, Shared};
use super::files::{self, Access, Denied, Trouble};
use crate::http::head::Headers;
use rustix::io::Errno;

/// What a condition makes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It holds, or there is none.
    Holds,
    /// Whoever reads has this version already.
    Known,
    /// It does not hold.
    Fails,
}

/// Judge the conditions of a request on a resource with this tag, without quotes; `None`: there is no such resource.
pub(super) fn judge(headers: &Headers, tag: Option<&str>, reads: bool) -> Outcome {
    // Tags of ours are strong; a weak one names none of ours where a strong one is needed (RFC 9110, 8.8.3.2).
    let names = |list: &str, weakly: bool| {
        list.split(',').map(str::trim).any(|wanted| match wanted {
            "*" => tag.is_some(),
            _ => {
                let wanted = wanted.strip_prefix("W/").filter(|_| weakly).unwrap_or(wanted);
                let bare = wanted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                bare.is_some() && bare == tag
            }
        })
    };
    let matches = headers.get("if-match").map(|list| names(list, false));
    // No date is told of any version, so none can be meant by one.
    let by_date = !reads && matches.is_none() && headers.get("if-unmodified-since").is_some();
    if matches == Some(false) || by_date {
        return Outcome::Fails;
    }
    match headers.get("if-none-match").is_some_and(|list| names(list, true)) {
        false => Outcome::Holds,
        true if reads => Outcome::Known,
        true => Outcome::Fails,
    }
}

fn is_conditional(asked: &Asked) -> bool {
    ["if-match", "if-none-match", "if-unmodified-since"]
        .iter()
        .any(|name| asked.head.headers.get(name).is_some())
}

/// Do a write, alone where it is on a condition: nobody else's may come between the two.
pub(super) fn write<T>(
    shared: &Shared,
    asked: &Asked,
    write: impl FnOnce() -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    if !is_conditional(asked) {
        let _others = shared.writes.read();
        return write();
    }
    let _alone = shared.writes.write();
    permits(shared, asked)?;
    write()
}

/// Whether a write would be permitted now.
pub(super) fn permits(shared: &Shared, asked: &Asked) -> Result<(), Denied> {
    let headers = &asked.head.headers;
    if !is_conditional(asked) {
        return Ok(());
    }
    let tag = match shared.root.resource(&asked.path, Access::Read) {
        Ok(file) => Some(files::facts(&file).map_err(|_| Denied::Failed(Errno::IO))?.tag),
        Err(Denied::Unknown) => None,
        Err(denied) => return Err(denied),
    };
    match judge(headers, tag.as_deref(), false) {
        Outcome::Holds => Ok(()),
        _ => Err(Denied::Condition),
    }
}
