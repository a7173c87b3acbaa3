//! A heat map of `svg` in characters: values in columns where they fit, else a letter a cell; shaded where colour is allowed.

use super::style::{Style, clean};
use crate::svg::{Axis, Chart, Heat};

/// Colours of the 256 that are nearest to the shades of the drawing.
const COLORS: [u8; 10] = [17, 18, 60, 59, 242, 245, 144, 179, 185, 227];
/// From this shade on text on it is black.
const BLACK_FROM: usize = 5;
const NAME_MAX: usize = 24;

/// Lines of the map without its title: a row a line, the names of the columns, what the shades mean.
pub fn map(chart: &Chart, heat: &Heat, style: &Style) -> Vec<String> {
    let Some((low, high)) = heat.range() else {
        return Vec::new();
    };
    let rows = names(&chart.y, true);
    let columns = names(&chart.x, false);
    let lead = rows
        .iter()
        .map(|(_, name)| name.chars().count())
        .max()
        .unwrap_or(0);
    let value = |x: f64, y: f64| {
        heat.shown()
            .find(|cell| cell.x == x && cell.y == y)
            .map(|cell| cell.value)
    };
    let texts = heat.shown().map(|cell| heat.unit.text(cell.value));
    let headings = columns.iter().map(|(_, name)| name.clone());
    let widest = texts
        .chain(headings)
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(1);
    let spelled = lead + 2 + columns.len() * (widest + 2) <= style.width;
    let wide = if spelled { widest } else { 1 };
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
    for (y, name) in &rows {
        let cells: Vec<String> = columns
            .iter()
            .map(|(x, _)| match value(*x, *y) {
                Some(value) if spelled => {
                    let text = heat.unit.text(value);
                    shaded(&format!(" {text:>wide$} "), heat.shade(value), style)
                }
                Some(value) => shaded(&letter(heat.shade(value)).to_string(), heat.shade(value), style),
                None if spelled => " ".repeat(wide + 2),
                None => " ".to_owned(),
            })
            .collect();
        lines.push(format!("{name:>lead$}  {}", cells.concat()));
    }
    if !spelled {
        let (first, last) = (columns.first(), columns.last());
        if let (Some((_, first)), Some((_, last))) = (first, last) {
            lines.push(format!("{:lead$}  columns: {first} to {last}", ""));
        }
        let range = (heat.unit.text(low), heat.unit.text(high));
        let (least, most) = (letter(heat.shade(low)), letter(heat.shade(high)));
        lines.push(format!("{:lead$}  {least} {} to {most} {}", "", range.0, range.1));
    }
    lines.push(format!("{:lead$}  {}", "", clean(&heat.label)));
    lines
}

/// Places with their names, as they stand in the table: rows from the top, columns from the left.
fn names(axis: &Axis, from_the_top: bool) -> Vec<(f64, String)> {
    let short = |name: &String| clean(name).chars().take(NAME_MAX).collect::<String>();
    let mut all: Vec<(f64, String)> = axis.ticks.iter().map(|(at, name)| (*at, short(name))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    if from_the_top {
        all.reverse();
    }
    all
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
                label: "time".into(),
                unit: Unit::Nanoseconds,
                cells: (0..side * side - 1).map(cell).collect(),
            }),
            ..Chart::new("x")
        }
    }

    fn lines(side: usize, style: &Style) -> Vec<String> {
        let chart = chart(side);
        map(&chart, chart.heat.as_ref().unwrap(), style)
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
        assert!(
            map(
                &Chart::new("x"),
                &Heat {
                    label: String::new(),
                    unit: Unit::Plain,
                    cells: Vec::new()
                },
                &Style::PLAIN
            )
            .is_empty()
        );
    }
}
