//! A table in aligned columns that fit a width. Where there is no room the least important figures go first and are
//! named; the others go on in further blocks below, each with the names of the rows; and where not even that fits, each
//! row becomes a few lines. What tells rows apart never goes.

use super::style::{Style, clean, wrap};
use crate::table::{Column, Table, Tone};

/// Spaces between two columns.
const GAP: usize = 2;
/// No column of text is made narrower than this.
const TEXT_MIN: usize = 16;

/// Lines of a table: title, heading, rows, what was left out, notes.
pub(super) fn lines(table: &Table, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    if !table.title.is_empty() {
        let title = wrap(&clean(&table.title), style.prose(), 2);
        lines.push(style.paint(Tone::Strong, &title));
    }
    if !table.rows.is_empty() {
        lines.extend(Layout::of(table, style).lines(table, style));
    }
    let notes = table.notes.iter();
    lines.extend(notes.map(|note| style.paint(Tone::Faint, &wrap(&clean(note), style.prose(), 2))));
    lines
}

/// The columns that are shown, with their widths.
struct Layout<'a> {
    shown: Vec<(usize, usize)>,
    /// Titles of those that are not, in the order of the table.
    dropped: Vec<&'a str>,
}

impl<'a> Layout<'a> {
    /// Figures go by their priority until the others fit, or only those are left that must stay.
    fn of(table: &'a Table, style: &Style) -> Layout<'a> {
        let width = style.width;
        let widest = |index: usize| {
            let cells = table.rows.iter().map(|row| row.cells[index].chars().count());
            cells
                .max()
                .unwrap_or(0)
                .max(table.columns[index].title.chars().count())
        };
        let mut shown: Vec<(usize, usize)> = (0..table.columns.len())
            .map(|index| (index, widest(index)))
            .collect();
        let mut dropped = Vec::new();
        // Text alone is read as sentences are, and becomes narrower before any of it goes.
        let is_text = table.columns.iter().all(|column| column.left);
        if is_text {
            narrow(table, &mut shown, width);
        }
        while taken(&shown) > width {
            let importance = |column: &Column| if column.key { 0 } else { column.priority };
            let least = (0..shown.len())
                .filter(|&position| importance(&table.columns[shown[position].0]) > 0)
                .max_by_key(|&position| importance(&table.columns[shown[position].0]));
            let Some(position) = least else {
                break;
            };
            dropped.push(shown.remove(position).0);
        }
        dropped.sort_unstable();
        narrow(table, &mut shown, width);
        if is_text {
            (style.prose()..width).any(|least| narrow(table, &mut shown, least));
        }
        let titles = dropped
            .into_iter()
            .map(|index| table.columns[index].title.as_str());
        Layout {
            shown,
            dropped: titles.collect(),
        }
    }

    fn lines(&self, table: &Table, style: &Style) -> Vec<String> {
        let mut lines: Vec<String> = match self.blocks(table, style.width) {
            Some(blocks) => blocks
                .iter()
                .flat_map(|block| aligned(table, block, style))
                .collect(),
            None => return stacked(table, style),
        };
        if !self.dropped.is_empty() {
            let note = format!("left out at {} columns: {}", style.width, self.dropped.join(", "));
            lines.push(style.paint(Tone::Faint, &wrap(&note, style.prose(), 2)));
        }
        lines
    }

    /// The columns in blocks that fit, each with the names of the rows in front; `None` where not even one figure fits
    /// beside them.
    fn blocks(&self, table: &Table, width: usize) -> Option<Vec<Vec<(usize, usize)>>> {
        if taken(&self.shown) <= width {
            return Some(vec![self.shown.clone()]);
        }
        let names = names(table);
        let (lead, others): (Vec<_>, Vec<_>) = self
            .shown
            .iter()
            .copied()
            .partition(|(index, _)| names.contains(index));
        let mut blocks: Vec<Vec<(usize, usize)>> = Vec::new();
        for column in others {
            let room = |block: &Vec<(usize, usize)>| taken(block) + GAP + column.1 <= width;
            match blocks.last_mut().filter(|block| room(block)) {
                Some(block) => block.push(column),
                None => blocks.push([lead.clone(), vec![column]].concat()),
            }
        }
        let is_shown = !blocks.is_empty() && blocks.iter().all(|block| taken(block) <= width);
        is_shown.then_some(blocks)
    }
}

/// Where columns that must stay do not fit, columns of text become narrower, the widest first, as far as they stay
/// readable; where that is not enough, all stay as they are. Returns whether it is.
fn narrow(table: &Table, shown: &mut Vec<(usize, usize)>, width: usize) -> bool {
    let mut narrowed = shown.clone();
    while taken(&narrowed) > width {
        let texts = narrowed.iter_mut().filter(|(index, width)| {
            table.columns[*index].left && !table.columns[*index].key && *width > TEXT_MIN
        });
        match texts.max_by_key(|(_, width)| *width) {
            Some((_, widest)) => *widest -= 1,
            None => return false,
        }
    }
    *shown = narrowed;
    true
}

/// Columns of characters that `columns` take.
fn taken(columns: &[(usize, usize)]) -> usize {
    let all: usize = columns.iter().map(|(_, width)| width + GAP).sum();
    all.saturating_sub(GAP)
}

/// Places of the columns that name a row: its keys, or its first cell.
fn names(table: &Table) -> Vec<usize> {
    let keys = table.columns.iter().enumerate().filter(|(_, column)| column.key);
    let keys: Vec<usize> = keys.map(|(index, _)| index).collect();
    if keys.is_empty() { vec![0] } else { keys }
}

/// Heading and rows of some columns.
fn aligned(table: &Table, columns: &[(usize, usize)], style: &Style) -> Vec<String> {
    let heading = columns
        .iter()
        .map(|(index, _)| table.columns[*index].title.as_str());
    let heading = cells_in_lines(table, columns, &heading.collect::<Vec<_>>());
    let mut lines: Vec<String> = heading
        .iter()
        .map(|line| style.paint(Tone::Faint, line))
        .collect();
    for row in &table.rows {
        let cells: Vec<&str> = columns
            .iter()
            .map(|(index, _)| row.cells[*index].as_str())
            .collect();
        let text = cells_in_lines(table, columns, &cells).into_iter();
        lines.extend(text.map(|line| row.tone.map_or(line.clone(), |tone| style.paint(tone, &line))));
    }
    lines
}

/// The cells of a row beside each other, each broken where it is longer than its column.
fn cells_in_lines(table: &Table, columns: &[(usize, usize)], cells: &[&str]) -> Vec<String> {
    let broken: Vec<Vec<String>> = cells
        .iter()
        .zip(columns)
        .map(|(cell, (_, width))| wrap(&clean(cell), *width, 0).lines().map(str::to_owned).collect())
        .collect();
    let height = broken.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let line = |number: usize| {
        let parts = columns.iter().zip(&broken).map(|((index, width), cell)| {
            let text = cell.get(number).map_or("", String::as_str);
            match table.columns[*index].left {
                true => format!("{text:<width$}"),
                false => format!("{text:>width$}"),
            }
        });
        parts.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// A row as lines: what names it, then each figure with its name.
fn stacked(table: &Table, style: &Style) -> Vec<String> {
    let named = names(table);
    let is_name = |index: usize| named.contains(&index);
    let mut lines = Vec::new();
    for row in &table.rows {
        let cells = || row.cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        let names: Vec<&str> = cells()
            .filter(|(index, _)| is_name(*index))
            .map(|(_, cell)| cell.as_str())
            .collect();
        let figures: Vec<String> = cells()
            .filter(|(index, _)| !is_name(*index))
            .map(|(index, cell)| format!("{} {cell}", table.columns[index].title))
            .collect();
        let name = wrap(&clean(&names.join(" ")), style.width, 2);
        lines.push(row.tone.map_or(name.clone(), |tone| style.paint(tone, &name)));
        if !figures.is_empty() {
            let text = format!("  {}", clean(figures.join(", ").trim()));
            lines.push(wrap(&text, style.width, 4));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{key, number, text};

    fn table() -> Table {
        let columns = vec![
            key("name"),
            number("value", 0),
            number("more", 2),
            number("most", 1),
        ];
        let rows = [["a", "1", "22", "3"], ["bb", "4", "", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec().into());
        Table::new("", columns, rows.into())
    }

    fn at(width: usize) -> Vec<String> {
        let style = Style {
            width,
            ..Style::PLAIN
        };
        lines(&table(), &style)
    }

    #[test]
    fn the_least_important_figure_goes_first_and_is_named() {
        assert_eq!(
            at(100),
            [
                "name  value  more  most",
                "a         1    22     3",
                "bb        4"
            ]
        );
        let narrow = at(18);
        assert_eq!(narrow[0], "name  value  most");
        assert!(narrow[3].ends_with("more"), "{narrow:?}");
    }

    #[test]
    fn what_must_stay_goes_on_below_with_the_names_of_the_rows() {
        let columns = ["tests", "10 B", "100 B"].map(|title| text(title, 0)).to_vec();
        let rows = vec![["2", "11", "22"].map(str::to_owned).to_vec().into()];
        let table = Table::new("", columns, rows);
        let style = Style {
            width: 13,
            ..Style::PLAIN
        };
        assert_eq!(
            lines(&table, &style),
            ["tests  10 B", "2      11", "tests  100 B", "2      22"]
        );
    }

    #[test]
    fn rows_of_names_alone_are_stacked_where_they_do_not_fit() {
        let rows = vec![["long name", "threads"].map(str::to_owned).to_vec().into()];
        let table = Table::new("", vec![key("name"), key("group")], rows);
        let style = Style {
            width: 12,
            ..Style::PLAIN
        };
        assert_eq!(lines(&table, &style), ["long name\n  threads"]);
    }

    #[test]
    fn what_does_not_fit_at_all_is_stacked_and_whole() {
        let stacked = at(8).join(" ");
        for part in ["a", "value 1", "more", "22", "most 3", "bb", "value 4"] {
            let words = stacked.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(part), "{part}: {stacked}");
        }
    }
}
