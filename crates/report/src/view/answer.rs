//! The answer of a result: that of its kind, and what load did to it where that was asked; never nothing.

use super::headline;
use super::kinds::Kind;
use super::remarks::{unreached, why_nothing};
use crate::charts::{Picture, pictures};
use crate::interference::Interference;
use crate::interference::words::interference_answers;
use crate::labels::Input;
use wirespeed_schema::Run;
use wirespeed_schema::outcome::StopReason;
use wirespeed_schema::run::Status;

/// The sentences that come first in everything that is written about `input`; `rest`: its cases of other kinds.
pub fn answer(input: &Input, kind: &Kind, (charts, rest): (&[Picture], Option<&Run>)) -> Vec<String> {
    let mut said: Vec<String> = input
        .run
        .sections
        .get::<Interference>()
        .map(|found| interference_answers(&found))
        .unwrap_or_default();
    said.extend((kind.answer)(input, charts));
    if let Some(run) = rest {
        let rest = Input { run, ..*input };
        said.extend(headline::answers(&rest, &pictures(&[rest])));
    }
    let measured = input.run.cases.iter().any(|case| !case.metrics.is_empty());
    if said.is_empty() && measured {
        // What the kind asks for is not among what was measured: then the cases themselves speak.
        said = headline::answers(input, charts);
    }
    if input.run.status == Status::Interrupted && measured {
        let cut_short = input.run.cases.iter().flat_map(|case| &case.cut_short);
        let is_cut = cut_short
            .flat_map(|repetition| &repetition.outcomes)
            .any(|outcome| outcome.stop == StopReason::Interrupted);
        let told = match is_cut {
            true => "Incomplete: the run was interrupted, and what that cut short counts in no figure.",
            false => "Incomplete: the run was interrupted, and this is what was measured until then.",
        };
        said.push(told.to_owned());
    }
    said.extend(unreached(&input.run.cases));
    // Why a run ended badly is said of every run, in words of its own.
    let told = input.run.status != Status::Ok && input.run.error.is_some();
    let why = why_nothing(&input.run.cases).filter(|_| said.is_empty() && !told);
    said.extend(why.map(|why| format!("Nothing was measured: {why}.")));
    said
}

#[cfg(test)]
mod tests {
    use crate::labels::Input;
    use crate::tests::stream;
    use crate::view::{Part, View};
    use serde_json::json;
    use wirespeed_schema::Run;

    /// Whatever else a plan measures, no case of it goes unseen.
    #[test]
    fn cases_of_other_kinds_are_told_behind_the_first() {
        let latency = json!({"test": "am_lat", "window_msgs": null, "transport": "unix"});
        let hub = json!({"test": "hub_lat", "window_msgs": null, "transport": "shm", "fan_out": false,
            "ranks": [{"role": "hub"}, {"role": "worker"}]});
        let rate = json!({"test": "msgrate", "transport": "shm", "pattern": "single", "grid": "ring",
            "peers": 1, "stride_ranks": 1, "cache_state": "hot", "cache_bytes": 0, "ranks": [{"role": "neighbour"}]});
        let rtt = [
            ("rtt_p50_ns", 4e3),
            ("rtt_mean_ns", 5e3),
            ("rtt_min_ns", 3e3),
            ("rtt_max_ns", 9e3),
        ];
        for first in [stream(hub, &rtt), stream(rate, &[("rate_msg_per_s", 1e6)])] {
            let name = first.case.test.name();
            let mut run = Run::of(Default::default(), String::new());
            run.cases = vec![first, stream(latency.clone(), &rtt)];
            let view = View::of(&[Input {
                name: "run",
                run: &run,
            }]);
            let [subject] = view.subjects.as_slice() else {
                panic!("{name}: one result")
            };
            assert!(subject.answer.len() > 1, "{name}: {:?}", subject.answer);
            assert!(
                subject.answer.iter().any(|said| said.contains("unix am_lat")),
                "{:?}",
                subject.answer
            );
            let rows = subject.parts.iter().filter_map(|part| match part {
                Part::Table(table) => Some(&table.rows),
                _ => None,
            });
            let of_latency = rows
                .flatten()
                .filter(|row| row.cells.iter().any(|cell| cell == "am_lat"));
            assert_eq!(of_latency.count(), 1, "{name}");
        }
    }
}
