//! The time of day as RFC 3339 text. Only a document's `started_at` needs it; nothing is ever timed with it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wirespeed_schema::calendar::rfc3339;

/// Now, in UTC, to the second: `2026-11-20T19:21:06Z`.
pub fn now_rfc3339() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    rfc3339(since.unwrap_or(Duration::ZERO).as_secs())
}
