//! The run document around the cases: what was asked for, by which build, on which machine, when, for how long.

use crate::{calendar, front, job, remedies, version, words};
use std::time::Instant;
use wirespeed::host::FingerprintOptions;
use wirespeed_schema::Run;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::job::JobSection;
use wirespeed_schema::plan::Plan;
use wirespeed_schema::run::{CaseResult, Remark, Status};
use wirespeed_schema::section::{Section, Sections};

/// A document whose run has begun.
pub struct Draft {
    run: Run,
    began: Instant,
}

impl Draft {
    /// Begin: the moment, the command and the machine are recorded now.
    pub fn begin(plan: Option<Plan>, include_host_name: bool) -> Self {
        let (began, started_at) = (Instant::now(), calendar::now_rfc3339());
        let mut sections = Sections::default();
        if let Some(job) = job::current() {
            sections.put(&job_section(job.section(), include_host_name));
        }
        Draft {
            began,
            run: Run {
                command: command(front::argv().iter().map(|word| words::of(word))),
                plan,
                host: host(include_host_name),
                sections,
                ..Run::of(version::tool(), started_at)
            },
        }
    }

    /// Put in what only one kind of result has.
    pub fn put<S: Section>(&mut self, section: &S) {
        self.run.sections.put(section);
    }

    /// Remark on the run as a whole.
    pub fn remark(&mut self, remark: Remark) {
        // Two arms may say the same.
        if !self.run.remarks.contains(&remark) {
            self.run.remarks.push(remark);
        }
    }

    /// The machine.
    pub fn host(&self) -> &HostFingerprint {
        &self.run.host
    }

    /// The document of a run whose results are in its sections.
    pub fn conclude(mut self, status: Status, error: Option<String>) -> Run {
        (self.run.status, self.run.error) = (status, error);
        self.close()
    }

    /// The document of what was measured.
    pub fn finish(mut self, cases: Vec<CaseResult>, interrupted: bool) -> Run {
        self.run.status = wirespeed_report::run_status(&cases, interrupted);
        self.run.remarks.extend(wirespeed_report::run_remarks(&cases));
        if let Some(job) = job::current() {
            self.run.remarks.extend(job::remarks(job.section()));
        }
        self.run.cases = cases;
        self.close()
    }

    /// The document of a run that ended before any case could run.
    pub fn fail(self, status: Status, error: String) -> Run {
        self.conclude(status, Some(error))
    }

    fn close(mut self) -> Run {
        remedies::told(&mut self.run.remarks);
        self.run.duration_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.run
    }
}

/// The section of a launcher's job; names of machines only when asked for.
fn job_section(section: &JobSection, include_host_name: bool) -> JobSection {
    match include_host_name {
        true => section.clone(),
        false => section.clone().without_names(),
    }
}

/// The machine that the plan was given to.
fn host(include_host_name: bool) -> HostFingerprint {
    wirespeed::host::fingerprint(FingerprintOptions {
        host_name: include_host_name,
    })
}

/// The words that repeat the run. The program is called by its name, whatever path it was found under; the value of
/// `--identity` is a secret and stays out.
fn command(words: impl Iterator<Item = String>) -> Vec<String> {
    let program = std::iter::once("wirespeed".to_owned());
    program.chain(without_secrets(words.skip(1))).collect()
}

/// Words as they may enter a result.
pub fn without_secrets(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut secret = false;
    words.map(move |word| {
        if std::mem::take(&mut secret) {
            return "$WIRESPEED_IDENTITY".to_owned();
        }
        // As typed, or as a word with other bytes is written.
        if word.trim_start_matches("$'").starts_with("--identity=") {
            return "--identity=$WIRESPEED_IDENTITY".to_owned();
        }
        secret = word == "--identity";
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_enter_the_command() {
        let words = [
            "/tmp/x/wirespeed",
            "run",
            "--identity",
            "s3cret",
            "--identity=s3cret",
            r"$'--identity=s3cret\xff'",
            "latency",
        ];
        let command = command(words.iter().map(|w| (*w).to_owned()));
        assert_eq!(command[0], "wirespeed");
        assert!(command.iter().all(|word| !word.contains("s3cret")), "{command:?}");
        assert_eq!(command.last().map(String::as_str), Some("latency"));
    }
}
