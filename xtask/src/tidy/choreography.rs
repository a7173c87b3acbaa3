//! One choreography: only the driver of phases meets, arms, starts, cuts into segments and stops. What one test did for
//! itself, another would lack.

use super::Finding;
use super::source::Source;

const ENGINE: &str = "crates/wirespeed/src/engine/";

/// The driver, and what it calls: the meter, and the rank's way to the other ranks.
const OWN: [&str; 3] = ["phases/", "meter.rs", "rank.rs"];

/// What the driver alone calls: the meter's steps, the meeting of all ranks, the steps of a body.
const STEPS: [&str; 11] = [
    ".arm()",
    "meter.start(",
    "meter.stop(",
    "meter.finish(",
    ".next_segment(",
    ".between_segments(",
    ".barrier(",
    "meet(",
    "warm_up(",
    "body.begin(",
    "body.step(",
];

/// Steps of the choreography outside the driver.
pub fn check(source: &Source) -> Vec<Finding> {
    let Some(file) = source.path.strip_prefix(ENGINE) else {
        return Vec::new();
    };
    if OWN.iter().any(|own| file.starts_with(own)) {
        return Vec::new();
    }
    let steps = |(number, line)| {
        STEPS
            .iter()
            .filter(move |step| calls(line, step))
            .map(move |step| (number, step))
    };
    let message = |step: &str| format!("{step} is a step of phases::drive: be a Body, and let it drive");
    source
        .shipped()
        .flat_map(steps)
        .map(|(number, step)| Finding::at(&source.path, number, message(step.trim_matches(['.', '(', ')']))))
        .collect()
}

/// Whether `line` has `step`, not as the end of a longer word.
fn calls(line: &str, step: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(step)
        .any(|(at, _)| step.starts_with('.') || !line[..at].ends_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> usize {
        check(&Source::new(&format!("{ENGINE}{file}"), text.to_owned())).len()
    }

    #[test]
    fn a_second_choreography_is_found() {
        let all = "meet(rank)?;\nwarm_up(rank)?;\nlet armed = meter.arm();\nmeter.start(armed);";
        assert_eq!(found("relay.rs", all), 4);
        assert_eq!(found("phases/mod.rs", all), 0);
        assert_eq!(
            found("tagged/run.rs", "self.meter.next_segment(1); rank.barrier(f)"),
            2
        );
    }

    #[test]
    fn bodies_have_steps_of_their_own() {
        let body =
            "fn arm(&mut self, meter: &Meter, op: f64) { self.arrivals.arm(meter, op) }\nlead_warm_up()";
        assert_eq!(found("stream.rs", body), 0);
        assert_eq!(found("stream.rs", "#[cfg(test)]\nmod tests { meet(rank) }"), 0);
    }
}
