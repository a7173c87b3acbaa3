//! Which rows are measured next, and when to stop: pure, so that it can be tried without a clock. It must never start anything.

use std::time::Duration;

/// A row that fails this often is left out until the next command.
pub const FAILURES_MAX: usize = 2;

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Pairs that it has.
    pub pairs: usize,
    /// How long one more is expected to take.
    pub expected: Duration,
    /// How often it has failed since the command began.
    pub failures: usize,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Pairs that each row is to have.
    pub pairs: usize,
    /// Time for the group, if bounded.
    pub budget: Option<Duration>,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Measure one pair of each of these rows, by their place.
    Round(Vec<usize>),
    /// Every row has its pairs, or has failed too often.
    Finished,
    /// The next round is expected to take this long, which is more than what is left.
    OutOfTime(Duration),
}

/// The round after `spent` of the budget. It takes the rows with the fewest pairs: those that are behind, because they failed or
/// were not asked for before, catch up first, and else all take turns. A round is begun only if it should end in time.
pub fn next(rows: &[Progress], bounds: &Bounds, spent: Duration) -> Next {
    let going = || {
        let all = rows.iter().enumerate();
        all.filter(|(_, row)| row.failures < FAILURES_MAX)
    };
    let fewest = going().map(|(_, row)| row.pairs).min();
    let Some(fewest) = fewest.filter(|fewest| *fewest < bounds.pairs) else {
        return Next::Finished;
    };
    let round = || going().filter(|(_, row)| row.pairs == fewest);
    let needs = round().map(|(_, row)| row.expected).sum();
    match bounds.budget {
        Some(budget) if spent + needs > budget => Next::OutOfTime(needs),
        _ => Next::Round(round().map(|(place, _)| place).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn row(pairs: usize, failures: usize) -> Progress {
        Progress {
            pairs,
            expected: SECOND,
            failures,
        }
    }

    fn within(pairs: usize, seconds: u32) -> Bounds {
        Bounds {
            pairs,
            budget: Some(SECOND * seconds),
        }
    }

    #[test]
    fn a_budget_that_runs_out_leaves_all_rows_alike() {
        let mut rows = [row(0, 0); 3];
        let mut spent = Duration::ZERO;
        let bounds = within(10, 7);
        loop {
            match next(&rows, &bounds, spent) {
                Next::Round(members) => {
                    for member in members {
                        rows[member].pairs += 1;
                        spent += SECOND;
                    }
                }
                end => {
                    assert_eq!(end, Next::OutOfTime(SECOND * 3));
                    break;
                }
            }
        }
        assert_eq!(rows.map(|row| row.pairs), [2; 3]);
        assert_eq!(spent, SECOND * 6);
        // A budget of its own for the command that goes on.
        assert_eq!(next(&rows, &bounds, Duration::ZERO), Next::Round(vec![0, 1, 2]));
    }

    #[test]
    fn rows_that_are_behind_catch_up_first() {
        let rows = [row(3, 0), row(1, 0), row(1, 0), row(3, 0)];
        let bounds = Bounds {
            pairs: 3,
            budget: None,
        };
        assert_eq!(next(&rows, &bounds, Duration::ZERO), Next::Round(vec![1, 2]));
        assert_eq!(next(&[row(3, 0); 2], &bounds, Duration::ZERO), Next::Finished);
        assert_eq!(next(&[], &bounds, Duration::ZERO), Next::Finished);
    }

    #[test]
    fn a_row_that_fails_is_tried_once_more_and_then_costs_the_others_nothing() {
        let bounds = within(2, 100);
        let once = [row(1, 0), row(0, 1)];
        assert_eq!(next(&once, &bounds, Duration::ZERO), Next::Round(vec![1]));
        let twice = [row(1, 0), row(0, FAILURES_MAX)];
        assert_eq!(next(&twice, &bounds, Duration::ZERO), Next::Round(vec![0]));
        let only = [row(0, FAILURES_MAX)];
        assert_eq!(next(&only, &bounds, Duration::ZERO), Next::Finished);
    }

    #[test]
    fn nothing_is_begun_that_cannot_end_in_time() {
        let rows = [row(0, 0); 2];
        assert_eq!(
            next(&rows, &within(1, 1), Duration::ZERO),
            Next::OutOfTime(SECOND * 2)
        );
        assert_eq!(
            next(&rows, &within(1, 0), Duration::ZERO),
            Next::OutOfTime(SECOND * 2)
        );
        assert_eq!(
            next(&rows, &within(1, 2), Duration::ZERO),
            Next::Round(vec![0, 1])
        );
    }
}
