//! Remedies against the verbs that print them: each option that is named can be typed there.

use super::*;
use std::path::{Path, PathBuf};

fn verb(words: &str) -> Verb {
    let argv: Vec<OsString> = std::iter::once("wirespeed")
        .chain(words.split(' '))
        .map(OsString::from)
        .collect();
    verb_of(&argv)
}

/// Every verb that publishes what it measured, once or often, and so may print any remark.
fn measuring(command: &Command, path: &str) -> Vec<(String, Verb)> {
    let mut found = Vec::new();
    for named in command.get_subcommands() {
        let path = format!("{path} {}", named.get_name()).trim().to_owned();
        if has(named, "strict") {
            found.push((path.clone(), verb(&path)));
        }
        found.extend(measuring(named, &path));
    }
    found
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

/// The string literals of a file before its tests, continued lines joined.
fn literals(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    let mut literal: Option<String> = None;
    let mut characters = code.chars().peekable();
    while let Some(c) = characters.next() {
        match (&mut literal, c) {
            (None, '\'') if characters.clone().nth(1) == Some('\'') => {
                characters.nth(1);
            }
            (None, '"') => literal = Some(String::new()),
            (Some(text), '\\') => match characters.next() {
                Some('\n') => {
                    while characters.peek().is_some_and(|c| c.is_whitespace()) {
                        characters.next();
                    }
                }
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            },
            (Some(_), '"') => found.extend(literal.take()),
            (Some(text), c) => text.push(c),
            _ => {}
        }
    }
    found
}

#[test]
fn an_option_is_spelled_as_the_verb_has_it() {
    let pin = "pin the ranks with --cpus to cores that nothing else uses";
    assert_eq!(spelled(pin, &verb("run")), pin);
    assert_eq!(spelled(pin, &verb("--color never quick")), pin);
    let warm = "warm up longer (--warmup 1s)";
    assert_eq!(spelled(warm, &verb("run")), warm);
    assert_eq!(
        spelled(warm, &verb("quick")),
        "warm up longer (wirespeed run --warmup 1s)"
    );
    assert_eq!(
        spelled(warm, &verb("sweep")),
        "warm up longer (--warmup 1s behind the --)"
    );
    let twice = spelled(&spelled(warm, &verb("sweep")), &verb("sweep"));
    assert_eq!(twice, "warm up longer (--warmup 1s behind the --)");
    assert_eq!(
        spelled("see `wirespeed run --warmup`", &verb("quick")),
        "see `wirespeed run --warmup`"
    );
}

#[test]
fn a_verb_that_measures_once_names_the_one_beside_it() {
    for once in ["byteio get", "byteio put"] {
        let said = |text: &str| spelled(text, &verb(once));
        let pin = "pin the ranks with --cpus to cores that nothing else uses";
        let other = "pin the ranks with wirespeed byteio bench --cpus to cores that nothing else uses";
        assert_eq!(said(pin), other);
        assert_eq!(said(&said(pin)), other);
        assert_eq!(said("give --nominal"), "give wirespeed byteio bench --nominal");
        assert_eq!(said("use --depth 2"), "use --depth 2");
    }
    assert_eq!(spelled("give --nominal", &verb("byteio bench")), "give --nominal");
}

#[test]
fn options_of_other_programs_stay_as_they_are() {
    let bind = "bind them: --bind-to core (Open MPI), srun --cpu-bind=cores";
    for line in ["run", "quick", "sweep", "msgrate"] {
        assert_eq!(spelled(bind, &verb(line)), bind);
    }
}

#[test]
fn a_value_stays_with_its_option() {
    for (text, said) in [
        ("--warmup 1s", "--warmup 1s behind the --"),
        (
            "use --size 8,64, or wait",
            "use --size 8,64 behind the --, or wait",
        ),
        ("use --check to look", "use --check behind the -- to look"),
        ("give --duration TIME.", "give --duration TIME behind the --."),
        ("--load=cpu=1 helps", "--load=cpu=1 behind the -- helps"),
        ("--warmup -- x", "--warmup behind the -- -- x"),
    ] {
        assert_eq!(spelled(text, &verb("sweep")), said);
    }
}

/// Whatever a check advises can be typed at the verb that prints it.
#[test]
fn every_remedy_of_a_remark_can_be_typed() {
    let (mut program, run) = (Cli::command(), verb("run"));
    program.build();
    let verbs = measuring(&program, "");
    assert!(verbs.len() > 8, "{}", verbs.len());
    for path in ["byteio get", "byteio put", "byteio bench", "mesh"] {
        assert!(verbs.iter().any(|(verb, _)| verb == path), "{path}");
    }
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src");
    let advice = |paths: &[PathBuf]| {
        let texts = paths.iter().flat_map(|path| literals(path));
        let texts: Vec<String> = texts.filter(|text| text.contains("--")).collect();
        assert!(texts.len() > 2, "{texts:?}");
        texts
    };
    let checks = advice(&sources(&report.join("checks")));
    let verdicts = advice(&[report.join("byteio/verdict.rs")]);
    for (path, verb) in &verbs {
        let moves = matches!(path.as_str(), "byteio get" | "byteio put" | "byteio bench" | "ab");
        for text in checks.iter().chain(verdicts.iter().filter(|_| moves)) {
            can_be_typed((path, verb), &run, &spelled(text, verb));
        }
    }
}

/// What `explain` says of the result of any verb names that verb with its options.
#[test]
fn every_sentence_on_a_stored_result_can_be_typed() {
    let (mut program, run) = (Cli::command(), verb("run"));
    program.build();
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src");
    let texts = |name: &str| {
        let path = report.join(name);
        let paths = if path.is_dir() { sources(&path) } else { vec![path] };
        let texts = paths.iter().flat_map(|path| literals(path));
        Vec::from_iter(texts.filter(|text| text.contains("--")).map(|text| filled(&text)))
    };
    // What is said of any result, and what of those of some verbs alone.
    let any = [
        "checks",
        "view/trust.rs",
        "view/quick.rs",
        "explain.rs",
        "explain",
        "interference",
    ]
    .map(texts)
    .concat();
    let transfers = &["byteio get", "byteio put", "byteio bench", "ab"][..];
    let some = [
        ("byteio/verdict.rs", transfers),
        ("mesh/silence.rs", &["mesh"][..]),
        ("view/curves.rs", &["loggp"][..]),
        ("curve/load_words.rs", &["load"][..]),
    ]
    .map(|(name, verbs)| (texts(name), verbs));
    assert!(some.iter().all(|(texts, _)| !texts.is_empty()) && any.len() > 4);
    for (path, maker) in measuring(&program, "") {
        let command: Vec<String> = format!("wirespeed {path} -- run")
            .split(' ')
            .map(str::to_owned)
            .collect();
        let own = some.iter().filter(|(_, verbs)| verbs.contains(&path.as_str()));
        for text in any.iter().chain(own.flat_map(|(texts, _)| texts)) {
            let explain = verb("explain").command;
            let said = retold_by(text, &command, explain.clone());
            let reader = Verb {
                command: explain,
                siblings: vec![(format!("wirespeed {path}"), maker.command.clone())]
                    .into_iter()
                    .chain(maker.siblings.clone())
                    .collect(),
                words_of: None,
            };
            can_be_typed((&path, &reader), &run, &said);
        }
    }
}

/// The verb is named that has the option, or the words behind which it stands; what says so itself is left alone.
#[test]
fn what_is_retold_names_the_verb_that_measured() {
    let retold = |text: &str, command: &[&str]| {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        retold_by(text, &command, verb("explain").command)
    };
    for maker in ["sweep", "load", "ab"] {
        for warm in [
            "warm up longer (--warmup 1s)",
            "warm up longer (--warmup 1s behind the --)",
        ] {
            let said = retold(warm, &["wirespeed", maker, "--", "latency"]);
            let named = format!("warm up longer (wirespeed {maker} .. --warmup 1s behind the --)");
            assert_eq!(said, named);
            assert_eq!(retold(&said, &["wirespeed", maker]), named);
        }
    }
    let longer = "Measure longer (--duration or -n behind the `--`), or --repeats";
    assert_eq!(retold(longer, &["wirespeed", "mesh"]), longer);
    let said = |command: &[&str]| retold("give --nominal, so", command);
    let bench = "give wirespeed byteio bench --nominal, so";
    assert_eq!(said(&["wirespeed", "byteio", "bench", "http://h/f"]), bench);
    assert_eq!(said(&["wirespeed", "byteio", "get", "http://h/f"]), bench);
    assert_eq!(said(&["wirespeed", "ab", "--", "byteio", "bench"]), bench);
}

/// Each option in `said` is one of the verb that says it, or of the one that is named before it.
fn can_be_typed((path, verb): (&str, &Verb), run: &Verb, said: &str) {
    for (start, _) in said.match_indices("--") {
        let name = name_of(&said[start + 2..]);
        let after = &said[start + 2 + name.len()..];
        let before = &said[..start];
        let has_words = |command: &Command| command.get_arguments().any(takes_words);
        let mut makers = verb.siblings.iter().filter(|(_, maker)| has_words(maker));
        // Behind the words of this verb, or of one that is named.
        let is_behind = match after.contains(SAID_BEHIND) {
            true => has_words(&verb.command) || makers.next().is_some(),
            false => {
                after[value_of(after)..].starts_with(BEHIND)
                    && (has_words(&verb.command)
                        || makers.any(|(path, _)| before.ends_with(&format!("{path} .. "))))
            }
        };
        // A whole command has its options in one line.
        let is_command = before
            .rsplit_once("wirespeed ")
            .is_some_and(|(_, line)| line.starts_with("run ") && !line.contains([',', ';', '(', ')']));
        let of_run = is_command || is_behind;
        let mut beside = verb.siblings.iter();
        let typed = name.is_empty()
            || has(&verb.command, name)
            || (of_run && has(&run.command, name))
            || (said[..start].ends_with(&format!("{ANY_TRANSFER} ")) && transfers_have(name))
            || beside.any(|(path, beside)| said[..start].ends_with(&format!("{path} ")) && has(beside, name));
        assert!(typed, "{path} has no --{name}: {said}");
    }
}

/// A letter is another option in another verb: -t is a time in `run`, connections in `byteio bench`.
#[test]
fn no_sentence_of_a_result_names_an_option_by_its_letter() {
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src");
    let paths = sources(&report).into_iter();
    let texts = paths
        .filter(|path| !path.components().any(|part| part.as_os_str() == "import"))
        .flat_map(|path| literals(&path));
    for text in texts {
        for (start, _) in text.match_indices("(-") {
            let word: String = text[start + 2..].chars().take(2).collect();
            let letter =
                word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.ends_with([')', ' ', ',']);
            // Every verb that has results writes them there.
            assert!(!letter || word.starts_with('o'), "{text}");
        }
    }
}

/// `text` with a number in each place that is filled in.
fn filled(text: &str) -> String {
    let mut parts = text.split('{');
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        said.push('1');
        said.push_str(part.split_once('}').map_or(part, |(_, after)| after));
    }
    said
}

/// A command of which an option is another verb's is not torn in two: it names its verb from the start.
#[test]
fn options_of_one_command_stay_together() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut program = Cli::command();
    program.build();
    let verbs = measuring(&program, "");
    // Crates whose remedies any verb may print.
    let folders = ["control", "report", "schema"].map(|name| crates.join(name).join("src"));
    let texts = folders.iter().flat_map(|folder| sources(folder));
    let texts = texts.flat_map(|path| literals(&path)).map(|text| filled(&text));
    let (torn, mut seen) = ("wirespeed run --", 0);
    for text in texts.filter(|text| text.matches(" --").count() > 1 && text.len() < 400) {
        seen += 1;
        for (path, verb) in &verbs {
            let said = spelled(&text, verb);
            for (start, _) in said.match_indices("--") {
                let name = name_of(&said[start + 2..]);
                let after = &said[start + 2 + name.len()..];
                let rest = after[value_of(after)..].trim_start();
                assert!(name.is_empty() || !rest.starts_with(torn), "{path}: {said}");
            }
        }
    }
    assert!(seen > 0);
}

/// Whatever the program advises to type names a verb, and options that this verb has.
#[test]
fn every_command_that_is_printed_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut program = Cli::command();
    program.build();
    let mut commands = 0;
    for path in sources(&crates)
        .iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
    {
        for text in literals(path) {
            for (start, _) in text.match_indices("wirespeed ") {
                let line = text[start..]
                    .split(['`', '\n', '|', ';'])
                    .next()
                    .unwrap_or_default();
                let mut command = &program;
                for word in line.split_whitespace().skip(1) {
                    match command.find_subcommand(word) {
                        Some(named) => command = named,
                        None => break,
                    }
                }
                if std::ptr::eq(command, &program) {
                    continue;
                }
                commands += 1;
                let run = program.find_subcommand("run").unwrap();
                for word in line.split_whitespace().filter(|word| word.starts_with("--")) {
                    let name = name_of(&word[2..]);
                    let known = name.is_empty() || has(command, name) || has(run, name);
                    assert!(known, "{path:?}: no --{name}: {line}");
                }
            }
        }
    }
    assert!(commands > 50, "{commands}");
}

#[test]
fn only_a_verb_with_a_budget_is_told_of_it() {
    let text = "let it go on longer (--budget), or set a wider goal (--until)";
    for (path, keeps) in [
        ("quick", true),
        ("mesh", true),
        ("run", false),
        ("msgrate", false),
    ] {
        assert_eq!(spelled(text, &verb(path)).contains("--budget"), keeps, "{path}");
    }
}

/// A refusal names the option that was typed, under whichever of its names.
#[test]
fn refusals_name_options_as_they_were_typed() {
    for (line, text, said) in [
        ("ab --pairs 0", "invalid --repeats 0", "invalid --pairs 0"),
        ("ab --repeats=0", "invalid --repeats 0", "invalid --repeats 0"),
        (
            "ab --aa -- am_lat --pairs 0",
            "invalid --repeats 0",
            "invalid --repeats 0",
        ),
        ("session --repeat 0", "invalid --repeats 0", "invalid --repeat 0"),
        ("msgrate -m0", "--window: \"0\"", "-m: \"0\""),
        (
            "msgrate --messages 0",
            "invalid --window 0",
            "invalid --messages 0",
        ),
        ("msgrate", "invalid --window 0", "invalid --messages 0"),
        ("msgrate", "use --size 8 -- or less", "use --size 8 -- or less"),
        ("perftest -s 3", "use --size 4 or --size 8", "use -s 4 or -s 8"),
        ("run am_lat", "leave --frobnicate out", "leave --frobnicate out"),
        (
            "msgrate -m 0",
            "see `wirespeed list shm --window`",
            "see `wirespeed list shm --window`",
        ),
    ] {
        let argv: Vec<OsString> = format!("wirespeed {line}")
            .split(' ')
            .map(OsString::from)
            .collect();
        assert_eq!(typed_in(text, &verb_of(&argv).command, &argv), said, "{line}");
    }
}

/// What somebody typed is repeated as it was, whatever is in it.
#[test]
fn refusals_leave_words_in_quotation_marks_alone() {
    let argv = ["wirespeed", "msgrate"].map(OsString::from);
    let verb = verb_of(&argv).command;
    for (text, said) in [
        (r#"--window: "x --window 3""#, r#"--messages: "x --window 3""#),
        (
            r#"--load "a \" --window" beside --window"#,
            r#"--load "a \" --window" beside --messages"#,
        ),
        (r#""a\\" and --window"#, r#""a\\" and --messages"#),
        (r#"--window "wirespeed x""#, r#"--messages "wirespeed x""#),
        (r#"--window "--window"#, r#"--messages "--window"#),
    ] {
        assert_eq!(typed_in(text, &verb, &argv), said);
    }
    let shouted = beside_quotes(r#"a "b" c"#, &mut str::to_uppercase);
    assert_eq!(shouted, r#"A "b" C"#);
}
