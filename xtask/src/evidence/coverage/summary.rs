//! What came out, as tables that people read. It must never state a figure without its unit.

use super::BLOCKS;
use super::judge::{BLOCK, Judged, SEED, SHUFFLES};
use super::launch::Kind;
use super::published::Method;
use super::tally::{Tallies, Tally, Verdict};
use std::fmt::Write as _;
use wirespeed_schema::units::{format_ns, format_rate};

/// Two tables, of the launches and of the methods, with what they mean.
pub fn text(all: &[Judged]) -> String {
    let blocks = all.first().map_or(0, |judged| judged.launches / BLOCK);
    let trial = match blocks < BLOCKS {
        true => format!(": a trial, fewer than {BLOCKS} blocks say little"),
        false => String::new(),
    };
    format!(
        "{blocks} blocks of {BLOCK} launches of each case{trial}. Likeness is of ranks: of a launch with the next of its case, and \
         the share of the variance that lies between blocks; 0 is none.\n\n{}\n\
         Blocks are consecutive launches, as they ran. In random order ({SHUFFLES} times, seed {SEED}) the same launches are \
         independent. An interval should hold the median of all launches, that of a trimmed mean the mean of the random blocks' \
         trimmed means. In brackets Wilson's 95 % interval of the share that held; by chance one row in twenty has its level \
         outside.\n\n{}",
        launches(all),
        methods(all)
    )
}

/// The launches: a row a case.
fn launches(all: &[Judged]) -> String {
    let mut text = "| case | launches | median | interquartile range | next launch | between blocks |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for judged in all {
        let likeness =
            |value: Option<f64>| value.map_or("all equal".to_owned(), |value| format!("{value:.2}"));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} % | {} | {} |",
            judged.subject.name(),
            judged.launches,
            match judged.subject.kind {
                Kind::Latency => format_ns(judged.median),
                Kind::Rate => format_rate(judged.median, "msg/s"),
            },
            judged.spread_ratio * 100.0,
            likeness(judged.alike.map(|alike| alike.lag_1)),
            likeness(judged.alike.map(|alike| alike.between_blocks)),
        );
    }
    text
}

/// The methods: a row a case and method, one a method over all cases, and how many hold.
fn methods(all: &[Judged]) -> String {
    let mut text = "| case | method | level | as they ran | | in random order | | so |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    let (mut rows, mut held) = (0, 0);
    let (mut in_orders, mut shuffleds) = (Tallies::new(), Tallies::new());
    for judged in all {
        for (method, in_order) in &judged.in_order {
            let shuffled = judged.shuffled.get(method);
            text.push_str(&row(&judged.subject.name(), *method, in_order, shuffled));
            rows += usize::from(!method.is_of_one());
            held += usize::from(!method.is_of_one() && in_order.verdict() == Verdict::Holds);
            *in_orders.entry(*method).or_default() += *in_order;
            if let Some(shuffled) = shuffled {
                *shuffleds.entry(*method).or_default() += *shuffled;
            }
        }
    }
    for (method, in_order) in &in_orders {
        text.push_str(&row("all together", *method, in_order, shuffleds.get(method)));
    }
    let _ = write!(
        text,
        "\nOf {rows} rows of a case and a method over runs {held} hold the level that they state."
    );
    text
}

fn row(case: &str, method: Method, in_order: &Tally, shuffled: Option<&Tally>) -> String {
    let said = |tally: Option<&Tally>| {
        tally.map_or("| |".to_owned(), |tally| {
            format!("| {} | {}", share(tally), tally.verdict().name())
        })
    };
    format!(
        "| {case} | {} | {:.1} % {} {} | {} |\n",
        method.name(),
        in_order.level() * 100.0,
        said(Some(in_order)),
        said(shuffled),
        so(method, in_order.verdict(), shuffled.map(Tally::verdict)),
    )
}

fn share(tally: &Tally) -> String {
    let (lower, upper) = tally.wilson();
    let percent = |share: f64| share * 100.0;
    format!(
        "{} of {}, {:.1} % ({:.1} .. {:.1})",
        tally.held,
        tally.count,
        percent(tally.share()),
        percent(lower),
        percent(upper)
    )
}

/// Whose the miss is.
fn so(method: Method, in_order: Verdict, shuffled: Option<Verdict>) -> &'static str {
    match (in_order, shuffled) {
        (Verdict::Holds, _) => "",
        (Verdict::Conservative, _) => "wider than it states",
        (Verdict::MissesLow, Some(Verdict::MissesLow)) => "the method misses",
        (Verdict::MissesLow, Some(_)) => "launches that follow each other are alike",
        (Verdict::MissesLow, None) if method.is_of_one() => "it is of this launch alone",
        (Verdict::MissesLow, None) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch::SUBJECTS;
    use super::*;

    fn tallies(held: usize, count: usize) -> Tallies {
        let mut tally = Tally::default();
        (0..count).for_each(|number| tally.add(number < held, 0.95));
        [(Method::Runs, tally)].into()
    }

    #[test]
    fn a_miss_is_the_methods_or_the_machines() {
        let judged = |in_order, shuffled| Judged {
            subject: SUBJECTS[0],
            launches: 800,
            median: 131.25,
            spread_ratio: 0.021,
            alike: None,
            in_order: tallies(in_order, 100),
            shuffled: tallies(shuffled, 1000),
        };
        let drifts = text(&[judged(60, 950)]);
        assert!(
            drifts.contains("| shm latency | 800 | 131.2 ns | 2.1 % | all equal | all equal |"),
            "{drifts}"
        );
        assert!(
            drifts.contains(
                "| shm latency | bootstrap, runs | 95.0 % | 60 of 100, 60.0 % (50.2 .. 69.1) | misses low | 950 of 1000, 95.0 % \
                 (93.5 .. 96.2) | holds | launches that follow each other are alike |"
            ),
            "{drifts}"
        );
        assert!(
            drifts.ends_with("Of 1 rows of a case and a method over runs 0 hold the level that they state."),
            "{drifts}"
        );
        assert!(!drifts.contains("trial"), "{drifts}");
        assert!(text(&[judged(60, 600)]).contains("| the method misses |"));
        assert!(text(&[judged(100, 1000)]).contains("| wider than it states |"));
        assert!(
            text(&[judged(95, 600)])
                .ends_with("Of 1 rows of a case and a method over runs 1 hold the level that they state.")
        );
    }
}
