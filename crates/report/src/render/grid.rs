//! Aligned columns that fit a width: the least important columns go first when there is no room.

/// One column.
pub(crate) struct Column {
    /// Its heading.
    pub title: &'static str,
    /// True for text, false for numbers, which end at the right.
    pub left: bool,
    /// 0 stays whatever happens; the highest goes first.
    pub priority: u8,
}

/// A text column.
pub(crate) const fn text(title: &'static str, priority: u8) -> Column {
    Column {
        title,
        left: true,
        priority,
    }
}

/// A column of numbers.
pub(crate) const fn number(title: &'static str, priority: u8) -> Column {
    Column {
        title,
        left: false,
        priority,
    }
}

/// Lines of the table: heading first, and the titles of columns left out for lack of room. Columns whose cells are all
/// empty are left out silently. Rows shorter than the columns are filled with empty cells.
pub(crate) fn render(
    columns: &[Column],
    rows: &[Vec<String>],
    width: usize,
) -> (Vec<String>, Vec<&'static str>) {
    let cell = |row: &Vec<String>, index: usize| row.get(index).cloned().unwrap_or_default();
    let filled = |index: usize| rows.iter().any(|row| !cell(row, index).is_empty());
    let widest = |index: usize| {
        let cells = rows
            .iter()
            .map(|row| cell(row, index).chars().count())
            .max()
            .unwrap_or(0);
        cells.max(columns[index].title.chars().count())
    };
    let mut shown: Vec<(usize, usize)> = (0..columns.len())
        .filter(|&index| filled(index))
        .map(|index| (index, widest(index)))
        .collect();
    let mut dropped = Vec::new();
    while shown.iter().map(|(_, width)| width + 2).sum::<usize>() > width + 2 {
        let Some(position) = (0..shown.len())
            .filter(|&position| columns[shown[position].0].priority > 0)
            .max_by_key(|&position| columns[shown[position].0].priority)
        else {
            break;
        };
        dropped.push(columns[shown.remove(position).0].title);
    }
    let line = |text: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = shown
            .iter()
            .map(|&(index, width)| match columns[index].left {
                true => format!("{:<width$}", text(index)),
                false => format!("{:>width$}", text(index)),
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&|index| columns[index].title.to_owned())];
    lines.extend(rows.iter().map(|row| line(&|index| cell(row, index))));
    (lines, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_important_column_goes_first() {
        let columns = [
            text("name", 0),
            number("value", 0),
            number("more", 2),
            number("most", 1),
        ];
        let rows = vec![
            vec!["a".into(), "1".into(), "22".into(), "3".into()],
            vec!["bb".into()],
        ];
        let (lines, dropped) = render(&columns, &rows, 100);
        assert_eq!(
            lines,
            ["name  value  more  most", "a         1    22     3", "bb"]
        );
        assert!(dropped.is_empty());
        let (lines, dropped) = render(&columns, &rows, 18);
        assert_eq!((lines[0].as_str(), dropped), ("name  value  most", vec!["more"]));
        // Nothing left to drop: too wide, but whole.
        assert_eq!(render(&columns, &rows, 1).0[0], "name  value");
    }
}
