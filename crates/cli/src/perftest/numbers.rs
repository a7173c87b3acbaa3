//! The numbers of a test: sizes, counts, the percentile's rank, CPUs. What the original takes silently for something
//! else (0, negative, trailing letters) is refused here.

use super::unplanned::Unplanned;
use crate::args::{Generation, TestArgs};
use crate::errors::Failure;
use wirespeed_report::perftest::{HEADER_BYTES, Original, SIZE_BYTES};
use wirespeed_schema::units;

/// Iterations of a test that only the user ends: the largest count that every reader of JSON keeps exactly.
const UNLIMITED: u64 = 1 << 53;
const ITERATIONS: u64 = 1_000_000;
const WARMUP: u64 = 10_000;
const THREADS_MAX: u64 = 512;
/// Most bytes of a message: what the plan would refuse anyway, so that sums of a list cannot overflow.
const SIZE_MAX: u64 = 1 << 40;
/// Buffers of a test on this machine, in messages.
const BUFFERED_MESSAGES: u64 = 4;

fn wrong(letter: char, text: &str, remedy: &str) -> Failure {
    Failure::usage(format!("invalid -{letter} {text}"), remedy)
}

/// Refuse numbers that cannot be read, whether or not the test has a use for them.
pub fn check(options: &TestArgs) -> Result<(), Failure> {
    sizes_asked(options)?;
    header_asked(options)?;
    stride_asked(options)?;
    iterations(options)?;
    warmup_asked(options)?;
    window_asked(options)?;
    outstanding_asked(options)?;
    threads(options)?;
    percentile_rank(options).map(drop)
}

fn bytes(letter: char, text: &Option<String>, remedy: &str) -> Result<Option<u64>, Failure> {
    let read = |text: &String| units::parse_size(text).map_err(|_| wrong(letter, text, remedy));
    text.as_ref().map(read).transpose()
}

fn header_asked(options: &TestArgs) -> Result<Option<u64>, Failure> {
    bytes('H', &options.header, "give a size in bytes, such as 8")
}

/// Bytes of the header of a test's messages; tests without active messages have none, and take the option as the
/// original does: without effect. What the original counts as no header is wirespeed's own, the least there is.
pub fn header(options: &TestArgs, original: &Original) -> Result<u64, Unplanned> {
    match header_asked(options)? {
        None => Ok(HEADER_BYTES),
        Some(_) if !original.has_header() => Ok(HEADER_BYTES),
        Some(0) if !original.counts_header() => Ok(HEADER_BYTES),
        Some(size @ HEADER_BYTES..) => Ok(size),
        Some(size) => Err(Unplanned::not_offered(format!(
            "a header of {size} bytes is not offered: 8 of it number the messages"
        ))),
    }
}

/// The sizes of `-s`, one where nobody asks for more.
fn sizes_asked(options: &TestArgs) -> Result<Vec<u64>, Failure> {
    let Some(text) = &options.size else {
        return Ok(vec![SIZE_BYTES]);
    };
    let remedy = "give sizes from 0 such as 64, 8K or 1MiB; several separated by commas make one message";
    let read = |part: &str| match units::parse_size(part.trim()) {
        Ok(size @ ..=SIZE_MAX) => Ok(size),
        Ok(_) => Err(Failure::usage(format!("-s {text} is above 1 TiB"), remedy)),
        Err(_) => Err(wrong('s', text, remedy)),
    };
    text.split(',').map(read).collect()
}

/// The size of a message, and where they have a meaning the sizes of its pieces, as option `iov` takes them. The
/// original's first piece holds the header.
pub fn sizes(
    options: &TestArgs,
    entries: bool,
    header: u64,
    original: &Original,
) -> Result<(u64, Option<String>), Unplanned> {
    let counted = if original.counts_header() { header } else { 0 };
    let mut sizes = sizes_asked(options)?;
    let text = options.size.as_deref().unwrap_or_default();
    let total = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size));
    let available = wirespeed::host::available_bytes();
    if total.saturating_mul(BUFFERED_MESSAGES) > available {
        return Err(Unplanned::unsupported(
            format!(
                "-s {text} needs {} of memory, there are {}",
                units::format_size(total.saturating_mul(BUFFERED_MESSAGES)),
                units::format_size(available)
            ),
            "use smaller messages",
        ));
    }
    if !entries || sizes.len() < 2 {
        return Ok((total, None));
    }
    sizes[0] = sizes[0].checked_sub(counted).ok_or_else(|| {
        Unplanned::unsupported(
            format!("-s {text}: the first piece has no room for the header of {counted} bytes"),
            format!("make it {counted} bytes or more"),
        )
    })?;
    sizes.retain(|size| *size > 0);
    let words: Vec<String> = sizes.iter().map(u64::to_string).collect();
    Ok((total, (words.len() > 1).then(|| words.join("+"))))
}

fn stride_asked(options: &TestArgs) -> Result<Option<u64>, Failure> {
    bytes('i', &options.stride, "give a distance in bytes, such as 64")
}

/// Distance of a message's pieces; it has a meaning only where there are several.
pub fn stride(options: &TestArgs, pieces: Option<&String>) -> Result<Option<u64>, Unplanned> {
    let Some(stride) = stride_asked(options)? else {
        return Ok(None);
    };
    let largest = pieces.iter().flat_map(|pieces| pieces.split('+'));
    let largest = largest.filter_map(|size| size.parse::<u64>().ok()).max();
    match largest {
        Some(largest) if stride > 0 && largest > stride => Err(Unplanned::unsupported(
            format!("-i {stride}: a piece of {largest} bytes does not fit into this distance"),
            "give a distance of at least the largest piece",
        )),
        largest => Ok(largest.and(Some(stride))),
    }
}

/// The payload of a message: the original counts the header of its transport layer's active messages as part of it.
pub fn payload(size: u64, header: u64, original: &Original) -> Result<u64, Unplanned> {
    original.payload_bytes(size, header).ok_or_else(|| {
        Unplanned::unsupported(
            format!(
                "-s {size}: the header of {header} bytes is part of a message of {}",
                original.name
            ),
            format!("use -s {header} or more"),
        )
    })
}

pub fn iterations(options: &TestArgs) -> Result<u64, Failure> {
    match options.iters.as_deref() {
        None => Ok(ITERATIONS),
        Some("unlimited") => Ok(UNLIMITED),
        Some(text) => match units::parse_count(text) {
            Ok(count @ 1..=UNLIMITED) => Ok(count),
            _ => Err(wrong(
                'n',
                text,
                "give a count of at least 1, such as 1000, 10k or 1e6, or write -n unlimited and end with Ctrl-C",
            )),
        },
    }
}

fn warmup_asked(options: &TestArgs) -> Result<u64, Failure> {
    match &options.warmup {
        None => Ok(WARMUP),
        Some(text) => match units::parse_count(text) {
            Ok(count @ ..=UNLIMITED) => Ok(count),
            _ => Err(wrong('w', text, "give a count, 0 for no warm-up")),
        },
    }
}

/// Today: at most 100 ms of warm-up. In 2015: one round, at most a tenth of the test.
pub fn warmup(options: &TestArgs, iterations: u64, generation: Generation) -> Result<String, Failure> {
    let count = warmup_asked(options)?;
    Ok(match generation {
        Generation::Today => format!("{count}<100ms"),
        Generation::Y2015 => count.min(iterations / 10).to_string(),
    })
}

fn count(letter: char, text: &str, least: u64) -> Result<u64, Failure> {
    match units::parse_count(text) {
        Ok(count) if count >= least && count <= 1 << 32 => Ok(count),
        _ => Err(wrong(letter, text, &format!("give a count of at least {least}"))),
    }
}

fn window_asked(options: &TestArgs) -> Result<Option<u64>, Failure> {
    let window = options.window.as_deref();
    window.map(|text| count('W', text, 1)).transpose()
}

/// What `-O` says; 0 leaves it to the test.
fn outstanding_asked(options: &TestArgs) -> Result<Option<u64>, Failure> {
    let outstanding = options.outstanding.as_deref();
    let asked = outstanding.map(|text| count('O', text, 0)).transpose()?;
    Ok(asked.filter(|&count| count > 0))
}

/// Credits of a stream of messages of `size` bytes.
pub fn window(
    options: &TestArgs,
    (original, size): (&Original, u64),
    generation: Generation,
) -> Result<u64, Failure> {
    let (window, outstanding) = (window_asked(options)?, outstanding_asked(options)?);
    Ok(original.credits(size, window, outstanding, generation.into()))
}

pub fn outstanding(options: &TestArgs, original: &Original, generation: Generation) -> Result<u64, Failure> {
    let default = original.outstanding(generation.into());
    Ok(outstanding_asked(options)?.unwrap_or(default))
}

pub fn threads(options: &TestArgs) -> Result<u64, Failure> {
    match &options.threads {
        None => Ok(1),
        Some(text) => match units::parse_count(text) {
            Ok(count @ 1..=THREADS_MAX) => Ok(count),
            _ => Err(wrong('T', text, "give a number of threads from 1 to 512")),
        },
    }
}

/// The rank of the percentile column, 0 to 100.
pub fn percentile_rank(options: &TestArgs) -> Result<f64, Failure> {
    match &options.percentile {
        None => Ok(50.0),
        Some(text) => match text.parse::<f64>() {
            Ok(rank) if (0.0..=100.0).contains(&rank) => Ok(rank),
            _ => Err(wrong('R', text, "give a rank from 0 to 100, such as 99.9")),
        },
    }
}

/// What `-c` says last; `none` is no pinning, which is the original's default.
pub fn cpus_asked(texts: &[String]) -> Option<&str> {
    let last = texts.last().map(String::as_str);
    last.filter(|text| *text != "none")
}

/// The CPUs of `-c`.
pub fn cpu_list(text: &str) -> Result<Vec<u32>, Failure> {
    let allowed = wirespeed::host::allowed_cpus();
    let parse = |word: &str| {
        let cpu = word.trim().parse::<u32>().ok();
        cpu.filter(|cpu| allowed.is_empty() || allowed.contains(cpu))
            .ok_or_else(|| {
                let there: Vec<String> = allowed.iter().map(u32::to_string).collect();
                Failure::usage(
                    format!("-c {text}: {word:?} is no CPU that this process may use"),
                    format!("choose from: {}", there.join(",")),
                )
            })
    };
    text.split(',').map(parse).collect()
}
