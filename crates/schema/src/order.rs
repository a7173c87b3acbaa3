//! Sorting, and maps from lists, that are compiled once and not for each place that asks. It must never be used where
//! millions are sorted or a loop is timed.
//!
//! The standard library makes a sort for each type and comparison, of some five thousand bytes each, and another one for
//! each map that is collected. Most of the lists here have a dozen items.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Slices that can be put in order by a comparison or a key; equal items keep their order.
///
/// ```
/// use wirespeed_schema::order::InOrder;
/// let mut sizes = [(64, 'a'), (8, 'b'), (64, 'c')];
/// sizes.order_by_key(|(size, _)| *size);
/// assert_eq!(sizes, [(8, 'b'), (64, 'a'), (64, 'c')]);
/// ```
pub trait InOrder<T> {
    /// As `sort_by`.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// As `sort_by_key`.
    fn order_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> InOrder<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut places = places(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        for at in 0..self.len() {
            while places[at] != at {
                let place = places[at];
                self.swap(at, place);
                places.swap(at, place);
            }
        }
    }

    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }
}

/// Where each of `count` items belongs.
fn places(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let mut places = vec![0; count];
    for (place, item) in order.into_iter().enumerate() {
        places[item] = place;
    }
    places
}

/// A map of `entries`; the last one of a key stays.
pub fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(entries);
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_standard_sort(mut items in prop::collection::vec((0..9u8, any::<u16>()), 0..60)) {
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            items.order_by_key(|item| item.0);
            prop_assert_eq!(&items, &expected);
            expected.sort_by(|a, b| (b.1 / 9).cmp(&(a.1 / 9)).then(a.0.cmp(&b.0)));
            items.order_by(|a, b| (b.1 / 9).cmp(&(a.1 / 9)).then(a.0.cmp(&b.0)));
            prop_assert_eq!(&items, &expected);
            let collected: BTreeMap<u8, u16> = items.iter().copied().collect();
            prop_assert_eq!(map_of(items), collected);
        }
    }
}
