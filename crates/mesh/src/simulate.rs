//! Meshes with known faults, to learn how often a judgement is right. It must never be part of a measurement.

use crate::{Figure, Judgement, MeshError, Mode, Options, Pair, Plan, Report, Schedule};
use wirespeed_report::stats::Random;

/// How a figure differs from measurement to measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Log-normal.
    Normal,
    /// Student's t with 3 degrees of freedom, on the logarithm, scaled to the same standard deviation.
    HeavyTails,
}

/// What is slow, and at which share of the usual rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// What a host sends.
    Sender(usize, f64),
    /// What a host receives.
    Receiver(usize, f64),
    /// Both.
    Host(usize, f64),
    /// One direction of a link.
    Link(Pair, f64),
    /// What all hosts of a unit send and receive.
    Unit(usize, f64),
}

/// A mesh of hosts with laws that are known.
#[derive(Debug, Clone)]
pub struct Mesh {
    /// Number of hosts.
    pub hosts: usize,
    /// Hosts of a unit; 0: there are no units.
    pub unit: usize,
    /// Standard deviation of a figure's logarithm.
    pub noise: f64,
    /// Its law.
    pub law: Noise,
    /// Standard deviation of healthy hosts' logarithms.
    pub spread: f64,
    /// What is slow.
    pub faults: Vec<Fault>,
    /// Cycles of the survey: figures of each pair.
    pub cycles: usize,
    /// Share of measurements that fail.
    pub failing: f64,
    /// A host of which every measurement fails.
    pub lost: Option<usize>,
    /// Decides everything that is random.
    pub seed: u64,
}

impl Mesh {
    /// A healthy mesh with log-normal noise of 5 %.
    pub fn healthy(hosts: usize, seed: u64) -> Mesh {
        Mesh {
            hosts,
            unit: 0,
            noise: 0.05,
            law: Noise::Normal,
            spread: 0.0,
            faults: Vec::new(),
            cycles: 1,
            failing: 0.0,
            lost: None,
            seed,
        }
    }

    /// The unit of each host; empty without units.
    pub fn units(&self) -> Vec<usize> {
        match self.unit {
            0 => Vec::new(),
            size => (0..self.hosts).map(|host| host / size).collect(),
        }
    }

    /// Survey by `plan`, judge, and measure what the judgement asks for until it asks for nothing.
    ///
    /// # Errors
    /// A plan or options that make no sense.
    pub fn judged(&self, plan: Plan, options: Options) -> Result<Report, MeshError> {
        let mut random = Random::new(self.seed);
        let own: Vec<[f64; 2]> = (0..self.hosts)
            .map(|_| [self.spread * random.normal(), self.spread * random.normal()])
            .collect();
        let schedule = Schedule::new(self.hosts, plan, Mode::Loaded, self.seed)?;
        let mut measured = |pair: Pair| Figure {
            pair,
            value: (!self.fails(pair, &mut random)).then(|| self.value(pair, &own, &mut random)),
        };
        let cycles = (0..self.cycles).flat_map(|_| schedule.rounds().flatten());
        let survey: Vec<Figure> = cycles.map(&mut measured).collect();
        let mut judgement = Judgement::new(self.hosts, &self.units(), options, &survey)?;
        while let Some(looks) = judgement.next_looks() {
            let figures: Vec<Figure> = looks.rounds.into_iter().flatten().map(&mut measured).collect();
            judgement.look(&figures)?;
        }
        Ok(judgement.report())
    }

    fn fails(&self, pair: Pair, random: &mut Random) -> bool {
        let is_lost = self.lost == Some(pair.from) || self.lost == Some(pair.to);
        is_lost || (self.failing > 0.0 && random.uniform() < self.failing)
    }

    /// A figure in bytes a second.
    fn value(&self, pair: Pair, own: &[[f64; 2]], random: &mut Random) -> f64 {
        let unit = |host: usize| (self.unit > 0).then(|| host / self.unit);
        let slow = |fault: &Fault| match *fault {
            Fault::Sender(host, ratio) if host == pair.from => ratio.ln(),
            Fault::Receiver(host, ratio) if host == pair.to => ratio.ln(),
            Fault::Host(host, ratio) if host == pair.from || host == pair.to => ratio.ln(),
            Fault::Link(link, ratio) if link == pair => ratio.ln(),
            Fault::Unit(slow, ratio) if [pair.from, pair.to].into_iter().any(|h| unit(h) == Some(slow)) => {
                ratio.ln()
            }
            _ => 0.0,
        };
        let noise = match self.law {
            Noise::Normal => random.normal(),
            Noise::HeavyTails => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                random.normal() / squares.sqrt()
            }
        };
        let faults: f64 = self.faults.iter().map(slow).sum();
        1e9 * (own[pair.from][0] + own[pair.to][1] + faults + self.noise * noise).exp()
    }
}
