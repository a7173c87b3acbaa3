//! How each host stands beside the median one, named or not. It must never decide who is slow: intervals here hold for one
//! host each, and of a thousand healthy hosts fifty lie outside theirs.

use super::candidates::PARTNERS_MIN;
use super::confirm::of_end;
use super::polish::{Cell, Effects, OF_MEDIAN, middle};
use super::reference::freedom;
use statrs::distribution::{ContinuousCDF, StudentsT};
use wirespeed_report::stats::{LEVEL, median};

/// What a host does in one direction, over all its partners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Its performance over the median host's: 0.8 is 20 % slower, of a latency 25 % longer.
    pub ratio: f64,
    /// The 95 % interval of the ratio. Absent where there are fewer than three partners.
    pub interval: Option<[f64; 2]>,
    /// Figures that it rests on.
    pub figures: usize,
}

/// What a host does as sender and as receiver; absent without figures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostEffects {
    /// As sender.
    pub sends: Option<Effect>,
    /// As receiver.
    pub receives: Option<Effect>,
}

/// An effect as a logarithm, and its variance.
#[derive(Clone, Copy)]
struct Part {
    effect: f64,
    variance: f64,
    figures: usize,
}

/// Both directions of each host, from the survey's `effects` and the `fresh` figures that the looks added. `partners`: how
/// many receivers and senders each host was measured with.
///
/// Survey and looks are weighed by their variances (Cochran, JRSS Supplement
/// 4, 1937). The median host is that of these: where all hosts were suspects, nothing was beside the looks that tells whether
/// conditions had changed since the survey. The variance of the grand median is added: what all hosts are compared with has an
/// error, too.
pub fn standing(
    effects: &Effects,
    fresh: &[Cell],
    controls: usize,
    partners: &[[usize; 2]],
) -> Vec<HostEffects> {
    let hosts = effects.counts[0].len();
    let quantile = StudentsT::new(0.0, 1.0, freedom(effects)).map(|law| law.inverse_cdf((1.0 + LEVEL) / 2.0));
    let sides = [0, 1].map(|side| {
        let mut looks: Vec<Vec<f64>> = vec![Vec::new(); hosts];
        for cell in fresh {
            looks[[cell.from, cell.to][side]].push(of_end(effects, cell, side));
        }
        let survey = surveyed(effects, side);
        let mut variances: Vec<f64> = survey.iter().flatten().map(|part| part.variance).collect();
        let of_centre = match variances.len() {
            0 => 0.0,
            count => OF_MEDIAN * OF_MEDIAN * median(&mut variances) / count as f64,
        };
        let each = survey.into_iter().zip(looks);
        let each =
            each.map(|(survey, values)| Some(weighed(survey?, looked(effects, side, values, controls))));
        let parts: Vec<Option<Part>> = each.collect();
        let mut known: Vec<f64> = parts.iter().flatten().map(|part| part.effect).collect();
        let centre = match known.is_empty() {
            true => 0.0,
            false => median(&mut known),
        };
        let each = parts.into_iter().enumerate().map(|(host, part)| {
            let part = part?;
            let effect = part.effect - centre;
            let half = quantile
                .as_ref()
                .ok()
                .filter(|_| partners[host][side] >= PARTNERS_MIN);
            let half = half.map(|t| t * (part.variance + of_centre).sqrt());
            Some(Effect {
                ratio: effect.exp(),
                interval: half.map(|half| [(effect - half).exp(), (effect + half).exp()]),
                figures: part.figures,
            })
        });
        each.collect::<Vec<Option<Effect>>>()
    });
    let [sends, receives] = sides;
    let both = sends.into_iter().zip(receives);
    both.map(|(sends, receives)| HostEffects { sends, receives })
        .collect()
}

/// What the survey says.
fn surveyed(effects: &Effects, side: usize) -> Vec<Option<Part>> {
    let part = |host: usize| {
        let count = effects.counts[side][host];
        (count > 0).then(|| Part {
            effect: effects.hosts[side][host],
            variance: effects.error(side, host).powi(2),
            figures: count,
        })
    };
    (0..effects.counts[side].len()).map(part).collect()
}

/// What the looks say, of one host. A look gives a suspect different partners, as many as there are.
fn looked(effects: &Effects, side: usize, mut values: Vec<f64>, controls: usize) -> Option<Part> {
    let figures = values.len();
    let partners = figures.min(effects.counts[side].len());
    (figures > 0).then(|| Part {
        effect: middle(&mut values, effects.noise),
        variance: effects.fresh_error(side, [figures, partners, controls]).powi(2),
        figures,
    })
}

/// Both parts, weighed by their variances.
fn weighed(survey: Part, looks: Option<Part>) -> Part {
    let Some(looks) = looks else { return survey };
    let figures = survey.figures + looks.figures;
    let whole = survey.variance + looks.variance;
    if whole <= 0.0 {
        return Part { figures, ..survey };
    }
    Part {
        effect: (survey.effect * looks.variance + looks.effect * survey.variance) / whole,
        variance: survey.variance * looks.variance / whole,
        figures,
    }
}
