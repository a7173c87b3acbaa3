//! Documents of meshes with known faults, made from a seed: what the verb would write, without any host.

use crate::fixture::{am_lat, case, finite, run, stream};
use wirespeed_report::stats::Random;
use wirespeed_schema::case::Case;
use wirespeed_schema::mesh::*;
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Repetition, Run};
use wirespeed_schema::test::Test;

/// What is to be made.
pub struct Made {
    pub hosts: u32,
    /// Hosts of a unit; 0: no units.
    pub unit: u32,
    /// Figures of each pair.
    pub cycles: u32,
    /// Share of the usual performance at which host `slow.0` receives.
    pub slow: Option<(u32, f64)>,
    /// Only every so many-th pair is measured.
    pub every: u32,
    pub latency: bool,
    pub seed: u64,
}

impl Made {
    pub fn of(hosts: u32) -> Made {
        Made {
            hosts,
            unit: 0,
            cycles: 3,
            slow: None,
            every: 1,
            latency: false,
            seed: 7,
        }
    }

    pub fn slow(self, host: u32, ratio: f64) -> Made {
        Made {
            slow: Some((host, ratio)),
            ..self
        }
    }

    /// A document of one probe.
    pub fn run(&self) -> Run {
        document(self.section(), vec![self.case()])
    }

    pub fn case(&self) -> Case {
        let test = match self.latency {
            true => am_lat(8),
            false => Test::AmBw(stream(65_536, 64)),
        };
        case("tcp", test, 1000)
    }

    pub fn section(&self) -> MeshSection {
        let name = |number: u32| MeshHost {
            name: format!("node{number}"),
            unit: (self.unit > 0).then(|| number / self.unit),
            ..MeshHost::default()
        };
        MeshSection {
            hosts: (0..self.hosts).map(name).collect(),
            units: match self.unit {
                0 => Vec::new(),
                size => (0..self.hosts.div_ceil(size))
                    .map(|unit| format!("rack{unit}"))
                    .collect(),
            },
            rounds: u64::from(self.hosts.saturating_sub(1)),
            cycles: self.cycles,
            seed: self.seed,
            false_alarm_ratio: finite(0.01),
            material_ratio: finite(0.05),
            probes: vec![self.probe()],
            ..MeshSection::default()
        }
    }

    /// Noise of 2 %; what the slow host receives beside.
    fn probe(&self) -> MeshProbe {
        let mut random = Random::new(self.seed);
        let all = (0..self.hosts).flat_map(|from| (0..self.hosts).map(move |to| (from, to)));
        let asked = all.filter(|(from, to)| from != to && (from + to) % self.every == 0);
        let pairs: Vec<MeshPair> = asked
            .map(|(from, to)| MeshPair {
                from,
                to,
                values: (0..self.cycles)
                    .map(|_| self.value(to, &mut random))
                    .map(finite)
                    .collect(),
                survey_count: self.cycles,
                ..MeshPair::default()
            })
            .collect();
        let measured = if self.cycles > 0 { pairs.len() as u64 } else { 0 };
        let effects = (0..self.hosts).map(|host| MeshEffect {
            sends_ratio: Some(finite(1.0 + 0.01 * random.normal())),
            receives_ratio: Some(finite(match self.slow {
                Some((slow, ratio)) if slow == host => ratio,
                _ => 1.0 + 0.01 * random.normal(),
            })),
            ..MeshEffect::default()
        });
        MeshProbe {
            case: 0,
            tag: self.tag().to_owned(),
            higher_is_better: !self.latency,
            effects: effects.collect(),
            unmeasured_count: u64::from(self.hosts) * u64::from(self.hosts.saturating_sub(1)) - measured,
            verdicts: self
                .slow
                .map(|(host, ratio)| self.verdict(host, ratio))
                .into_iter()
                .collect(),
            looks_count: u32::from(self.slow.is_some()),
            noise_ratio: finite(0.02),
            detectable_host_ratio: Some(finite(0.917)),
            detectable_link_ratio: Some(finite(0.868)),
            complete: true,
            pairs,
            ..MeshProbe::default()
        }
    }

    pub fn tag(&self) -> &'static str {
        match self.latency {
            true => "rtt_p50_ns",
            false => "bandwidth_bytes_per_s",
        }
    }

    fn value(&self, to: u32, random: &mut Random) -> f64 {
        let noise = (0.02 * random.normal()).exp();
        let ratio = match self.slow {
            Some((slow, ratio)) if slow == to => ratio,
            _ => 1.0,
        };
        match self.latency {
            true => 12_000.0 / ratio * noise,
            false => 1.23e9 * ratio * noise,
        }
    }

    pub fn verdict(&self, host: u32, ratio: f64) -> MeshVerdict {
        MeshVerdict {
            culprit: MeshCulprit::Host {
                host,
                side: MeshSide::Receives,
            },
            ratio: finite(ratio),
            lower_ratio: finite(ratio * 0.95),
            upper_ratio: finite(ratio * 1.05),
            false_alarm_ratio: finite(0.0004),
            shown_by_partners: self.hosts - 1,
            partners: self.hosts - 1,
        }
    }
}

/// A document of `section` and its cases, whose figures are the medians of its pairs; a case without any has failed.
pub fn document(section: MeshSection, cases: Vec<Case>) -> Run {
    let results = cases
        .into_iter()
        .zip(&section.probes)
        .map(|(case, probe)| result(case, probe));
    let mut document = run(results.collect());
    document.sections.put(&section);
    document
}

fn result(case: Case, probe: &MeshProbe) -> CaseResult {
    let metric =
        |values: &mut Vec<f64>| Metric::of(wirespeed_report::stats::median(values), values.len() as u64);
    let cycles = probe
        .pairs
        .iter()
        .map(|pair| pair.values.len())
        .max()
        .unwrap_or(0);
    let of_cycle = |cycle: usize| {
        let values = probe.pairs.iter().filter_map(|pair| pair.values.get(cycle));
        metric(&mut values.map(|value| value.get()).collect())
    };
    let all = probe.pairs.iter().flat_map(|pair| &pair.values);
    let whole = metric(&mut all.map(|value| value.get()).collect());
    let tagged = |metric: Option<Metric>| {
        metric
            .map(|metric| (probe.tag.clone(), metric))
            .into_iter()
            .collect()
    };
    let repetitions = (0..cycles).map(|cycle| Repetition {
        index: cycle as u32,
        metrics: tagged(of_cycle(cycle)),
        ..wirespeed_report::repetition(&case, cycle as u32, Vec::new(), 1_000_000, 0)
    });
    let repetitions: Vec<Repetition> = repetitions.collect();
    let failed = whole.is_none();
    let failure = wirespeed_report::skipped_case(case, "no pair was measured", None);
    CaseResult {
        status: if failed {
            CaseStatus::Failed
        } else {
            CaseStatus::Ok
        },
        error: failed.then(|| "no pair was measured".to_owned()),
        metrics: tagged(whole),
        repetitions,
        ..failure
    }
}
