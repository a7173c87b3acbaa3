//! What a screen says whatever was measured: its words without figures, names of transports, bars and remarks. It must never
//! depend on how fast or how busy the machine is.

use super::{COLUMNS, PROMPT, Story};

/// How lines begin that are there only where figures are remarkable, few, skipped or too wide.
const FREE: [&str; 7] = [
    "warning:",
    "note:",
    "suspect:",
    "withheld for lack of samples:",
    LEFT_OUT,
    "Not measured:",
    "# more: --remarks",
];
/// How the line begins that names the columns of a table for which there was no room.
const LEFT_OUT: &str = "left out";
/// Units of figures, behind a prefix or none; the prefix alone is one of a count.
const UNITS: [&str; 7] = ["", "%", "s", "B", "msg/s", "B/s", "/s"];
/// What is measured where it is there.
const TRANSPORTS: [&str; 8] = ["inproc", "shm", "unix", "tcp", "udp", "uct", "ucp", "mpi"];
/// Ends what is added, in parentheses, where others are as fast.
const LEVEL: &str = ": too close to call)";
/// A figure.
const FIGURE: &str = "#";
/// A bar, or a part of a plot.
const DRAWN: &str = "~";
/// A transport, and a line that begins with one: a row of a table, or a case that has ended.
const ROW: &str = "@";

/// The shapes of two screens on which `story` was played: what they say, line by line, in words that both can have. Each
/// screen is given with the line that was typed on it, which is no part of its shape.
pub fn shapes(story: &Story, screens: [(&str, &str); 2]) -> [Vec<String>; 2] {
    let both = screens.map(|(line, screen)| joined(below(line, screen)));
    let named = both
        .iter()
        .flatten()
        .filter(|line| line.starts_with(LEFT_OUT))
        .filter_map(|line| line.split_once(": "));
    let left_out: Vec<&str> = named.flat_map(|(_, names)| names.trim().split(", ")).collect();
    both.each_ref().map(|lines| shape(story, lines, &left_out))
}

/// The lines of a screen below the one that was typed.
fn below<'a>(typed: &str, screen: &'a str) -> impl Iterator<Item = &'a str> {
    let columns = PROMPT.len() + typed.chars().count();
    screen.lines().skip(columns.div_ceil(usize::from(COLUMNS)))
}

/// Lines that were broken at the edge of the screen, whole again: they go on with two blanks, and all that is indented below a
/// remark belongs to it.
fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        match (line.strip_prefix("  "), found.last_mut()) {
            (Some(rest), Some(last)) if !rest.starts_with(' ') && !is_drawn(rest) || is_any(&FREE, last) => {
                last.push(' ');
                last.push_str(rest.trim_start());
            }
            _ => found.push(line.to_owned()),
        }
    }
    found
}

fn is_any(starts: &[&str], line: &str) -> bool {
    starts.iter().any(|start| line.starts_with(start))
}

fn shape(story: &Story, lines: &[String], left_out: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        // Some screens repeat what was typed.
        let mut line = format!(" {} ", line.replace(story.shorter.0, story.shorter.1));
        if let Some((before, rest)) = line.split_once(LEVEL) {
            // It may follow other words in the parentheses.
            line = match (before.rfind("; "), before.find(" (")) {
                (Some(at), _) => format!("{}){rest}", &before[..at]),
                (None, Some(at)) => format!("{}{rest}", &before[..at]),
                (None, None) => line,
            };
        }
        for name in left_out {
            line = line.replace(&format!(" {name} "), "  ");
        }
        let masked = masked(&line);
        let free = is_any(&FREE, &masked) || is_any(story.free, &masked);
        if !free && !masked.is_empty() && found.last() != Some(&masked) {
            found.push(masked);
        }
    }
    found
}

/// A line without its figures.
fn masked(line: &str) -> String {
    let mut found: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let sort = sort(word);
        let is_unit = found.last() == Some(&FIGURE) && is_unit(word);
        // A span of figures is one.
        if sort == FIGURE && found.ends_with(&[FIGURE, "to"]) {
            found.pop();
        }
        // Figures or bars side by side are one.
        if !is_unit && (found.last() != Some(&sort) || ![FIGURE, DRAWN].contains(&sort)) {
            found.push(sort);
        }
    }
    match found[..] {
        [ROW, ..] => ROW.to_owned(),
        _ if found.contains(&DRAWN) && found.iter().all(|word| is_plotted(word)) => DRAWN.to_owned(),
        _ => found.join(" "),
    }
}

/// Whether a row of a plot may have it: points are single letters, and lie apart where a curve has a dent.
fn is_plotted(word: &str) -> bool {
    [DRAWN, FIGURE].contains(&word) || word.chars().count() == 1
}

/// What stands for a word.
fn sort(word: &str) -> &str {
    let bare = word.trim_start_matches(['[', '{', '(', '<', 'x', '-', '+']);
    if is_drawn(word) {
        DRAWN
    } else if TRANSPORTS.contains(&word.trim_end_matches([',', '.', ':'])) {
        ROW
    } else if bare.starts_with(|c: char| c.is_ascii_digit()) || ["–", ".."].contains(&word) {
        FIGURE
    } else {
        word
    }
}

fn is_unit(word: &str) -> bool {
    let bare = word.trim_end_matches([',', '.', ';', ':', ']', '}', ')']);
    let prefixes = ["", "n", "µ", "m", "k", "K", "M", "G", "Ki", "Mi", "Gi"];
    let is = |unit: &&str| {
        bare.strip_suffix(*unit)
            .is_some_and(|prefix| prefixes.contains(&prefix))
    };
    UNITS.iter().any(is)
}

/// Whether there is a box, a block or a dot in it.
fn is_drawn(text: &str) -> bool {
    text.chars().any(|c| ('\u{2500}'..='\u{28ff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::super::STORIES;
    use super::*;

    const RECORDED: &str = "$ wirespeed quick\nshm am_lat 8 B: RTT p50 1 ns\nShortest round trip: shm, 164.1 ns [163.1, 168.1] (one run).\n\n\
                            transport   RTT p50   p99  bandwidth\nshm  164.1 ns   1 µs  53.24 GB/s at 128 KiB\n\
                            left out, the terminal is too narrow: p90,\n  p99.9\nmin 1 µs 5─9── 2 ms max\n  7 ┤⣀⣀ a ⠒\n    │⠒ a\n\
                            timer 9.8 ns · 12 samples · 1 run\nwarning: a\n  remedy: b\n    c\n6 more: --remarks\n";

    fn both(now: &str) -> [Vec<String>; 2] {
        shapes(
            &STORIES[0],
            [("wirespeed quick", RECORDED), ("wirespeed quick", now)],
        )
    }

    #[test]
    fn figures_and_remarks_are_no_part_of_a_shape() {
        let now = "$ wirespeed quick\nShortest round trip: inproc, 2 µs [1, 3] (one run; shm, uct: too close to call).\n\ntransport   RTT p50   p90  p99.9  bandwidth\n\
                   inproc  1 ns  {2 .. 3}  8 B/s at 1 MiB\nmpi     3 ns\nleft out at 80 columns: p99\n\
                   min 1 ns ─59─ 2 s max\n10 ┤⣀\ntimer 9 ns · 6.5 k to 12 k samples · 1 run\nnote: b\nsuspect: c\n  in: d\n";
        let [before, after] = both(now);
        assert_eq!(
            before[1..],
            after[..],
            "but for the line of a case, which goes by itself"
        );
        let shape = [
            "@",
            "Shortest round trip: @ # (one run).",
            "transport RTT p50 bandwidth",
            "@",
            "min # ~ # max",
            "~",
            "timer # · # samples · # run",
        ];
        assert_eq!(before, shape);
    }

    #[test]
    fn changed_words_and_lines_are_seen() {
        for (from, to) in [
            ("bandwidth", "throughput"),
            ("\n\ntransport", "\n\nWhat a day.\ntransport"),
            ("timer", "clock"),
            ("  7 ┤⣀⣀ a ⠒\n    │⠒ a\n", ""),
        ] {
            let [before, after] = both(&RECORDED.replace(from, to));
            assert_ne!(before, after, "{from} -> {to}");
        }
    }
}
