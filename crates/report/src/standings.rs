//! Who is ahead and who comes last, and who cannot be told from them: where intervals meet, no order is claimed.

use wirespeed_schema::run::Metric;

/// The ends of an interval.
pub(crate) type Ends = Option<(f64, f64)>;

/// Names that stand in a sentence; further ones are counted.
const NAMES_MAX: usize = 3;

/// The interval of a figure.
pub(crate) fn ends(metric: &Metric) -> Ends {
    let ends = metric.lower.zip(metric.upper);
    ends.map(|(low, high)| (low.get(), high.get()))
}

/// Whether two figures are too close to call.
pub(crate) fn is_close(a: Ends, b: Ends) -> bool {
    let both = a.zip(b);
    both.is_some_and(|((a_low, a_high), (b_low, b_high))| a_low <= b_high && b_low <= a_high)
}

/// Somebody with a figure.
pub(crate) struct Standing<'a> {
    /// The name.
    pub name: &'a str,
    /// The figure in words.
    pub figure: String,
    /// Its interval.
    pub ends: Ends,
}

/// What is said of the first and of the last where nobody else comes near.
pub(crate) struct Claim {
    /// `is`.
    pub verb: &'static str,
    /// `the fastest with`.
    pub best: &'static str,
    /// `the slowest with`.
    pub worst: &'static str,
}

/// Of times.
pub(crate) const BY_TIME: Claim = Claim {
    verb: "is",
    best: "the fastest with",
    worst: "the slowest with",
};

/// Of bandwidths and rates.
pub(crate) const BY_RATE: Claim = Claim {
    verb: "reaches",
    best: "most,",
    worst: "least,",
};

/// The first and the last of `all`, which stand from best to worst: `a is the fastest with 1 µs, c the slowest with 3 µs`, or
/// `a leads with 1 µs, too close to call with b; c is the slowest with 3 µs`. Empty below two.
pub(crate) fn standings(all: &[Standing], claim: &Claim) -> String {
    let [first, between @ .., last] = all else {
        return String::new();
    };
    let Claim { verb, best, worst } = claim;
    let near = |one: &Standing| -> Vec<&str> {
        let others = between.iter().filter(|other| is_close(other.ends, one.ends));
        others.map(|other| other.name).collect()
    };
    let (rivals, stragglers) = (near(first), near(last));
    let figures = (&first.figure, &last.figure);
    if is_close(first.ends, last.ends) && rivals.len() == between.len() {
        return match between.len() {
            0 => format!(
                "{} with {} and {} with {} are too close to call",
                first.name, figures.0, last.name, figures.1
            ),
            _ => format!(
                "All {} are too close to call, from {} with {} to {} with {}",
                all.len(),
                first.name,
                figures.0,
                last.name,
                figures.1
            ),
        };
    }
    if rivals.is_empty() && stragglers.is_empty() {
        return format!(
            "{} {verb} {best} {}, {} {worst} {}",
            first.name, figures.0, last.name, figures.1
        );
    }
    let said = |one: &Standing, near: &[&str], (alone, among): (&str, &str)| match near {
        [] => format!("{} {verb} {alone} {}", one.name, one.figure),
        near => format!(
            "{} {among} with {}, too close to call with {}",
            one.name,
            one.figure,
            listed(near)
        ),
    };
    format!(
        "{}; {}",
        said(first, &rivals, (best, "leads")),
        said(last, &stragglers, (worst, "comes last"))
    )
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 4 others`.
fn listed(names: &[&str]) -> String {
    let rest = names.len().saturating_sub(NAMES_MAX);
    // One other takes no more room by its name.
    let (shown, more) = match rest {
        0 | 1 => (names, None),
        rest => (&names[..NAMES_MAX], Some(format!("{rest} others"))),
    };
    let mut parts: Vec<String> = shown.iter().map(|name| (*name).to_owned()).chain(more).collect();
    let last = parts.pop().unwrap_or_default();
    match parts.is_empty() {
        true => last,
        false => format!("{} and {last}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(intervals: &[(f64, f64)]) -> String {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let all = names.iter().zip(intervals).map(|(name, (low, high))| Standing {
            name,
            figure: format!("{low} ns"),
            ends: Some((*low, *high)),
        });
        standings(&all.collect::<Vec<_>>(), &BY_TIME)
    }

    #[test]
    fn who_is_alone_in_front_is_the_fastest() {
        let all = [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)];
        assert_eq!(said(&all), "a is the fastest with 1 ns, c the slowest with 5 ns");
        assert_eq!(said(&all[..1]), "");
    }

    #[test]
    fn intervals_that_meet_make_no_order() {
        assert_eq!(
            said(&[(1.0, 3.0), (2.0, 4.0)]),
            "a with 1 ns and b with 2 ns are too close to call"
        );
        assert_eq!(
            said(&[(1.0, 3.0), (2.0, 4.0), (5.0, 6.0)]),
            "a leads with 1 ns, too close to call with b; c is the slowest with 5 ns"
        );
        assert_eq!(
            said(&[(1.0, 2.0), (4.0, 5.0), (5.0, 6.0)]),
            "a is the fastest with 1 ns; c comes last with 5 ns, too close to call with b"
        );
        assert_eq!(
            said(&[(1.0, 5.0), (2.0, 6.0), (3.0, 7.0)]),
            "All 3 are too close to call, from a with 1 ns to c with 3 ns"
        );
        let many = [
            (1.0, 3.0),
            (2.0, 4.0),
            (2.0, 4.0),
            (2.0, 4.0),
            (2.0, 4.0),
            (2.0, 4.0),
            (9.0, 9.5),
        ];
        assert!(
            said(&many).contains("with b, c, d and 2 others; g is"),
            "{}",
            said(&many)
        );
    }

    #[test]
    fn figures_without_intervals_stand_as_they_are() {
        assert!(!is_close(None, Some((1.0, 2.0))) && !is_close(None, None));
    }
}
