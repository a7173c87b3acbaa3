//! What failed in a mesh, in the results of its cases: wrong data, pairs and measurements without a figure, lost hosts. It must
//! never say what is slow.

use wirespeed_schema::mesh::{MeshPair, MeshProbe, MeshSection};
use wirespeed_schema::run::{CaseResult, CaseStatus};
use wirespeed_schema::units::counted;

/// Wrong data spoil a result, and what failed or was lost makes a part of it: each says so where it ends, those of `loaded`, which
/// are under a load, for themselves.
pub fn tell(results: &mut [CaseResult], section: &MeshSection, loaded: &[MeshProbe]) {
    let judged = section.probes.iter().map(|probe| (probe, false));
    let loaded = loaded.iter().map(|probe| (probe, true));
    for (probe, is_loaded) in judged.chain(loaded) {
        let Some(result) = results.get_mut(probe.case as usize) else {
            continue;
        };
        let (status, error, remedy) = if let Some(wrong) = wrong_data(probe, section) {
            let remedy = "do not use these numbers; look for a fault of the path or the transport";
            (CaseStatus::WrongData, wrong, remedy)
        } else if let (CaseStatus::Ok, Some(missing)) = (result.status, missing(probe, section)) {
            let remedy = match is_loaded {
                true => "measure one of its pairs alone with `wirespeed run`",
                false => "the result has the reason of each pair; measure one alone with `wirespeed run`",
            };
            (CaseStatus::Partial, missing, remedy)
        } else if is_loaded && result.status == CaseStatus::Ok && !probe.complete {
            // The answer says that of a case without a load.
            let cut = "a cycle over its pairs ended early".to_owned();
            let remedy = "let it run to its end, or give it more time with --budget";
            (CaseStatus::Partial, cut, remedy)
        } else {
            continue;
        };
        result.status = status;
        result.error = Some(error);
        result.remedy = Some(remedy.to_owned());
    }
}

/// Pairs that carried wrong data, however well their other measurements went.
fn wrong_data(probe: &MeshProbe, section: &MeshSection) -> Option<String> {
    let (count, first) = pairs(probe, section, |pair| pair.wrong_data.as_deref())?;
    let all = counted(probe.pairs.len() as u64, "pair");
    Some(format!("{count} of {all} carried wrong data: {first}"))
}

/// What a probe lacks: pairs without a figure, what a host would have added that was lost after its first ones, and
/// measurements of pairs that have other figures.
fn missing(probe: &MeshProbe, section: &MeshSection) -> Option<String> {
    if let Some((count, first)) = pairs(probe, section, MeshPair::failure) {
        let all = counted(probe.pairs.len() as u64, "pair");
        return Some(format!("{count} of {all} failed: {first}"));
    }
    let mut hosts = (0..).zip(&section.hosts);
    let lost = hosts.find_map(|(number, host)| Some((number, host.lost.as_ref()?)));
    if let Some((number, why)) = lost {
        return Some(format!("{} was lost: {why}", section.host_name(number)));
    }
    let (_, first) = pairs(probe, section, |pair| pair.failed.as_deref())?;
    let good: u64 = probe.pairs.iter().map(|pair| pair.values.len() as u64).sum();
    let failed = probe.failed_count;
    let all = counted(good + failed, "measurement");
    Some(format!("{failed} of {all} failed: {first}"))
}

/// How many pairs there is a `reason` of, and the first of them with it.
fn pairs(
    probe: &MeshProbe,
    section: &MeshSection,
    reason: fn(&MeshPair) -> Option<&str>,
) -> Option<(usize, String)> {
    let mut found = probe.pairs.iter().filter_map(|pair| Some((pair, reason(pair)?)));
    let (pair, why) = found.next()?;
    let (from, to) = (section.host_name(pair.from), section.host_name(pair.to));
    Some((1 + found.count(), format!("{from} -> {to}: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_mesh::{Campaign, Lack, Options, Pair, Plan, Setup};
    use wirespeed_schema::Finite;
    use wirespeed_schema::case::Case;
    use wirespeed_schema::mesh::MeshHost;
    use wirespeed_schema::test::{Layout, Stream, Test};

    /// How a case ends that went well but for what `change` does to its first pair.
    fn told(change: impl Fn(&mut MeshSection)) -> (CaseStatus, String) {
        let (mut section, mut results) = (section(), results());
        change(&mut section);
        tell(&mut results[..1], &section, &[]);
        ended(&results[0])
    }

    /// How it ends without a load, and under one, where all went well but for what `change` does under the load.
    fn told_under_load(change: impl Fn(&mut Campaign)) -> [(CaseStatus, String); 2] {
        let setup = Setup {
            hosts: 2,
            units: Vec::new(),
            plan: Plan::All,
            options: Options::default(),
        };
        let mut loaded = Campaign::new(setup).unwrap();
        for (from, to) in [(0, 1), (1, 0)] {
            loaded.survey(Pair { from, to }, Ok(1.0));
        }
        change(&mut loaded);
        let mut results = results();
        tell(&mut results, &section(), &[loaded.told(1)]);
        results.each_ref().map(ended)
    }

    fn ended(result: &CaseResult) -> (CaseStatus, String) {
        (result.status, result.error.clone().unwrap_or_default())
    }

    fn results() -> [CaseResult; 2] {
        let case = Case::new(Test::AmBw(Stream::new(4096, Layout::Short, 16)), "tcp");
        [0, 1].map(|_| CaseResult {
            status: CaseStatus::Ok,
            ..wirespeed_report::failed_case(case.clone(), "", None)
        })
    }

    fn section() -> MeshSection {
        let pair = |(from, to)| MeshPair {
            from,
            to,
            values: vec![Finite::default(); 2],
            ..MeshPair::default()
        };
        let probe = MeshProbe {
            pairs: [(0, 1), (1, 0)].map(pair).to_vec(),
            ..MeshProbe::default()
        };
        MeshSection {
            hosts: vec![MeshHost::default(); 2],
            probes: vec![probe],
            ..MeshSection::default()
        }
    }

    #[test]
    fn what_fails_under_a_load_is_told_of_the_result_under_it() {
        const PAIR: Pair = Pair { from: 0, to: 1 };
        let well = (CaseStatus::Ok, String::new());
        let under = |change: fn(&mut Campaign)| {
            let [without, under] = told_under_load(change);
            assert_eq!(without, well);
            under
        };
        assert_eq!(under(|_| ()), well);
        let silent = under(|loaded| loaded.survey(PAIR, Err(Lack::Failed("silent".to_owned()))));
        let once = "1 of 3 measurements failed: host0 -> host1: silent";
        assert_eq!(silent, (CaseStatus::Partial, once.to_owned()));
        let wrong = under(|loaded| loaded.survey(PAIR, Err(Lack::WrongData("2 messages".to_owned()))));
        let said = "1 of 2 pairs carried wrong data: host0 -> host1: 2 messages";
        assert_eq!(wrong, (CaseStatus::WrongData, said.to_owned()));
        let (status, why) = under(Campaign::break_off);
        assert_eq!((status, why.contains("ended early")), (CaseStatus::Partial, true));
    }

    #[test]
    fn what_failed_once_is_told_and_wrong_data_before_all() {
        let flaky = |section: &mut MeshSection| {
            section.probes[0].failed_count = 1;
            section.probes[0].pairs[0].failed_count = 1;
            section.probes[0].pairs[0].failed = Some("refused".to_owned());
        };
        assert_eq!(told(|_| ()), (CaseStatus::Ok, String::new()));
        let partial = |why: &str| (CaseStatus::Partial, why.to_owned());
        let once = "1 of 5 measurements failed: host0 -> host1: refused";
        assert_eq!(told(flaky), partial(once));
        let dead = told(|section| {
            flaky(section);
            section.probes[0].pairs[0].values.clear();
        });
        assert_eq!(dead, partial("1 of 2 pairs failed: host0 -> host1: refused"));
        let lost = told(|section| {
            flaky(section);
            section.hosts[1].lost = Some("silent".to_owned());
        });
        assert_eq!(lost, partial("host1 was lost: silent"));
        let wrong = told(|section| {
            flaky(section);
            section.probes[0].pairs[1].wrong_data = Some("2 messages".to_owned());
        });
        let said = "1 of 2 pairs carried wrong data: host1 -> host0: 2 messages";
        assert_eq!(wrong, (CaseStatus::WrongData, said.to_owned()));
    }
}
