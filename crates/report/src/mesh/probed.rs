//! One probe of a mesh with what follows from its figures alone: the median of each pair, the extremes, the order of the hosts.
//! It must never look at verdicts.

use crate::figures::figure_text;
use crate::labels::{Input, label};
use crate::stats::median;
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshEffect, MeshPair, MeshProbe, MeshSection, MeshSide};

/// The median of an ordered pair's figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairFigure {
    /// Number of the host that sends.
    pub from: u32,
    /// Number of the host that receives.
    pub to: u32,
    /// The median, in the unit of the probe's tag.
    pub value: f64,
    /// How many figures it is of.
    pub count: usize,
}

impl PairFigure {
    /// Whether it is traffic of a host that `is` holds of, in direction `side`.
    pub fn is_of(&self, side: MeshSide, is: impl Fn(u32) -> bool) -> bool {
        match side {
            MeshSide::Sends => is(self.from),
            MeshSide::Receives => is(self.to),
            MeshSide::Both => is(self.from) || is(self.to),
        }
    }
}

/// A probe with the figures of its pairs.
#[derive(Debug, Clone)]
pub struct Probed<'a> {
    /// The mesh.
    pub section: &'a MeshSection,
    /// The probe.
    pub probe: &'a MeshProbe,
    /// Its case, for people.
    pub label: String,
    /// The pairs that have figures.
    pub pairs: Vec<PairFigure>,
    /// Median of all pairs; absent where none has a figure.
    pub median: Option<f64>,
    /// Probes of the same case on other rails.
    pub on_other_rails: Vec<&'a MeshProbe>,
}

impl<'a> Probed<'a> {
    /// Every probe of `section`, which is that of `run`.
    pub fn all(run: &Run, section: &'a MeshSection) -> Vec<Probed<'a>> {
        let probes = section.probes.iter();
        probes.map(|probe| Probed::of(run, section, probe)).collect()
    }

    fn of(run: &Run, section: &'a MeshSection, probe: &'a MeshProbe) -> Probed<'a> {
        let case = run.cases.get(probe.case as usize);
        let input = Input { name: "", run };
        let pairs: Vec<PairFigure> = probe.pairs.iter().filter_map(figure).collect();
        let mut values: Vec<f64> = pairs.iter().map(|pair| pair.value).collect();
        let middle = median(&mut values);
        Probed {
            section,
            probe,
            label: case.map_or_else(|| probe.tag.clone(), |case| label(&input, false, case)),
            pairs,
            median: middle.is_finite().then_some(middle),
            on_other_rails: on_other_rails(run, section, probe),
        }
    }

    /// Its name in a column; empty where it is the only probe.
    pub fn name_among(&self, several: bool) -> String {
        if several {
            self.label.clone()
        } else {
            String::new()
        }
    }

    /// The pairs with the least and the greatest figure.
    pub fn extremes(&self) -> Option<(PairFigure, PairFigure)> {
        let least = self.pairs.iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
        let greatest = self.pairs.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
        Some((*least, *greatest))
    }

    /// The pairs, the slowest first.
    pub fn slowest_first(&self) -> Vec<PairFigure> {
        let mut pairs = self.pairs.clone();
        pairs.sort_by(|a, b| a.value.total_cmp(&b.value));
        if !self.probe.higher_is_better {
            pairs.reverse();
        }
        pairs
    }

    /// A figure with its unit.
    pub fn text(&self, value: f64) -> String {
        figure_text(&self.probe.tag, value)
    }

    /// What the figure is.
    pub fn quantity(&self) -> &'static str {
        let tag = &self.probe.tag;
        match tag {
            _ if tag.ends_with("_bytes_per_s") => "bandwidth",
            _ if tag.ends_with("_per_s") => "rate",
            _ if tag.ends_with("_ns") => "latency",
            _ => "figure",
        }
    }

    /// `the median pair moves 1.23 GB/s`.
    pub fn typical(&self) -> Option<String> {
        let median = self.text(self.median?);
        Some(match self.quantity() {
            "bandwidth" | "rate" => format!("the median pair moves {median}"),
            "latency" => format!("the median pair takes {median}"),
            _ => format!("the median pair is at {median}"),
        })
    }

    /// A ratio of performances as a ratio of figures: a latency at half the performance is twice as long.
    pub fn of_figures(&self, performance: f64) -> f64 {
        match self.probe.higher_is_better {
            true => performance,
            false => 1.0 / performance,
        }
    }

    /// `from -> to`.
    pub fn pair_name(&self, from: u32, to: u32) -> String {
        let name = |host| self.section.host_name(host);
        format!("{} -> {}", name(from), name(to))
    }

    /// What `host` does beside the median host.
    pub fn effect(&self, host: u32) -> MeshEffect {
        self.probe.effects.get(host as usize).copied().unwrap_or_default()
    }

    /// The slower direction of `host`, a ratio of performances; absent where nothing of it was measured.
    pub fn slower_side(&self, host: u32) -> Option<f64> {
        let effect = self.effect(host);
        let sides = [effect.sends_ratio, effect.receives_ratio];
        let known = sides.into_iter().flatten().map(|ratio| ratio.get());
        known.reduce(f64::min)
    }

    /// Numbers of all hosts, the slowest first, those without figures last.
    pub fn order(&self) -> Vec<u32> {
        let mut hosts: Vec<u32> = (0..self.section.hosts.len() as u32).collect();
        let at = |host: &u32| self.slower_side(*host).unwrap_or(f64::INFINITY);
        hosts.sort_by(|a, b| at(a).total_cmp(&at(b)));
        hosts
    }

    /// Median of the pairs that `is` holds of.
    pub fn median_of(&self, is: impl Fn(&PairFigure) -> bool) -> Option<f64> {
        let mut values: Vec<f64> = self
            .pairs
            .iter()
            .filter(|pair| is(pair))
            .map(|p| p.value)
            .collect();
        let middle = median(&mut values);
        middle.is_finite().then_some(middle)
    }
}

fn on_other_rails<'a>(run: &Run, section: &'a MeshSection, probe: &MeshProbe) -> Vec<&'a MeshProbe> {
    let case = |probe: &MeshProbe| Some(run.cases.get(probe.case as usize)?.case.clone());
    let Some(own) = case(probe).filter(|case| case.rail.is_some()) else {
        return Vec::new();
    };
    let is_other = |other: &&MeshProbe| {
        case(other).is_some_and(|case| case.rail != own.rail && case.with_rail(own.rail.clone()) == own)
    };
    section.probes.iter().filter(is_other).collect()
}

/// The figure of a pair; a pair of a host with itself is none.
fn figure(pair: &MeshPair) -> Option<PairFigure> {
    let mut values: Vec<f64> = pair.values.iter().map(|value| value.get()).collect();
    let value = median(&mut values);
    (pair.from != pair.to && value.is_finite()).then_some(PairFigure {
        from: pair.from,
        to: pair.to,
        value,
        count: values.len(),
    })
}
