//! Numbers of the schema carry their unit in their name, or count something that the name says.

use super::Finding;
use super::source::Source;

/// Units: a name must hold one of these words.
const UNITS: [&str; 9] = ["ns", "ms", "s", "bytes", "ratio", "ppm", "msgs", "ops", "seconds"];
/// Things that are counted.
const COUNTED: [&str; 35] = [
    "count",
    "iterations",
    "repeats",
    "repetitions",
    "cases",
    "messages",
    "operations",
    "samples",
    "threads",
    "cpus",
    "cores",
    "sockets",
    "nodes",
    "switches",
    "migrations",
    "faults",
    "sessions",
    "ranks",
    "peers",
    "version",
    "protocol",
    "clients",
    "rounds",
    "cycles",
    "partners",
    "hosts",
    "frames",
    "connections",
    "attempts",
    "buckets",
    "code",
    "position",
    "queue",
    "ahead",
    "roles",
];
/// Numbers of things: which, not how many.
const ORDINALS: [&str; 20] = [
    "run",
    "node",
    "host",
    "unit",
    "round",
    "rank",
    "peer",
    "cpu",
    "index",
    "case",
    "repetition",
    "session",
    "port",
    "slot",
    "sequence",
    "line",
    "template",
    "seed",
    "turn",
    "color",
];
/// Values without a unit of their own: a metric's stands in its tag, a load average has none, the ends of a link are numbers
/// of hosts.
const TAGGED: [&str; 9] = [
    "value",
    "weight",
    "values",
    "lower",
    "upper",
    "level",
    "load_average_1min",
    "from",
    "to",
];
const NUMERIC: [&str; 9] = ["u8", "u16", "u32", "u64", "usize", "i32", "i64", "f64", "Finite"];

/// Numeric fields of the schema without a unit.
pub fn check(source: &Source) -> Vec<Finding> {
    if !source.path.starts_with("crates/schema/src/") {
        return Vec::new();
    }
    source
        .shipped()
        .filter_map(|(number, line)| Some((number, numeric_field(line)?)))
        .filter(|(_, name)| !says_what(name))
        .map(|(number, name)| {
            Finding::at(
                &source.path,
                number,
                format!("field {name}: put the unit last (_ns, _bytes, _per_s, ...)"),
            )
        })
        .collect()
}

/// The name of the numeric field that `line` declares.
fn numeric_field(line: &str) -> Option<&str> {
    let line = line.trim().strip_suffix(',')?;
    let (name, kind) = line.strip_prefix("pub ").unwrap_or(line).split_once(": ")?;
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let inner = ["Option<", "Vec<", "Option<Vec<"]
        .iter()
        .fold(kind, |k, wrapper| k.strip_prefix(wrapper).unwrap_or(k));
    (plain && NUMERIC.contains(&inner.trim_end_matches('>'))).then_some(name)
}

fn says_what(name: &str) -> bool {
    TAGGED.contains(&name)
        || name
            .split('_')
            .any(|w| UNITS.contains(&w) || COUNTED.contains(&w) || ORDINALS.contains(&w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_unit_is_found() {
        let text = "//! x\npub struct S {\n    pub latency: f64,\n    pub latency_ns: f64,\n    pub name: String,\n    pub rate_msg_per_s: Option<Finite>,\n}\n";
        let findings = check(&Source::new("crates/schema/src/x.rs", text.to_owned()));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 3);
    }
}
