//! A recording as one picture: screens follow each other by style alone. The same recording gives the same bytes on every
//! machine; nothing is fetched, no script runs. It must never show anything that the terminal did not.
//!
//! A stretch of screens in which a row stays the same is one element, which is visible from the first of them to the last.
//! Without animation, and where a reader wants none, the last screen is what is visible.

use super::Story;
use super::cast::Cast;
use super::frames::{Frame, Look, Row, frames};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wirespeed_report::svg::escape;

/// Width of a column, in tenths of a unit of the picture: the advance of most fonts of 14 units.
const COLUMN_TENTHS: usize = 84;
/// From line to line.
const LINE: usize = 18;
/// Around the text.
const MARGIN: usize = 14;
/// How often the recording is played before the last screen stays.
const PLAYED: u32 = 3;
/// What is drawn in the fonts of other alphabets, which have other widths: boxes, blocks and dots.
const FIRST_DRAWN: char = '\u{2500}';

/// Ink on paper: plain, dim, then red, green, yellow, blue, magenta and cyan; the first of all is the paper.
const LIGHT: [&str; 9] = [
    "#f6f8fa", "#1f2328", "#59636e", "#b3261e", "#1a6b2f", "#7a5200", "#0a4fa8", "#7d2f9e", "#0b6672",
];
const DARK: [&str; 9] = [
    "#16181d", "#e6e8eb", "#a0a6ae", "#ff8a80", "#7bd88f", "#e5c07b", "#82b1ff", "#d7a1f9", "#6fd3e0",
];
/// Their classes, without that of the paper and of plain text.
const CLASSES: [&str; 7] = ["d", "r", "g", "y", "b", "m", "c"];

/// The picture of a recording.
pub fn picture(story: &Story, cast: &Cast) -> String {
    let (frames, end_ms) = frames(cast);
    let used = |frame: &Frame| {
        frame
            .rows
            .iter()
            .rposition(|row| !row.is_empty())
            .map_or(1, |last| last + 1)
    };
    let rows = frames.iter().map(used).max().unwrap_or(1);
    let width = usize::from(cast.columns) * COLUMN_TENTHS / 10 + 2 * MARGIN;
    let height = rows * LINE + 2 * MARGIN;
    let shown = stretches(&frames);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">{}</title>\n<desc id=\"d\">{} Typed: {}</desc>\n\
         <style>\n{}{}</style>\n<rect class=\"p\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n",
        escape(story.title),
        escape(story.description),
        escape(story.line),
        style(end_ms),
        keyframes(&frames, end_ms, shown.keys()),
    );
    for ((from, to), rows) in &shown {
        let class = if *to == frames.len() { "" } else { " class=\"x\"" };
        let name = match (from, class) {
            (0, "") => String::new(),
            _ => format!(" style=\"animation-name:{}\"", name((*from, *to))),
        };
        let _ = writeln!(svg, "<g{class}{name}>");
        for (number, row) in rows {
            text(&mut svg, *number, row);
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Frames in which rows stay the same, from the first to the one behind the last, and those rows with their numbers.
type Stretches<'a> = BTreeMap<(usize, usize), Vec<(usize, &'a Row)>>;

fn stretches(frames: &[Frame]) -> Stretches<'_> {
    let mut found = Stretches::new();
    for number in 0..frames.first().map_or(0, |frame| frame.rows.len()) {
        let mut from = 0;
        for to in 1..=frames.len() {
            let row = &frames[from].rows[number];
            if frames.get(to).is_some_and(|next| next.rows[number] == *row) {
                continue;
            }
            if !row.is_empty() {
                found.entry((from, to)).or_default().push((number, row));
            }
            from = to;
        }
    }
    found
}

fn name((from, to): (usize, usize)) -> String {
    format!("k{from}-{to}")
}

/// When each stretch is visible.
fn keyframes<'a>(
    frames: &[Frame],
    end_ms: u32,
    stretches: impl Iterator<Item = &'a (usize, usize)>,
) -> String {
    let percent = |frame: usize| {
        let at_ms = frames.get(frame).map_or(end_ms, |frame| frame.at_ms);
        let digits = format!("{:.2}", f64::from(at_ms) / f64::from(end_ms) * 100.0);
        format!("{}%", digits.trim_end_matches('0').trim_end_matches('.'))
    };
    let mut rules = String::new();
    for &(from, to) in stretches.filter(|&&(from, to)| from > 0 || to < frames.len()) {
        let before = if from == 0 { "" } else { "0%{visibility:hidden}" };
        let after = match to == frames.len() {
            true => String::new(),
            false => format!("{}{{visibility:hidden}}", percent(to)),
        };
        let name = name((from, to));
        let _ = writeln!(
            rules,
            "@keyframes {name}{{{before}{}{{visibility:visible}}{after}}}",
            percent(from),
        );
    }
    rules
}

fn style(end_ms: u32) -> String {
    let inks = |[paper, plain, others @ ..]: &[&str; 9]| {
        let mut rules = format!(".p{{fill:{paper}}}text{{fill:{plain}}}");
        for (class, ink) in CLASSES.iter().zip(others) {
            let _ = write!(rules, ".{class}{{fill:{ink}}}");
        }
        rules
    };
    format!(
        "text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",\"Liberation Mono\",monospace;white-space:pre}}\n\
         {}\n@media(prefers-color-scheme:dark){{{}}}\n.s{{font-weight:bold}}.x{{visibility:hidden}}\n\
         g{{animation:{:.1}s step-end {PLAYED}}}\n@media(prefers-reduced-motion:reduce){{g{{animation:none!important}}}}\n",
        inks(&LIGHT),
        inks(&DARK),
        f64::from(end_ms) / 1000.0,
    )
}

/// A row as text. Its width is that of the grid, whichever font there is.
fn text(svg: &mut String, number: usize, row: &Row) {
    let said: String = row.iter().map(|(_, said)| said.as_str()).collect();
    let y = MARGIN + (number + 1) * LINE - 5;
    let units = |columns: usize| tenths(columns * COLUMN_TENTHS);
    let columns = said.chars().count();
    let _ = match said.chars().any(|c| c >= FIRST_DRAWN) {
        // Each character has its place: fonts for these disagree about widths.
        true => {
            let places = (0..columns).map(|column| tenths(MARGIN * 10 + column * COLUMN_TENTHS));
            let places = places.collect::<Vec<_>>().join(" ");
            write!(svg, "<text x=\"{places}\" y=\"{y}\">")
        }
        false => write!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" textLength=\"{}\">",
            units(columns)
        ),
    };
    for (look, said) in row {
        match class(*look) {
            class if class.is_empty() => svg.push_str(&escape(said)),
            class => {
                let _ = write!(svg, "<tspan class=\"{class}\">{}</tspan>", escape(said));
            }
        }
    }
    svg.push_str("</text>\n");
}

/// Tenths of a unit as units.
fn tenths(tenths: usize) -> String {
    match tenths % 10 {
        0 => format!("{}", tenths / 10),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

fn class(look: Look) -> String {
    let ink = match look.colour.map(|colour| colour % 8) {
        // Black and white are plain: a terminal's own would vanish on one of the papers.
        Some(colour @ 1..7) => CLASSES[usize::from(colour)],
        _ if look.dim => CLASSES[0],
        _ => "",
    };
    let weight = if look.bold { "s" } else { "" };
    [ink, weight]
        .into_iter()
        .filter(|class| !class.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::STORIES;
    use super::*;

    fn drawn(events: &[(f64, &str)]) -> String {
        let cast = Cast {
            columns: 20,
            rows: 4,
            title: String::new(),
            events: events
                .iter()
                .map(|(at_s, said)| (*at_s, (*said).to_owned()))
                .collect(),
        };
        picture(&STORIES[0], &cast)
    }

    #[test]
    fn a_row_that_stays_is_drawn_once() {
        let svg = drawn(&[
            (0.0, "$ <x>\r\n"),
            (0.5, "1"),
            (1.0, "\r2"),
            (1.5, "\r\n\u{1b}[31mred"),
        ]);
        assert_eq!(svg.matches("$ &lt;x&gt;").count(), 1, "{svg}");
        assert!(
            svg.contains("<g>\n<text x=\"14\" y=\"27\" textLength=\"42\">"),
            "it needs no animation: {svg}"
        );
        assert!(
            svg.contains("<g class=\"x\" style=\"animation-name:k1-2\">"),
            "1 goes: {svg}"
        );
        assert!(
            svg.contains("<g style=\"animation-name:k2-4\">"),
            "2 stays: {svg}"
        );
        assert!(
            svg.contains(
                "@keyframes k1-2{0%{visibility:hidden}5.26%{visibility:visible}10.53%{visibility:hidden}}"
            ),
            "{svg}"
        );
        assert!(svg.contains("<tspan class=\"r\">red</tspan>"), "{svg}");
    }

    #[test]
    fn characters_of_other_fonts_keep_to_the_grid() {
        assert!(drawn(&[(0.0, "a⣀b")]).contains("x=\"14 22.4 30.8\""));
    }

    /// Contrast by WCAG 2.2: 4.5 for text of this size.
    #[test]
    fn every_ink_can_be_read_on_its_paper() {
        let luminance = |colour: &str| {
            let channel = |at: usize| {
                let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if part <= 0.04045 {
                    part / 12.92
                } else {
                    ((part + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        for [paper, inks @ ..] in [LIGHT, DARK] {
            for ink in inks {
                let (a, b) = (luminance(paper), luminance(ink));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{ink} on {paper}: {contrast:.2}");
            }
        }
    }
}
