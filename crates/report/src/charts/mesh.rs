//! Pictures of a mesh: a map of senders by receivers, what each host does beside the median host, how the pairs' figures are
//! distributed. Every one holds all hosts; who draws it folds what does not fit.

use super::{Picture, behind, titled};
use crate::labels::Input;
use crate::mesh::{Probed, silence, words};
use crate::svg::{Axis, Cell, Chart, Heat, Look, Mark, Point, Series, Unit};
use crate::view::listed;
use std::collections::BTreeMap;
use wirespeed_schema::mesh::{MeshCulprit, MeshSection};
use wirespeed_schema::order::{InOrder, map_of};

/// Hosts up to which they stand in the order of their effects; more stand by their units.
const SIDE_MAX: usize = 64;
/// Hosts that are named in the picture of effects, and hosts and units in its title.
const SPOTS_MAX: usize = 6;
/// Pairs below this have no distribution worth a picture.
const PAIRS_MIN: usize = 12;
/// Bars of a distribution.
const BARS_MAX: usize = 40;
/// Shades end at these multiples of the median, of a rate; of a latency at their inverses: what is slow is told apart, and
/// noise makes no pattern.
const SHADES_END: (f64, f64) = (0.5, 1.25);

/// The pictures of every mesh among `inputs`.
pub fn pictures(inputs: &[Input]) -> Vec<Picture> {
    let mut found = Vec::new();
    for input in inputs {
        let Some(section) = input.run.sections.get::<MeshSection>() else {
            continue;
        };
        let name = match inputs.len() {
            1 => String::new(),
            _ => format!("{}: ", input.name),
        };
        let section = section.with_short_names();
        let probed = Probed::all(input.run, &section);
        let with_figures = probed.iter().filter(|probed| probed.median.is_some());
        for one in with_figures {
            found.push(map(&name, one, section.probes.len() > 1));
            found.extend(effects(&name, one));
            found.extend(distribution(&name, one));
        }
    }
    found
}

fn unit(tag: &str) -> Unit {
    match tag {
        _ if tag.ends_with("_bytes_per_s") => Unit::Si("B/s"),
        _ if tag.ends_with("_msg_per_s") => Unit::Si("msg/s"),
        _ if tag.ends_with("_ns") => Unit::Nanoseconds,
        _ => Unit::Plain,
    }
}

/// Numbers of the hosts as they stand in the map, and where units begin: the slowest first, beyond what can be read by units.
fn arranged(probed: &Probed) -> (Vec<u32>, Vec<(usize, String)>) {
    let order = probed.order();
    let section = probed.section;
    let unit_of = |host: u32| section.hosts.get(host as usize).and_then(|host| host.unit);
    if section.units.is_empty() || order.len() <= SIDE_MAX {
        return (order, Vec::new());
    }
    /// Hosts with their places.
    type Members = Vec<(usize, u32)>;
    // Units in the order of their hosts' median places, hosts within them as before.
    let mut members: BTreeMap<Option<u32>, Members> = BTreeMap::new();
    for (place, host) in order.into_iter().enumerate() {
        members.entry(unit_of(host)).or_default().push((place, host));
    }
    let mut units: Vec<(Option<u32>, Members)> = members.into_iter().collect();
    units.order_by_key(|(_, hosts)| hosts[hosts.len() / 2].0);
    let (mut order, mut starts) = (Vec::new(), Vec::new());
    for (unit, hosts) in units {
        let name = unit.map_or("no unit".to_owned(), |unit| section.unit_name(unit));
        starts.push((order.len(), name));
        order.extend(hosts.iter().map(|(_, host)| *host));
    }
    (order, starts)
}

/// Senders by receivers.
fn map(name: &str, probed: &Probed, several: bool) -> Picture {
    let (order, units) = arranged(probed);
    let top = order.len().saturating_sub(1) as f64;
    let place: BTreeMap<u32, usize> = map_of(order.iter().copied().zip(0..));
    let axis = |label: &str, at: &dyn Fn(usize) -> f64| Axis {
        range: Some((-0.5, top + 0.5)),
        ticks: (0..)
            .zip(&order)
            .map(|(number, host)| (at(number), probed.section.host_name(*host)))
            .collect(),
        groups: units
            .iter()
            .map(|(first, name)| (at(*first), name.clone()))
            .collect(),
        ..Axis::linear(label, Unit::Plain)
    };
    let cells = probed.pairs.iter().filter_map(|pair| {
        Some(Cell {
            x: *place.get(&pair.to)? as f64,
            y: top - *place.get(&pair.from)? as f64,
            value: pair.value,
        })
    });
    let ends = probed.median.filter(|median| *median > 0.0).map(|median| {
        let (low, high) = SHADES_END;
        match probed.probe.higher_is_better {
            true => (low * median, high * median),
            false => (median / high, median / low),
        }
    });
    let quantity = probed.quantity();
    let answer = words::of_probe(probed, several);
    let said = match answer.as_slice() {
        _ if probed.probe.verdicts.is_empty() => words::capital(&silence::title(probed)),
        [only] => titled(only),
        [first, ..] => format!("{}, and more", titled(first)),
        [] => String::new(),
    };
    let chart = Chart {
        title: said,
        subtitle: format!("{name}who sends (rows) to whom (columns), {}", probed.label),
        description: format!(
            "A cell a pair: the median of its {quantity}. Hosts {}.",
            if units.is_empty() {
                "from the slowest"
            } else {
                "by units, in each from the slowest"
            }
        ),
        x: axis("receives", &|at| at as f64),
        y: axis("sends", &|at| top - at as f64),
        heat: Some(Heat {
            cells: cells.collect(),
            ends,
            ..Heat::new(format!("{quantity} of the pair"), unit(&probed.probe.tag))
        }),
        plot_height: (34 * order.len() as u32).clamp(90, 540),
        ..Chart::new("")
    };
    Picture {
        chart,
        answer,
        is_curve: true,
        ..Picture::default()
    }
}

/// The ratio of a host's figures in one direction to those of the median host.
fn ratio_of(probed: &Probed, host: u32, sends: bool) -> Option<f64> {
    let effect = probed.effect(host);
    let ratio = match sends {
        true => effect.sends_ratio,
        false => effect.receives_ratio,
    };
    let of_figures = ratio.map(|ratio| probed.of_figures(ratio.get()));
    of_figures.filter(|ratio| ratio.is_finite())
}

/// Rings around hosts that are slow, at their places in `order`.
fn spots(probed: &Probed, order: &[u32]) -> Vec<Mark> {
    let spots = words::ordered(probed.probe).into_iter().filter_map(|verdict| {
        let MeshCulprit::Host { host, .. } = verdict.culprit else {
            return None;
        };
        let at = order.iter().position(|other| *other == host)?;
        Some(Mark::Spot {
            x: at as f64 + 1.0,
            y: probed.of_figures(probed.slower_side(host)?),
            label: probed.section.host_name(host),
        })
    });
    spots.take(SPOTS_MAX).collect()
}

/// Each host's ratio to the median host, as sender and as receiver, from the slowest.
fn effects(name: &str, probed: &Probed) -> Option<Picture> {
    let order = probed.order();
    let side = |label: &str, sends: bool| {
        let placed = (1..).zip(&order);
        let points =
            placed.filter_map(|(at, host)| Some(Point::new(f64::from(at), ratio_of(probed, *host, sends)?)));
        Series::new(label, Look::Points, points.collect())
    };
    let series = vec![side("as sender", true), side("as receiver", false)];
    let ratios: Vec<f64> = series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.y)
        .collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let greatest = ratios.iter().copied().reduce(f64::max)?;
    let mut marks = vec![Mark::Horizontal {
        y: 1.0,
        label: "median host".into(),
    }];
    marks.extend(spots(probed, &order));
    let quantity = probed.quantity();
    let row = |host: &u32| {
        let text = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        vec![
            probed.section.host_name(*host),
            text(ratio_of(probed, *host, true)),
            text(ratio_of(probed, *host, false)),
        ]
    };
    // The table of hosts has the same figures where there are many.
    let rows = order.iter().take(SIDE_MAX).map(row).collect();
    Some(Picture {
        chart: Chart {
            title: title(name, &range_of_hosts(probed, (least, greatest))),
            subtitle: format!(
                "{name}{quantity} of each host over that of the median host, {}",
                probed.label
            ),
            description: "A point a host and direction, from the slowest host on the left.".into(),
            x: hosts_axis(probed, &order),
            y: Axis::linear(format!("{quantity} over the median host's"), Unit::Plain),
            series,
            marks,
            ..Chart::new("")
        },
        table: behind(&["host", "sends", "receives"], rows),
        ..Picture::default()
    })
}

/// Hosts by name, as many as can be told apart; more by their number from the slowest.
fn hosts_axis(probed: &Probed, order: &[u32]) -> Axis {
    let (axis, count) = (
        Axis::linear("hosts, from the slowest", Unit::Plain),
        order.len() as f64,
    );
    if order.len() > SIDE_MAX {
        return Axis {
            range: Some((1.0, count)),
            ..axis
        };
    }
    let named = (1..).zip(order);
    Axis {
        range: Some((0.5, count + 0.5)),
        ticks: named
            .map(|(at, host)| (f64::from(at), probed.section.host_name(*host)))
            .collect(),
        ..axis
    }
}

/// An answer behind the name of its result, or with a capital where it has none.
fn title(name: &str, answer: &str) -> String {
    match name {
        "" => words::capital(answer),
        name => format!("{name}{answer}"),
    }
}

/// Between what ends the hosts lie, and which of them and of their units are slow.
fn range_of_hosts(probed: &Probed, (least, greatest): (f64, f64)) -> String {
    let quantity = probed.quantity();
    let range =
        format!("the {quantity} of every host is {least:.2} to {greatest:.2} times that of the median host");
    let slow = words::ordered(probed.probe).into_iter();
    let slow: Vec<String> = slow
        .map(|verdict| verdict.culprit)
        .filter(|culprit| matches!(culprit, MeshCulprit::Unit { .. } | MeshCulprit::Host { .. }))
        .map(|culprit| words::named(probed.section, culprit))
        .collect();
    match slow.is_empty() {
        true => range,
        false => format!("{range}; slow: {}", listed(&slow, SPOTS_MAX)),
    }
}

/// How many pairs have which figure.
fn distribution(name: &str, probed: &Probed) -> Option<Picture> {
    let (least, greatest) = probed.extremes()?;
    let (low, high) = (least.value, greatest.value);
    let count = probed.pairs.len();
    if count < PAIRS_MIN || low >= high || !(high - low).is_finite() {
        return None;
    }
    let bars = ((count as f64).sqrt() as usize).clamp(8, BARS_MAX);
    let width = (high - low) / bars as f64;
    let mut counts = vec![0u64; bars];
    for pair in &probed.pairs {
        let bar = ((pair.value - low) / width) as usize;
        counts[bar.min(bars - 1)] += 1;
    }
    let start = |bar: usize| low + width * bar as f64;
    let mut points: Vec<Point> = (0..bars)
        .map(|bar| Point::new(start(bar), counts[bar] as f64))
        .collect();
    // A last step of no height ends the last bar: what is copied counts each pair once.
    points.push(Point::new(high, 0.0));
    let rows = (0..bars).filter(|bar| counts[*bar] > 0).map(|bar| {
        let ends = (probed.text(start(bar)), probed.text(start(bar + 1)));
        vec![format!("{} to {}", ends.0, ends.1), counts[bar].to_string()]
    });
    let median = probed.median?;
    let quantity = probed.quantity();
    let answer = format!(
        "the {quantity} of the pairs is {} ({}) to {} ({}), with a median of {}",
        probed.text(low),
        probed.pair_name(least.from, least.to),
        probed.text(high),
        probed.pair_name(greatest.from, greatest.to),
        probed.text(median),
    );
    Some(Picture {
        chart: Chart {
            title: title(name, &answer),
            subtitle: format!("{name}{quantity} of the pairs, {}", probed.label),
            description: "How many pairs have which figure.".into(),
            x: Axis::linear(quantity, unit(&probed.probe.tag)),
            y: Axis {
                from_zero: true,
                ..Axis::linear("pairs", Unit::Plain)
            },
            series: vec![Series::new("pairs", Look::Steps, points)],
            marks: vec![Mark::Vertical {
                x: median,
                label: format!("median {}", probed.text(median)),
            }],
            ..Chart::new("")
        },
        table: behind(&[quantity, "pairs"], rows.collect()),
        ..Picture::default()
    })
}
