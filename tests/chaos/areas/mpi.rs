//! Jobs of the launchers of every MPI library that is installed. What a launcher makes of an end is its own affair; that the
//! job ends, leaves nothing of ours, and keeps files readable is ours.

use super::{OUTPUT, Scene};
use crate::plan::{Dice, Round, Trouble, Victim};
use std::os::unix::process::CommandExt as _;
use std::sync::LazyLock;
use wirespeed_tests::home::Home;
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::running::Running;

/// Looked for once: each look names those that are missing.
static INSTALLED: LazyLock<Vec<Installed>> = LazyLock::new(installed);

const TESTS: [&str; 6] = ["tag_lat", "tag_bw", "am_lat", "am_bw", "put_lat", "am_alltoall"];

/// Whether no library is here.
pub fn is_absent() -> bool {
    INSTALLED.is_empty()
}

/// Words and trouble; the library by number, as many as there may be here.
pub fn draw(round: &mut Round, dice: &mut Dice) {
    round.daemon = dice.below(60).to_string();
    round.line = match dice.below(4) {
        0 => format!("msgrate --pattern pre-post -t 1s {OUTPUT}"),
        _ => format!(
            "run {} --via mpi -t 1500ms --interval 100ms --silence 2s {OUTPUT}",
            dice.one_of(&TESTS)
        ),
    };
    round.trouble = match dice.below(10) {
        0 => Trouble::None,
        1 => Trouble::DiskFills,
        2 => Trouble::Signal(dice.blow(), Victim::Group),
        3 | 4 => Trouble::Signal(dice.blow(), Victim::Front),
        _ => Trouble::Signal(dice.blow(), Victim::Other(dice.below(4) as usize)),
    };
}

/// The launcher with two ranks.
pub fn begin(round: &Round, home: &Home) -> Result<(Running, Scene), String> {
    let number: usize = round.daemon.parse().unwrap_or_default();
    let Some(mpi) = INSTALLED.get(number % INSTALLED.len().max(1)) else {
        return Err("no MPI is installed".to_owned());
    };
    let mut command = mpi.command(home, 2, &round.line);
    command.process_group(0);
    let scene = Scene {
        mpi: Some(mpi.clone()),
        ..Scene::default()
    };
    Ok((Running::start(command), scene))
}
