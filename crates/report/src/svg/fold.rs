//! Maps with more rows or columns than fit: neighbours share a cell, whose value is the median of theirs. It never draws, and never
//! changes a map that fits.

use super::{Axis, Cell, Chart, Heat};
use crate::stats::median;
use std::collections::BTreeMap;
use wirespeed_schema::order::map_of;

/// Places of an axis that share one.
struct Fold {
    /// Each place, in the order in which the axis is read, with the number of what it belongs to.
    members: BTreeMap<u64, usize>,
    /// What they are called.
    names: Vec<String>,
}

impl Chart {
    /// The same map with at most so many columns and rows; by the groups of an axis where these are few enough, else in blocks
    /// of neighbours: `node8 +7` is node8 and the seven after it.
    pub fn folded(&self, columns_max: usize, rows_max: usize) -> Chart {
        let Some(heat) = &self.heat else {
            return self.clone();
        };
        let (x, y) = (
            Fold::of(&self.x, columns_max, false),
            Fold::of(&self.y, rows_max, true),
        );
        if x.is_none() && y.is_none() {
            return self.clone();
        }
        let x = x.unwrap_or_else(|| Fold::none(&self.x, false));
        let y = y.unwrap_or_else(|| Fold::none(&self.y, true));
        let mut values: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for cell in heat.shown() {
            if let (Some(column), Some(row)) = (x.at(cell.x), y.at(cell.y)) {
                values.entry((column, row)).or_default().push(cell.value);
            }
        }
        let top = y.names.len().saturating_sub(1);
        let cells = values.into_iter().map(|((column, row), mut values)| Cell {
            x: column as f64,
            y: (top - row) as f64,
            value: median(&mut values),
        });
        Chart {
            x: x.axis(&self.x, |at| at as f64),
            y: y.axis(&self.y, |at| (top - at) as f64),
            heat: Some(Heat {
                label: format!("{}, in each block their median", heat.label),
                cells: cells.collect(),
                ..heat.clone()
            }),
            ..self.clone()
        }
    }

    /// Whether rows and columns are the same things in the same order.
    pub fn is_square(&self) -> bool {
        let rows = self.y.places(true);
        let columns = self.x.places(false);
        rows.len() == columns.len() && rows.iter().zip(&columns).all(|(row, column)| row.1 == column.1)
    }
}

impl Fold {
    fn of(axis: &Axis, most: usize, from_the_top: bool) -> Option<Fold> {
        let places = axis.places(from_the_top);
        let most = most.max(1);
        if places.len() <= most {
            return None;
        }
        let mut starts: Vec<usize> = axis
            .groups
            .iter()
            .filter_map(|(first, _)| places.iter().position(|(at, _)| at == first))
            .collect();
        starts.sort_unstable();
        let grouped = (1..=most).contains(&starts.len()) && starts.first() == Some(&0);
        let size = places.len().div_ceil(most);
        let starts = match grouped {
            true => starts,
            false => (0..places.len()).step_by(size).collect(),
        };
        let name = |number: usize| {
            let first = starts[number];
            let end = starts.get(number + 1).copied().unwrap_or(places.len());
            let (at, name) = &places[first];
            let of_group = axis.groups.iter().find(|(start, _)| grouped && start == at);
            match (of_group, end - first) {
                (Some((_, group)), _) => group.clone(),
                (None, 1) => (*name).to_owned(),
                (None, several) => format!("{name} +{}", several - 1),
            }
        };
        let number = |place: usize| starts.partition_point(|start| *start <= place) - 1;
        Some(Fold {
            names: (0..starts.len()).map(name).collect(),
            members: map_of(
                places
                    .iter()
                    .zip(0..)
                    .map(|((place, _), at)| (key(*place), number(at))),
            ),
        })
    }

    /// Every place by itself.
    fn none(axis: &Axis, from_the_top: bool) -> Fold {
        let places = axis.places(from_the_top);
        Fold {
            names: places.iter().map(|(_, name)| (*name).to_owned()).collect(),
            members: map_of(places.iter().zip(0..).map(|((place, _), at)| (key(*place), at))),
        }
    }

    fn at(&self, place: f64) -> Option<usize> {
        self.members.get(&key(place)).copied()
    }

    fn axis(&self, axis: &Axis, at: impl Fn(usize) -> f64) -> Axis {
        let names = self.names.iter().enumerate();
        Axis {
            ticks: names.map(|(number, name)| (at(number), name.clone())).collect(),
            range: Some((-0.5, self.names.len() as f64 - 0.5)),
            groups: Vec::new(),
            ..axis.clone()
        }
    }
}

/// Equal places have equal keys, also zero and minus zero.
pub(crate) fn key(place: f64) -> u64 {
    (place + 0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Unit;

    /// Rows and columns `h0..`; the value of a cell is its column's number plus a hundred times its row's.
    fn map(side: usize, groups: &[usize]) -> Chart {
        let top = side as f64 - 1.0;
        let axis = |at: &dyn Fn(usize) -> f64| Axis {
            ticks: (0..side).map(|host| (at(host), format!("h{host}"))).collect(),
            groups: groups
                .iter()
                .map(|host| (at(*host), format!("rack{host}")))
                .collect(),
            ..Axis::linear("", Unit::Plain)
        };
        let cells = (0..side * side).map(|at| Cell {
            x: (at % side) as f64,
            y: top - (at / side) as f64,
            value: (at % side + 100 * (at / side)) as f64,
        });
        Chart {
            x: axis(&|host| host as f64),
            y: axis(&|host| top - host as f64),
            heat: Some(Heat {
                cells: cells.collect(),
                ..Heat::new("value", Unit::Plain)
            }),
            ..Chart::new("")
        }
    }

    fn cell(chart: &Chart, row: &str, column: &str) -> f64 {
        let place = |axis: &Axis, name: &str| axis.ticks.iter().find(|(_, other)| other == name).unwrap().0;
        let at = (place(&chart.x, column), place(&chart.y, row));
        let cells = &chart.heat.as_ref().unwrap().cells;
        cells.iter().find(|cell| (cell.x, cell.y) == at).unwrap().value
    }

    #[test]
    fn blocks_hold_the_median_of_their_cells_and_keep_their_place() {
        let map = map(10, &[]);
        let folded = map.folded(4, 4);
        // Blocks of three: h0 +2, h3 +2, h6 +2, h9.
        assert_eq!(folded.x.ticks.len(), 4);
        assert_eq!(cell(&folded, "h0 +2", "h3 +2"), 104.0);
        assert_eq!(cell(&folded, "h9", "h6 +2"), 907.0);
        assert_eq!(map.folded(10, 10), map);
        assert!(map.is_square() && folded.is_square());
    }

    #[test]
    fn groups_are_blocks_where_they_are_few_enough() {
        let map = map(10, &[0, 2, 7]);
        let folded = map.folded(4, 4);
        assert_eq!(folded.y.ticks.len(), 3);
        assert_eq!(cell(&folded, "rack7", "rack0"), 800.5);
        let blocks = map.folded(2, 2);
        assert_eq!(cell(&blocks, "h0 +4", "h5 +4"), 207.0);
    }
}
