//! What holds before any port is opened: options and limits.

use crate::group::{case_of, ensure};
use crate::report::Report;
use wirespeed::MeasureError;
use wirespeed::schema::case::{GroupKind, TransportOptions};
use wirespeed::schema::test::Layout;
use wirespeed::transport::{Availability, Limits, Transport};

/// Why no port of `T` can be opened between threads here, if so.
pub fn obstacle<T: Transport>(options: &TransportOptions, ranks: u32) -> Option<String> {
    match T::parse(options).map(|o| T::ready(&o)) {
        Ok(Availability::Ready) => {}
        Ok(Availability::Missing(why) | Availability::NotPermitted(why)) => return Some(why),
        Ok(_) => return Some("not available".to_owned()),
        Err(error) => return Some(error.to_string()),
    }
    let limits = match limits::<T>(options) {
        Ok(limits) => limits,
        Err(why) => return Some(why),
    };
    if !limits.groups.contains(&GroupKind::Threads) {
        return Some("it does not work between threads of one process".to_owned());
    }
    (limits.ranks_max < ranks).then(|| format!("it takes at most {} ranks", limits.ranks_max))
}

/// Its limits with `options`.
pub fn limits<T: Transport>(options: &TransportOptions) -> Result<Limits, String> {
    T::parse(options)
        .map(|o| T::limits(&o))
        .map_err(|e| e.to_string())
}

/// Checks on options and limits.
pub fn checks<T: Transport>(options: &TransportOptions) -> Vec<Report> {
    let report = |check: &str, result| Report::of(T::NAME, "messages", check, result);
    vec![
        report("refuses an unknown option", unknown_option::<T>(options)),
        report(
            "refuses values that an option does not take",
            bad_values::<T>(options),
        ),
        report("refuses a message above its limit", above_the_limit::<T>(options)),
    ]
}

fn unknown_option<T: Transport>(options: &TransportOptions) -> Result<(), String> {
    let mut options = options.clone();
    options.insert("no-such-option".into(), "1".into());
    ensure(T::parse(&options).is_err(), || "it was taken".into())
}

fn bad_values<T: Transport>(options: &TransportOptions) -> Result<(), String> {
    for spec in T::OPTIONS {
        // A choice or a number; what takes free text may take anything.
        if !spec.values.contains('|') && !["COUNT", "SIZE"].contains(&spec.values) {
            continue;
        }
        let mut options = options.clone();
        options.insert(spec.name.into(), "?!".into());
        ensure(T::parse(&options).is_err(), || {
            format!("{}=?! was taken", spec.name)
        })?;
    }
    Ok(())
}

fn above_the_limit<T: Transport>(options: &TransportOptions) -> Result<(), String> {
    let limits = limits::<T>(options)?;
    for layout in Layout::ALL {
        let Some(max) = limits.messages[layout as usize].largest() else {
            continue;
        };
        if max == u64::MAX {
            continue;
        }
        let ranks = limits.ranks_max.min(2);
        let check = |size| {
            let mut case = case_of(T::NAME, options, ranks, layout, size);
            case.check = T::CARRIES_PAYLOAD;
            wirespeed::transport::check::<T>(&case)
        };
        check(max).map_err(|e| format!("{} of {max} bytes is refused: {e}", layout.name()))?;
        ensure(
            matches!(check(max + 1), Err(MeasureError::Unsupported(_))),
            || format!("{} of {} bytes is not refused", layout.name(), max + 1),
        )?;
    }
    Ok(())
}
