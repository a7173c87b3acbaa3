//! The tables of the experiment of 2009, as its paper printed them.

use super::bulk::megabits;
use crate::byteio::ends_of;
use crate::table::{Column, Table, number, text};
use crate::wording::grouped;
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::units::format_size;

/// Tables 1 and 2 and the results, with the columns of the original paper.
pub fn tables(section: &ByteioSection) -> Vec<Table> {
    let mut tables: Vec<Table> = machines(section).into_iter().collect();
    tables.extend([speeds(section), results(section)]);
    tables
}

fn machines(section: &ByteioSection) -> Option<Table> {
    let mut machines: Vec<Vec<String>> = Vec::new();
    let mut machine = |name: &str, host: Option<&HostFingerprint>| {
        let Some(host) = host else {
            return;
        };
        if machines.iter().all(|row| row[0] != name) {
            machines.push(vec![
                name.to_owned(),
                host.cpu_model
                    .clone()
                    .unwrap_or_else(|| host.architecture.clone()),
                host.kernel.clone(),
                host.cpus_online.to_string(),
                format_size(host.memory_bytes),
            ]);
        }
    };
    for pair in &section.pairs {
        let (reader, server) = ends_of(&pair.name).unwrap_or((&pair.name, "server"));
        machine(reader, pair.near.as_deref());
        machine(server, pair.far.as_deref());
    }
    let columns = vec![
        text("Machine", 0),
        text("Architecture", 0),
        text("Operating System", 0),
        number("Cores", 0),
        number("Memory", 0),
    ];
    let title = "Table 1: Hardware Characteristics of Machines Involved in Performance Tests";
    (!machines.is_empty()).then(|| table(title, columns, machines))
}

fn table(title: &str, columns: Vec<Column>, rows: Vec<Vec<String>>) -> Table {
    Table::new(title, columns, rows.into_iter().map(Into::into).collect())
}

fn speeds(section: &ByteioSection) -> Table {
    let speeds: Vec<Vec<String>> = section
        .pairs
        .iter()
        .map(|pair| {
            let speed = pair.nominal_bytes_per_s.map_or("not given".to_owned(), |n| {
                format!("{} Mb/s", grouped((n.get() * 8.0 / 1e6).round() as u64))
            });
            let speed = match &pair.emulated {
                Some(how) => format!("{speed}, emulated: {}", how),
                None => speed,
            };
            vec![pair.name.clone(), speed]
        })
        .collect();
    let columns = vec![text("Machine Pair", 0), text("Minimum Interconnect Speed", 0)];
    table(
        "Table 2: Interconnect Speeds Involved in Performance Tests",
        columns,
        speeds,
    )
}

fn results(section: &ByteioSection) -> Table {
    let results: Vec<Vec<String>> = section
        .pairs
        .iter()
        .map(|pair| {
            let figure = |value: Option<f64>| value.map_or("-".to_owned(), megabits);
            let summary = pair.summary.as_ref();
            vec![
                pair.name.clone(),
                figure(summary.and_then(|s| s.trimmed_mean_bytes_per_s).map(|v| v.get())),
                figure(summary.and_then(|s| s.trimmed_sd_bytes_per_s).map(|v| v.get())),
            ]
        })
        .collect();
    let columns = vec![
        text("Machine Pair", 0),
        number("Average Bandwidth (Mb/s)", 0),
        number("Standard Deviation (Mb/s)", 0),
    ];
    table("", columns, results)
        .noted("best and worst of all runs left out, as in 2009; below, all runs are kept")
}
