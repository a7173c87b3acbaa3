//! Why two results cannot be compared, or must not be.

use wirespeed_schema::plan::STATISTICS;

/// Why two results cannot be compared; each displays as one line, [`CompareError::remedy`] is the other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// One of them measured nothing.
    #[error("{side} has no measured case")]
    Empty {
        /// `A` or `B`.
        side: &'static str,
    },
    /// No case of one is a case of the other.
    #[error("no case is on both sides: {differs}")]
    NothingInCommon {
        /// What differs.
        differs: String,
        /// What can be left out of the match to make cases meet; nothing where they are of different tests.
        across: Vec<String>,
    },
    /// The cases meet, but have no figure in common.
    #[error("{label}: the sides have no figure in common{wanted}")]
    NoFigure {
        /// The case.
        label: String,
        /// Which figure was asked for.
        wanted: String,
    },
    /// The data of a side were wrong, or an invariant is broken.
    #[error("{label}: {side} cannot be trusted: {why}")]
    Suspect {
        /// `A` or `B`.
        side: &'static str,
        /// The case.
        label: String,
        /// What is wrong with it.
        why: String,
    },
    /// A side was measured beside other clients of the same server.
    #[error("{label}: {side} was measured while the server measured others too")]
    Shared {
        /// `A` or `B`.
        side: &'static str,
        /// The case.
        label: String,
    },
    /// A parameter that no case of either side has.
    #[error("--across: no case has a parameter {name:?}")]
    UnknownParameter {
        /// As asked for.
        name: String,
        /// Those that the cases have.
        known: Vec<String>,
    },
    /// A figure that nobody publishes.
    #[error("there is no figure {name:?}")]
    UnknownFigure {
        /// As asked for.
        name: String,
    },
}

impl CompareError {
    /// What the user can do about it, one line.
    pub fn remedy(&self) -> String {
        match self {
            CompareError::Empty { .. } => "name a result with at least one measured case".to_owned(),
            CompareError::NothingInCommon { across, .. } => match across.as_slice() {
                [] => "measure the same test on both sides".to_owned(),
                [one] => format!("compare across it: --across {one}"),
                several => format!("compare across them: --across {}", several.join(",")),
            },
            CompareError::NoFigure { .. } => {
                "leave --figure out, or name one that both results have".to_owned()
            }
            CompareError::Suspect { .. } => "look at its remarks and measure it again".to_owned(),
            CompareError::Shared { .. } => "measure it alone, or pass --allow-shared".to_owned(),
            CompareError::UnknownParameter { known, .. } => {
                format!("choose from: {}", known.join(", "))
            }
            CompareError::UnknownFigure { .. } => {
                format!(
                    "name one of: {}, or a figure of docs/metrics.md",
                    STATISTICS.join(", ")
                )
            }
        }
    }
}
