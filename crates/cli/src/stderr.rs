//! The one way to stderr: lines above whatever is drawn there. A line must never end up on the row of a bar, or within a
//! view that is drawn over.

use indicatif::{ProgressBar, WeakProgressBar};
use parking_lot::{Mutex, MutexGuard};
use std::io::Write as _;
use wirespeed_schema::shown::{is_obeyed, without_numbers};

/// What is drawn on stderr.
enum Drawn {
    Nothing,
    Bar(WeakProgressBar),
    /// A view of several lines, with those that wait to stand above it.
    View(String),
}

static DRAWN: Mutex<Drawn> = Mutex::new(Drawn::Nothing);

fn drawn() -> MutexGuard<'static, Drawn> {
    DRAWN.lock()
}

/// Write a line, or several, on stderr, without what a terminal would obey, whoever wrote them, and without the system's
/// numbers of its errors.
pub fn say(text: &str) {
    say_painted(&cleaned(text));
}

fn cleaned(text: &str) -> String {
    let shown = |c: &char| *c == '\n' || !is_obeyed(*c);
    without_numbers(text.replace('\t', " ").chars().filter(shown).collect())
}

/// Write lines whose colours are the program's own, and whose words were cleaned.
pub fn say_painted(text: &str) {
    if let Drawn::View(waiting) = &mut *drawn() {
        waiting.push_str(text);
        waiting.push('\n');
        return;
    }
    around(|| {
        // Nobody is left to be told that stderr is gone.
        let _ = writeln!(std::io::stderr(), "{text}");
    });
}

/// Do what writes to the terminal while no bar is on it.
pub fn around<T>(write: impl FnOnce() -> T) -> T {
    let bar = match &*drawn() {
        Drawn::Bar(bar) => bar.upgrade(),
        _ => None,
    };
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Whether something is drawn: a second bar would stand on the row of the first.
pub fn is_drawn_on() -> bool {
    match &*drawn() {
        Drawn::Nothing => false,
        Drawn::Bar(bar) => bar.upgrade().is_some_and(|bar| !bar.is_finished()),
        Drawn::View(_) => true,
    }
}

/// `bar` is what is drawn from now on, as long as it lives.
pub fn bar_is(bar: &ProgressBar) {
    *drawn() = Drawn::Bar(bar.downgrade());
}

/// A view is drawn from now on; lines wait for [`above`].
pub fn view_begins() {
    *drawn() = Drawn::View(String::new());
}

/// The lines that wait to be written above the view.
pub fn above() -> String {
    match &mut *drawn() {
        Drawn::View(waiting) => std::mem::take(waiting),
        _ => String::new(),
    }
}

/// The view is gone; the lines that still waited.
pub fn view_ends() -> String {
    let waiting = above();
    *drawn() = Drawn::Nothing;
    waiting
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .flat_map(|path| match path.is_dir() {
                true => sources(&path),
                false => vec![path],
            })
            .collect()
    }

    #[test]
    fn a_line_of_others_moves_no_cursor_and_has_no_numbers_of_the_system() {
        assert_eq!(super::cleaned("a\u{1b}[2J\u{202e}b\tc\nd"), "a[2Jb c\nd");
        assert_eq!(
            super::cleaned(
                "not registered: cannot connect to [::1]:1: Connection refused (os error 111); trying again"
            ),
            "not registered: cannot connect to [::1]:1: Connection refused; trying again"
        );
    }

    /// A line that is written past this module would stand on the row of a bar.
    #[test]
    fn nothing_else_writes_to_stderr() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        // This file, the view that is drawn there, and who asks what the terminal can show.
        let allowed = ["stderr.rs", "watch.rs", "terminal.rs"];
        let all = sources(&folder);
        assert!(all.len() > 50, "{}", all.len());
        for path in all {
            let name = path.file_name().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let writes = text.contains("io::stderr()") || text.contains("eprint");
            assert!(!writes || allowed.contains(&name), "{}", path.display());
        }
    }

    /// A file's name may hold anything: [`crate::file::shown`] is how messages get it.
    #[test]
    fn no_path_is_shown_as_it_is() {
        for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
            assert!(!code.contains(".display()"), "{}", path.display());
        }
    }
}
