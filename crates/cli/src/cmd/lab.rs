//! `wirespeed lab`: a command at one end of a path of known speed.

use super::byteio::{congestion, size, time};
use super::speed::speed;
use crate::args::LabArgs;
use crate::errors::{Ended, Failure, exit};
use crate::stderr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wirespeed_byteio::lab::{Counts, FAR, Lab, Link, Shape};
use wirespeed_control::launch::child::end_group;
use wirespeed_control::launch::guard::Guard;
use wirespeed_control::relay::{Relay, code_of};

/// Smallest queue: a burst of a few uncut packets.
const QUEUE_BYTES_MIN: u64 = 256 << 10;
/// Longest delay that is believed.
const DELAY_MAX: Duration = Duration::from_secs(60);

/// Time that the far end's command has to end once it is asked to.
const FAR_END: Duration = Duration::from_secs(1);
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(20);

/// Set the path up, run, and end as the command ended. Signals go to the command, and the path stays until it has ended.
pub fn lab(arguments: &LabArgs) -> Result<Ended, Failure> {
    if arguments.check {
        return super::lab_check::check();
    }
    let link = link(arguments)?;
    congestion(arguments.congestion.as_deref())?;
    let ready = time("far-ready", &arguments.far_ready)?;
    let no_signals = |e| {
        Failure::failed(
            format!("cannot hear signals: {e}"),
            "close some files and run again",
        )
    };
    let relay = Relay::on_signals().map_err(no_signals)?;
    let ended = inside(arguments, &link, ready, &relay);
    // A terminal's Ctrl-C ends the tools that set the path up as well: that they failed is not what happened.
    let interrupted = || {
        Failure::with(
            exit::INTERRUPTED,
            "interrupted before the command was started",
            "run again",
        )
    };
    match ended {
        Ok(Some(status)) => Ok(Ended::with(code_of(status))),
        Err(failure) if relay.asked_by_now().is_none() => Err(failure),
        Ok(None) | Err(_) => Err(interrupted()),
    }
}

/// How the command ended; nothing where a signal came before it was started.
fn inside(
    arguments: &LabArgs,
    link: &Link,
    ready: Duration,
    relay: &Relay,
) -> Result<Option<ExitStatus>, Failure> {
    let mut guard = Guard::start().map_err(|e| not_started("sh", &e))?;
    let lab = Lab::new(link, arguments.congestion.as_deref()).map_err(|e| {
        Failure::failed(
            format!("cannot make two networks: {e}"),
            "run it as root; it needs iproute2 and, for delay and loss, /dev/net/tun",
        )
    })?;
    let far = arguments.far.as_deref();
    let far = far
        .map(|line| Far::start(&lab, line, ready, relay, &mut guard))
        .transpose()?;
    let mut command = lab.command(&arguments.command[0]);
    command
        .args(&arguments.command[1..])
        .env("WIRESPEED_LAB_FAR", FAR.to_string())
        .env("WIRESPEED_LAB_RUN", lab.far_words());
    let mut is_started = false;
    let ended = relay.run(command, |command| {
        let child = lab.start_near(command)?;
        guard.watch(&child);
        is_started = true;
        Ok(child)
    });
    drop(far);
    report(&lab.finish());
    ended.map_err(|e| match is_started {
        true => Failure::failed(
            format!("cannot wait for {}: {e}", arguments.command[0]),
            "run again",
        ),
        false => not_started(&arguments.command[0], &e),
    })
}

fn not_started(what: &str, error: &std::io::Error) -> Failure {
    Failure::failed(
        format!("cannot start {what}: {error}"),
        "check that it is installed",
    )
}

/// The far end's command; when this is dropped it ends, and all that it has started in its group.
struct Far(Child);

impl Far {
    /// Start it, and give it the time that it needs before it can be met.
    fn start(
        lab: &Lab,
        line: &str,
        ready: Duration,
        relay: &Relay,
        guard: &mut Guard,
    ) -> Result<Far, Failure> {
        let mut command = lab.command("sh");
        command
            // What the command here says on stdout must stay readable by programs.
            .args(["-c", &format!("exec {line} >&2")])
            .stdin(Stdio::null())
            // A Ctrl-C at the terminal is for the command here, which may need this one to end in order.
            .process_group(0);
        let mut far = Far(lab.start_far(command).map_err(|e| not_started(line, &e))?);
        guard.watch(&far.0);
        let deadline = Instant::now() + ready;
        while Instant::now() < deadline && relay.asked().is_none() {
            if let Ok(Some(status)) = far.0.try_wait() {
                return Err(Failure::failed(
                    format!("the far end's command ended with {status}"),
                    "try it without the lab first",
                ));
            }
            std::thread::sleep(LOOK);
        }
        Ok(far)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        // It may have ended with its client; what it started may be there still.
        end_group(&mut self.0, FAR_END);
    }
}

fn link(arguments: &LabArgs) -> Result<Link, Failure> {
    let rate = arguments.rate.as_deref().map(speed).transpose()?;
    let rate_bits_per_s = rate.map(|bytes| bytes.get() * 8.0);
    if arguments.lan {
        return Ok(Link::Lan {
            rate_bits_per_s: rate_bits_per_s.map(|bits| bits as u64),
        });
    }
    let delay = arguments
        .delay
        .as_deref()
        .map(|text| time("delay", text))
        .transpose()?;
    let delay = delay.unwrap_or(Duration::ZERO);
    if delay > DELAY_MAX {
        return Err(Failure::usage(
            "--delay: no path takes longer than a minute",
            "write it like 15ms",
        ));
    }
    let loss_ratio = arguments.loss.unwrap_or(0.0);
    if !(0.0..1.0).contains(&loss_ratio) {
        return Err(Failure::usage(
            "--loss is a share of packets, from 0 to below 1",
            "write it like 2e-4",
        ));
    }
    let round_trip = rate_bits_per_s.map_or(0.0, |bits| bits / 8.0 * 2.0 * delay.as_secs_f64());
    let queue_bytes = match &arguments.queue {
        Some(text) => size("queue", text)?,
        None => QUEUE_BYTES_MIN.max(round_trip as u64),
    };
    let shape = Shape {
        rate_bits_per_s,
        delay_ns: u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX),
        loss_ratio,
        queue_bytes,
    };
    Ok(Link::Wan([shape, shape]))
}

/// The truth about the path, to hold what was measured against.
fn report(counts: &[Counts]) {
    for (direction, count) in ["there", "back"].iter().zip(counts) {
        stderr::say(&format!(
            "lab: {direction}: {} packets, {} lost, {} dropped by the full queue",
            count.packets, count.lost_packets, count.dropped_packets
        ));
    }
}
