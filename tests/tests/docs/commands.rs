//! Every command and plan file that a page or a help text shows is run; nothing is left out in silence.

use crate::pages::{self, Block, Prompt, Shown};
use crate::stage::Stage;

const VERBS: &[&str] = &[
    "quick",
    "run",
    "workers",
    "mesh",
    "perftest",
    "msgrate",
    "list",
    "serve",
    "session",
    "coordinator",
    "node",
    "byteio",
    "lab",
    "calibrate",
    "doctor",
    "completions",
    "man",
    "compare",
    "ab",
    "report",
    "sweep",
    "load",
    "explain",
    "import",
    "selftest",
];
/// Verbs that run until they are stopped.
const SERVERS: [&str; 3] = ["wirespeed serve", "wirespeed coordinator", "wirespeed node"];
/// What `cargo` can do without more programs, as far as the pages use it.
const CARGO: [&str; 6] = ["build", "test", "clippy", "doc", "run", "check"];

/// Languages of blocks that hold no command.
const QUIET: [&str; 5] = ["text", "rust", "json", "csv", "c"];

/// Whether the line is run: the program itself, and `echo` and `truncate`, which make files for it.
fn is_run(line: &str) -> bool {
    let programs = ["wirespeed ", "echo ", "truncate ", "srun ", "sbatch ", "sinfo"];
    line.contains(" wirespeed ") || programs.iter().any(|program| line.starts_with(program))
}

/// Why a command that is not of this program would not work.
fn wrong_with(line: &str) -> Option<String> {
    let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
    let rest: Vec<&str> = words.by_ref().collect();
    match rest[..] {
        ["make", target, ..] => {
            let makefile = std::fs::read_to_string(pages::root().join("Makefile")).unwrap();
            let there = makefile.lines().any(|l| l.starts_with(&format!("{target}:")));
            (!there).then(|| format!("no target {target} in the Makefile"))
        }
        ["cargo", "xtask", task, ..] => {
            let source = std::fs::read_to_string(pages::root().join("xtask/src/main.rs")).unwrap();
            (!source.contains(&format!("\"{task}\""))).then(|| format!("no task {task} in xtask"))
        }
        ["cargo", verb, ..] => (!CARGO.contains(&verb)).then(|| format!("cargo {verb} is not known here")),
        // What is compiled is compiled and run by the tests of the C interface.
        ["cc" | "mpicc", source, ..] => {
            let path = pages::root().join("crates/capi/examples").join(source);
            (!path.is_file()).then(|| format!("no example {source}"))
        }
        // What another tool prints is in the tests of the import; its file lies ready where the page reads it.
        ["iperf3", ..] | ["git", "clone", ..] | ["export", ..] => None,
        _ => Some("neither run nor checked by any rule of this test".to_owned()),
    }
}

/// Write the scripts of all pages where their commands find them, and what iperf3 would have written.
fn scripts(stage: &Stage, blocks: &[Block]) {
    let iperf3 = pages::root().join("crates/report/tests/imports/iperf3-tcp.json");
    std::fs::copy(iperf3, stage.home().join("iperf3.json")).unwrap();
    for block in blocks.iter().filter(|b| b.language() == "bash") {
        if let Some(file) = block.title() {
            std::fs::write(stage.home().join(file), block.lines.join("\n") + "\n").unwrap();
        }
    }
}

/// A plan whose cases are as short as [`Stage`] makes other runs.
fn shortened(plan: &str) -> String {
    let lines = plan.lines().map(|line| match line.starts_with("duration = ") {
        true => "duration = \"20ms\"\n".to_owned(),
        false => format!("{line}\n"),
    });
    lines.collect()
}

/// Write the plan files of all pages where commands find them; those of the pages `own` are run.
fn plan_files(stage: &Stage, blocks: &[Block], own: &[&str]) -> Vec<Shown> {
    let mut shown = Vec::new();
    for block in blocks.iter().filter(|b| b.language() == "toml") {
        let file = block
            .title()
            .unwrap_or_else(|| panic!("{}: a plan without title=FILE", block.place));
        std::fs::write(stage.home().join(file), shortened(&block.lines.join("\n"))).unwrap();
        if !own.contains(&block.page()) {
            continue;
        }
        for line in [
            format!("wirespeed run {file} --dry-run"),
            format!("wirespeed run {file} -q"),
        ] {
            shown.push(Shown {
                place: block.place.clone(),
                prompt: Prompt::Here,
                line,
                exits: 0,
            });
        }
    }
    shown
}

/// Write the batch files of all pages where their commands find them.
fn batch_files(stage: &Stage, blocks: &[Block]) {
    for block in blocks.iter().filter(|b| b.language() == "batch") {
        let file = block
            .title()
            .unwrap_or_else(|| panic!("{}: a batch file without title=FILE", block.place));
        std::fs::write(stage.home().join(file), block.lines.join("\n") + "\n").unwrap();
    }
}

/// Pages and help texts are typed in so many parts, which can run side by side.
const PARTS: usize = 4;

/// Type all that the pages of one part show.
fn documented_commands_work(part: usize) {
    let stage = Stage::new();
    let pages = pages::all();
    let own: Vec<&str> = pages
        .iter()
        .skip(part)
        .step_by(PARTS)
        .map(|page| page.name.as_str())
        .collect();
    let blocks: Vec<Block> = pages.iter().flat_map(pages::blocks).collect();
    scripts(&stage, &blocks);
    batch_files(&stage, &blocks);
    let mut problems = stage.play(&plan_files(&stage, &blocks, &own));
    let mut ran = 0;
    for block in blocks.iter().filter(|block| own.contains(&block.page())) {
        match block.language() {
            "console" => {
                let (ours, others): (Vec<Shown>, Vec<Shown>) = pages::commands(block)
                    .into_iter()
                    .partition(|shown| is_run(&shown.line));
                ran += ours.len();
                problems.extend(stage.play(&ours));
                let wrong = others.iter().filter_map(|s| Some((s, wrong_with(&s.line)?)));
                problems.extend(wrong.map(|(s, why)| format!("{}: {}: {why}", s.place, s.line)));
            }
            // Written beforehand; a script without a name nobody could run.
            "toml" | "batch" => {}
            "bash" if block.title().is_some() => {}
            quiet if QUIET.contains(&quiet) => {
                let command = |l: &&String| l.trim().starts_with("$ ") || l.trim().starts_with("wirespeed ");
                let hidden = block.lines.iter().filter(command);
                problems
                    .extend(hidden.map(|l| format!("{}: {l}: belongs into a console block", block.place)));
            }
            other => problems.push(format!("{}: a block in {other:?} is not known here", block.place)),
        }
    }
    assert_eq!(problems, Vec::<String>::new());
    assert!(ran >= 10, "only {ran} commands ran");
}

#[test]
fn every_documented_command_works_part_1() {
    documented_commands_work(0);
}

#[test]
fn every_documented_command_works_part_2() {
    documented_commands_work(1);
}

#[test]
fn every_documented_command_works_part_3() {
    documented_commands_work(2);
}

#[test]
fn every_documented_command_works_part_4() {
    documented_commands_work(PARTS - 1);
}

#[test]
fn commands_in_running_text_exist() {
    let mut problems = Vec::new();
    for page in pages::all() {
        for code in pages::inline_code(&page) {
            let verb = code
                .strip_prefix("wirespeed ")
                .and_then(|rest| rest.split(' ').next());
            if verb.is_some_and(|v| !VERBS.contains(&v) && !v.starts_with("--")) {
                problems.push(format!("{}: {code}: no such verb", page.name));
            }
            if code.starts_with("make ") || code.starts_with("cargo xtask ") {
                problems.extend(wrong_with(&code).map(|why| format!("{}: {code}: {why}", page.name)));
            }
        }
    }
    assert_eq!(problems, Vec::<String>::new());
}

/// An example of a help text: two blanks, the command, and two blanks or more before its explanation.
fn examples(help: &str) -> Vec<(Prompt, String)> {
    let mut found = Vec::new();
    for line in help.lines() {
        let typed = [
            ("  there:  ", Prompt::Server),
            ("  here:   ", Prompt::Client),
            ("  ", Prompt::Here),
        ]
        .into_iter()
        .find_map(|(prefix, prompt)| Some((prompt, line.strip_prefix(prefix)?)));
        if let Some((prompt, line)) = typed.filter(|(_, line)| line.starts_with("wirespeed ")) {
            // Redirections are aligned with more than one blank; a lone description never begins with `>`.
            let line = line.replace("  >", " >");
            found.push((prompt, line.split("  ").next().unwrap_or_default().to_owned()));
        }
    }
    found
}

/// The plan in `run --help`, between its heading and the next text at the margin.
fn plan_in(help: &str) -> String {
    let after = help.split("A plan file has the same keys").nth(1).unwrap();
    let lines = after.lines().skip(1);
    lines
        .take_while(|l| l.is_empty() || l.starts_with("  "))
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("\n")
}

/// An example of byteio: a service is tried for a moment, a transfer has one beside it.
///
/// The log of the example before goes first: it says `listening` of a service that is gone.
fn with_service(verb: &str, line: &str) -> Shown {
    let line = line.replace("THERE", "127.0.0.1");
    let line = match line.starts_with("wirespeed byteio serve") {
        true => format!("timeout -s INT 0.5 {line} --port 0"),
        false => format!(
            "rm -f served.log; wirespeed byteio serve data --writable > served.log & for i in $(seq 200); do \
             grep -sq listening served.log && break; sleep 0.05; done; {line}; code=$?; kill $!; wait $!; exit $code"
        ),
    };
    Shown {
        place: format!("wirespeed {verb} --help"),
        prompt: Prompt::Here,
        exits: if line.starts_with("timeout") { 124 } else { 0 },
        line,
    }
}

/// Type the examples in the help texts of one part of the verbs.
fn examples_work(part: usize) {
    let stage = Stage::new();
    for folder in [
        ".local/share/bash-completion/completions",
        ".zfunc",
        ".config/fish/completions",
    ] {
        std::fs::create_dir_all(stage.home().join(folder)).unwrap();
    }
    let help = |verb: &str| {
        let output = stage.output(&format!("COLUMNS=200 wirespeed {verb} --help"));
        String::from_utf8(output.stdout).unwrap()
    };
    let mut shown = Vec::new();
    std::fs::write(
        stage.home().join("tests"),
        "lat -t am_lat -n 500\nbw -t am_bw -n 500\n",
    )
    .unwrap();
    std::fs::write(stage.home().join("sizes"), "small -s 8\nlarge -s 1K\n").unwrap();
    std::fs::write(stage.home().join("plan.toml"), shortened(&plan_in(&help("run")))).unwrap();
    std::fs::create_dir(stage.home().join("data")).unwrap();
    std::fs::write(stage.home().join("data/file"), vec![7; 5 << 20]).unwrap();
    std::fs::write(stage.home().join("file"), "what is put").unwrap();
    std::fs::write(
        stage.home().join("pairs.toml"),
        "pairs = [\"a -> a\"]\n[[machine]]\nname = \"a\"\nurl = \"http://127.0.0.1:7412/file\"\n",
    )
    .unwrap();
    let inner = ["serve", "get", "put", "bench", "peers"].map(|verb| format!("byteio {verb}"));
    let verbs = VERBS.iter().copied().chain(inner.iter().map(String::as_str));
    let verbs = std::iter::once("").chain(verbs);
    for verb in verbs.skip(part).step_by(PARTS) {
        for (prompt, line) in examples(&help(verb)) {
            // Transfers need a service on this machine for as long as they take.
            if line.starts_with("wirespeed byteio") {
                shown.push(with_service(verb, &line));
                continue;
            }
            if verb == "lab" && !stage.has_networks() {
                continue;
            }
            let far = |prompt| Shown {
                place: format!("wirespeed {verb} --help"),
                prompt,
                line: line.replace("THERE", "192.0.2.2").replace("node7", "192.0.2.2"),
                exits: 0,
            };
            if SERVERS.iter().any(|server| line.starts_with(server)) || prompt == Prompt::Server {
                shown.push(far(Prompt::Server));
            } else if line.contains(" THERE ") {
                shown.push(far(Prompt::Client));
            } else if line.contains(" --to ") {
                if prompt == Prompt::Here {
                    let mut server = far(Prompt::Server);
                    server.line = "wirespeed serve --listen all".to_owned();
                    shown.push(server);
                }
                shown.push(far(Prompt::Client));
            } else {
                shown.push(far(Prompt::Here));
            }
        }
    }
    assert!(shown.len() > 6, "only {} examples found", shown.len());
    assert_eq!(stage.play(&shown), Vec::<String>::new());
}

#[test]
fn every_example_of_the_help_texts_works_part_1() {
    examples_work(0);
}

#[test]
fn every_example_of_the_help_texts_works_part_2() {
    examples_work(1);
}

#[test]
fn every_example_of_the_help_texts_works_part_3() {
    examples_work(2);
}

#[test]
fn every_example_of_the_help_texts_works_part_4() {
    examples_work(PARTS - 1);
}
