//! Words that people bring from other tools, and what they are called here. It must never name what the verb or the list at
//! hand does not have: that is for whoever asks to check.

/// An option as it is called elsewhere, and here.
const OPTIONS: [(&str, &str); 20] = [
    ("--transport", "--via"),
    ("--proto", "--via"),
    ("--protocol", "--via"),
    ("--host", "--to"),
    ("--server", "--to"),
    ("--client", "--to"),
    ("--iterations", "--iters"),
    ("--count", "--iters"),
    ("--time", "--duration"),
    ("--seconds", "--duration"),
    ("--runtime", "--duration"),
    ("--bytes", "--size"),
    ("--length", "--size"),
    ("--msg-size", "--size"),
    ("--message-size", "--size"),
    ("--pin", "--cpus"),
    ("--affinity", "--cpus"),
    ("--html", "--output"),
    ("--out", "--output"),
    ("--rate", "--offered"),
];

/// A test as it is called elsewhere, and here.
const NAMES: [(&str, &str); 8] = [
    ("throughput", "bandwidth"),
    ("bw", "bandwidth"),
    ("stream", "bandwidth"),
    ("ping", "latency"),
    ("pingpong", "latency"),
    ("ping-pong", "latency"),
    ("rtt", "latency"),
    ("lat", "latency"),
];

/// What the option `word` is called here, where `is_known` knows that.
pub fn option(word: &str, is_known: impl Fn(&str) -> bool) -> Option<&'static str> {
    let word = word.split('=').next().unwrap_or(word);
    named(&OPTIONS, word).filter(|here| is_known(here))
}

/// Which of `choices` the name `word` means.
pub fn name<'a>(word: &str, choices: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let here = named(&NAMES, &lower).unwrap_or(&lower);
    choices.iter().find(|choice| **choice == here).copied()
}

fn named(words: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    words
        .iter()
        .find(|(there, _)| *there == word)
        .map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use wirespeed_schema::kinds::{FRIENDLY_NAMES, KINDS};

    /// What is advised exists, and what it is called elsewhere does not.
    #[test]
    fn words_from_elsewhere_lead_to_words_that_exist() {
        let command = Cli::command();
        let has = |word: &str| {
            let long = word.trim_start_matches('-');
            command.get_subcommands().any(|verb| {
                verb.get_arguments()
                    .any(|argument| argument.get_long() == Some(long))
            })
        };
        for (there, here) in OPTIONS {
            assert!(has(here), "{here}");
            assert_eq!(option(there, |_| true), Some(here));
            assert_eq!(option(&format!("{there}=1"), |_| true), Some(here));
        }
        assert_eq!(option("--transport", |_| false), None);
        let tests: Vec<&str> = FRIENDLY_NAMES.iter().map(|friendly| friendly.name).collect();
        for (there, here) in NAMES {
            let is_test = tests.contains(&here) || KINDS.iter().any(|kind| kind.name == here);
            assert!(is_test, "{here}");
            assert_eq!(name(there, &["x", here]), Some(here));
            assert_eq!(name(there, &["x"]), None);
        }
        assert_eq!(name("LATENCY", &["rate", "latency"]), Some("latency"));
    }
}
