//! How much launches that follow each other are alike: of their ranks, so that one launch far out counts as one, and
//! because whether an interval holds a median is a matter of order alone.

/// What neighbours have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alike {
    /// Correlation of a launch with the next one.
    pub lag_1: f64,
    /// Intra-class correlation of blocks: the share of the variance that lies between blocks. Below 0 where blocks differ
    /// less than chance makes them.
    pub between_blocks: f64,
}

/// Of `values` in order, in blocks of `block`. `None` below two whole blocks, or where all are equal.
pub fn alike(values: &[f64], block: usize) -> Option<Alike> {
    let ranks = ranks(values);
    let blocks: Vec<&[f64]> = ranks.chunks_exact(block).collect();
    let (count, size) = (blocks.len() as f64, block as f64);
    let mean = mean(&ranks);
    let total: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    if blocks.len() < 2 || block < 2 || total == 0.0 {
        return None;
    }
    let next: f64 = ranks
        .windows(2)
        .map(|two| (two[0] - mean) * (two[1] - mean))
        .sum();
    // One-way analysis of variance (Shrout and Fleiss, Psychological Bulletin 86, 1979, case 1).
    let of_blocks: Vec<f64> = blocks.iter().map(|block| self::mean(block)).collect();
    let between = size * of_blocks.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let inside = |(block, mean): (&&[f64], &f64)| block.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>();
    let within = blocks.iter().zip(&of_blocks).map(inside).sum::<f64>() / (count * (size - 1.0));
    Some(Alike {
        lag_1: next / total,
        between_blocks: (between - within) / (between + (size - 1.0) * within),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let equal = order[from..]
            .iter()
            .take_while(|at| values[**at] == values[order[from]])
            .count();
        let to = from + equal.max(1);
        // Places from + 1 to `to`.
        let shared = (from + 1 + to) as f64 / 2.0;
        order[from..to].iter().for_each(|at| ranks[*at] = shared);
        from = to;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_report::stats::Random;

    #[test]
    fn equal_values_share_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(alike(&[7.0; 32], 8), None);
        assert_eq!(alike(&[1.0, 2.0, 3.0], 2), None, "one whole block");
    }

    /// By hand: ranks 1 2 3 4, mean 2.5; lag 1 (1.5·0.5 - 0.5·0.5 + 0.5·1.5) / 5; between 2·(1 + 1)/1, within (0.5 + 0.5)/2.
    #[test]
    fn a_short_series_by_hand() {
        let found = alike(&[10.0, 20.0, 300.0, 4000.0], 2).unwrap();
        assert!((found.lag_1 - 0.25).abs() < 1e-12, "{found:?}");
        assert!((found.between_blocks - 3.5 / 4.5).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn independent_values_are_not_alike_and_walks_are() {
        let mut random = Random::new(4);
        let noise: Vec<f64> = (0..800).map(|_| random.normal()).collect();
        let found = alike(&noise, 8).unwrap();
        assert!(
            found.lag_1.abs() < 0.1 && found.between_blocks.abs() < 0.1,
            "{found:?}"
        );
        let mut at = 0.0;
        let walk = noise.iter().map(|step| {
            at += step;
            at
        });
        let found = alike(&walk.collect::<Vec<f64>>(), 8).unwrap();
        assert!(found.lag_1 > 0.9 && found.between_blocks > 0.9, "{found:?}");
    }
}
