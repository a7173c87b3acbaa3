//! What a shell needs to know: completions and manual pages.

use crate::args::{Cli, CompletionsArgs, ManAllArgs};
use crate::errors::{Ended, Failure};
use crate::output;
use clap::CommandFactory;

/// Print the completions of a shell.
pub fn completions(arguments: &CompletionsArgs) -> Result<Ended, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "wirespeed", &mut script);
    output::print(&String::from_utf8_lossy(&script)).map(|()| Ended::OK)
}

/// Print the manual page.
pub fn man() -> Result<Ended, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .map_err(|e| Failure::failed(format!("cannot render the manual page: {e}"), "run again"))?;
    output::print(&String::from_utf8_lossy(&page)).map(|()| Ended::OK)
}

/// Write the manual page of every verb.
pub fn man_all(arguments: &ManAllArgs) -> Result<Ended, Failure> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory).map_err(|e| Failure::file("create", directory, &e))?;
    clap_mangen::generate_to(Cli::command(), directory)
        .map_err(|e| Failure::file("write into", directory, &e))?;
    Ok(Ended::OK)
}
