//! What is wrong with a plan: one line of cause, one of remedy, and where it stands in a file.

/// A plan that cannot be carried out, found before anything was opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}{cause}", .line.map(|l| format!("line {l}: ")).unwrap_or_default())]
pub struct PlanError {
    /// Line of the plan file, from 1, where it came from one.
    pub line: Option<usize>,
    /// One line of cause.
    pub cause: String,
    /// One line of remedy.
    pub remedy: String,
}

impl PlanError {
    /// An error without a place.
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        PlanError {
            line: None,
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    /// The same error at `line`, unless it has a place already.
    #[must_use]
    pub fn at(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// `what` is called `given`, but there are only `known`: the remedy names the nearest, or all.
    pub fn unknown(what: &str, given: &str, known: &[&str]) -> Self {
        let remedy = match nearest(given, known) {
            Some(name) => format!("did you mean {name:?}?"),
            None if known.is_empty() => format!("there is no {what} at all"),
            None => format!("choose from: {}", known.join(", ")),
        };
        PlanError::new(format!("there is no {what} {given:?}"), remedy)
    }
}

/// The name in `known` that is nearest to `given`, where one is near enough to be a slip of the fingers.
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let tolerated = (given.chars().count() / 3).min(3);
    known
        .iter()
        .map(|name| (edit_distance(given, name), *name))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Letters that were added, left out, mistaken or swapped with their neighbour; cut short for words that no name can
/// resemble.
fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mistaken = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = mistaken.min(row[j - 1] + 1).min(rows[i - 1][j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["am_lat", "am_bw", "put_bw"];
        assert_eq!(nearest("am_lta", &known), Some("am_lat"));
        assert_eq!(nearest("putbw", &known), Some("put_bw"));
        assert_eq!(nearest("elephant", &known), None);
        assert_eq!(nearest("4d", &["2d", "3d"]), None);
        assert_eq!(nearest("smh", &["shm", "unix"]), Some("shm"));
        assert_eq!(nearest(&"x".repeat(100_000), &known), None);
        let (longest, longer) = ("x".repeat(64), "x".repeat(65));
        assert_eq!(nearest(&longest, &[&longest]), Some(&longest[..]));
        for (given, known) in [(&longer, &longer), (&longest, &longer), (&longer, &longest)] {
            assert_eq!(nearest(given, &[known]), None);
        }
    }

    #[test]
    fn every_slip_counts_once_wherever_it_is() {
        for (a, b, slips) in [
            ("hsm", "shm", 1),
            ("shm", "smh", 1),
            ("am_lta", "am_lat", 1),
            ("putbw", "put_bw", 1),
            ("xput_bw", "put_bw", 1),
            ("kitten", "sitting", 3),
            ("", "ab", 2),
            ("ab", "", 2),
        ] {
            assert_eq!(edit_distance(a, b), slips, "{a} {b}");
        }
    }

    #[test]
    fn the_line_leads_the_cause() {
        let error = PlanError::unknown("key", "sise", &["size"]).at(7);
        assert_eq!(error.to_string(), "line 7: there is no key \"sise\"");
        assert_eq!(error.remedy, "did you mean \"size\"?");
    }
}
