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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    /// What the generator writes for fish between double quotes, as it is.
    fn helps_of_values(command: &Command, found: &mut Vec<String>) {
        for value in command.get_arguments().flat_map(clap::Arg::get_possible_values) {
            found.extend(value.get_help().map(ToString::to_string));
        }
        for verb in command.get_subcommands() {
            helps_of_values(verb, found);
        }
    }

    #[test]
    fn the_help_of_a_value_ends_no_string_of_a_shell() {
        let mut found = Vec::new();
        helps_of_values(&Cli::command(), &mut found);
        assert!(found.len() > 10, "{found:?}");
        found.retain(|help| help.contains(['"', '$', '\\']));
        assert_eq!(found, [""; 0]);
    }
}
