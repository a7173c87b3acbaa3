//! The pages of `report`, measured in a real browser at four widths, light, dark and on paper: nothing clipped, nothing covered,
//! everything reachable, every button copies what it names. The copies that are measured carry a script of the test; what the
//! product's own policy lets run is the matter of `browser`.
//!
//! Compared with a committed file is the layout that does not depend on letters; `pictures` compares what is drawn.

use crate::browser::{browser, has_browser};
use crate::{home, turn};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wirespeed_tests::home::Home;
use wirespeed_tests::skip;

const MEASURE: &str = include_str!("pages/measure.js");
const WIDTHS: [u32; 4] = [360, 800, 1280, 2000];
/// A4 with margins of a centimetre, in CSS pixels.
const PAPER_WIDTH: u32 = 718;
const DARK: &str = "@media screen and (prefers-color-scheme:dark)";

/// How a copy is looked at.
#[derive(Clone, Copy, PartialEq)]
enum Media {
    Light,
    Dark,
    Print,
    /// With faults that must be found.
    Spoiled,
}

/// What a spoiled copy has instead, and how the finding begins.
const FAULTS: [(&str, &str, &str); 5] = [
    (
        ".frame{overflow-x:auto",
        ".frame{overflow-x:visible",
        "is clipped <div>",
    ),
    (
        ".ws-chart text{font-size:12px",
        ".ws-chart text{font-size:19px",
        "leaves its chart",
    ),
    (".soft{", ".soft{white-space:nowrap;", "the page is "),
    ("<h1", "<h4", "headings begin with 4"),
    (
        "role=\"region\" aria-label=\"",
        "role=\"region\" title=\"",
        "a frame without place or name",
    ),
];

/// A copy of a page in a frame of its own.
pub struct View<'a> {
    page: &'a str,
    pub width: u32,
    media: Media,
}

impl View<'_> {
    pub fn file(&self) -> String {
        format!("{}-{}-{}.html", self.page, self.width, self.name())
    }

    fn name(&self) -> &'static str {
        match self.media {
            Media::Light => "light",
            Media::Dark => "dark",
            Media::Print => "print",
            Media::Spoiled => "spoiled",
        }
    }

    /// Write the copy: as the page is where the media are these, with `scripts` instead of the product's policy.
    pub fn write(&self, home: &Home, scripts: &str) {
        let page = std::fs::read_to_string(home.path(&format!("{}.html", self.page))).unwrap();
        let (before, rest) = page
            .split_once("<meta http-equiv=\"Content-Security-Policy\"")
            .unwrap();
        let (_, after) = rest.split_once('>').unwrap();
        assert!(after.contains(DARK) && after.contains("@media print"));
        let after = match self.media {
            Media::Light => after.replace(DARK, "@media not all"),
            Media::Dark => after.replace(DARK, "@media screen"),
            Media::Print => after
                .replace(DARK, "@media not all")
                .replace("@media print", "@media all"),
            Media::Spoiled => FAULTS.iter().fold(after.to_owned(), |text, (sound, fault, _)| {
                assert!(text.contains(sound), "{sound}");
                text.replace(sound, fault)
            }),
        };
        home.write(&self.file(), &format!("{before}{scripts}{after}"));
    }

    /// What measures the copy from within.
    fn measure(&self, axe: Option<&Path>) -> String {
        let asked =
            json!({ "name": self.page, "width": self.width, "media": self.name(), "axe": axe.is_some() });
        let axe = axe.map_or(String::new(), |path| {
            format!("<script src=\"file://{}\"></script>", path.display())
        });
        format!("{axe}<script>window.asked={asked}</script><script>{MEASURE}</script>")
    }
}

/// What the copies say of themselves, in the order of `views`.
fn measured(home: &Home, views: &[View], axe: Option<&Path>) -> Vec<Value> {
    let mut frames = String::new();
    for view in views {
        view.write(home, &view.measure(axe));
        let (file, width) = (view.file(), view.width);
        writeln!(
            frames,
            "<iframe src=\"{file}\" style=\"width:{width}px;height:800px;border:0\"></iframe>"
        )
        .unwrap();
    }
    home.write(
        "all.html",
        &format!(
            "<!DOCTYPE html><title>all</title><textarea id=\"out\"></textarea><script>
             const all = [];
             addEventListener('message', event => {{
               all.push(event.data);
               if (all.length === {}) document.getElementById('out').textContent = encodeURIComponent(JSON.stringify(all));
             }});
             </script>{frames}",
            views.len()
        ),
    );
    let words = [
        "--virtual-time-budget=60000",
        "--dump-dom",
        "--window-size=2100,900",
    ];
    let seen = browser(home, &words, "all.html").code(0);
    let out = seen.stdout.split_once("id=\"out\">").unwrap().1;
    let out = unescaped(out.split_once('<').unwrap().0);
    let all: Vec<Value> = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out:.200}"));
    let of = |view: &View| {
        let is = |one: &&Value| {
            one["name"] == view.page && one["width"] == view.width && one["media"] == view.name()
        };
        all.iter().find(is).cloned().unwrap()
    };
    views.iter().map(of).collect()
}

/// `%7B` and the like as the characters that they are.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || (rest.next().unwrap() as char).to_digit(16).unwrap() as u8;
                bytes.push(16 * digit() + digit());
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// A committed document.
pub fn document(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../crates/report/tests")
        .join(path);
    std::fs::read_to_string(path).unwrap()
}

/// `quick` with names that are long, run from right to left, or pretend to be markup, and no spaces to break at.
fn strange() -> String {
    let mut run: Value = serde_json::from_str(&document("documents/quick.json")).unwrap();
    let names = [
        "</title></style><script>document.title='owned'</script><img src=x>".to_owned(),
        "שלום\u{202e}evil\u{202c} عربى".to_owned(),
        "a_transport_of_a_long_name_".repeat(5),
        "日本語の名前".to_owned(),
    ];
    for (at, case) in run["cases"].as_array_mut().unwrap().iter_mut().enumerate() {
        case["case"]["transport"] = names[at % names.len()].clone().into();
    }
    run["command"] = json!(["wirespeed", "run", names[0], names[1], names[2]]);
    run.to_string()
}

/// `quick` with nothing measured.
fn failed() -> String {
    let mut run: Value = serde_json::from_str(&document("documents/quick.json")).unwrap();
    for case in run["cases"].as_array_mut().unwrap() {
        case["status"] = "failed".into();
        case["error"] = "the peer is gone".into();
        case["metrics"] = json!({});
        case["repetitions"] = json!([]);
    }
    run.to_string()
}

/// Write pages of several kinds of results into the home; their names.
fn write_pages(home: &Home) -> Vec<&'static str> {
    home.write("quick.json", &document("documents/quick.json"));
    home.write("example.json", &document("golden/run.json"));
    home.write("strange.json", &strange());
    home.run("workers -w 3 --via unix,tcp -p 10,1000,100000 -n 50 --warmup 0 -q -o workers.json")
        .code(0);
    home.write("failed.json", &failed());
    // Another machine: the comparison says so, and what it finds is for other tests.
    home.write(
        "other.json",
        &document("golden/run.json").replace("Linux 6.1.0", "Linux 6.2.0"),
    );
    home.run("compare example.json other.json -o compare.json");
    let all = ["quick", "example", "strange", "failed", "compare", "workers"];
    for name in all {
        home.run(&format!("report {name}.json -o {name}.html")).code(0);
    }
    home.run("report quick.json example.json -o several.html").code(0);
    [&all[..], &["several"]].concat()
}

/// Every page at every width, and on paper.
pub fn views<'a>(pages: &[&'a str]) -> Vec<View<'a>> {
    let mut views = Vec::new();
    for &page in pages {
        let view = |width, media| View { page, width, media };
        // The layout of both themes is one; each width is looked at in one of them.
        views.extend([0, 2].map(|at| view(WIDTHS[at], Media::Dark)));
        views.extend([1, 3].map(|at| view(WIDTHS[at], Media::Light)));
        views.push(view(PAPER_WIDTH, Media::Print));
    }
    views
}

/// Compare with the committed file, or write it where `WIRESPEED_BLESS` is set.
fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/program/pages")
        .join(name);
    if std::env::var_os("WIRESPEED_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == text,
        "{} differs; if that is meant, run with WIRESPEED_BLESS=1 and look at the pages.\n{text}",
        path.display()
    );
}

fn assert_faults_are_found(report: &Value) {
    let found = report["found"].as_array().unwrap();
    for (_, fault, begins) in FAULTS {
        let is_it = |finding: &Value| finding.as_str().unwrap().starts_with(begins);
        assert!(found.iter().any(is_it), "{fault} was not found: {report:#}");
    }
}

#[test]
fn pages_fit_every_window_and_paper() {
    if !has_browser() {
        return skip("chromium is not installed");
    }
    let _turn = turn();
    let home = home();
    let pages = write_pages(&home);
    let mut views = views(&pages);
    views.push(View {
        page: "quick",
        width: 360,
        media: Media::Spoiled,
    });
    let mut layouts = String::new();
    for (view, report) in views.iter().zip(measured(&home, &views, None)) {
        if view.media == Media::Spoiled {
            assert_faults_are_found(&report);
            continue;
        }
        assert_eq!(report["found"], json!([]), "{}: {report:#}", view.file());
        let dark = view.media == Media::Dark;
        assert_eq!(report["back"] == "rgb(255, 255, 255)", !dark, "{}", view.file());
        // Results that were measured just now have as many charts as they have samples for.
        if ["quick", "example", "strange", "failed", "compare", "several"].contains(&view.page) {
            writeln!(layouts, "{} {}", view.file(), report["layout"]).unwrap();
        }
    }
    compare("layout.txt", &layouts);
}

/// axe-core as tests/lab/axe.sh brings it.
fn axe() -> Option<PathBuf> {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/lab");
    let folders = std::fs::read_dir(lab).ok()?.flatten();
    let mut scripts = folders
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("axe-"))
        .map(|entry| entry.path().join("axe.min.js"));
    scripts.find(|path| path.is_file())?.canonicalize().ok()
}

#[test]
fn nothing_keeps_a_reader_out() {
    if !has_browser() {
        return skip("chromium is not installed");
    }
    let Some(axe) = axe() else {
        return skip("axe-core is not installed: `bash tests/lab/axe.sh` says why");
    };
    let _turn = turn();
    let home = home();
    for (name, text) in [("example", document("golden/run.json")), ("strange", strange())] {
        home.write(&format!("{name}.json"), &text);
        home.run(&format!("report {name}.json -o {name}.html")).code(0);
    }
    let view = |page, width, media| View { page, width, media };
    let views = [
        view("example", 360, Media::Light),
        view("example", 1280, Media::Dark),
        view("strange", 800, Media::Light),
    ];
    for (view, report) in views.iter().zip(measured(&home, &views, Some(&axe))) {
        assert_eq!(report["axe"], json!([]), "{}: {report:#}", view.file());
        assert!(report["rules"].as_u64().unwrap() > 20, "{report:#}");
    }
}
