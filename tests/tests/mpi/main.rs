//! The program under real launchers, with every MPI library that could be installed: `mpirun -n N wirespeed ...`. Tests
//! take turns; every wait has a deadline; nothing is asserted about speed.

mod crowd;
mod deaths;
mod large;
mod mesh;
mod msgrate;
mod tests_run;
mod threads;

use std::sync::{Mutex, MutexGuard, PoisonError};
use wirespeed_schema::Run;
use wirespeed_tests::deadline::SOON;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Ended;
use wirespeed_tests::under_test::program;

static TURN: Mutex<()> = Mutex::new(());

/// One test at a time. A test that failed has let go of everything.
fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user with the program under test.
fn home() -> Home {
    Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")))
}

/// The document that rank 0 alone has printed.
fn document(ended: &Ended) -> Run {
    let text = ended.stdout.trim();
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {ended}"));
    assert_eq!(wirespeed_report::audit::violations(&run), Vec::<String>::new());
    run
}
