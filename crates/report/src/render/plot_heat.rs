//! A heat map of `svg` in characters: values in columns where they fit, else a letter a cell; shaded where colour is allowed. Rows
//! and columns that do not fit are folded by the chart itself.

use super::style::{Style, clean};
use crate::svg::{Axis, Chart, Heat, Shading};
use std::collections::BTreeSet;
use wirespeed_schema::order::map_of;

/// Colours of the 256 that are nearest to the shades of the drawing.
const COLORS: [u8; 10] = [17, 18, 60, 59, 242, 245, 144, 179, 185, 227];
/// From this shade on text on it is black.
const BLACK_FROM: usize = 5;
/// Characters of a name; on narrow terminals a third of them.
const NAME_MAX: usize = 24;
/// Rows and columns that can be read.
const SIDE_MAX: usize = 64;

/// Lines of the map without its title: a row a line, the names of the columns, what the shades mean.
pub fn map(chart: &Chart, style: &Style) -> Vec<String> {
    let chart = fitting(chart, style);
    let Some((heat, (low, high))) = chart
        .heat
        .as_ref()
        .and_then(|heat| Some((heat, heat.shaded_ends()?)))
    else {
        return Vec::new();
    };
    let (rows, columns) = (names(&chart.y, true, style), names(&chart.x, false, style));
    let lead = widest(&rows);
    let values = map_of(heat.shown().map(|cell| (key(cell.x, cell.y), cell.value)));
    let texts = heat
        .shown()
        .map(|cell| heat.unit.text(cell.value).chars().count());
    let wide = texts.max().unwrap_or(1).max(widest(&columns));
    let spelled = lead + 2 + columns.len() * (wide + 2) <= style.width;
    let mut lines = Vec::new();
    if spelled {
        let headings: Vec<String> = columns
            .iter()
            .map(|(_, name)| format!(" {name:>wide$} "))
            .collect();
        lines.push(
            format!("{:lead$}  {}", "", headings.concat())
                .trim_end()
                .to_owned(),
        );
    }
    let shading = heat.shading();
    for (y, name) in &rows {
        let cells: Vec<String> = columns
            .iter()
            .map(|(x, _)| {
                cell(
                    values.get(&key(*x, *y)),
                    (heat, shading),
                    spelled.then_some(wide),
                    style,
                )
            })
            .collect();
        let line = format!("{name:>lead$}  {}", cells.concat());
        lines.push(line.trim_end().to_owned());
    }
    let mut notes = Vec::new();
    if !spelled {
        notes.push(match (chart.is_square(), columns.first(), columns.last()) {
            (true, ..) => "columns: as the rows, from the left".to_owned(),
            (false, Some((_, first)), Some((_, last))) => format!("columns: {first} to {last}"),
            _ => String::new(),
        });
        let (least, most) = (letter(shading.of(low)), letter(shading.of(high)));
        let (low, high) = (heat.unit.text(low), heat.unit.text(high));
        notes.push(match heat.ends {
            Some(_) => format!("{least} up to {low}, {most} from {high}"),
            None => format!("{least} {low} to {most} {high}"),
        });
    }
    notes.push(clean(&heat.label));
    let told = notes.iter().flat_map(|note| said(note, lead, style));
    lines.extend(told);
    lines
}

/// Lines of a note below the cells, or at the left edge where that is too narrow.
fn said(note: &str, lead: usize, style: &Style) -> Vec<String> {
    let lead = if lead + 2 + note.chars().count() <= style.width {
        lead + 2
    } else {
        0
    };
    let text = super::style::wrap(note, style.width.saturating_sub(lead).max(1), 0);
    text.lines().map(|line| format!("{:lead$}{line}", "")).collect()
}

/// `chart` with as many rows and columns as can be read at this width.
fn fitting(chart: &Chart, style: &Style) -> Chart {
    let room = |chart: &Chart| {
        let lead = widest(&names(&chart.y, true, style));
        style.width.saturating_sub(lead + 2).clamp(1, SIDE_MAX)
    };
    let mut most = room(chart);
    // Names of blocks may be longer than those that they stand for.
    for _ in 0..3 {
        let rows = if chart.is_square() { most } else { SIDE_MAX };
        let folded = chart.folded(most, rows);
        let fits = room(&folded);
        if folded.x.ticks.len() <= fits {
            return folded;
        }
        most = fits;
    }
    chart.folded(most, most)
}

fn cell(
    value: Option<&f64>,
    (heat, shading): (&Heat, Shading),
    spelled: Option<usize>,
    style: &Style,
) -> String {
    match (value, spelled) {
        (Some(value), Some(wide)) => {
            let text = heat.unit.text(*value);
            shaded(&format!(" {text:>wide$} "), shading.of(*value), style)
        }
        (Some(value), None) => {
            let shade = shading.of(*value);
            shaded(&letter(shade).to_string(), shade, style)
        }
        (None, Some(wide)) => " ".repeat(wide + 2),
        (None, None) => " ".to_owned(),
    }
}

fn key(x: f64, y: f64) -> (u64, u64) {
    ((x + 0.0).to_bits(), (y + 0.0).to_bits())
}

fn widest(names: &[(f64, String)]) -> usize {
    names
        .iter()
        .map(|(_, name)| name.chars().count())
        .max()
        .unwrap_or(0)
}

/// Places with their names, as they stand in the table: rows from the top, columns from the left. Names that are too long lose
/// their ends, or what they begin with where the ends tell them apart.
fn names(axis: &Axis, from_the_top: bool, style: &Style) -> Vec<(f64, String)> {
    let most = NAME_MAX.min((style.width / 3).max(4));
    let all = axis.places(from_the_top).into_iter();
    let all: Vec<(f64, String)> = all.map(|(at, name)| (at, clean(name))).collect();
    let begin = |name: &str| name.chars().take(most).collect::<String>();
    let end = |name: &str| {
        let count = name.chars().count();
        name.chars().skip(count.saturating_sub(most)).collect::<String>()
    };
    let distinct = |short: &dyn Fn(&str) -> String| {
        let told: BTreeSet<String> = all.iter().map(|(_, name)| short(name)).collect();
        told.len()
    };
    let by_end = distinct(&begin) < distinct(&end);
    let short = |name: &str| if by_end { end(name) } else { begin(name) };
    all.iter().map(|(at, name)| (*at, short(name))).collect()
}

fn letter(shade: usize) -> char {
    char::from(b'a' + (shade % 26) as u8)
}

fn shaded(text: &str, shade: usize, style: &Style) -> String {
    if !style.color {
        return text.to_owned();
    }
    let ink = if shade >= BLACK_FROM { 30 } else { 97 };
    let back = COLORS[shade.min(COLORS.len() - 1)];
    format!("\x1b[{ink};48;5;{back}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Cell, Unit};

    fn chart(side: usize) -> Chart {
        let ticks = |names: &str| (0..side).map(|at| (at as f64, format!("{names}{at}"))).collect();
        let axis = |names: &str| Axis {
            ticks: ticks(names),
            ..Axis::linear("", Unit::Plain)
        };
        let cell = |at: usize| Cell {
            x: (at % side) as f64,
            y: (at / side) as f64,
            value: 1000.0 + at as f64,
        };
        Chart {
            x: axis("c"),
            y: axis("r"),
            heat: Some(Heat {
                cells: (0..side * side - 1).map(cell).collect(),
                ..Heat::new("time", Unit::Nanoseconds)
            }),
            ..Chart::new("x")
        }
    }

    fn lines(side: usize, style: &Style) -> Vec<String> {
        map(&chart(side), style)
    }

    #[test]
    fn values_stand_in_columns_where_they_fit() {
        let found = lines(3, &Style::PLAIN);
        assert_eq!(found.len(), 5);
        assert!(
            found[0].contains("c0") && found[0].trim_end().ends_with("c2"),
            "{found:#?}"
        );
        // The last cell of the top row is missing.
        assert!(
            found[1].starts_with("r2") && found[1].contains("1.006") && !found[1].contains("1.008"),
            "{found:#?}"
        );
        assert!(
            found[3].starts_with("r0") && found[3].contains("1.002"),
            "{found:#?}"
        );
    }

    #[test]
    fn letters_stand_where_values_do_not_fit_and_colour_only_where_allowed() {
        let narrow = lines(
            20,
            &Style {
                width: 60,
                ..Style::PLAIN
            },
        );
        assert!(
            narrow[0].starts_with("r19  j") && narrow[19].contains("  aaa"),
            "{narrow:#?}"
        );
        assert!(narrow.iter().all(|line| !line.contains('\x1b')));
        let colored = lines(
            2,
            &Style {
                color: true,
                ..Style::PLAIN
            },
        );
        assert!(colored[1].contains("48;5;"), "{colored:#?}");
        assert!(map(&Chart::new("x"), &Style::PLAIN).is_empty());
    }
}
