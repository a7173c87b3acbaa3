//! Numbers in sentences: shares, times, changes. A share never says more than the whole.

use wirespeed_schema::case::{Case, Load};
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::significant;
pub(crate) use wirespeed_schema::units::{counted, grouped, often};

/// A part of a whole: `12 %`, `0.3 %`. What is more than the whole is no share, and told as `1.1 times`.
pub fn percent(ratio: f64) -> String {
    share(ratio, 2)
}

/// A share that something reaches in whole per cents, none of them more than it does: what is said to be "at least" that must be.
pub fn percent_at_least(ratio: f64) -> String {
    // A ratio that is written in decimals may be a hair below them.
    format!("{} %", (ratio.min(1.0) * 100.0 + 1e-9).floor())
}

/// As [`percent`], with another digit: `97.3 %`.
pub fn fine_percent(ratio: f64) -> String {
    share(ratio, 3)
}

fn share(ratio: f64, digits: usize) -> String {
    match ratio.abs() <= 1.0 {
        true => format!("{} %", significant(ratio * 100.0, digits)),
        false => format!("{} times", significant(ratio, digits)),
    }
}

/// A command as a shell reads it: each word is one word, whatever it holds. One that was not text is recorded as a shell takes it.
pub fn shell_words(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    let quoted = |word: &String| match (!word.is_empty() && word.chars().all(is_plain)) || is_of_bytes(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Whether a word stands for bytes that are no text, `$'caf\xe9'`, and for nothing else: a shell takes it for one word.
fn is_of_bytes(word: &str) -> bool {
    let inner = word.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\''));
    let Some(mut rest) = inner.filter(|inner| inner.contains(r"\x")) else {
        return false;
    };
    while let Some((plain, escaped)) = rest.split_once('\\') {
        let hex = escaped.strip_prefix('x').and_then(|digits| digits.get(..2));
        let is_byte = hex.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        rest = match (is_byte, escaped.chars().next()) {
            (true, _) => &escaped[3..],
            (false, Some('\\' | '\'')) => &escaped[1..],
            _ => return false,
        };
        if plain.contains('\'') {
            return false;
        }
    }
    !rest.contains('\'')
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

/// How far values are apart, in parts of their middle: `12 %`, `2.5 times its median`.
pub fn spread(ratio: f64) -> String {
    match ratio <= 1.0 {
        true => percent(ratio),
        false => format!("{} its median", times(ratio)),
    }
}

/// The load of a case, as it follows the case's label: ` under cpu_threads=1`; nothing where it has none.
pub fn under(result: &CaseResult) -> String {
    match load_beside(result) {
        load if load.is_empty() => load,
        load => format!(" under {load}"),
    }
}

/// The load of its ranks, and the one that it was measured under, as that was asked for.
pub(crate) fn load_beside(result: &CaseResult) -> String {
    let is_asked = result.under.is_some() && result.case.ranks.iter().any(|rank| rank.load.of_others);
    let own = Some(load_of(&result.case)).filter(|own| !own.is_empty() && !is_asked);
    let all: Vec<String> = own.into_iter().chain(result.under.clone()).collect();
    all.join(", ")
}

/// The load of all ranks, `cpu_threads=1`, or of those that have one where they differ, `1: cpu_threads=1`.
pub(crate) fn load_of(case: &Case) -> String {
    let loads: Vec<String> = case.ranks.iter().map(|rank| load_text(&rank.load)).collect();
    if let Some(first) = loads
        .first()
        .filter(|first| loads.iter().all(|load| load == *first))
    {
        return first.clone();
    }
    let own = loads.iter().enumerate().filter(|(_, load)| !load.is_empty());
    own.map(|(rank, load)| format!("{rank}: {load}"))
        .collect::<Vec<String>>()
        .join(", ")
}

/// A rank's load in one field: `cpu_threads=2 memory_bytes=1048576`; empty for none.
pub(crate) fn load_text(load: &Load) -> String {
    let parts = [
        ("cpu_threads", u64::from(load.cpu_threads)),
        ("memory_bytes", load.memory_bytes),
        ("touch_bytes", load.touch_bytes),
        ("touch_once", u64::from(load.touch_once)),
        ("log_threads", u64::from(load.log_threads)),
        ("bandwidth_threads", u64::from(load.bandwidth_threads)),
        ("cache_threads", u64::from(load.cache_threads)),
    ];
    let set = parts
        .iter()
        .filter(|(_, value)| *value > 0)
        .map(|(name, value)| format!("{name}={value}"));
    let place = (!load.place.is_beside()).then(|| format!("place={}", load.place.name()));
    set.chain(place).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_reached_at_least_is_rounded_down() {
        let told = [0.847, 0.977, 0.85, 0.29, 1.0, 1.2].map(percent_at_least);
        assert_eq!(told, ["84 %", "97 %", "85 %", "29 %", "100 %", "100 %"]);
    }

    #[test]
    fn a_share_is_never_more_than_the_whole() {
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(3.26), "3.3 times");
        assert_eq!(against(1.12), "12 % more than");
        assert_eq!(against(3.26), "3.3 times");
        assert_eq!(against(0.995), "0.5 % less than");
        assert_eq!(spread(2.5), "2.5 times its median");
    }

    #[test]
    fn a_word_of_bytes_is_typed_as_it_is_recorded_and_nothing_else() {
        let typed = |word: &str| shell_words(&[word.to_owned()]);
        for word in [r"$'caf\xe9.json'", r"$'\'\\\xff'"] {
            assert_eq!(typed(word), word);
        }
        for word in [
            r"$'a\xe9'; rm x'",
            r"$'\xe9\q'",
            r"$'\x+f'",
            r"$'\xe",
            "$'a'",
            r"$'\\'\xe9'",
        ] {
            assert_eq!(
                typed(word),
                format!("'{}'", word.replace('\'', r"'\''")),
                "{word}"
            );
        }
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
