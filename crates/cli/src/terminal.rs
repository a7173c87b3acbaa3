//! What the screen can show: width, colour, characters. Decided once, at the start.

use crate::args::ColorChoice;
use std::io::IsTerminal;
use wirespeed_report::render::Style;

/// How files are written: never coloured, and always wide.
pub const PAPER: Style = Style::PLAIN;
const WIDTH_MIN: usize = 40;
const WIDTH_MAX: usize = 1000;

/// One of the two streams of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Results.
    Stdout,
    /// Progress, warnings, errors.
    Stderr,
}

/// How text on `stream` may look.
pub fn style(stream: Stream, choice: ColorChoice) -> Style {
    let terminal = is_terminal(stream);
    Style {
        width: width(stream, terminal),
        color: colors(choice, terminal, |name| std::env::var(name).ok()),
        unicode: unicode(|name| std::env::var(name).ok()),
    }
}

/// Whether somebody watches. Launchers may give a rank a terminal of their own, which tells nothing of where its text goes
/// in the end.
pub fn is_terminal(stream: Stream) -> bool {
    if crate::job::is_in_job() {
        return false;
    }
    match stream {
        Stream::Stdout => std::io::stdout().is_terminal(),
        Stream::Stderr => std::io::stderr().is_terminal(),
    }
}

/// Whether the terminal (TERM=dumb) cannot move its cursor.
pub fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Columns that the terminal of `stream` has now; `None` where it does not say.
pub fn seen_columns(stream: Stream) -> Option<usize> {
    let size = match stream {
        Stream::Stdout => rustix::termios::tcgetwinsize(std::io::stdout()),
        Stream::Stderr => rustix::termios::tcgetwinsize(std::io::stderr()),
    };
    size.ok()
        .map(|s| usize::from(s.ws_col))
        .filter(|columns| *columns > 0)
}

fn width(stream: Stream, terminal: bool) -> usize {
    let seen = seen_columns(stream).unwrap_or(0);
    let wanted = std::env::var("COLUMNS").ok();
    columns(wanted.as_deref(), if terminal { seen } else { 0 })
}

/// What the user says (COLUMNS) goes before what the terminal says; a page that nobody sees at once is wide.
fn columns(wanted: Option<&str>, seen: usize) -> usize {
    let wanted = wanted.and_then(|text| text.trim().parse().ok());
    match wanted.unwrap_or(seen) {
        0 => PAPER.width,
        columns => columns.clamp(WIDTH_MIN, WIDTH_MAX),
    }
}

/// `--color` first, then NO_COLOR, CLICOLOR_FORCE and TERM, then whether it is a terminal.
fn colors(choice: ColorChoice, terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|v| !v.is_empty() && v != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if variable("NO_COLOR").is_some_and(|v| !v.is_empty()) => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => terminal && variable("TERM").is_none_or(|t| t != "dumb"),
    }
}

/// The locale says whether characters beyond ASCII are understood; no locale at all counts as UTF-8, as it does for
/// every program of today's containers.
fn unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|v| !v.is_empty()));
    named.is_none_or(|locale| {
        let lower = locale.to_ascii_lowercase();
        lower.contains("utf-8") || lower.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_what_the_user_says_then_the_terminal() {
        assert_eq!(columns(Some("60"), 120), 60);
        assert_eq!(columns(None, 120), 120);
        assert_eq!(columns(Some("nonsense"), 90), 90);
        assert_eq!(columns(Some("7"), 90), WIDTH_MIN);
        assert_eq!(columns(None, 0), PAPER.width);
        assert_eq!(columns(Some("999999999"), 0), WIDTH_MAX);
    }

    fn with<'a>(pairs: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn colour_follows_the_conventions() {
        use ColorChoice::{Always, Auto, Never};
        assert!(colors(Auto, true, with(&[])));
        assert!(!colors(Auto, false, with(&[])));
        assert!(!colors(Auto, true, with(&[("NO_COLOR", "1")])));
        assert!(!colors(Auto, true, with(&[("TERM", "dumb")])));
        assert!(colors(Auto, false, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(colors(Always, false, with(&[("NO_COLOR", "1")])));
        assert!(!colors(Never, true, with(&[("CLICOLOR_FORCE", "1")])));
    }

    #[test]
    fn the_locale_decides_on_characters() {
        assert!(unicode(with(&[])));
        assert!(unicode(with(&[("LANG", "en_GB.UTF-8")])));
        assert!(!unicode(with(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")])));
    }
}
