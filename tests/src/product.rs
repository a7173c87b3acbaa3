//! Products of many lines with many libraries or verbs. Each change tries every line and every library, but not each with
//! each; the long ladder does that. It must never leave an item out of both.

/// Set to 1, every product is tried whole.
const WHOLE: &str = "WIRESPEED_TEST_WHOLE";

/// Whether every product is tried whole.
fn is_whole() -> bool {
    std::env::var(WHOLE).is_ok_and(|value| value == "1")
}

/// Of `items` the share with `number` of `shares`: all shares together are all items, and none of them is empty. Everything
/// where products are tried whole.
pub fn share<T: Clone>(items: &[T], number: usize, shares: usize) -> Vec<T> {
    match is_whole() {
        true => items.to_vec(),
        false => share_of(items, number, shares),
    }
}

fn share_of<T: Clone>(items: &[T], number: usize, shares: usize) -> Vec<T> {
    let shares = shares.clamp(1, items.len().max(1));
    items
        .iter()
        .skip(number % shares)
        .step_by(shares)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_everything_and_none_is_empty() {
        for items in 1..8 {
            let all: Vec<usize> = (0..items).collect();
            for shares in 1..10 {
                let taken: Vec<Vec<usize>> =
                    (0..shares).map(|number| share_of(&all, number, shares)).collect();
                assert!(taken.iter().all(|share| !share.is_empty()), "{taken:?}");
                let mut union = taken.concat();
                union.sort_unstable();
                union.dedup();
                assert_eq!(union, all);
            }
        }
        assert_eq!(share_of::<u8>(&[], 3, 2), Vec::<u8>::new());
    }
}
