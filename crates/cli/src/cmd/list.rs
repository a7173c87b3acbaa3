//! `wirespeed list`: transports and what each can do here, with the reason for every gap.

use crate::args::{ColorChoice, ListArgs};
use crate::errors::{Ended, Failure};
use crate::output;
use crate::terminal::{self, Stream};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wirespeed::Registry;
use wirespeed::transport::registry::Entry;
use wirespeed::transport::{Availability, Limits, SizeLimit, Support};
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_schema::plan::PlanError;
use wirespeed_schema::test::{Capability, Layout};
use wirespeed_schema::units::format_size;

/// Show all transports, or one in full.
pub fn list(registry: &Registry, arguments: &ListArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let chosen: Vec<&Entry> = match &arguments.transport {
        None => registry.entries().iter().collect(),
        Some(name) => vec![registry.find(name).ok_or_else(|| {
            let known: Vec<_> = registry.entries().iter().map(|e| e.name).collect();
            PlanError::unknown("transport", name, &known)
        })?],
    };
    let text = if arguments.json {
        let transports: Vec<Value> = chosen.iter().map(|entry| as_json(entry)).collect();
        let document = json!({ "transports": transports });
        format!("{document:#}\n")
    } else if arguments.transport.is_some() {
        chosen.iter().map(|entry| in_full(entry)).collect()
    } else {
        overview(&chosen, terminal::style(Stream::Stdout, color).color)
    };
    output::print(&text).map(|()| Ended::OK)
}

/// Why it cannot be used here, if so.
fn obstacle(entry: &Entry) -> Option<String> {
    match (entry.probe)() {
        Availability::Ready => None,
        Availability::Missing(why) | Availability::NotPermitted(why) => Some(why),
        _ => Some("not available".to_owned()),
    }
}

fn word(support: Support) -> &'static str {
    match support {
        Support::Native(_) => "native",
        Support::Emulated(..) => "emulated",
        Support::Lacks(_) => "-",
    }
}

/// Why or how, where there is something to say.
fn explanation(support: Support) -> Option<&'static str> {
    match support {
        Support::Native(_) => None,
        Support::Emulated(_, how) => Some(how),
        Support::Lacks(why) => Some(why),
    }
}

fn group_word(group: GroupKind) -> &'static str {
    match group {
        GroupKind::Threads => "threads",
        GroupKind::Processes => "processes",
        GroupKind::Hosts => "hosts",
    }
}

fn limits(entry: &Entry) -> Option<Limits> {
    (entry.limits)(&TransportOptions::new()).ok()
}

/// One line a transport, then a line for each gap and detour.
fn overview(entries: &[&Entry], color: bool) -> String {
    let mut rows = vec![
        [
            "transport",
            "here",
            "messages",
            "tagged",
            "one-sided",
            "between",
            "what it is",
        ]
        .map(str::to_owned),
    ];
    for entry in entries {
        let between = limits(entry).map(|l| {
            l.groups
                .iter()
                .map(|g| group_word(*g))
                .collect::<Vec<_>>()
                .join(", ")
        });
        rows.push([
            entry.name.to_owned(),
            if obstacle(entry).is_none() { "yes" } else { "no" }.to_owned(),
            word(entry.messages).to_owned(),
            word(entry.tagged).to_owned(),
            word(entry.one_sided).to_owned(),
            between.unwrap_or_default(),
            entry.summary.to_owned(),
        ]);
    }
    let mut text = columns(&rows, color);
    let notes = notes(entries);
    if !notes.is_empty() {
        text.push('\n');
        text.push_str(&notes);
    }
    text.push_str("\nMore on one of them, its options included: wirespeed list TRANSPORT\n");
    text
}

fn notes(entries: &[&Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if let Some(why) = obstacle(entry) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}: not here: {why}", entry.name);
        }
        for capability in Capability::ALL {
            let support = entry.support(capability);
            if let Some(why) = explanation(support) {
                let verb = if matches!(support, Support::Lacks(_)) {
                    "none"
                } else {
                    "emulated"
                };
                let _ = writeln!(text, "{}: {} {verb}: {why}", entry.name, capability.name());
            }
        }
    }
    text
}

/// Left-aligned columns, two blanks between, the header bold.
fn columns(rows: &[[String; 7]], color: bool) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        let _ = match color && number == 0 {
            true => writeln!(text, "\x1b[1m{line}\x1b[0m"),
            false => writeln!(text, "{line}"),
        };
    }
    text
}

/// Everything about one transport.
fn in_full(entry: &Entry) -> String {
    let mut text = format!("{}: {}\n", entry.name, entry.summary);
    let here = obstacle(entry).map_or("yes".to_owned(), |why| format!("no: {why}"));
    let _ = writeln!(text, "  here       {here}");
    for capability in Capability::ALL {
        let support = entry.support(capability);
        let why = explanation(support)
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        let said = if matches!(support, Support::Lacks(_)) {
            "none"
        } else {
            word(support)
        };
        let _ = writeln!(text, "  {:<10} {said}{why}", capability.name());
    }
    if let Some(limits) = limits(entry) {
        let groups: Vec<_> = limits.groups.iter().map(|g| group_word(*g)).collect();
        let _ = writeln!(
            text,
            "  between    {}, {}",
            groups.join(", "),
            ranks(limits.ranks_max)
        );
        for (what, by_layout) in [
            ("message", limits.messages),
            ("put", limits.put),
            ("get", limits.get),
        ] {
            for layout in Layout::ALL {
                let _ = writeln!(
                    text,
                    "  {what:<8} {:<6} {}",
                    layout.name(),
                    size(by_layout[layout as usize])
                );
            }
        }
        let _ = writeln!(text, "  tagged          {}", size(limits.tagged));
    }
    if entry.options.is_empty() {
        text.push_str("  options    none\n");
        return text;
    }
    text.push_str("  options (-O NAME=VALUE):\n");
    for option in entry.options {
        let default = match option.default {
            "" => String::new(),
            default => format!(" [default: {default}]"),
        };
        let _ = writeln!(
            text,
            "    {}={}{default}\n        {}",
            option.name, option.values, option.help
        );
    }
    text
}

fn ranks(max: u32) -> String {
    match max {
        u32::MAX => "any number of ranks".to_owned(),
        1 => "one rank".to_owned(),
        max => format!("at most {max} ranks"),
    }
}

fn size(limit: SizeLimit) -> String {
    match limit {
        SizeLimit::UpTo(u64::MAX) => "any size".to_owned(),
        SizeLimit::UpTo(bytes) => format!("up to {}", format_size(bytes)),
        SizeLimit::Lacks(why) => format!("none: {why}"),
    }
}

fn as_json(entry: &Entry) -> Value {
    let support = |support: Support| {
        let name = if matches!(support, Support::Lacks(_)) {
            "none"
        } else {
            word(support)
        };
        json!({ "support": name, "explanation": explanation(support) })
    };
    let capabilities: serde_json::Map<String, Value> = Capability::ALL
        .iter()
        .map(|capability| (capability.name().to_owned(), support(entry.support(*capability))))
        .collect();
    let options: Vec<Value> = entry
        .options
        .iter()
        .map(|o| json!({ "name": o.name, "values": o.values, "default": o.default, "help": o.help }))
        .collect();
    let why = obstacle(entry);
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "available": why.is_none(),
        "obstacle": why,
        "capabilities": capabilities,
        "limits": limits(entry).map(|l| limits_json(&l)),
        "options": options,
    })
}

fn limits_json(limits: &Limits) -> Value {
    let one = |limit: SizeLimit| match limit {
        SizeLimit::UpTo(u64::MAX) => json!({ "unlimited": true }),
        SizeLimit::UpTo(bytes) => json!({ "size_bytes_max": bytes }),
        SizeLimit::Lacks(why) => json!({ "none": why }),
    };
    let by_layout = |limits: [SizeLimit; 3]| -> serde_json::Map<String, Value> {
        let layouts = Layout::ALL.iter();
        layouts
            .map(|l| (l.name().to_owned(), one(limits[*l as usize])))
            .collect()
    };
    json!({
        "message": by_layout(limits.messages),
        "put": by_layout(limits.put),
        "get": by_layout(limits.get),
        "tagged": one(limits.tagged),
        "groups": limits.groups,
        "ranks_max": limits.ranks_max,
    })
}
