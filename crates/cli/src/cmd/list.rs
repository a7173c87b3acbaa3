//! `wirespeed list`: transports and what each can do here, with the reason for every gap.

use crate::args::{ColorChoice, ListArgs};
use crate::errors::{Ended, Failure};
use crate::terminal::{self, Stream};
use crate::{output, view};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wirespeed::Registry;
use wirespeed::transport::port::{AtomicOp, Width};
use wirespeed::transport::registry::Entry;
use wirespeed::transport::{Atomics, Availability, ByLayout, Limits, Resource, SizeLimit, Support};
use wirespeed_byteio::client::Way;
use wirespeed_report::render::Style;
use wirespeed_report::table::{self, Row, Table, Tone};
use wirespeed_report::view::Part;
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_schema::plan::PlanError;
use wirespeed_schema::test::{Capability, Layout};
use wirespeed_schema::units::{counted, format_asked_size};

/// Show all transports, or one in full.
pub fn list(registry: &Registry, arguments: &ListArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let chosen: Vec<&Entry> = match &arguments.transport {
        None => registry.entries().iter().collect(),
        Some(name) => vec![registry.find(name).ok_or_else(|| {
            let known: Vec<_> = registry.entries().iter().map(|e| e.name).collect();
            PlanError::unknown("transport", name, &known)
        })?],
    };
    let style = terminal::style(Stream::Stdout, color);
    let text = if arguments.json {
        let transports: Vec<Value> = chosen.iter().map(|entry| as_json(entry)).collect();
        let document = match &arguments.transport {
            None => json!({ "transports": transports, "bulk": bulk_json() }),
            Some(_) => json!({ "transports": transports }),
        };
        format!("{document:#}\n")
    } else if arguments.transport.is_some() {
        chosen.iter().map(|entry| in_full(entry, &style)).collect()
    } else {
        overview(&chosen, &style)
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
        Support::Native => "native",
        Support::Emulated(_) => "emulated",
        Support::Lacks(_) => "none",
    }
}

/// Why or how, where there is something to say.
fn explanation(support: Support) -> Option<&'static str> {
    match support {
        Support::Native => None,
        Support::Emulated(how) => Some(how),
        Support::Lacks(why) => Some(why),
    }
}

fn group_word(group: GroupKind) -> &'static str {
    match group {
        GroupKind::Threads => "threads",
        GroupKind::Processes => "processes",
        GroupKind::Hosts => "hosts",
        GroupKind::Job => "ranks of a job",
    }
}

fn limits(entry: &Entry) -> Option<Limits> {
    (entry.limits)(&TransportOptions::new()).ok()
}

fn moves_wholes(entry: &Entry) -> bool {
    !matches!(entry.bulk, Support::Lacks(_))
}

/// How many there are, a row a transport, then a line for each gap and detour.
fn overview(entries: &[&Entry], style: &Style) -> String {
    let columns = vec![
        table::key("transport"),
        table::text("here", 0),
        table::text("messages", 0),
        table::text("tagged", 0),
        table::text("one-sided", 0),
        table::text("between", 2),
        table::text("what it is", 0),
    ];
    let shown = |support| word(support).replace("none", "-");
    let row = |entry: &&Entry| {
        let here = obstacle(entry).is_none();
        let groups = limits(entry).map(|limits| limits.groups).unwrap_or_default();
        let between: Vec<&str> = groups.iter().map(|group| group_word(*group)).collect();
        Row {
            cells: vec![
                entry.name.to_owned(),
                if here { "yes" } else { "no" }.to_owned(),
                shown(entry.messages),
                shown(entry.tagged),
                shown(entry.one_sided),
                between.join(", "),
                entry.summary.to_owned(),
            ],
            tone: (!here).then_some(Tone::Faint),
        }
    };
    let between_ranks = entries.iter().filter(|entry| !moves_wholes(entry));
    let transports = Table::new("", columns, between_ranks.map(row).collect());
    let columns = vec![table::key("transport"), table::text("what it is", 0)];
    let wholes = entries.iter().filter(|entry| moves_wholes(entry));
    let ways = wholes.map(|entry| vec![entry.name.to_owned(), entry.summary.to_owned()].into());
    let title =
        "bulk transfers, to and from any service: wirespeed byteio, or bulk_get and bulk_put of `run`";
    let parts = vec![
        Part::Table(transports),
        view::lines(&notes(entries)),
        Part::Table(Table::new(title, columns, ways.collect())),
        view::lines("More on one of them, its options included: wirespeed list TRANSPORT"),
    ];
    let here = entries.iter().filter(|entry| obstacle(entry).is_none()).count();
    let answer = format!("{here} of {} transports can be used here.", entries.len());
    view::told(answer, parts, style)
}

/// The ways of bulk transfers.
fn bulk_json() -> Vec<Value> {
    let way = |way: &Way| json!({ "name": way.name(), "summary": way.about(), "capability": Capability::Bulk.name() });
    Way::ALL.iter().map(way).collect()
}

fn notes(entries: &[&Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let devices = resources(entry).len();
        if devices > 0 {
            let _ = writeln!(
                text,
                "{0}: {1}, each with limits of its own: wirespeed list {0}",
                entry.name,
                counted(devices as u64, "device")
            );
        }
        if let Some(why) = obstacle(entry) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}: not here: {why}", entry.name);
        }
        let about = (entry.about)();
        if !about.is_empty() {
            let said: Vec<_> = about
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let _ = writeln!(text, "{}: {}", entry.name, said.join(", "));
        }
        // Who moves messages moves no wholes, and the reverse: the tables say that.
        let own = Capability::ALL.into_iter().filter(|_| !moves_wholes(entry));
        for capability in own.filter(|capability| *capability != Capability::Bulk) {
            let support = entry.support(capability);
            if let Some(why) = explanation(support) {
                let _ = writeln!(
                    text,
                    "{}: {} {}: {why}",
                    entry.name,
                    capability.name(),
                    word(support)
                );
            }
        }
    }
    text
}

/// Everything about one transport.
fn in_full(entry: &Entry, style: &Style) -> String {
    let answer = format!("{}: {}", entry.name, entry.summary);
    view::told(answer, vec![view::lines(&facts(entry))], style)
}

fn facts(entry: &Entry) -> String {
    let mut text = String::new();
    let here = obstacle(entry).map_or("yes".to_owned(), |why| format!("no: {why}"));
    let _ = writeln!(text, "  here       {here}");
    for (name, value) in (entry.about)() {
        let _ = writeln!(text, "  {name:<10} {value}");
    }
    for capability in Capability::ALL {
        let support = entry.support(capability);
        let why = explanation(support)
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        let _ = writeln!(text, "  {:<10} {}{why}", capability.name(), word(support));
    }
    if let Some(limits) = limits(entry) {
        let _ = writeln!(text, "  between    {}", between(&limits));
        if !moves_wholes(entry) {
            text.push_str(&sizes(&limits));
        }
    }
    for resource in resources(entry) {
        let typed = typed(&resource.options);
        let _ = writeln!(text, "  with {typed}: {}", resource.about);
        if let Ok(limits) = (entry.limits)(&resource.options) {
            let _ = writeln!(text, "    between {}", between(&limits));
            for line in sizes(&limits).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
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

/// Sizes of every layout, one line each.
fn sizes(limits: &Limits) -> String {
    let mut text = String::new();
    for (what, by_layout) in [
        ("message", &limits.messages),
        ("put", &limits.put),
        ("get", &limits.get),
    ] {
        for layout in Layout::ALL {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "  {what:<8} {:<8} {}",
                layout.name(),
                size(&by_layout[layout as usize])
            );
        }
    }
    let _ = writeln!(text, "  {:<17} {}", "atomics", atomics(limits.atomics));
    let _ = writeln!(text, "  {:<17} {}", "tagged", size(&limits.tagged));
    text
}

/// Atomic operations by width: `add, fadd of 4 and 8 bytes`.
fn atomics(atomics: Atomics) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for width in Width::ALL {
        let there = AtomicOp::ALL.into_iter().filter(|op| atomics.has(*op, width));
        let names = there.map(AtomicOp::name).collect::<Vec<_>>().join(", ");
        if names.is_empty() {
            continue;
        }
        let bytes = width.bytes().to_string();
        match groups.iter_mut().find(|(known, _)| *known == names) {
            Some((_, widths)) => widths.push(bytes),
            None => groups.push((names, vec![bytes])),
        }
    }
    let group =
        |(names, widths): &(String, Vec<String>)| format!("{names} of {} bytes", widths.join(" and "));
    match groups.is_empty() {
        true => "none".to_owned(),
        false => groups.iter().map(group).collect::<Vec<_>>().join("; "),
    }
}

/// The devices among which its options choose.
fn resources(entry: &Entry) -> Vec<Resource> {
    (entry.resources)(&TransportOptions::new()).unwrap_or_default()
}

/// Options as typed after `wirespeed run`.
fn typed(options: &TransportOptions) -> String {
    let words: Vec<String> = options.iter().map(|(k, v)| format!("-O {k}={v}")).collect();
    words.join(" ")
}

fn between(limits: &Limits) -> String {
    let groups: Vec<_> = limits.groups.iter().map(|g| group_word(*g)).collect();
    format!("{}, {}", groups.join(", "), ranks(limits.ranks_max))
}

fn ranks(max: u32) -> String {
    match max {
        u32::MAX => "any number of ranks".to_owned(),
        1 => "one rank".to_owned(),
        max => format!("at most {max} ranks"),
    }
}

fn size(limit: &SizeLimit) -> String {
    match limit {
        SizeLimit::UpTo(u64::MAX) => "any size".to_owned(),
        SizeLimit::UpTo(bytes) => format!("up to {}", format_asked_size(*bytes)),
        SizeLimit::Between(min, u64::MAX) => format!("from {}", format_asked_size(*min)),
        SizeLimit::Between(min, max) => {
            format!("from {} to {}", format_asked_size(*min), format_asked_size(*max))
        }
        SizeLimit::Lacks(why) => format!("none: {why}"),
    }
}

fn as_json(entry: &Entry) -> Value {
    let support = |support: Support| json!({ "support": word(support), "explanation": explanation(support) });
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
    let device = |resource: Resource| {
        let limits = (entry.limits)(&resource.options).ok();
        json!({
            "options": resource.options,
            "about": resource.about,
            "limits": limits.map(|l| limits_json(&l)),
        })
    };
    let devices: Vec<Value> = resources(entry).into_iter().map(device).collect();
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "available": why.is_none(),
        "obstacle": why,
        "about": (entry.about)(),
        "capabilities": capabilities,
        "by_device": entry.by_device,
        "limits": limits(entry).map(|l| limits_json(&l)),
        "devices": devices,
        "options": options,
    })
}

fn limits_json(limits: &Limits) -> Value {
    let one = |limit: &SizeLimit| match limit {
        SizeLimit::UpTo(u64::MAX) => json!({ "unlimited": true }),
        SizeLimit::UpTo(bytes) => json!({ "size_bytes_max": bytes }),
        SizeLimit::Between(min, u64::MAX) => json!({ "size_bytes_min": min }),
        SizeLimit::Between(min, max) => json!({ "size_bytes_min": min, "size_bytes_max": max }),
        SizeLimit::Lacks(why) => json!({ "none": why }),
    };
    let by_layout = |limits: &ByLayout| -> serde_json::Map<String, Value> {
        let layouts = Layout::ALL.iter();
        layouts
            .map(|l| (l.name().to_owned(), one(&limits[*l as usize])))
            .collect()
    };
    json!({
        "message": by_layout(&limits.messages),
        "put": by_layout(&limits.put),
        "get": by_layout(&limits.get),
        "atomics": limits_atomics(limits.atomics),
        "tagged": one(&limits.tagged),
        "groups": limits.groups,
        "ranks_max": limits.ranks_max,
    })
}

/// Names of operations by width.
fn limits_atomics(atomics: Atomics) -> Value {
    let of = |width: Width| {
        let there = AtomicOp::ALL.into_iter().filter(|op| atomics.has(*op, width));
        there.map(AtomicOp::name).collect::<Vec<_>>()
    };
    json!({ "bytes_4": of(Width::W4), "bytes_8": of(Width::W8) })
}
