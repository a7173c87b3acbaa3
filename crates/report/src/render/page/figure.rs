//! A chart on the page: its answer as a heading, the drawing for wide and narrow windows, its words, and its data twice: a
//! table to read and values to copy.

use super::Html;
use crate::charts::Picture;
use crate::svg::{Axis, Chart, Heat, Look, Point, Series, Unit, escape, key};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wirespeed_schema::order::map_of;

impl Html {
    /// One chart.
    pub fn figure(&mut self, picture: &Picture) {
        let (chart, id) = (&picture.chart, &picture.chart.id);
        let _ = writeln!(
            self.text,
            "<figure aria-labelledby=\"{id}-says\">\n<h3 id=\"{id}-says\">{}</h3>",
            escape(&chart.title)
        );
        if !chart.subtitle.is_empty() {
            self.element("p", "soft", &chart.subtitle);
        }
        let _ = writeln!(self.text, "<div class=\"ws-pair\">\n{}</div>", chart.inline());
        for line in picture.untitled() {
            self.element("p", "strong", line);
        }
        for line in &picture.words {
            self.element("p", "", line);
        }
        let data = values(chart);
        self.buttons(&[
            ("Copy the sentence", format!("{id}-says"), ""),
            ("Copy the values", format!("{id}-values"), ""),
        ]);
        let subject = chart.subject();
        if !picture.table.rows.is_empty() {
            let _ = writeln!(
                self.text,
                "<details><summary>Table: {}</summary>",
                escape(subject)
            );
            self.table(&picture.table, "h4", subject);
            self.raw("</details>\n");
        }
        self.values(&format!("Values: {subject}"), &format!("{id}-values"), &data);
        self.raw("</figure>\n");
    }

    /// Values to copy, folded away.
    pub fn values(&mut self, summary: &str, id: &str, csv: &str) {
        let label = self.label(summary);
        let _ = writeln!(self.text, "<details><summary>{}</summary>", escape(summary));
        self.frame(&label, id, csv.lines());
        self.buttons(&[
            ("Copy as CSV", id.to_owned(), ""),
            ("Copy as JSON", id.to_owned(), "json"),
        ]);
        self.raw("</details>\n");
    }
}

/// More cells than this are a table of their own, a row of them a line.
const CELLS_MAX: usize = 4096;

/// The data of a chart as CSV: a row a point or a cell, in the axes' own units; of a large map its rows and columns.
fn values(chart: &Chart) -> String {
    if let Some(heat) = chart.heat.as_ref().filter(|heat| heat.cells.len() > CELLS_MAX) {
        return matrix(chart, heat);
    }
    let mut rows = Vec::new();
    if let Some(heat) = &chart.heat {
        rows.push(vec![
            name(&chart.y, "row"),
            name(&chart.x, "column"),
            heat.label.clone(),
        ]);
        rows.extend(
            heat.shown()
                .map(|cell| vec![at(&chart.y, cell.y), at(&chart.x, cell.x), cell.value.to_string()]),
        );
        return super::data::written(&rows);
    }
    // Columns of nothing but empty fields would say nothing.
    let is_named = chart.series.iter().any(|series| !series.label.is_empty());
    let mut points = chart.series.iter().flat_map(|series| &series.points);
    let has_ends = points.any(|point| point.interval.is_some());
    let row = |series: String, place: [String; 2], ends: [String; 2]| -> Vec<String> {
        let (series, ends) = (is_named.then_some(series), has_ends.then_some(ends));
        let ends = ends.into_iter().flatten();
        series.into_iter().chain(place).chain(ends).collect()
    };
    let axes = [name(&chart.x, "x"), name(&chart.y, "case")];
    rows.push(row(
        "series".to_owned(),
        axes,
        ["lower", "upper"].map(str::to_owned),
    ));
    for series in &chart.series {
        let finite = |point: &&Point| point.x.is_finite() && point.y.is_finite();
        for point in series.points.iter().filter(finite) {
            let ends = match point.interval {
                Some((low, high)) => [low, high].map(|end| end.to_string()),
                None => [String::new(), String::new()],
            };
            let place = [at(&chart.x, point.x), at(&chart.y, point.y)];
            rows.push(row(series_name(chart, series), place, ends));
        }
    }
    super::data::written(&rows)
}

/// The name of a series; of a fit, which has none in the legend, that of the data in its colour.
fn series_name(chart: &Chart, series: &Series) -> String {
    if !series.label.is_empty() || series.look != Look::Fit {
        return series.label.clone();
    }
    let mut data = (0..)
        .zip(&chart.series)
        .filter(|(_, other)| other.look != Look::Fit);
    let fitted = data.find(|(place, other)| Some(other.color.unwrap_or(*place)) == series.color);
    match fitted {
        Some((_, other)) if !other.label.is_empty() => format!("fit of {}", other.label),
        _ => "fit".to_owned(),
    }
}

/// Rows by columns, each value with four digits: a quarter of a million cells take two megabytes.
fn matrix(chart: &Chart, heat: &Heat) -> String {
    let (columns, rows) = (chart.x.places(false), chart.y.places(true));
    let index = |places: &[(f64, &str)]| -> BTreeMap<u64, usize> {
        map_of(places.iter().map(|(place, _)| key(*place)).zip(0..))
    };
    let (by_column, by_row) = (index(&columns), index(&rows));
    let mut lines: Vec<Vec<String>> = rows
        .iter()
        .map(|(_, name)| [vec![(*name).to_owned()], vec![String::new(); columns.len()]].concat())
        .collect();
    for cell in heat.shown() {
        if let (Some(row), Some(column)) = (by_row.get(&key(cell.y)), by_column.get(&key(cell.x))) {
            lines[*row][column + 1] = format!("{:.3e}", cell.value);
        }
    }
    let corner = format!("{}{}", heat.label, heat.unit.of_values());
    let names = columns.iter().map(|(_, name)| (*name).to_owned());
    lines.insert(0, std::iter::once(corner).chain(names).collect());
    super::data::written(&lines)
}

/// An axis with the unit of its values.
fn name(axis: &Axis, without: &str) -> String {
    let name = match axis.label.as_str() {
        "" => without,
        label => label,
    };
    format!("{name}{}", axis.unit.of_values())
}

/// A value, or the name that stands at its place. Ticks of an axis with a unit are values in words, no names.
fn at(axis: &Axis, place: f64) -> String {
    let mut names = axis.ticks.iter().filter(|_| axis.unit == Unit::Plain);
    match names.find(|(named, _)| *named == place) {
        Some((_, name)) => name.clone(),
        None => axis.unit.value(place).to_string(),
    }
}
