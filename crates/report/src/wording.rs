//! Numbers in sentences: shares, times, changes. A share never says more than the whole.

use wirespeed_schema::units::significant;

/// A part of a whole: `12 %`, `0.3 %`. What is more than the whole is no share, and told as `1.1 times`.
pub fn percent(ratio: f64) -> String {
    share(ratio, 2)
}

/// The same with another digit: `97.3 %`.
pub fn fine_percent(ratio: f64) -> String {
    share(ratio, 3)
}

fn share(ratio: f64, digits: usize) -> String {
    match ratio.abs() <= 1.0 {
        true => format!("{} %", significant(ratio * 100.0, digits)),
        false => format!("{} times", significant(ratio, digits)),
    }
}

/// A ratio: `3.3 times`.
pub fn times(ratio: f64) -> String {
    format!("{} times", significant(ratio, 2))
}

/// A value against another one: `12 % more than`, `3.3 times`, `0.5 % less than`.
pub fn against(ratio: f64) -> String {
    match ratio {
        ratio if ratio > 2.0 => times(ratio),
        ratio if ratio >= 1.0 => format!("{} more than", percent(ratio - 1.0)),
        ratio => format!("{} less than", percent(1.0 - ratio)),
    }
}

/// How far values are apart, in parts of their middle: `12 %`, `2.5 times their median`.
pub fn spread(ratio: f64) -> String {
    match ratio <= 1.0 {
        true => percent(ratio),
        false => format!("{} their median", times(ratio)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_is_never_more_than_the_whole() {
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(3.26), "3.3 times");
        assert_eq!(against(1.12), "12 % more than");
        assert_eq!(against(3.26), "3.3 times");
        assert_eq!(against(0.995), "0.5 % less than");
        assert_eq!(spread(2.5), "2.5 times their median");
    }

    proptest! {
        #[test]
        fn whatever_the_ratio(ratio in prop_oneof![0.0..1e3f64, 0.0..2.0f64]) {
            for text in [percent(ratio), against(ratio), spread(ratio)] {
                if let Some((number, _)) = text.split_once(" %") {
                    prop_assert!(number.parse::<f64>().unwrap() <= 100.0, "{text}");
                }
            }
        }
    }
}
