//! A table on the page: it scrolls in a frame of its own where it is too wide, with the column that names its rows held.

use super::{Html, class_of};
use crate::svg::escape;
use crate::table::{Column, Row, Table};
use std::fmt::Write as _;

/// A table with more rows than this scrolls in its frame, so that what comes after it is not a long way down.
const ROWS_MAX: usize = 64;

impl Html {
    /// A table below a heading of `level`; `otherwise`: what it is called where it has no title.
    pub fn table(&mut self, table: &Table, level: &str, otherwise: &str) {
        if !table.title.is_empty() {
            self.element(level, "", &table.title);
        }
        if !table.rows.is_empty() {
            let name = match table.title.as_str() {
                "" => otherwise,
                title => title,
            };
            let label = self.label(name);
            // Writing to a String cannot fail, here and below.
            let _ = write!(
                self.text,
                "<div class=\"frame{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{}>\n<thead><tr>",
                if table.sortable && table.rows.len() > ROWS_MAX {
                    " long"
                } else {
                    ""
                },
                escape(&label),
                if table.sortable && table.rows.len() > 1 {
                    " data-sorts"
                } else {
                    ""
                }
            );
            for column in &table.columns {
                self.title(column);
            }
            self.raw("</tr></thead>\n<tbody>\n");
            table.rows.iter().for_each(|row| self.row(&table.columns, row));
            self.raw("</tbody></table></div>\n");
        }
        for note in &table.notes {
            self.element("p", "soft", note);
        }
    }

    /// The heading of a column; one without words heads nothing.
    fn title(&mut self, column: &Column) {
        let class = class(column);
        let _ = match column.title.as_str() {
            "" => write!(self.text, "<td{class}></td>"),
            title => write!(self.text, "<th scope=\"col\"{class}>{}</th>", escape(title)),
        };
    }

    fn row(&mut self, columns: &[Column], row: &Row) {
        let _ = write!(self.text, "<tr{}>", class_of(row.tone));
        for (number, (cell, column)) in row.cells.iter().zip(columns).enumerate() {
            let (class, cell) = (class(column), escape(cell));
            let _ = match number {
                // A long name breaks between its parts.
                0 if !cell.contains(' ') => {
                    let cell = cell.replace('_', "_<wbr>").replace('.', ".<wbr>");
                    write!(self.text, "<th scope=\"row\"{class}>{cell}</th>")
                }
                0 => write!(self.text, "<th scope=\"row\"{class}>{cell}</th>"),
                _ => write!(self.text, "<td{class}>{cell}</td>"),
            };
        }
        self.raw("</tr>\n");
    }
}

fn class(column: &Column) -> &'static str {
    match column.left {
        true => "",
        false => " class=\"number\"",
    }
}
