//! What must hold after every round, whatever went wrong in it. Pure: what was seen goes in, breaches come out.

use crate::expect::{End, Expect};
use std::time::Duration;
use wirespeed_report::audit::violations;
use wirespeed_report::read_run;

/// What is in the file of the result before the front starts, where there is anything.
pub const EARLIER: &str = "an earlier result\n";
/// Words of crashes: none of them is for users to see.
const CRASHES: [&str; 4] = ["panicked at", "internal:", "RUST_BACKTRACE", "Assertion"];
/// The same, where a launcher does not add words of its own: Hydra takes the bits of all exit codes together, so that a rank
/// killed by 9 and one ended by 2 are a crash by 11 to it.
const DEATHS: [&str; 5] = [
    "stack overflow",
    "double free",
    "Segmentation fault",
    "SIGSEGV",
    "SIGABRT",
];

/// What was seen of a round.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// How the front ended; nothing where it did not.
    pub end: Option<End>,
    /// How long after the trouble; after its start where there was none.
    pub took: Duration,
    /// All that it wrote to stdout: lines of NDJSON.
    pub stdout: String,
    /// All that it wrote to stderr.
    pub stderr: String,
    /// The file of its result afterwards.
    pub result: Option<Vec<u8>>,
    /// Whether [`EARLIER`] was there before.
    pub earlier: bool,
    /// Processes, temporary files, shared memory and control groups that are still there.
    pub left: Vec<String>,
    /// What the area found besides.
    pub more: Vec<String>,
}

/// Everything that is not as it must be, one line each.
pub fn judge(expect: &Expect, seen: &Seen) -> Vec<String> {
    let mut found: Vec<String> = end(expect, seen).into_iter().collect();
    let texts = [("stdout", &seen.stdout), ("stderr", &seen.stderr)];
    for (name, text) in texts {
        let deaths = DEATHS.iter().filter(|_| expect.speaks);
        let crash = CRASHES.iter().chain(deaths).filter(|word| text.contains(**word));
        found.extend(crash.map(|word| format!("{name} says {word:?}")));
    }
    found.extend(lines(expect, seen));
    found.extend(result(expect, seen));
    found.extend(seen.left.iter().map(|what| format!("left behind: {what}")));
    found.extend(seen.more.iter().cloned());
    found
}

/// It ended, in time, as it should, and said why.
fn end(expect: &Expect, seen: &Seen) -> Option<String> {
    let Some(end) = seen.end else {
        return Some(format!("did not end within {:?}", seen.took));
    };
    let is_right = expect.ends.contains(&end) || expect.any_code && matches!(end, End::Code(_));
    if !is_right {
        return Some(format!("ended with {end}; expected one of {:?}", expect.ends));
    }
    // Before it has set its handlers up a signal may end it, but nothing may have begun.
    if matches!(end, End::Signal(1 | 2 | 15)) && !seen.stdout.is_empty() {
        return Some(format!("ended by {end}, which it should have answered"));
    }
    if seen.took > expect.within {
        return Some(format!(
            "ended after {:?}; expected {:?}",
            seen.took, expect.within
        ));
    }
    let mut last = seen.stderr.lines().rev();
    let (help, error) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
    // A finding is named by its exit code.
    let label = match end {
        End::Code(code @ (3 | 4)) => format!("exit {code}: "),
        _ => "error: ".to_owned(),
    };
    let explained = error.starts_with(&label) && help.starts_with("help: ");
    let must = expect.speaks && matches!(end, End::Code(code) if code != 0);
    (must && !explained).then(|| "stderr does not end with a cause and a remedy".to_owned())
}

/// Stdout is lines of JSON; only a kill may tear the last one.
fn lines(expect: &Expect, seen: &Seen) -> Option<String> {
    if !expect.speaks {
        return None;
    }
    let torn = matches!(seen.end, Some(End::Signal(_)) | None);
    let whole = match seen.stdout.rfind('\n') {
        Some(last) if torn => &seen.stdout[..last],
        None if torn => "",
        _ => seen.stdout.as_str(),
    };
    let bad = whole
        .lines()
        .find(|line| serde_json::from_str::<serde_json::Value>(line).is_err())?;
    Some(format!("stdout has a line that is no JSON: {bad:.80}"))
}

/// The result is what was there before, or a whole document that agrees with the exit code.
fn result(expect: &Expect, seen: &Seen) -> Vec<String> {
    let measured = seen.stdout.contains("\"event\":\"interval\"");
    let must = matches!(seen.end, Some(End::Code(_)))
        && expect.keeps
        && (measured || seen.end == Some(End::Code(0)));
    let bytes = match &seen.result {
        None if seen.earlier => return vec!["the earlier result is gone".to_owned()],
        None if must => return vec!["there is no result, though something was measured".to_owned()],
        None => return Vec::new(),
        Some(bytes) if bytes == EARLIER.as_bytes() && seen.earlier => {
            let lost = must.then(|| "the earlier result is there, though something was measured".to_owned());
            return lost.into_iter().collect();
        }
        Some(bytes) => bytes,
    };
    let run = match read_run(bytes) {
        Ok(run) => run,
        Err(error) => return vec![format!("the result cannot be read: {error}")],
    };
    let mut found: Vec<String> = violations(&run)
        .into_iter()
        .map(|what| format!("the result cannot be true: {what}"))
        .collect();
    if let (Some(End::Code(code)), true) = (seen.end, expect.speaks && expect.keeps) {
        let said = i32::from(run.status.exit_code());
        // A verdict is told by the exit code alone.
        if said != code && !(said == 0 && expect.verdicts.contains(&code)) {
            found.push(format!("the result says {:?}, the exit code {code}", run.status));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(1);

    fn expect() -> Expect {
        Expect {
            ends: vec![End::Code(0), End::Code(130), End::Signal(9)],
            any_code: false,
            within: SOON,
            speaks: true,
            keeps: true,
            verdicts: Vec::new(),
        }
    }

    /// A round in which all is well.
    fn well() -> Seen {
        Seen {
            end: Some(End::Code(130)),
            took: SOON / 2,
            stdout: "{\"event\":\"case_started\"}\n".to_owned(),
            stderr: "error: interrupted\nhelp: run again\n".to_owned(),
            ..Seen::default()
        }
    }

    /// The one breach of what is like [`well`] but for this.
    fn breach(change: impl FnOnce(&mut Seen)) -> String {
        let mut seen = well();
        change(&mut seen);
        let found = judge(&expect(), &seen);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn nothing_is_found_where_all_is_well() {
        assert_eq!(judge(&expect(), &well()), Vec::<String>::new());
    }

    #[test]
    fn bad_ends_are_found() {
        assert!(breach(|seen| seen.end = Some(End::Code(7))).contains("exit code 7"));
        assert!(breach(|seen| seen.end = Some(End::Signal(11))).contains("signal 11"));
        let mut answers = expect();
        answers.ends.push(End::Signal(2));
        let mut seen = well();
        seen.end = Some(End::Signal(2));
        assert_eq!(judge(&answers, &seen).len(), 1);
        seen.stdout.clear();
        assert_eq!(judge(&answers, &seen).len(), 0);
        assert!(breach(|seen| seen.end = None).contains("did not end"));
        assert!(breach(|seen| seen.took = SOON * 2).contains("ended after"));
        assert!(breach(|seen| seen.stderr = "error: x\n".to_owned()).contains("cause and a remedy"));
    }

    #[test]
    fn panics_and_torn_lines_are_found() {
        let text = "thread 'main' panicked at x.rs\nerror: a\nhelp: b\n";
        assert!(breach(|seen| seen.stderr = text.to_owned()).contains("panicked at"));
        let text = "rank 1 was killed by SIGSEGV\nerror: a\nhelp: b\n";
        assert!(breach(|seen| seen.stderr = text.to_owned()).contains("SIGSEGV"));
        assert!(breach(|seen| seen.stdout = "{\"event\":".to_owned()).contains("no JSON"));
        // Whoever is killed may leave half a line.
        let mut seen = well();
        seen.end = Some(End::Signal(9));
        seen.stdout = "{}\n{\"event\":".to_owned();
        assert_eq!(judge(&expect(), &seen), Vec::<String>::new());
    }

    #[test]
    fn bad_results_are_found() {
        assert!(breach(|seen| seen.result = Some(b"{\"document_vers".to_vec())).contains("cannot be read"));
        assert!(breach(|seen| seen.earlier = true).contains("is gone"));
        assert!(breach(|seen| seen.result = Some(EARLIER.into())).contains("cannot be read"));
        let measured = "{\"event\":\"interval\"}\n".to_owned();
        assert!(breach(|seen| seen.stdout = measured).contains("no result"));
        let mut seen = well();
        seen.earlier = true;
        seen.result = Some(EARLIER.into());
        assert_eq!(judge(&expect(), &seen), Vec::<String>::new());
    }

    #[test]
    fn what_is_left_and_what_the_area_found_is_told() {
        assert!(breach(|seen| seen.left.push("tmp/x".to_owned())).contains("tmp/x"));
        assert_eq!(
            breach(|seen| seen.more.push("wrong bytes".to_owned())),
            "wrong bytes"
        );
    }
}
