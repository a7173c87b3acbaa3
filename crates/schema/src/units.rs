//! Sizes, durations, lists and ranges as people type them, and numbers as people read them.
//!
//! Sizes: bare `K M G T` and `KiB MiB ..` are binary, `kB MB GB` decimal. Durations: `250ns 10us 500ms 10s 2m`.
//! Lists: `64,1K`. Ranges: `8..1M:x2` (times 2), `1..9:+2` (plus 2), both ends included.

mod shown;
#[cfg(test)]
mod tests;
mod typed;

pub use shown::{
    counted, counted_about, format_asked_size, format_duration_exact, format_ns, format_rate, format_size,
    format_size_exact, grouped, often, significant,
};
pub use typed::{
    RANGE_VALUES_MAX, UnitError, expand_counts, expand_list, nanoseconds, parse_count, parse_digits,
    parse_duration_ns, parse_size,
};
