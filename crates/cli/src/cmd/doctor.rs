//! `wirespeed doctor`: what on this machine would skew a measurement, and how to fix it. Nothing is changed.

use crate::args::{ColorChoice, DoctorArgs};
use crate::errors::{Ended, Failure, exit};
use crate::file;
use crate::output;
use crate::terminal::{self, Stream};
use wirespeed::host::doctor::{Examination, examine};
use wirespeed::host::{is_interface_name, parse_cpu_list};
use wirespeed_report::render;
use wirespeed_schema::Finite;
use wirespeed_schema::checkup::{CheckState, Checkup};
use wirespeed_schema::units;

/// Examine and print.
pub fn doctor(arguments: &DoctorArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let asked = asked(arguments)?;
    if !arguments.root.join("proc").is_dir() && !arguments.root.join("sys").is_dir() {
        return Err(Failure::usage(
            format!(
                "--root {}: there is neither proc nor sys",
                file::shown(&arguments.root)
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
    let rate = arguments.rate.as_deref().map(super::speed::speed).transpose()?;
    Ok(Examination {
        cpus: cpus.unwrap_or_default(),
        interfaces: arguments.interface.clone(),
        rate_bytes_per_s: rate.map(Finite::get),
        rtt_ns,
    })
}
