//! What the examination of a machine found: one entry a check, before anything is measured on it.

use serde::{Deserialize, Serialize};

/// What a check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Nothing here bends a measurement.
    Ok,
    /// The machine does not say.
    CannotTell,
    /// Something here can bend a measurement, or make it fail.
    Warn,
}

impl CheckState {
    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            CheckState::Ok => "ok",
            CheckState::CannotTell => "cannot tell",
            CheckState::Warn => "warn",
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name: `governor`, `socket_buffers`.
    pub name: String,
    /// What it says.
    pub state: CheckState,
    /// What was found, with its figure.
    pub found: String,
    /// Why it matters to a measurement.
    pub why: String,
    /// The command that mends it, to be run by whoever may; absent where none is needed or known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// All checks of one machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkup {
    /// CPUs that were taken to be those measured on.
    pub cpus: Vec<u32>,
    /// Interfaces that were looked at.
    pub interfaces: Vec<String>,
    /// Every check, in a fixed order: what matters most comes first.
    pub checks: Vec<Check>,
}

impl Checkup {
    /// How many checks are in this state.
    pub fn count(&self, state: CheckState) -> usize {
        self.checks.iter().filter(|check| check.state == state).count()
    }

    /// The first check that warns, which is the gravest.
    pub fn gravest(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.state == CheckState::Warn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_counted_by_state_and_the_first_warning_is_the_gravest() {
        use CheckState::{CannotTell, Ok, Warn};
        let of = |states: &[CheckState]| Checkup {
            checks: states
                .iter()
                .zip(0..)
                .map(|(state, number)| Check {
                    name: format!("check {number}"),
                    state: *state,
                    found: String::new(),
                    why: String::new(),
                    fix: None,
                })
                .collect(),
            ..Checkup::default()
        };
        let some = of(&[Ok, CannotTell, Warn, Warn, Warn, CannotTell]);
        assert_eq!([Ok, CannotTell, Warn].map(|state| some.count(state)), [1, 2, 3]);
        assert_eq!(some.gravest().unwrap().name, "check 2");
        assert_eq!(of(&[Ok, CannotTell]).gravest(), None);
        assert_eq!(
            [Ok, CannotTell, Warn].map(CheckState::name),
            ["ok", "cannot tell", "warn"]
        );
    }
}
