//! What a comparison says, as data: `Run::sections["comparison"]`. Written by `compare` and `ab`, read by every renderer.

use serde::{Deserialize, Serialize};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::section::Section;

/// How the two sides were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Stored results: runs of one side against runs of the other, by their ranks.
    #[default]
    Unpaired,
    /// Interleaved now: each run of B beside one of A, by the signed ranks of their ratios.
    Paired,
}

/// What B is against A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better, by more than the margin and by more than chance.
    Faster,
    /// The ratio is within the margin that was called the same.
    Same,
    /// It cannot be said: too few runs, or a file that was disturbed.
    #[default]
    Inconclusive,
    /// Worse, by more than the margin and by more than chance.
    Slower,
}

impl Method {
    /// What its runs are counted in.
    pub(crate) fn runs(self) -> &'static str {
        match self {
            Method::Paired => "pairs",
            Method::Unpaired => "runs a side",
        }
    }
}

impl Verdict {
    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Slower => "slower",
        }
    }
}

/// One side: a stored result, or an arm measured now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// File name, or the words of the arm.
    pub name: String,
    /// Start of its run.
    pub started_at: String,
    /// Version of the program that measured it.
    pub version: String,
    /// The tool whose file was imported; absent where wirespeed measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// True where no arm of `ab` measures it: streams of a session, ranks of a launcher's job.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_no_arm: bool,
}

/// A fact that differs between the two sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// `kernel`, `governor`, `facts.mtu`.
    pub name: String,
    /// With A; absent where A does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// With B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

/// One figure of one case on both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The case: `shm am_lat 8 B`.
    pub label: String,
    /// The figure's tag.
    pub tag: String,
    /// Median over the runs of A, in the tag's unit.
    pub a: Finite,
    /// Median over the runs of B.
    pub b: Finite,
    /// Runs of A.
    pub a_runs: u32,
    /// Runs of B.
    pub b_runs: u32,
    /// B / A.
    pub ratio: Finite,
    /// Lower end of the ratio's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<Finite>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<Finite>,
    /// Coverage of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Finite>,
    /// P-value against a ratio within the margin: two-sided, at its nearer edge.
    pub p_value: Finite,
    /// The same after Holm's adjustment over all rows.
    pub p_adjusted: Finite,
    /// What B is.
    pub verdict: Verdict,
    /// For an inconclusive row: how many more runs a side should tell, with a chance of 90 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_runs: Option<u64>,
    /// What may have bent either side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What disturbed the sides, where that alone keeps the row from being faster or slower: `A: steal`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

/// A figure that has no ratio, because there is none of what was measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unjudged {
    /// The case; empty where no case has the figure on both sides.
    pub label: String,
    /// The figure's tag, or the name it was asked for by.
    pub tag: String,
    /// Why: `0 in 6 of 12 runs of B`.
    pub why: String,
    /// What B is: more than chance where every run of one side has some and none of the other has.
    pub verdict: Verdict,
    /// Runs a side that would tell, where it is for want of runs alone that nothing is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_min: Option<u64>,
}

/// What changed between two meshes beside the figures of [`Comparison::rows`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeshChange {
    /// What either mesh judged slow, with its ratio to the median there; absent where it was not judged so.
    pub judged: Vec<Difference>,
    /// Links without a verdict, here or in either mesh, or the same: they have no row.
    pub unlisted_links: u64,
}

/// Why cases have no figure, by their places in the lists of [`Comparison`]: `not measured in B: no route`. A list ends with the last
/// reason that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reasons {
    /// Of those of A alone.
    pub only_a: Vec<Option<String>>,
    /// Of those of B alone.
    pub only_b: Vec<Option<String>>,
    /// Of those without the figure on both sides.
    pub lacking: Vec<Option<String>>,
}

/// A case that is not compared, and what became of it, as far as that is known.
pub(crate) type Missing<'a> = (&'a str, Option<&'a str>);

/// A whole comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// How the sides were measured.
    pub method: Method,
    /// The first side.
    pub a: Side,
    /// The second side.
    pub b: Side,
    /// True for a control: both sides are the same, so that every verdict but "same" is an error of the machine.
    pub control: bool,
    /// Ratios within 1 ± this are the same.
    pub within_ratio: Finite,
    /// What differs between the machines and programs.
    pub environment: Vec<Difference>,
    /// Every case and figure that both sides have.
    pub rows: Vec<Row>,
    /// Figures that were to be compared and have no ratio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<Unjudged>,
    /// Figures that are 0 in every run of both: they have no ratio, and pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub noughts: Vec<Unjudged>,
    /// Cases on both sides that have none of the figures that are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
    /// Of two meshes, what else changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshChange>,
    /// Cases of A that B lacks; of meshes, hosts and links too.
    pub only_a: Vec<String>,
    /// The same of B.
    pub only_b: Vec<String>,
    /// Why each of these and of `lacking` has no figure, as far as that is known.
    #[serde(skip_serializing_if = "Reasons::is_empty")]
    pub reasons: Reasons,
}

impl Section for Comparison {
    const NAME: &'static str = "comparison";
}

impl Reasons {
    fn is_empty(&self) -> bool {
        *self == Reasons::default()
    }
}

impl Comparison {
    /// The worst verdict: slower before inconclusive before same before faster. `None` without figures.
    pub fn worst(&self) -> Option<Verdict> {
        self.verdicts().max()
    }

    /// The cases that are not compared, by the reason.
    pub(crate) fn missing(&self) -> [(Vec<Missing<'_>>, &'static str); 3] {
        let reasons = &self.reasons;
        [
            (&self.only_a, &reasons.only_a, "only in A, not compared"),
            (&self.only_b, &reasons.only_b, "only in B, not compared"),
            (
                &self.lacking,
                &reasons.lacking,
                "without the figure, not compared",
            ),
        ]
        .map(|(names, reasons, why)| {
            let reasons = reasons.iter().map(Option::as_deref);
            let known = reasons.chain(std::iter::repeat(None));
            (names.iter().map(String::as_str).zip(known).collect(), why)
        })
    }

    /// Those of A, of B and of both, each in words with what became of it.
    pub fn told(&self) -> [Vec<String>; 3] {
        let told = |(name, reason): Missing| match reason {
            Some(reason) => format!("{name} ({reason})"),
            None => name.to_owned(),
        };
        self.missing()
            .map(|(cases, _)| cases.into_iter().map(told).collect())
    }

    /// The verdict of every figure.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let unjudged = self.unjudged.iter().map(|one| one.verdict);
        self.rows.iter().map(|row| row.verdict).chain(unjudged)
    }
}
