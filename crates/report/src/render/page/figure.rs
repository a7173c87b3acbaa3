//! A chart on the page: its answer as a heading, the drawing for wide and narrow windows, its words, and its data twice: a
//! table to read and values to copy.

use super::Html;
use crate::charts::Picture;
use crate::svg::{Axis, Chart, escape};
use std::fmt::Write as _;

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
        let (summary, label) = (escape(summary), escape(&label));
        let _ = writeln!(
            self.text,
            "<details><summary>{summary}</summary>\n\
             <div class=\"frame data\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><pre class=\"csv\" id=\"{id}\">{}</pre></div>",
            lines(csv)
        );
        self.buttons(&[
            ("Copy as CSV", id.to_owned(), ""),
            ("Copy as JSON", id.to_owned(), "json"),
        ]);
        self.raw("</details>\n");
    }
}

/// Escaped CSV with its lines kept.
fn lines(csv: &str) -> String {
    let lines: Vec<String> = csv.lines().map(escape).collect();
    lines.join("\n")
}

/// The data of a chart as CSV: a row a point or a cell, in the axes' own units.
fn values(chart: &Chart) -> String {
    let mut rows = vec![match &chart.heat {
        Some(heat) => vec![name(&chart.y, "y"), name(&chart.x, "x"), heat.label.clone()],
        None => vec![
            "series".to_owned(),
            name(&chart.x, "x"),
            name(&chart.y, "y"),
            "lower".to_owned(),
            "upper".to_owned(),
        ],
    }];
    for cell in chart.heat.iter().flat_map(|heat| heat.shown()) {
        rows.push(vec![
            at(&chart.y, cell.y),
            at(&chart.x, cell.x),
            cell.value.to_string(),
        ]);
    }
    for series in &chart.series {
        let finite = series
            .points
            .iter()
            .filter(|point| point.x.is_finite() && point.y.is_finite());
        for point in finite {
            let (low, high) = point
                .interval
                .map_or((String::new(), String::new()), |(low, high)| {
                    (low.to_string(), high.to_string())
                });
            let label = series.label.clone();
            rows.push(vec![
                label,
                at(&chart.x, point.x),
                at(&chart.y, point.y),
                low,
                high,
            ]);
        }
    }
    super::data::written(&rows)
}

/// An axis with the unit of its values.
fn name(axis: &Axis, without: &str) -> String {
    let name = match axis.label.as_str() {
        "" => without,
        label => label,
    };
    format!("{name}{}", axis.unit.of_values())
}

/// A value, or the name that stands at its place.
fn at(axis: &Axis, value: f64) -> String {
    let named = axis.ticks.iter().find(|(place, _)| *place == value);
    match named {
        Some((_, name)) => name.clone(),
        None => value.to_string(),
    }
}
