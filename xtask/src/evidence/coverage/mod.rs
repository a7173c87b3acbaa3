//! How often the intervals that wirespeed publishes over launches hold what they say, on real launches: measured in turn,
//! archived launch by launch, judged in consecutive blocks. It must never judge launches that are not in the archive.

mod judge;
mod launch;
mod published;
mod series;
mod summary;
mod tally;

use super::Context;
use super::archive::Archive;
use crate::runs;
use anyhow::{Context as _, Result, bail};
pub use judge::BLOCKS_MIN;
use judge::{BLOCK, Judged, judge};
use launch::{HEAD, Launch, SUBJECTS};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// Blocks that are measured where nobody says how many; fewer say too little.
pub const BLOCKS: usize = 100;
/// Rounds that may fail and are measured again: more, and the machine is not fit.
const FAILED_MAX: usize = 10;
const FILE: &str = "coverage.csv";
const PACKED: &str = "coverage.csv.xz";

/// Measure, archive and judge `context.blocks` blocks of launches of every case.
pub fn measured(context: &Context, archive: &mut Archive) -> Result<()> {
    let path = archive.path(FILE);
    let started = Instant::now();
    let failed = measure(&context.binary, context.blocks, &path)?;
    let packed = archive.path(PACKED);
    runs::pack(&path, &packed)?;
    std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    archive.note(&format!(
        "{PACKED}: a line a launch, in the order in which they ran, {minutes:.0} min in all; {failed} rounds were measured again \
         because a launch failed. Values, ends and slices are in the unit of the case's figure, slices to four digits. Launched \
         in turn:\n\n{}",
        SUBJECTS.map(|subject| format!("    wirespeed {}\n", subject.words().join(" "))).concat().trim_end(),
    ));
    archive.note(&again(&packed)?);
    Ok(())
}

/// Judge archived launches: the file, or the folder that it is in. Errors where the file is torn or has too few.
pub fn again(path: &Path) -> Result<String> {
    let file = if path.is_dir() {
        path.join(PACKED)
    } else {
        path.to_owned()
    };
    let text = runs::unpacked(&file)?;
    let launches = parse(&text).with_context(|| format!("{} is torn", file.display()))?;
    let judged: Result<Vec<Judged>> = std::thread::scope(|scope| {
        let judging = SUBJECTS
            .iter()
            .zip(&launches)
            .map(|(subject, launches)| scope.spawn(move || judge(*subject, launches)));
        let judging: Vec<_> = judging.collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Judged>>| match thread.join() {
            Ok(judged) => judged,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        judging.into_iter().map(join).collect()
    });
    Ok(summary::text(&judged?))
}

/// Write a line a launch to `path`, round by round; the number of rounds that failed and were measured again.
fn measure(binary: &Path, blocks: usize, path: &Path) -> Result<usize> {
    let cannot = || format!("cannot write {}", path.display());
    let mut file = File::create(path).with_context(cannot)?;
    writeln!(file, "{HEAD}").with_context(cannot)?;
    let (rounds, mut failed, started) = (blocks * BLOCK, 0, Instant::now());
    for number in 0..rounds {
        let lines = loop {
            let round = SUBJECTS
                .iter()
                .map(|subject| Ok(Launch::measure(binary, *subject)?.line(number, *subject) + "\n"));
            match round.collect::<Result<String>>() {
                Ok(lines) => break lines,
                Err(error) if failed == FAILED_MAX => return Err(error.context("too many launches fail")),
                Err(error) => println!("  measured again: {error:#}"),
            }
            failed += 1;
        };
        file.write_all(lines.as_bytes()).with_context(cannot)?;
        let done = number + 1;
        if done.is_multiple_of(BLOCK) {
            let left_s = started.elapsed().as_secs_f64() * (rounds - done) as f64 / done as f64;
            println!(
                "  block {} of {blocks}, {:.0} min {:.0} s left",
                done / BLOCK,
                (left_s / 60.0).floor(),
                left_s % 60.0
            );
        }
    }
    Ok(failed)
}

/// The launches of each case, from lines as [`measure`] writes them: whole rounds, in order.
fn parse(text: &str) -> Result<[Vec<Launch>; SUBJECTS.len()]> {
    let mut lines = text
        .strip_suffix('\n')
        .context("the last line has no end")?
        .split('\n');
    if lines.next() != Some(HEAD) {
        bail!("its first line is not {HEAD:?}");
    }
    let mut launches: [Vec<Launch>; SUBJECTS.len()] = Default::default();
    let mut due = (0..).flat_map(|number| (0..SUBJECTS.len()).map(move |at| (number, at)));
    for (line, (number, at)) in lines.zip(&mut due) {
        let launch = Launch::parse(line, number, SUBJECTS[at]);
        launches[at].push(launch.with_context(|| format!("launch {number} of {}", SUBJECTS[at].name()))?);
    }
    let [first, .., last] = &launches;
    if first.len() != last.len() {
        bail!("its last round is not whole");
    }
    Ok(launches)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rounds` rounds without slices.
    fn lines(rounds: usize) -> String {
        let line = |number: usize, at: usize| {
            let launch = Launch {
                value: 100.0 + ((number * 37 + at) % 101) as f64,
                own: None,
                slices: Vec::new(),
            };
            launch.line(number, SUBJECTS[at]) + "\n"
        };
        let all = (0..rounds).flat_map(|number| (0..SUBJECTS.len()).map(move |at| line(number, at)));
        format!("{HEAD}\n{}", all.collect::<String>())
    }

    /// Writes `text` compressed, without its last `cut` bytes.
    fn archived(folder: &Path, text: &str, cut: usize) -> std::path::PathBuf {
        let plain = folder.join(FILE);
        std::fs::write(&plain, text).unwrap();
        let packed = folder.join(PACKED);
        runs::pack(&plain, &packed).unwrap();
        let bytes = std::fs::read(&packed).unwrap();
        std::fs::write(&packed, &bytes[..bytes.len() - cut]).unwrap();
        packed
    }

    #[test]
    fn an_archive_is_judged_again_and_a_torn_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = archived(folder.path(), &lines(40), 0);
        let said = again(folder.path()).unwrap();
        assert!(
            said.contains("5 blocks of 8 launches") && said == again(&path).unwrap(),
            "{said}"
        );
        let why = |text: &str, cut| format!("{:#}", again(&archived(folder.path(), text, cut)).unwrap_err());
        assert!(why(&lines(40), 20).contains("xz"));
        assert!(why(&lines(39), 0).contains("at least 5 whole blocks"));
        let whole = lines(40);
        let cut = |count: usize| &whole[..whole.len() - count];
        assert!(why(cut(1), 0).contains("no end"));
        let last_line = whole.trim_end().lines().next_back().unwrap().len() + 1;
        assert!(why(cut(last_line), 0).contains("last round is not whole"));
        assert!(why(&whole.replacen("3,tcp rate", "4,tcp rate", 1), 0).contains("launch 3 of tcp rate"));
        assert!(why("", 0).contains("torn"));
    }
}
