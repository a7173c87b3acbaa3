//! The one way to stderr: lines above whatever is drawn there. A line must never end up on the row of a bar, or within a
//! view that is drawn over.

use crate::outlet::STDERR;
use indicatif::{ProgressBar, WeakProgressBar};
use parking_lot::{Mutex, MutexGuard};
use std::io::IsTerminal as _;
use wirespeed_schema::shown::{is_obeyed, without_numbers};

/// What is drawn on stderr.
enum Drawn {
    Nothing,
    Bar(WeakProgressBar),
    View(View),
}

/// A view of several lines.
struct View {
    /// Lines that wait to stand above it.
    waiting: String,
    /// Columns of each of its own lines on the screen.
    drawn: Vec<usize>,
    /// Columns of the terminal now.
    width: fn() -> usize,
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
    if let Drawn::View(view) = &mut *drawn() {
        view.waiting.push_str(text);
        view.waiting.push('\n');
        return;
    }
    around(|| {
        // Nobody is left to be told that stderr is gone.
        let _ = STDERR.write(std::io::stderr(), format!("{text}\n").as_bytes());
    });
}

/// Do what writes to the terminal while no bar is on it, nor a view, which is drawn again by its next event.
pub fn around<T>(write: impl FnOnce() -> T) -> T {
    if std::io::stdout().is_terminal() {
        show(&above());
    }
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
        Drawn::View(..) => true,
    }
}

/// `bar` is what is drawn from now on, as long as it lives.
pub fn bar_is(bar: &ProgressBar) {
    *drawn() = Drawn::Bar(bar.downgrade());
}

/// A view is drawn from now on, on a terminal that is so wide; lines wait for [`above`].
pub fn view_begins(width: fn() -> usize) {
    *drawn() = Drawn::View(View {
        waiting: String::new(),
        drawn: Vec::new(),
        width,
    });
}

/// What wipes the view, then the lines that waited: both are taken to be written now.
pub fn above() -> String {
    match &mut *drawn() {
        Drawn::View(view) => {
            let wiped = wipe(&std::mem::take(&mut view.drawn), (view.width)());
            wiped + &std::mem::take(&mut view.waiting)
        }
        _ => String::new(),
    }
}

/// Draw the view, of lines of so many columns, below what goes before it in `text`.
pub fn draw(text: &str, columns: Vec<usize>) {
    if let Drawn::View(view) = &mut *drawn() {
        view.drawn = columns;
    }
    show(text);
}

/// The view is gone.
pub fn view_ends() {
    show(&above());
    *drawn() = Drawn::Nothing;
}

/// A terminal that is gone takes nothing; the run goes on.
fn show(text: &str) {
    let _ = STDERR.write(std::io::stderr(), text.as_bytes());
}

/// Moves to where lines of so many columns began on a terminal of this width, and clears from there on. A terminal that
/// became narrower has broken them into several.
fn wipe(drawn: &[usize], width: usize) -> String {
    let rows: usize = drawn
        .iter()
        .map(|columns| columns.div_ceil(width.max(1)).max(1))
        .sum();
    match rows {
        0 => String::new(),
        rows => format!("\u{1b}[{rows}F\u{1b}[J"),
    }
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
    fn as_many_rows_are_wiped_as_the_terminal_shows() {
        assert_eq!(super::wipe(&[], 80), "");
        assert_eq!(super::wipe(&[79, 10, 0], 80), "\u{1b}[3F\u{1b}[J");
        assert_eq!(super::wipe(&[79, 10, 0], 40), "\u{1b}[4F\u{1b}[J");
        assert_eq!(super::wipe(&[5], 0), "\u{1b}[5F\u{1b}[J");
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
        // This file, and who asks what the terminal can show.
        let allowed = ["stderr.rs", "terminal.rs"];
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
