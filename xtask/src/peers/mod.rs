//! The benchmark beside the peers: other people's programs and wirespeed in turn on the same cores, by sets of groups of rows.
//!
//! Pairs are interleaved and their order alternates, so that a noisy machine disturbs both sides alike. This is never
//! a test: it fails only when something cannot run, not when a number is bad.

mod archive;
mod before;
mod byteio;
mod derived;
mod documents;
mod facts;
mod groups;
mod launch;
mod list;
mod mpi;
mod programs;
mod report;
mod run;
mod schedule;
mod session;
mod setup;
mod side;
mod slurm;
mod state;
mod table;
mod tools;
mod typed;
mod ucx;
mod units;

use anyhow::{Context as _, Result, bail};
use groups::{SETS, Set};
use run::Wanted;
use std::path::Path;
use std::time::Duration;
use wirespeed_schema::units::parse_duration_ns;

/// `peers list [SET]`, or `peers [SET] [PAIRS] [--rows TEXT] [--group NAME,..] [--budget TIME] [--resume]`.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    match words {
        ["list"] => list::print(root, None),
        ["list", word] => {
            let set = groups::set(word).with_context(|| format!("no set {word:?}; there are: {}", sets()))?;
            list::print(root, Some(set.word));
        }
        words => {
            let (set, wanted) = wanted(words)?;
            run::run(root, set, &wanted)?;
        }
    }
    Ok(())
}

fn sets() -> String {
    let words = SETS.iter().map(|set| set.word).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(", ")
}

fn wanted(words: &[&str]) -> Result<(&'static Set, Wanted)> {
    let (set, rest) = match words {
        [word, rest @ ..] if !word.is_empty() && groups::set(word).is_some() => (groups::set(word), rest),
        rest => (groups::set(""), rest),
    };
    let set = set.context("the first set has no word")?;
    let mut wanted = Wanted::default();
    let mut rest = rest.iter();
    while let Some(&word) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{word} needs a value"));
        match word {
            "--rows" => wanted.rows = (*value()?).to_owned(),
            "--group" => wanted.groups = value()?.split(',').map(str::to_owned).collect(),
            "--budget" => {
                let budget_ns = parse_duration_ns(value()?).context("--budget takes a time such as 10m")?;
                wanted.budget = Some(Duration::from_nanos(budget_ns));
            }
            "--resume" => wanted.is_resumed = true,
            pairs if wanted.pairs.is_none() && pairs.parse::<usize>().is_ok() => {
                wanted.pairs = pairs.parse().ok();
            }
            other => bail!(
                "invalid {other:?}: peers takes one of {}, a number of pairs, --rows TEXT, --group NAME,.., --budget TIME, --resume",
                sets()
            ),
        }
    }
    Ok((set, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_order_and_those_of_before_still() {
        let of = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            wanted(&words).map(|(set, wanted)| (set.name, wanted))
        };
        assert_eq!(of("").unwrap(), ("peers", Wanted::default()));
        let (set, wanted) = of("ucx 3 --rows am_lat").unwrap();
        assert_eq!(
            (set, wanted.pairs, wanted.rows.as_str()),
            ("ucx-peers", Some(3), "am_lat")
        );
        let (set, wanted) = of("typed --resume --group tcp,udp --budget 90s 4").unwrap();
        assert_eq!(set, "typed");
        assert_eq!(
            wanted,
            Wanted {
                pairs: Some(4),
                rows: String::new(),
                groups: vec!["tcp".to_owned(), "udp".to_owned()],
                budget: Some(Duration::from_secs(90)),
                is_resumed: true,
            }
        );
        for wrong in [
            "typd",
            "typed mpi",
            "3 4",
            "--rows",
            "--budget soon",
            "--groups tcp",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn groups_and_rows_that_there_are_not_are_refused_with_those_that_there_are() {
        let (set, wanted) = wanted(&["mpi", "--group", "openmpi,lam"]).unwrap();
        let said = run::chosen(set, &wanted).err().unwrap().to_string();
        assert!(
            said.contains("\"lam\"") && said.contains("openmpi, mpich"),
            "{said}"
        );
        let (set, wanted) = super::wanted(&["mpi", "--group", "mpich", "--rows", "Open MPI"]).unwrap();
        let said = run::chosen(set, &wanted).err().unwrap().to_string();
        assert!(said.contains("MPICH: 8 B rate"), "{said}");
        let (set, wanted) = super::wanted(&["mpi", "--rows", "MPICH: 8 B rate"]).unwrap();
        let groups = run::chosen(set, &wanted).unwrap();
        assert_eq!(groups.len(), 1);
        assert!(
            groups[0]
                .rows
                .iter()
                .all(|row| row.name.starts_with("MPICH: 8 B rate"))
        );
    }
}
