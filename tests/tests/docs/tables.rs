//! Tables of the pages that repeat what the program says of itself. `WIRESPEED_DOCS=write cargo test -p wirespeed-tests
//! --test docs tables` writes the generated ones anew; by default a stale one fails.

use crate::pages::{page, root};
use crate::stage::Stage;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use wirespeed_schema::kinds::{FRIENDLY_NAMES, KINDS};
use wirespeed_schema::plan::{parameters, takes};
use wirespeed_schema::test::Capability;

/// Held while a page is written anew: tests run at the same time.
static PEN: Mutex<()> = Mutex::new(());

/// Compare what stands between the markers `name` of a page with `expected`, or write it there.
fn check_generated(page_name: &str, name: &str, expected: &str) {
    let _pen = PEN.lock().unwrap_or_else(PoisonError::into_inner);
    let page = page(page_name);
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let parts = page
        .text
        .split_once(&begin)
        .and_then(|(head, rest)| Some((head, rest.split_once(&end)?)));
    let Some((head, (found, tail))) = parts else {
        panic!("{page_name} has no markers {name}");
    };
    if std::env::var("WIRESPEED_DOCS").is_ok_and(|v| v == "write") {
        let text = format!("{head}{begin}{expected}{end}{tail}");
        std::fs::write(root().join(page_name), text).unwrap();
        return;
    }
    assert!(
        found == expected,
        "{page_name}: the table {name} is stale; WIRESPEED_DOCS=write writes it anew. It should be:\n{expected}"
    );
}

fn transports(stage: &Stage) -> Vec<Value> {
    let output = stage.output("wirespeed list --json");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["transports"].as_array().unwrap().clone()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Layouts that a limit by layout has.
fn layouts(limits: &Value) -> String {
    let names = ["short", "bcopy", "zcopy", "shortiov"];
    let there: Vec<_> = names
        .into_iter()
        .filter(|l| limits[*l].get("none").is_none())
        .collect();
    if there.is_empty() {
        "-".to_owned()
    } else {
        there.join(", ")
    }
}

/// Rows of layouts that a transport has not; hardly any has shortiov. What devices decide is another story on each
/// machine.
fn layouts_missing(one: &Value) -> String {
    let mut rows = String::new();
    if one["by_device"] == true {
        return rows;
    }
    for (kind, capability) in [
        ("message", "messages"),
        ("put", "one_sided"),
        ("get", "one_sided"),
    ] {
        if one["capabilities"][capability]["support"] == "none" {
            continue;
        }
        for layout in ["short", "bcopy", "zcopy"] {
            if let Some(why) = one["limits"][kind][layout]["none"].as_str() {
                let _ = writeln!(
                    rows,
                    "| `{}` | {kind} {layout} | none: {} |",
                    text(&one["name"]),
                    cell(why)
                );
            }
        }
    }
    rows
}

#[test]
fn tables_transports() {
    let stage = Stage::new();
    let mut index = String::from(
        "| transport | messages | tagged | one-sided | layouts: message | put | get | between | options (`-O`) |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let mut gaps = String::from("| transport | capability | how or why |\n|---|---|---|\n");
    for one in transports(&stage) {
        let name = text(&one["name"]);
        let support = |capability: &str| text(&one["capabilities"][capability]["support"]).to_owned();
        let listed = |values: &Value, key: &str| {
            let values = values.as_array().unwrap().iter();
            values
                .map(|v| v.get(key).map_or(text(v), text).to_owned())
                .collect::<Vec<_>>()
        };
        let options: Vec<_> = listed(&one["options"], "name")
            .iter()
            .map(|o| format!("`{o}`"))
            .collect();
        let limits = &one["limits"];
        let by_device = |text: String| {
            if one["by_device"] == true {
                "by device".to_owned()
            } else {
                text
            }
        };
        let _ = writeln!(
            index,
            "| `{name}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            support("messages"),
            support("tagged"),
            support("one_sided"),
            by_device(layouts(&limits["message"])),
            by_device(layouts(&limits["put"])),
            by_device(layouts(&limits["get"])),
            by_device(listed(&limits["groups"], "name").join(", ")),
            if options.is_empty() {
                "-".to_owned()
            } else {
                options.join(" ")
            },
        );
        // What moves files has no messages at all, which one column says for all of them.
        let is_bulk = support("bulk") != "none";
        for capability in ["messages", "tagged", "one_sided"]
            .into_iter()
            .filter(|_| !is_bulk)
        {
            let facts = &one["capabilities"][capability];
            if let Some(why) = facts["explanation"].as_str() {
                let word = text(&facts["support"]);
                let _ = writeln!(gaps, "| `{name}` | {capability} | {word}: {} |", cell(why));
            }
        }
        if !is_bulk {
            gaps.push_str(&layouts_missing(&one));
        }
    }
    check_generated("docs/transports.md", "transports", &index);
    check_generated("docs/transports.md", "gaps", &gaps);
}

#[test]
fn tables_transport_options() {
    let stage = Stage::new();
    // What several transports take with the same words is one row.
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for one in transports(&stage) {
        for option in one["options"].as_array().unwrap() {
            let default = match text(&option["default"]) {
                "" => "-".to_owned(),
                default => format!("`{default}`"),
            };
            let row = format!(
                "`{}` | `{}` | {default} | {} |",
                text(&option["name"]),
                cell(text(&option["values"])),
                cell(text(&option["help"])),
            );
            let name = format!("`{}`", text(&one["name"]));
            match told.iter_mut().find(|(known, _)| *known == row) {
                Some((_, names)) => names.push(name),
                None => told.push((row, vec![name])),
            }
        }
    }
    let mut rows =
        String::from("| transport | option | values | default | meaning |\n|---|---|---|---|---|\n");
    for (row, names) in told {
        let _ = writeln!(rows, "| {} | {row}", names.join(" "));
    }
    check_generated("docs/options.md", "transport-options", &rows);
}

/// Options of a help text with their headings, their spelling and their first paragraph with its default.
fn options(help: &str) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    let mut heading = String::new();
    let mut paragraph = 0;
    for line in help.lines() {
        let trimmed = line.trim();
        if !line.starts_with(' ') && line.ends_with(':') {
            heading = trimmed.trim_end_matches(':').to_owned();
        } else if !line.starts_with(' ') && !line.is_empty() {
            heading.clear();
        } else if line.starts_with("  ") && !line.starts_with("        ") && trimmed.starts_with('-') {
            found.push((heading.clone(), trimmed.to_owned(), String::new()));
            paragraph = 0;
        } else if let Some((_, _, meaning)) = found.last_mut().filter(|_| !heading.is_empty()) {
            paragraph += usize::from(trimmed.is_empty());
            if paragraph == 0 || trimmed.starts_with("[default: ") {
                let gap = if meaning.is_empty() { "" } else { " " };
                let _ = write!(meaning, "{gap}{trimmed}");
            }
        }
    }
    found.retain(|(heading, name, _)| heading != "Screen" && !heading.is_empty() && !name.contains("--help"));
    found
}

fn help_of(stage: &Stage, verb: &str) -> String {
    String::from_utf8(stage.output(&format!("wirespeed {verb} --help")).stdout).unwrap()
}

#[test]
fn tables_options_of_verbs() {
    let stage = Stage::new();
    let verbs = [
        "run",
        "msgrate",
        "workers",
        "serve",
        "quick",
        "list",
        "calibrate",
        "doctor",
    ];
    let of_options = verbs.map(|verb| (verb, "docs/options.md"));
    let of_byteio = [
        "byteio serve",
        "byteio get",
        "byteio put",
        "byteio bench",
        "byteio peers",
        "lab",
    ];
    let others = of_byteio.map(|verb| (verb, "docs/byteio.md"));
    let of_sessions = ["session", "coordinator", "node"].map(|verb| (verb, "docs/session.md"));
    let others = others
        .into_iter()
        .chain([("perftest", "docs/perftest.md"), ("mesh", "docs/mesh.md")])
        .chain(of_sessions);
    let tables: Vec<_> = of_options
        .into_iter()
        .chain(others)
        .map(|(verb, page)| (verb, page, options(&help_of(&stage, verb))))
        .collect();
    let common = common(tables.iter().map(|(_, _, found)| found.as_slice()));
    let mut rows = String::from(OPTION_HEAD);
    for (name, meaning) in &common {
        let _ = writeln!(rows, "| `{}` | {} |", cell(name), cell(meaning));
    }
    check_generated("docs/options.md", "options-common", &rows);
    for (verb, page, found) in &tables {
        assert!(!found.is_empty(), "{verb} has no options");
        let mut rows = String::from(OPTION_HEAD);
        let mut shared = Vec::new();
        for (_, name, meaning) in found {
            if common.iter().any(|one| one == &(name.clone(), meaning.clone())) {
                let long = name.split([' ', '[']).find(|word| word.starts_with("--"));
                shared.push(format!("`{}`", long.unwrap_or(name)));
            } else {
                let _ = writeln!(rows, "| `{}` | {} |", cell(name), cell(meaning));
            }
        }
        if !shared.is_empty() {
            let _ = writeln!(
                rows,
                "| {} | as [in many verbs](options.md#common-options) |",
                shared.join(" ")
            );
        }
        check_generated(page, &format!("options-{}", verb.replace(' ', "-")), &rows);
    }
}

const OPTION_HEAD: &str = "| option | meaning |\n|---|---|\n";
/// Verbs that share an option in the same words, from which on it is told once for all of them.
const SHARED_BY: usize = 3;

/// Names and meanings of the options that many verbs share.
fn common<'a>(verbs: impl Iterator<Item = &'a [(String, String, String)]>) -> Vec<(String, String)> {
    let mut told: Vec<((String, String), usize)> = Vec::new();
    for (_, name, meaning) in verbs.flatten() {
        let row = (name.clone(), meaning.clone());
        match told.iter_mut().find(|(known, _)| *known == row) {
            Some((_, verbs)) => *verbs += 1,
            None => told.push((row, 1)),
        }
    }
    told.retain(|(_, verbs)| *verbs >= SHARED_BY);
    told.into_iter().map(|(row, _)| row).collect()
}

/// Payload, layout and bound of a test, as a dry run resolves them.
fn defaults(stage: &Stage, test: &str) -> [String; 3] {
    let place = match test.starts_with("bulk_") {
        true => "--via byteio-mtom --to http://192.0.2.2/file --total 1GiB",
        false => "--via tcp",
    };
    let output = stage.output(&format!("wirespeed run {test} {place} --dry-run"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8(output.stdout).unwrap();
    let value = |key: &str| {
        let mut words = said.split_whitespace();
        words.find_map(|word| word.strip_prefix(&format!("{key}=")).map(str::to_owned))
    };
    let bound = ["window", "outstanding"]
        .into_iter()
        .find_map(|key| Some(format!("{key} {}", value(key)?)));
    [value("size"), value("layout"), bound].map(|value| value.unwrap_or_else(|| "-".to_owned()))
}

#[test]
fn tables_tests() {
    let stage = Stage::new();
    let friendly = FRIENDLY_NAMES
        .iter()
        .map(|friendly| (friendly.name, friendly.summary));
    let mut rows =
        String::from("| test | what it does | payload | layout | under way |\n|---|---|---|---|---|\n");
    for (name, summary) in friendly.chain(KINDS.iter().map(|kind| (kind.name, kind.summary))) {
        let defaults = defaults(&stage, name).join(" | ");
        let _ = writeln!(rows, "| `{name}` | {summary} | {defaults} |");
    }
    check_generated("docs/options.md", "tests", &rows);
}

#[test]
fn tables_keys_of_plan_files() {
    let stage = Stage::new();
    let mut rows = String::from("| key | example | for |\n|---|---|---|\n");
    for parameter in parameters() {
        let taken_by = KINDS.iter().find(|kind| takes(kind.name, parameter.key)).unwrap();
        let _ = writeln!(
            rows,
            "| `{}` | `{}` | `{}` |",
            parameter.key,
            cell(parameter.example),
            taken_by.name
        );
        let mut plan = format!("[[case]]\n{}\n", parameter.example);
        let place = match taken_by.capability() {
            Capability::Bulk => &[
                ("via", "byteio-mtom"),
                ("to", "http://192.0.2.2/file"),
                ("total", "1GiB"),
            ][..],
            _ => &[("via", "tcp")],
        };
        for (key, value) in [("test", taken_by.name)].iter().chain(place) {
            if *key != parameter.key {
                let _ = writeln!(plan, "{key} = \"{value}\"");
            }
        }
        std::fs::write(stage.home().join("key.toml"), &plan).unwrap();
        let output = stage.output("wirespeed run key.toml --dry-run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{plan}\n{said}");
    }
    check_generated("docs/options.md", "keys", &rows);
}

/// Every parameter of a plan is an option of `run` with the words of its definition, in the help, the manual and completions.
#[test]
fn every_parameter_is_an_option() {
    let stage = Stage::new();
    let text = |line: &str| String::from_utf8(stage.output(line).stdout).unwrap();
    let help = text("wirespeed run --help");
    let completions = text("wirespeed completions fish");
    assert!(stage.output("wirespeed __man-all man").status.success());
    let manual = std::fs::read_to_string(stage.home().join("man/wirespeed-run.1")).unwrap();
    // Lines are broken, and the manual has marks of its own.
    let words = |text: &str| {
        let bare = text.replace(['\\', '`', '\''], "");
        bare.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for parameter in parameters().filter(|parameter| parameter.key != "test") {
        let option = parameter.option();
        let told = words(parameter.help);
        assert!(words(&help).contains(&told), "help of {option}");
        assert!(words(&manual).contains(&told), "manual of {option}");
        assert!(
            completions.contains(&format!("-l {}", parameter.long())),
            "completion of {option}"
        );
    }
}
