//! `wirespeed doctor`: what on this machine would skew a measurement, and how to fix it. Nothing is changed.

use crate::args::{ColorChoice, DoctorArgs};
use crate::errors::{Ended, Failure, exit};
use crate::output;
use crate::terminal::{self, Stream};
use wirespeed::host::doctor::{Examination, examine};
use wirespeed::host::{is_interface_name, parse_cpu_list};
use wirespeed_report::render;
use wirespeed_schema::checkup::{CheckState, Checkup};
use wirespeed_schema::units;

const BITS_PER_BYTE: f64 = 8.0;

/// Examine and print.
pub fn doctor(arguments: &DoctorArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let asked = asked(arguments)?;
    if !arguments.root.join("proc").is_dir() && !arguments.root.join("sys").is_dir() {
        return Err(Failure::usage(
            format!(
                "--root {}: there is neither proc nor sys",
                arguments.root.display()
            ),
            "name a folder that holds copies of /proc and /sys",
        ));
    }
    let found = examine(&arguments.root, &asked);
    let text = match arguments.json {
        true => format!("{:#}\n", serde_json::json!(found)),
        false => render::checkup(&found, &terminal::style(Stream::Stdout, color)),
    };
    output::print(&text)?;
    Ok(ended(&found, arguments.strict))
}

fn ended(found: &Checkup, strict: bool) -> Ended {
    let (warned, unknown) = (found.count(CheckState::Warn), found.count(CheckState::CannotTell));
    let total = found.checks.len();
    match (warned, unknown) {
        (1.., _) => Ended::badly(Failure::with(
            exit::GATE,
            format!("{warned} of {total} checks warn"),
            "run the command beside each, or measure elsewhere",
        )),
        (0, 1..) if strict => Ended::badly(Failure::with(
            exit::INCONCLUSIVE,
            format!("{unknown} of {total} checks cannot tell"),
            "leave --strict out, or look where they say",
        )),
        _ => Ended::OK,
    }
}

fn asked(arguments: &DoctorArgs) -> Result<Examination, Failure> {
    let cpus = arguments.cpus.as_deref().map(parse_cpu_list).transpose();
    let cpus = cpus.map_err(|e| Failure::usage(format!("--cpus: {e}"), "write --cpus 0,1 or --cpus 2-3"))?;
    if let Some(name) = arguments.interface.iter().find(|name| !is_interface_name(name)) {
        return Err(Failure::usage(
            format!("--interface {name:?} is no name of an interface"),
            "see `ip link` for the names",
        ));
    }
    let rtt_ns = arguments.rtt.as_deref().map(units::parse_duration_ns).transpose();
    let rtt_ns = rtt_ns
        .map_err(|e| Failure::usage(format!("--rtt: {e}"), "give a time with its unit: 200us, 20ms"))?;
    Ok(Examination {
        cpus: cpus.unwrap_or_default(),
        interfaces: arguments.interface.clone(),
        rate_bytes_per_s: arguments.rate.as_deref().map(rate).transpose()?,
        rtt_ns,
    })
}

/// `10Gbit` in bits, `1.25GB` in bytes, each per second.
fn rate(text: &str) -> Result<f64, Failure> {
    let fail = || {
        Failure::usage(
            format!("--rate {text:?} is no rate"),
            "write bits as 10Gbit or 400Mbit, bytes per second as 1.25GB",
        )
    };
    let plain = text.trim().trim_end_matches("/s");
    let found = match plain.strip_suffix("bit") {
        Some(bits) => {
            let factors = [("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];
            let split = factors
                .iter()
                .find_map(|(unit, factor)| Some((bits.strip_suffix(unit)?, factor)));
            let (number, factor) = split.ok_or_else(fail)?;
            let number: f64 = number.trim().parse().map_err(|_| fail())?;
            number * factor / BITS_PER_BYTE
        }
        None => units::parse_size(plain).map_err(|_| fail())? as f64,
    };
    match found.is_finite() && found > 0.0 {
        true => Ok(found),
        false => Err(fail()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_bits_or_bytes() {
        for (text, bytes) in [
            ("10Gbit", 1.25e9),
            ("400Mbit/s", 5e7),
            ("8bit", 1.0),
            ("1.5kbit", 187.5),
            ("100MB", 1e8),
        ] {
            assert_eq!(rate(text), Ok(bytes), "{text}");
        }
        for bad in ["", "fast", "0", "0bit", "-1Gbit", "NaNbit", "infbit", "10Xbit"] {
            assert_eq!(rate(bad).map_err(|e| e.code), Err(2), "{bad}");
        }
    }
}
