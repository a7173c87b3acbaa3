//! A chart as a Vega-Lite specification, for those who want to draw it anew. Data and marks are those of the SVG.

use crate::svg::{Axis, Cell, Chart, Heat, Look, Mark, Scale, Series, Unit};
use serde_json::{Map, Value, json};

/// The specification with its data inline (Vega-Lite 5). Fields: `x`, `y`, `low`, `high`, `series`.
pub fn vega_lite(chart: &Chart) -> Value {
    let (x, y) = (channel(field(&chart.x), &chart.x), channel("y", &chart.y));
    let mut layers: Vec<Value> = Vec::new();
    for series in &chart.series {
        layers.extend(layer(series, (&x, chart.x.unit), &y));
    }
    if chart.x.unit == Unit::Beyond {
        // A layer with data of its own has no part in the transforms around it.
        for layer in &mut layers {
            layer["transform"] = json!([{ "calculate": "1 / (1 - datum.x)", "as": BEYOND }]);
        }
    }
    layers.extend(chart.heat.as_ref().map(|heat| cells(heat, &x, &y)));
    layers.extend(chart.marks.iter().map(annotation));
    json!({
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": { "text": chart.title, "subtitle": chart.subtitle },
        "description": chart.description,
        "width": chart.width,
        "height": chart.plot_height,
        "layer": layers,
    })
}

/// The field that holds the places of shares on a logarithmic axis; `x` holds the shares themselves.
const BEYOND: &str = "one_over_beyond";

fn field(x: &Axis) -> &'static str {
    match x.unit {
        Unit::Beyond => BEYOND,
        _ => "x",
    }
}

fn channel(field: &str, axis: &Axis) -> Value {
    let mut scale = Map::new();
    if axis.scale == Scale::Log {
        scale.insert("type".into(), "log".into());
    }
    scale.insert("zero".into(), axis.from_zero.into());
    if let Some((low, high)) = axis.range {
        scale.insert("domain".into(), json!([low, high]));
    }
    let mut shown = Map::new();
    if !axis.ticks.is_empty() {
        let values: Vec<f64> = axis.ticks.iter().map(|(value, _)| *value).collect();
        // Labels of ticks are looked up by value; every tick has one.
        let labels: Map<String, Value> = axis
            .ticks
            .iter()
            .map(|(value, label)| (value.to_string(), label.clone().into()))
            .collect();
        let lookup = Value::Object(labels).to_string();
        shown.insert("values".into(), json!(values));
        shown.insert(
            "labelExpr".into(),
            format!("{lookup}[toString(datum.value)] || datum.label").into(),
        );
    }
    json!({ "field": field, "type": "quantitative", "title": axis.label, "scale": scale, "axis": shown })
}

fn layer(series: &Series, (x, unit): (&Value, Unit), y: &Value) -> Vec<Value> {
    let values: Vec<Value> = series
        .points
        .iter()
        .filter(|point| point.x.is_finite() && point.y.is_finite())
        .map(|point| {
            let at = unit.value(point.x);
            match point.interval {
                Some((low, high)) => {
                    json!({ "x": at, "y": point.y, "low": low, "high": high, "series": series.label })
                }
                None => json!({ "x": at, "y": point.y, "series": series.label }),
            }
        })
        .collect();
    let color = json!({ "field": "series", "type": "nominal", "title": null });
    let data = json!({ "values": values });
    let mark = match series.look {
        Look::Line => json!({ "type": "line", "point": true }),
        Look::Fit => json!({ "type": "line", "strokeDash": [6, 4] }),
        Look::Points | Look::Across => json!({ "type": "point", "filled": true }),
        Look::Steps => json!({ "type": "area", "interpolate": "step-after" }),
    };
    let mut layers =
        vec![json!({ "data": data, "mark": mark, "encoding": { "x": x, "y": y, "color": color } })];
    if series.points.iter().any(|point| point.interval.is_some()) {
        let (along, other, low, high) = match series.look {
            Look::Across => (x, ("y", y), "x", "x2"),
            _ => (y, ("x", x), "y", "y2"),
        };
        let mut start = along.clone();
        start["field"] = "low".into();
        let mut encoding = Map::new();
        encoding.insert(low.into(), start);
        encoding.insert(high.into(), json!({ "field": "high" }));
        encoding.insert(other.0.into(), other.1.clone());
        encoding.insert("color".into(), color.clone());
        layers
            .push(json!({ "data": data, "mark": { "type": "rule", "opacity": 0.5 }, "encoding": encoding }));
    }
    layers
}

/// Cells as squares of side 1, shaded by value.
fn cells(heat: &Heat, x: &Value, y: &Value) -> Value {
    let value = |cell: &Cell| {
        json!({
            "x": cell.x - 0.5, "x2": cell.x + 0.5, "y": cell.y - 0.5, "y2": cell.y + 0.5, "value": cell.value,
        })
    };
    let values: Vec<Value> = heat.shown().map(value).collect();
    let mut scale = json!({ "scheme": "cividis" });
    if let Some((low, high)) = heat.ends {
        scale["domain"] = json!([low, high]);
        scale["clamp"] = true.into();
    }
    let color = json!({ "field": "value", "type": "quantitative", "title": heat.label, "scale": scale });
    json!({
        "data": { "values": values },
        "mark": "rect",
        "encoding": { "x": x, "x2": { "field": "x2" }, "y": y, "y2": { "field": "y2" }, "color": color },
    })
}

fn annotation(mark: &Mark) -> Value {
    let rule = json!({ "type": "rule", "strokeDash": [2, 3] });
    match mark {
        Mark::Vertical { x, label } => {
            json!({ "mark": rule, "encoding": { "x": { "datum": x } }, "description": label })
        }
        Mark::Horizontal { y, label } => {
            json!({ "mark": rule, "encoding": { "y": { "datum": y } }, "description": label })
        }
        Mark::Spot { x, y, label } => json!({
            "mark": { "type": "point", "size": 120 },
            "encoding": { "x": { "datum": x }, "y": { "datum": y } },
            "description": label,
        }),
        Mark::Shade { from, to, label } => json!({
            "mark": { "type": "rect", "opacity": 0.12 },
            "encoding": { "x": { "datum": from }, "x2": { "datum": to } },
            "description": label,
        }),
    }
}
