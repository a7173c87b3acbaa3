//! A mesh of hosts: what is slow, in sentences; suspects, probes, hosts, slowest pairs, failures, losses as tables; names of
//! hosts to paste. It must never judge.

use super::model::{Part, Paste};
use super::remarks::listed;
use crate::charts::Picture;
use crate::labels::Input;
use crate::mesh::gaps::failures;
use crate::mesh::{PairFigure, Probed, drained, good, standing, words};
use crate::stats::median;
use crate::table::{Row, Table, Tone, key, number, text};
use crate::wording::{fine_percent, grouped};
use std::collections::BTreeMap;
use wirespeed_schema::Run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::mesh::{MeshCulprit, MeshSection, MeshShare, MeshStorm, MeshStream, MeshVerdict};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{format_rate, significant};

/// Rows of suspects on the screen of the verb.
const SUSPECTS_MAX: usize = 16;
/// Hosts of a probe on the screen beside those that are not well.
const HOSTS_MAX: usize = 6;
/// Hosts that are not well on the screen.
const UNWELL_MAX: usize = 16;
/// Probes whose hosts are on the screen, unless something is slow there.
const PROBES_MAX: usize = 2;
/// Pairs that files list one by one; CSV has all.
const PAIRS_MAX: usize = 200;
/// Reasons and lost hosts on the screen.
const REASONS_MAX: usize = 8;
/// Lines to paste on the screen.
const PASTED_MAX: usize = 16;
/// Pairs that stand for those with the same reason.
const EXAMPLES_MAX: usize = 3;

/// What is slow, what was measured, what is not known.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let section = input.run.sections.get::<MeshSection>();
    section.map_or_else(Vec::new, |section| {
        words::answers(input.run, &section.with_short_names())
    })
}

/// Suspects, probes, hosts, pairs, failures, losses, and the lists to paste.
pub fn parts(run: &Run) -> Vec<Part> {
    let Some(section) = run.sections.get::<MeshSection>() else {
        return Vec::new();
    };
    // What is pasted has the names that were given.
    let pasted = lists(&section);
    let section = section.with_short_names();
    let probed = Probed::all(run, &section);
    let with_figures = || probed.iter().filter(|probed| probed.median.is_some());
    let mut tables = vec![suspects(&probed), probes(&probed)];
    let of_each = |table: &dyn Fn(&Probed, bool) -> Table| {
        let numbered = with_figures().enumerate();
        let tables = numbered.map(|(at, one)| table(one, at < PROBES_MAX || !one.probe.verdicts.is_empty()));
        tables.collect::<Vec<Table>>()
    };
    tables.extend(of_each(&hosts));
    tables.extend(of_each(&|probed, _| pairs(probed)));
    tables.extend([storms(run, &section), failed(&probed), lost(&section)]);
    let told = tables.into_iter().filter(|table| !table.rows.is_empty());
    let mut parts: Vec<Part> = told.map(Part::Table).collect();
    parts.extend(pasted);
    parts
}

/// Traffic beside the pairs, and how its streams shared the path.
fn storms(run: &Run, section: &MeshSection) -> Table {
    let columns = vec![
        key("storm"),
        key("beside"),
        number("streams", 2),
        number("together", 0),
        number("Jain's index", 1),
        number("least", 3),
        number("greatest", 4),
    ];
    let share = |share: Option<MeshShare>| {
        share.map_or(String::new(), |share| match (share.lower, share.upper) {
            (Some(lower), Some(upper)) => {
                format!(
                    "{:.2} [{:.2} .. {:.2}]",
                    share.value.get(),
                    lower.get(),
                    upper.get()
                )
            }
            _ => format!("{:.2}", share.value.get()),
        })
    };
    let row = |storm: &MeshStorm| {
        let of_stream = |stream: &MeshStream| {
            let mut rates: Vec<f64> = stream.rates_bytes_per_s.iter().map(|rate| rate.get()).collect();
            if rates.is_empty() { 0.0 } else { median(&mut rates) }
        };
        Row::from(vec![
            storm.load.clone(),
            run.cases
                .get(storm.case as usize)
                .map_or_else(String::new, |result| result.case.label()),
            storm.streams.len().to_string(),
            format_rate(storm.streams.iter().map(of_stream).sum(), "B/s"),
            share(storm.jain_ratio),
            share(storm.least_ratio),
            share(storm.greatest_ratio),
        ])
    };
    Table::new("Storms", columns, section.storms.iter().map(row).collect()).noted(
        "Jain's index: 1 where all streams get the same; least, greatest: a stream's share of the whole; over runs",
    )
}

/// A title with the name of the probe where there is only one; else a column has them.
fn titled(title: &str, probed: &[Probed]) -> String {
    match probed {
        [only] => format!("{title}: {}", only.label),
        _ => title.to_owned(),
    }
}

/// Verdicts with their evidence.
fn suspects(probed: &[Probed]) -> Table {
    let columns = vec![
        key("probe"),
        key("slow"),
        text("what", 2),
        number("of the median", 0),
        text("95 % interval", 1),
        number("its pairs", 3),
        text("shown by", 1),
        number("false alarm", 4),
    ];
    let mut rows = Vec::new();
    for one in probed {
        let verdicts = words::ordered(one.probe).into_iter();
        rows.extend(verdicts.map(|verdict| suspect(one, verdict, probed.len() > 1)));
    }
    Table::new(&titled("Suspects", probed), columns, rows)
        .noted(
            "of the median: of the median host's or link's figure; its pairs: their median; false alarm: how probable \
             it is that anything looks like this where nothing is slow",
        )
        .on_screen(SUSPECTS_MAX)
        .sorted_by_reader()
}

fn suspect(probed: &Probed, verdict: &MeshVerdict, several: bool) -> Row {
    let [ratio, lower, upper] = words::ratios(probed, verdict);
    let (what, partner) = match verdict.culprit {
        MeshCulprit::Unit { .. } => ("unit", "host"),
        MeshCulprit::Host { side, .. } => ("host", words::partner(side)),
        MeshCulprit::Undecided { side, .. } => ("host or links", words::partner(side)),
        MeshCulprit::Link { .. } => ("link", ""),
    };
    let shown_by_partners = match partner {
        "" => String::new(),
        partner => format!(
            "{} of {}",
            verdict.shown_by_partners,
            crate::wording::counted(verdict.partners.into(), partner)
        ),
    };
    Row {
        cells: vec![
            probed.name_among(several),
            words::culprit(probed.section, verdict.culprit),
            what.to_owned(),
            format!("{ratio:.2}"),
            format!("[{lower:.2} .. {upper:.2}]"),
            own_median(probed, verdict.culprit)
                .map(|own| probed.text(own))
                .unwrap_or_default(),
            shown_by_partners,
            significant(verdict.false_alarm_ratio.get(), 2),
        ],
        tone: Some(match verdict.culprit {
            MeshCulprit::Undecided { .. } => Tone::Warning,
            _ => Tone::Bad,
        }),
    }
}

/// Median of the pairs that a culprit has a part in.
fn own_median(probed: &Probed, culprit: MeshCulprit) -> Option<f64> {
    let unit_of = |host: u32| probed.section.hosts.get(host as usize).and_then(|host| host.unit);
    probed.median_of(|pair| match culprit {
        MeshCulprit::Unit { unit, side } => pair.is_of(side, |host| unit_of(host) == Some(unit)),
        MeshCulprit::Host { host: at, side } | MeshCulprit::Undecided { host: at, side } => {
            pair.is_of(side, |host| host == at)
        }
        MeshCulprit::Link { from, to, both } => {
            (pair.from, pair.to) == (from, to) || both && (pair.from, pair.to) == (to, from)
        }
    })
}

/// A row a probe: its extremes with their pairs, and how much of it was measured.
fn probes(probed: &[Probed]) -> Table {
    let columns = vec![
        key("probe"),
        number("min", 0),
        text("min pair", 1),
        number("median", 0),
        number("max", 0),
        text("max pair", 2),
        number("pairs", 3),
        number("failed", 4),
        number("noise", 5),
        number("checks", 6),
    ];
    let row = |one: &Probed| {
        let (least, greatest) = one.extremes()?;
        let probe = one.probe;
        let noise = probe.noise_ratio.get();
        let failed = probe.pairs.iter().filter(|pair| pair.failure().is_some()).count() as u64;
        let nought = |text: String| if text == "0" { String::new() } else { text };
        Some(Row::from(vec![
            one.name_among(probed.len() > 1),
            one.text(least.value),
            one.pair_name(least.from, least.to),
            one.text(one.median?),
            one.text(greatest.value),
            one.pair_name(greatest.from, greatest.to),
            grouped(one.pairs.len() as u64),
            nought(grouped(failed)),
            if noise > 0.0 {
                fine_percent(noise)
            } else {
                String::new()
            },
            nought(grouped(probe.looks_count.into())),
        ]))
    };
    let rows: Vec<Row> = probed.iter().filter_map(row).collect();
    Table::new(&titled("Pairs", probed), columns, rows)
        .noted("of each pair the median of its figures; noise: standard deviation of one figure; checks: how often suspects were measured again")
        .sorted_by_reader()
}

/// What hosts do beside the median host: those that are not well first, then the slowest.
fn hosts(probed: &Probed, on_screen: bool) -> Table {
    let columns = vec![
        key("host"),
        text("unit", 2),
        number("sends", 0),
        number("receives", 0),
        text("verdict", 0),
    ];
    let standings = standing::of_probe(probed.section, probed.probe);
    let word = |host: u32| {
        standings
            .get(host as usize)
            .map_or("", |standing| standing.word())
    };
    let mut order = probed.order();
    // The sort is stable: those that are well stay in order.
    order.order_by_key(|host| match word(*host) {
        "slow" => 0,
        "" => 2,
        _ => 1,
    });
    let unwell = order.iter().filter(|host| !word(**host).is_empty()).count();
    let row = |host: &u32| {
        let effect = probed.effect(*host);
        let ratio = |ratio: Option<Finite>| {
            ratio.map_or(String::new(), |ratio| {
                format!("{:.2}", probed.of_figures(ratio.get()))
            })
        };
        let unit = probed
            .section
            .hosts
            .get(*host as usize)
            .and_then(|host| host.unit);
        Row {
            cells: vec![
                probed.section.host_name(*host),
                unit.map_or(String::new(), |unit| probed.section.unit_name(unit)),
                ratio(effect.sends_ratio),
                ratio(effect.receives_ratio),
                word(*host).to_owned(),
            ],
            tone: match word(*host) {
                "slow" => Some(Tone::Bad),
                "" => None,
                _ => Some(Tone::Warning),
            },
        }
    };
    let quantity = probed.quantity();
    let worse = match probed.probe.higher_is_better {
        true => "below 1 is slower",
        false => "above 1 is slower",
    };
    let units = match probed.section.units.is_empty() {
        true => "",
        false => "; unit: the rack or switch that it shares with others",
    };
    let title = format!("Hosts, the slowest first: {}", probed.label);
    Table::new(&title, columns, order.iter().map(row).collect())
        .noted(&format!(
            "sends, receives: its {quantity} over that of the median host; {worse}{units}"
        ))
        .on_screen(if on_screen {
            unwell.min(UNWELL_MAX) + HOSTS_MAX
        } else {
            0
        })
        .sorted_by_reader()
}

/// The slowest pairs, in files alone.
fn pairs(probed: &Probed) -> Table {
    let columns = vec![
        key("from"),
        key("to"),
        number(probed.quantity(), 0),
        number("of the median", 0),
        number("figures", 1),
    ];
    let name = |host| probed.section.host_name(host);
    let slowest = probed.slowest_first();
    let row = |pair: &PairFigure| {
        let ratio = probed.median.filter(|median| *median > 0.0);
        Row::from(vec![
            name(pair.from),
            name(pair.to),
            probed.text(pair.value),
            ratio.map_or(String::new(), |median| format!("{:.2}", pair.value / median)),
            pair.count.to_string(),
        ])
    };
    let rows: Vec<Row> = slowest.iter().take(PAIRS_MAX).map(row).collect();
    let title = match slowest.len() > rows.len() {
        true => format!(
            "The slowest {} of {} pairs: {}",
            rows.len(),
            grouped(slowest.len() as u64),
            probed.label
        ),
        false => format!("Pairs, the slowest first: {}", probed.label),
    };
    let mut table = Table::new(&title, columns, rows).on_screen(0).sorted_by_reader();
    if slowest.len() > PAIRS_MAX {
        table = table.noted("CSV has every pair");
    }
    table
}

/// Why pairs failed: a row a reason.
fn failed(probed: &[Probed]) -> Table {
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in probed {
        for pair in &one.probe.pairs {
            if let Some(reason) = pair.failure() {
                let names = all.entry(reason.trim()).or_default();
                names.push(one.pair_name(pair.from, pair.to));
            }
        }
    }
    let reasons = failures(probed);
    let row = |(reason, count): &(String, u64)| {
        let pairs = all.get(reason.as_str()).or_else(|| all.get(""));
        let examples = pairs.map_or(String::new(), |pairs| listed(pairs, EXAMPLES_MAX));
        Row {
            cells: vec![reason.clone(), grouped(*count), examples],
            tone: Some(Tone::Warning),
        }
    };
    let columns = vec![text("failed because", 0), number("pairs", 0), text("which", 1)];
    let rows = reasons.iter().take(PAIRS_MAX).map(row).collect();
    Table::new("Failed pairs", columns, rows)
        .on_screen(REASONS_MAX)
        .sorted_by_reader()
}

/// Hosts that were lost, and why.
fn lost(section: &MeshSection) -> Table {
    let rows = (0..).zip(&section.hosts).filter_map(|(number, host)| {
        let why = host.lost.clone()?;
        Some(Row {
            cells: vec![section.host_name(number), why],
            tone: Some(Tone::Warning),
        })
    });
    let columns = vec![key("host"), text("lost because", 0)];
    Table::new("Lost hosts", columns, rows.collect())
        .on_screen(REASONS_MAX)
        .sorted_by_reader()
}

/// Hosts to leave out and hosts to use, a name a line.
fn lists(section: &MeshSection) -> Vec<Part> {
    let list = |title: String, lines: Vec<String>, screen_lines| {
        (!lines.is_empty()).then_some(Part::Paste(Paste {
            title,
            lines,
            screen_lines,
        }))
    };
    if section.hosts.len() < 2 {
        return Vec::new();
    }
    let (drained, good) = (drained(section), good(section));
    let count = |names: &[String]| grouped(names.len() as u64);
    [
        list(
            format!("Slow or lost hosts, leave these out ({}):", count(&drained)),
            drained,
            PASTED_MAX,
        ),
        list(
            format!("Hosts that are judged and not slow ({}):", count(&good)),
            good,
            0,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
