//! The report in a real browser: it is drawn in light, dark and narrow windows, and a hostile result does nothing in it.

use crate::{home, turn};
use std::io::Cursor;
use std::process::Command;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

/// The browser without a window, on a page of the home.
pub fn browser(home: &Home, words: &[&str], page: &str) -> Ended {
    let mut command = Command::new("chromium");
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--no-first-run",
            "--disable-extensions",
            "--disable-background-networking",
        ])
        .arg(format!("--user-data-dir={}", home.path("profile").display()))
        .args(words)
        .arg(format!("file://{}", home.path(page).display()));
    home.adopt(&mut command);
    Running::start(command).end(PATIENCE)
}

/// Whether there is one.
pub fn has_browser() -> bool {
    Command::new("chromium")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
fn the_page_is_drawn_and_a_hostile_result_does_nothing() {
    if !has_browser() {
        return skip("chromium is not installed");
    }
    let _turn = turn();
    let home = home();
    home.run("run latency --via inproc,shm -t 20ms --warmup 0 -q -o a.json")
        .code(0);
    let good = std::fs::read_to_string(home.path("a.json")).unwrap();
    let mut evil: serde_json::Value = serde_json::from_str(&good).unwrap();
    let text = "</title></style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";
    evil["cases"][0]["case"]["transport"] = text.into();
    evil["cases"][0]["error"] = text.into();
    evil["host"]["kernel"] = text.into();
    evil["command"] = serde_json::json!([text]);
    home.write("evil.json", &evil.to_string());
    home.run("report a.json evil.json -o page.html").code(0);

    let seen = browser(&home, &["--virtual-time-budget=3000", "--dump-dom"], "page.html").code(0);
    assert!(
        seen.stdout.contains("<title>wirespeed: 2 results</title>"),
        "the title was changed"
    );
    assert!(
        seen.stdout.matches("<script").count() == 1 && !seen.stdout.contains("<img"),
        "markup of a result became elements"
    );
    // The page's own script has run: its policy names it.
    assert!(seen.stdout.contains("<button type=\"button\" data-of=") && !seen.stdout.contains(" hidden"));
    assert!(seen.stdout.matches("<svg").count() >= 3);

    let windows = [
        ("light.png", "1000,1600", ""),
        ("dark.png", "1000,1600", "--force-dark-mode"),
        ("narrow.png", "500,1600", ""),
    ];
    for (name, size, more) in windows {
        let file = home.path(name);
        let shot = format!("--screenshot={}", file.display());
        let window = format!("--window-size={size}");
        let words: Vec<&str> = [shot.as_str(), window.as_str(), more]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        browser(&home, &words, "page.html").code(0);
        let picture = std::fs::read(&file).unwrap();
        let wanted: u32 = size.split(',').next().unwrap().parse().unwrap();
        let decoder = png::Decoder::new(Cursor::new(&picture));
        assert_eq!(decoder.read_info().unwrap().info().width, wanted, "{name}");
        // A page of one colour compresses to a few kilobytes.
        assert!(picture.len() > 30_000, "{name}: {} bytes", picture.len());
    }
}
