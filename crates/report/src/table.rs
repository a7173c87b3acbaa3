//! A table as data, before anybody writes it: every renderer gets the same one. It knows no width, no colour, no markup.

/// What a piece of text means; a renderer may colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The answer, a heading.
    Strong,
    /// What one need not read.
    Faint,
    /// Look at this.
    Warning,
    /// Wrong, failed, slower.
    Bad,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// True for text, false for numbers, which end at the right.
    pub left: bool,
    /// Where room is short the highest goes first; 0 stays whatever happens.
    pub priority: u8,
    /// It names the row, as a transport or a size does: it stays while it varies, and goes into the title where all
    /// rows have the same.
    pub key: bool,
}

/// A column of text.
pub fn text(title: &str, priority: u8) -> Column {
    Column {
        title: title.to_owned(),
        left: true,
        priority,
        key: false,
    }
}

/// A column of numbers.
pub fn number(title: &str, priority: u8) -> Column {
    Column {
        left: false,
        ..text(title, priority)
    }
}

/// A column of text that names the row.
pub fn key(title: &str) -> Column {
    Column {
        key: true,
        ..text(title, 0)
    }
}

/// A column of numbers that names the row.
pub fn key_number(title: &str) -> Column {
    Column {
        key: true,
        ..number(title, 0)
    }
}

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// As many cells as the table has columns; an empty one says nothing.
    pub cells: Vec<String>,
    /// What the row means.
    pub tone: Option<Tone>,
}

impl From<Vec<String>> for Row {
    fn from(cells: Vec<String>) -> Row {
        Row { cells, tone: None }
    }
}

/// A table with its title and what there is to say below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Its heading; may be empty.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What its figures mean, a sentence each.
    pub notes: Vec<String>,
    /// So many of its rows are on the screen of a verb; everything else that is written has all.
    pub screen_rows: Option<usize>,
    /// Whether a reader of the page may put its rows into another order.
    pub sortable: bool,
}

impl Table {
    /// A table of `rows`, each with a cell for each of `columns` or fewer. Columns without any text are left out, and of
    /// those that name the row the ones that are the same in all of several rows go into the title.
    pub fn new(title: &str, columns: Vec<Column>, rows: Vec<Row>) -> Table {
        let mut table = Table {
            title: title.to_owned(),
            columns,
            rows,
            ..Table::default()
        };
        for row in &mut table.rows {
            row.cells.resize(table.columns.len(), String::new());
        }
        let same = |index: usize| {
            let mut cells = table.rows.iter().map(|row| &row.cells[index]);
            let first = cells.next().cloned().unwrap_or_default();
            cells.all(|cell| *cell == first).then_some(first)
        };
        let mut folded = Vec::new();
        let keep: Vec<bool> = table
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| match same(index) {
                Some(cell) if cell.is_empty() => false,
                Some(cell) if column.key && table.rows.len() > 1 => {
                    folded.push(format!("{} {cell}", column.title).trim().to_owned());
                    false
                }
                _ => true,
            })
            .collect();
        // A table must keep something that tells its rows apart.
        if keep.iter().any(|kept| *kept) {
            table.retain(&keep);
            let parts = std::iter::once(table.title).chain(folded);
            table.title = parts
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" · ");
        }
        table
    }

    /// The same with something to say below it.
    pub fn noted(mut self, note: &str) -> Table {
        self.notes.push(note.to_owned());
        self
    }

    /// The same with `rows` of its rows on the screen of a verb.
    pub fn on_screen(self, rows: usize) -> Table {
        Table {
            screen_rows: Some(rows),
            ..self
        }
    }

    /// The same, to be sorted by who reads the page.
    pub fn sorted_by_reader(self) -> Table {
        Table {
            sortable: true,
            ..self
        }
    }

    /// What of it is on the screen of a verb, and how many rows are not.
    pub(crate) fn for_screen(&self) -> (Table, usize) {
        let most = self.screen_rows.unwrap_or(usize::MAX);
        let shown = Table {
            rows: self.rows.iter().take(most).cloned().collect(),
            ..self.clone()
        };
        (shown, self.rows.len().saturating_sub(most))
    }

    fn retain(&mut self, keep: &[bool]) {
        let mut kept = keep.iter();
        self.columns.retain(|_| kept.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut kept = keep.iter();
            row.cells.retain(|_| kept.next().copied().unwrap_or(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Row {
        cells
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<_>>()
            .into()
    }

    fn columns() -> Vec<Column> {
        vec![
            key("transport"),
            key_number("size"),
            number("rate", 0),
            text("note", 3),
        ]
    }

    #[test]
    fn what_is_the_same_in_every_row_is_said_once() {
        let rows = vec![row(&["tcp", "8 B", "5", ""]), row(&["tcp", "64 B", "5"])];
        let table = Table::new("Rates", columns(), rows);
        assert_eq!(table.title, "Rates · transport tcp");
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
        // A figure that happens to be the same is still a figure.
        assert_eq!(titles, ["size", "rate"]);
        assert_eq!(table.rows[1].cells, ["64 B", "5"]);
    }

    #[test]
    fn one_row_keeps_its_names() {
        let table = Table::new("Rates", columns(), vec![row(&["tcp", "8 B", "5", ""])]);
        assert_eq!((table.title.as_str(), table.columns.len()), ("Rates", 3));
        assert!(Table::new("", columns(), Vec::new()).rows.is_empty());
    }
}
