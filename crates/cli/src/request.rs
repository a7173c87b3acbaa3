//! From the words of `run` to a plan.

use crate::args::{RunArgs, TransportArgs};
use crate::errors::Failure;
use crate::input;
use std::path::Path;
use wirespeed_schema::plan::{PLAN_BYTES_MAX, Plan, Template, parse_plan};

/// The plan that `arguments` ask for: one template of flags, or a file.
pub fn plan(arguments: &RunArgs) -> Result<Plan, Failure> {
    match names_file(&arguments.what) {
        true => from_file(arguments),
        false => Ok(Plan::of(vec![from_flags(arguments)?])),
    }
}

/// An error of the plan, with the name of its file where it has one.
pub fn named(arguments: &RunArgs, error: Failure) -> Failure {
    match names_file(&arguments.what) {
        true => Failure::with(
            error.code,
            format!("{}: {}", arguments.what, error.cause),
            error.remedy,
        ),
        false => error,
    }
}

/// A plan file ends in `.toml` or is written as a path, or is simply there under a name that no test has.
pub fn names_file(what: &str) -> bool {
    let is_test = |word: &str| wirespeed_schema::plan::canonical_test(word).is_ok();
    let is_path = what.contains(['.', '/']) || Path::new(what).is_file();
    is_path && !what.split(',').any(is_test)
}

fn from_file(arguments: &RunArgs) -> Result<Plan, Failure> {
    let parameters = arguments.case.given().map(|(parameter, _)| parameter.key);
    let shortcuts = arguments.transport.shortcuts.given().map(|(name, _)| name);
    let with_cpus = (!arguments.experiment.cpus.is_empty()).then_some("cpus");
    let with_option = (!arguments.transport.options.is_empty()).then_some("option");
    let reversed = arguments.reverse.then_some("reverse");
    let mut given = parameters
        .chain(shortcuts)
        .chain(with_cpus)
        .chain(with_option)
        .chain(reversed);
    if let Some(key) = given.next() {
        return Err(Failure::usage(
            format!(
                "--{} cannot change the cases of a plan file",
                key.replace('_', "-")
            ),
            "write it into the file, under [defaults] or in its [[case]]",
        ));
    }
    let path = Path::new(&arguments.what);
    let text = input::text(path, "plan file", PLAN_BYTES_MAX)?;
    parse_plan(&text).map_err(|e| named(arguments, e.into()))
}

fn from_flags(arguments: &RunArgs) -> Result<Template, Failure> {
    let mut template = Template::default();
    template.add("test", std::slice::from_ref(&arguments.what))?;
    for (parameter, texts) in arguments.case.given() {
        match arguments.far.port.filter(|_| parameter.key == "to") {
            Some(port) => {
                if let Some(url) = texts.iter().find(|host| host.contains("://")) {
                    return Err(Failure::usage(
                        format!("-p {port}: {url} is a URL, which names its own port"),
                        "leave -p out, and write the port into the URL: http://HOST:PORT/PATH",
                    ));
                }
                let with_port: Vec<_> = texts.iter().map(|host| add_port(host, port)).collect();
                template.add(parameter.key, &with_port)?;
            }
            None => template.add(parameter.key, texts)?,
        }
    }
    if arguments.reverse {
        template.add("roles", &["sink,source".to_owned()])?;
    }
    template.add("cpus", &arguments.experiment.cpus)?;
    add_options(&mut template, &arguments.transport)?;
    Ok(template)
}

/// Put the transport's own options into `template`.
pub fn add_options(template: &mut Template, transport: &TransportArgs) -> Result<(), Failure> {
    let named = transport.options.iter().map(|text| split_option(text));
    let shortcuts = transport.shortcuts.given();
    let shortcuts = shortcuts.flat_map(|(name, values)| values.iter().map(move |v| Ok((name, v.as_str()))));
    for option in shortcuts.chain(named) {
        let (name, values) = option?;
        let axis = template.options.entry(name.to_owned()).or_default();
        axis.extend(values.split(',').map(|v| v.trim().to_owned()));
    }
    Ok(())
}

fn split_option(text: &str) -> Result<(&str, &str), Failure> {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_option = |value: &&str| {
        value
            .split_once('=')
            .is_some_and(|(name, _)| is_word(name.trim()))
    };
    match text.split_once('=') {
        Some((_, values)) if values.split(',').skip(1).any(|value| is_option(&value)) => {
            let apart: Vec<String> = text
                .split(',')
                .map(|word| format!("-O {}", word.trim()))
                .collect();
            Err(Failure::usage(
                format!("--option {text:?} reads as one option with several values"),
                format!("give each option its own: {}", apart.join(" ")),
            ))
        }
        Some((name, values)) if !name.is_empty() && !values.is_empty() => Ok((name, values)),
        _ => Err(Failure::usage(
            format!("--option {text:?} is not NAME=VALUE"),
            "see `wirespeed list TRANSPORT` for its options",
        )),
    }
}

/// `host` with `port`, unless it names one itself.
pub fn add_port(host: &str, port: u16) -> String {
    let colons = host.matches(':').count();
    match host.ends_with(']') {
        true => format!("{host}:{port}"),
        false if host.starts_with('[') || colons == 1 => host.to_owned(),
        false if colons > 1 => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::{CommandFactory, Parser};
    use proptest::prelude::*;

    fn parse(words: &[&str]) -> Result<Plan, Failure> {
        let argv = ["wirespeed", "run"].iter().chain(words);
        match Cli::try_parse_from(argv)?.verb {
            Verb::Run(arguments) => plan(&arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_axes() {
        let plan = parse(&[
            "latency,rate",
            "--via",
            "shm",
            "-s",
            "8..32:x2",
            "-s",
            "1K",
            "--check",
            "-R",
            "--load",
            "cpu=1",
            "--load",
            "1:log=1",
            "-O",
            "mode=a,b",
            "--congestion",
            "reno",
        ])
        .unwrap();
        let axes = &plan.templates[0].axes;
        assert_eq!(axes["test"], ["latency", "rate"]);
        assert_eq!(axes["size"], ["8", "16", "32", "1K"]);
        assert_eq!(axes["check"], ["true"]);
        assert_eq!(axes["roles"], ["sink,source"]);
        assert_eq!(axes["load"], ["cpu=1 1:log=1"]);
        let options = &plan.templates[0].options;
        assert_eq!(
            (&options["mode"][..], &options["congestion"][..]),
            (&["a".into(), "b".into()][..], &["reno".into()][..])
        );
    }

    /// Whatever changes the cases of a test is refused beside a plan file, which would not have it.
    #[test]
    fn what_changes_a_case_is_refused_beside_a_file() {
        let base = parse(&["latency", "--via", "shm"]).unwrap();
        let command = Cli::command();
        let run = command.find_subcommand("run").unwrap();
        let mut changing = Vec::new();
        for option in run.get_arguments().filter_map(|argument| argument.get_long()) {
            for word in [
                format!("--{option}"),
                format!("--{option}=1"),
                format!("--{option}=a=1"),
            ] {
                let changed = parse(&["latency", "--via", "shm", &word]).is_ok_and(|plan| plan != base);
                if changed {
                    let refused = parse(&["x.toml", &word]).unwrap_err();
                    assert!(
                        refused.cause.contains("cannot change"),
                        "{word}: {}",
                        refused.cause
                    );
                    changing.push(option);
                }
            }
        }
        for option in ["reverse", "size", "to", "cpus", "option", "congestion", "check"] {
            assert!(changing.contains(&option), "{option}: {changing:?}");
        }
    }

    #[test]
    fn a_port_is_added_where_none_is_named() {
        assert_eq!(add_port("far", 7), "far:7");
        assert_eq!(add_port("far:8", 7), "far:8");
        assert_eq!(add_port("::1", 7), "[::1]:7");
        assert_eq!(add_port("[::1]", 7), "[::1]:7");
        assert_eq!(add_port("[::1]:8", 7), "[::1]:8");
    }

    #[test]
    fn nonsense_is_refused() {
        for words in [
            &["latency", "-O", "mode"][..],
            &["latency", "--size", ","],
            &["missing.toml"],
            &["x.toml", "--size", "8"],
        ] {
            assert_eq!(parse(words).unwrap_err().code, 2, "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn no_words_panic(words in proptest::collection::vec("[-a-zA-Z0-9=,:.;/ ]{0,12}", 0..6)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let argv = ["wirespeed", "run"].into_iter().chain(words);
            if let Ok(Verb::Run(arguments)) = Cli::try_parse_from(argv).map(|cli| cli.verb).map_err(Failure::from) {
                let _ = plan(&arguments);
            }
        }

        #[test]
        fn no_value_panics(option in 0..12usize, value in ".{0,20}") {
            let options = [
                "--size", "--iters", "--duration", "--window", "--cpus", "--roles", "--load", "--to", "--option",
                "--repeats", "--pace", "--check",
            ];
            let word = format!("{}={value}", options[option]);
            let _ = parse(&["am_bw", "--via", "shm", &word]);
        }
    }
}
