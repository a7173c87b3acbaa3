//! Options that only UCX has: which test takes them, what transports `uct` and `ucp` call them, and what a transport of
//! ours lacks of them. Nothing is ignored: what has no effect is refused, or skipped with its reason.

use super::numbers::header;
use super::unplanned::Unplanned;
use crate::args::{Generation, TestArgs};
use crate::errors::Failure;
use std::collections::BTreeMap;
use wirespeed_report::perftest::{Api, HEADER_BYTES, Original};
use wirespeed_schema::order::map_of;
use wirespeed_schema::test::Layout;

type Options = BTreeMap<String, String>;

fn is_one_sided(original: &Original) -> bool {
    original.is_atomic() || original.test.starts_with("put") || original.is_get()
}

/// Layouts of the transport layer.
const LAYOUTS: [&str; 4] = ["short", "shortiov", "bcopy", "zcopy"];
/// Layouts of the protocol layer, one for both ends or for each.
const ENDS: [&str; 2] = ["contig", "iov"];

/// Letters that the test does not take, and what needs other hardware, make no test.
pub fn check_letters(options: &TestArgs, original: &Original) -> Result<(), Unplanned> {
    check_hardware(options)?;
    let test = original.name;
    let is_tag = original.test.starts_with("tag_");
    let is_stream = test.starts_with("stream_");
    let of_ucp = original.api == Api::Ucp;
    let given = [
        (options.wildcard, 'C', is_tag, "tag"),
        (options.unexpected, 'U', is_tag, "tag"),
        (options.stream_recv.is_some(), 'r', is_stream, "stream"),
        (options.one_sided, 'o', is_one_sided(original), "one-sided"),
        (options.error_mode.is_some(), 'e', of_ucp, "UCP"),
        (options.preregistered, 'z', of_ucp, "UCP"),
        (options.receive_copy, 'y', test.starts_with("ucp_am"), "ucp_am"),
        (options.async_mode.is_some(), 'A', !of_ucp, "UCT"),
    ];
    match given.iter().find(|(given, _, takes, _)| *given && !takes) {
        Some((_, letter, _, kind)) => Err(Unplanned::unsupported(
            format!("{test} takes no -{letter}: it is for {kind} tests"),
            "leave it out, or give it on the lines of those tests",
        )),
        None => Ok(()),
    }
}

fn check_hardware(options: &TestArgs) -> Result<(), Unplanned> {
    let host_only = |memory: &str| memory.split(',').all(|kind| kind == "host");
    if let Some(memory) = options.memory.as_deref().filter(|memory| !host_only(memory)) {
        return Err(Unplanned::not_offered(format!(
            "memory {memory} is not offered, only host"
        )));
    }
    let gpu = [
        (&options.gpu_devices, 'a'),
        (&options.gpu_level, 'L'),
        (&options.gpu_completions, 'F'),
        (&options.gpu_channel, 'Y'),
    ];
    match gpu.iter().find(|(value, _)| value.is_some()) {
        Some((_, letter)) => Err(Unplanned::not_offered(format!(
            "-{letter} is for GPU kernels, which are not offered"
        ))),
        None => Ok(()),
    }
}

/// Refuse words that no test takes, whether or not this one has a use for them.
pub fn check_words(options: &TestArgs) -> Result<(), Failure> {
    let choices: [(&Option<String>, char, &[&str]); 5] = [
        (&options.wait, 'E', &["poll", "sleep"]),
        (&options.thread_mode, 'M', &["single", "serialized", "multi"]),
        (&options.stream_recv, 'r', &["recv", "recv_data"]),
        (&options.error_mode, 'e', &["none", "peer", "failover"]),
        (
            &options.async_mode,
            'A',
            &["thread", "thread_spinlock", "thread_mutex", "signal"],
        ),
    ];
    for (value, letter, known) in choices {
        if let Some(text) = value.as_deref().filter(|text| !known.contains(text)) {
            return Err(Failure::usage(
                format!("invalid -{letter} {text}"),
                format!("choose from: {}", known.join(", ")),
            ));
        }
    }
    match options.layout.as_deref().filter(|text| !is_layout(text)) {
        Some(text) => Err(Failure::usage(
            format!("there is no layout {text:?}"),
            format!(
                "choose from: {}; of the UCP tests {}, for both ends alike or as SEND,RECV",
                LAYOUTS.join(", "),
                ENDS.join(" or ")
            ),
        )),
        None => Ok(()),
    }
}

fn is_layout(text: &str) -> bool {
    LAYOUTS.contains(&text) || is_of_ends(text)
}

/// `contig`, `iov`, or one for each end.
fn is_of_ends(text: &str) -> bool {
    text.split(',').count() <= 2 && text.split(',').all(|word| ENDS.contains(&word))
}

/// The plan's word for `-D`; `None` leaves it to the plan. What the test cannot have is refused.
pub fn layout(options: &TestArgs, original: &Original) -> Result<Option<&'static str>, Unplanned> {
    let asked = options.layout.as_deref();
    if original.api == Api::Ucp {
        return match asked {
            Some(text) if !is_of_ends(text) => Err(Unplanned::unsupported(
                format!("{} has no layout {text}", original.name),
                "give contig or iov, for both ends alike or as SEND,RECV",
            )),
            _ => Ok(None),
        };
    }
    if original.is_atomic() {
        return match asked {
            None | Some("short") => Ok(None),
            Some(text) => Err(Unplanned::unsupported(
                format!(
                    "{} has no layout {text}: the operand goes into the call",
                    original.name
                ),
                "leave -D out",
            )),
        };
    }
    let gets = original.is_get();
    match asked {
        None => Ok(None),
        Some("short") if gets => Err(Unplanned::unsupported(
            format!(
                "{} has no layout short: there is nothing to inline",
                original.name
            ),
            "use -D bcopy or -D zcopy",
        )),
        Some("short") => Ok(Some("short")),
        Some("bcopy") => Ok(Some("bcopy")),
        Some("zcopy") => Ok(Some("zcopy")),
        Some("shortiov") if original.test.starts_with("am_") => Ok(Some("shortiov")),
        Some("shortiov") => Err(Unplanned::unsupported(
            format!(
                "{} has no layout shortiov: only active messages have",
                original.name
            ),
            "use -D short, bcopy or zcopy",
        )),
        Some(text) => Err(Unplanned::unsupported(
            format!("{} has no layout {text}: it is for UCP tests", original.name),
            "use -D short, bcopy or zcopy",
        )),
    }
}

/// The plan's word for how data are handed over to UCX where `-D` does not say it, for messages of `size_bytes`.
pub fn default_layout(
    options: &TestArgs,
    original: &Original,
    header: u64,
    size_bytes: u64,
) -> Option<&'static str> {
    let plain = header == HEADER_BYTES && !options.preregistered && listed(options).is_none();
    original.layout(size_bytes, plain).map(Layout::name)
}

/// Whether several sizes are entries of a list here, and not only their sum.
pub fn has_entries(options: &TestArgs, original: &Original) -> bool {
    match (original.api, options.layout.as_deref()) {
        (Api::Uct, Some(layout)) => layout == "zcopy" || layout == "shortiov",
        (Api::Ucp, Some(layout)) => layout.contains("iov"),
        _ => false,
    }
}

/// A letter of UCX's that was given and that transports of ours have no use for, and what it stands for.
pub fn foreign_letter(options: &TestArgs, original: &Original) -> Option<(&'static str, &'static str)> {
    let layout = options.layout.as_deref().unwrap_or_default();
    let several = options.size.as_deref().is_some_and(|sizes| sizes.contains(','));
    let given = [
        (layout.contains("iov"), "-D", "scatter-gather layout"),
        (
            several && has_entries(options, original),
            "-s",
            "scatter-gather list",
        ),
        (options.stride.is_some(), "-i", "scatter-gather list"),
        (
            header(options, original).is_ok_and(|size| size != HEADER_BYTES),
            "-H",
            "header of another size",
        ),
        (options.one_sided, "-o", "choice of who makes progress"),
        (options.nonblock, "-B", "registration of memory"),
        (options.async_mode.is_some(), "-A", "asynchronous progress"),
        (
            options
                .thread_mode
                .as_deref()
                .is_some_and(|mode| mode != "single"),
            "-M",
            "worker that threads share",
        ),
        (options.wildcard, "-C", "wildcard tags"),
        (options.unexpected, "-U", "tag probe"),
        (options.preregistered, "-z", "registration of memory"),
        (options.receive_copy, "-y", "second copy"),
        (original.name.starts_with("stream_"), "-t", "byte stream of UCX's"),
        (!original.options.is_empty(), "-t", "such test"),
    ];
    let found = given.iter().find(|(given, _, _)| *given);
    found.map(|(_, letter, what)| (*letter, *what))
}

/// What transport `uct` lacks of what was asked for.
fn uct_lacks(options: &TestArgs) -> Option<&'static str> {
    let sleeps = options.wait.as_deref() == Some("sleep");
    sleeps.then_some("sleeping waits (-E): its interfaces are polled")
}

/// Options that both transports of UCX have.
fn shared_options(options: &TestArgs, settings: &mut Options) {
    let yes = "yes".to_owned();
    for (given, name) in [(options.one_sided, "passive"), (options.nonblock, "nonblock")] {
        insert_value(settings, name, &given.then(|| yes.clone()));
    }
    insert_value(settings, "thread_mode", &options.thread_mode);
}

/// Options of transport `uct`.
pub fn uct_options(options: &TestArgs, generation: Generation) -> Result<Options, Unplanned> {
    let remedy = "name both, such as -x posix -d memory (`wirespeed list uct`), or a transport of `wirespeed list` alone";
    if let Some(what) = uct_lacks(options) {
        return Err(Unplanned::not_offered(format!("uct does not offer {what}")));
    }
    let mut settings = Options::new();
    match (&options.transport, &options.device) {
        (Some(transport), Some(device)) => {
            settings.insert("tl".to_owned(), transport.clone());
            settings.insert("device".to_owned(), device.clone());
        }
        // The first resource was taken then; the transport does the same when it is told nothing.
        (transport, device) if generation == Generation::Y2015 => {
            insert_value(&mut settings, "tl", transport);
            insert_value(&mut settings, "device", device);
        }
        (Some(transport), None) => {
            let cause = format!("no device is named for {transport}: -d is missing");
            return Err(Failure::usage(cause, remedy).into());
        }
        (None, _) => return Err(Failure::usage("no transport is named: -x is missing", remedy).into()),
    }
    shared_options(options, &mut settings);
    // The original has two names for one way.
    let events = options.async_mode.as_deref().map(|mode| match mode {
        "thread" => "thread_spinlock".to_owned(),
        mode => mode.to_owned(),
    });
    insert_value(&mut settings, "events", &events);
    Ok(settings)
}

/// What transport `ucp` lacks of what was asked for.
fn ucp_lacks(options: &TestArgs, original: &Original) -> Option<&'static str> {
    let received = options
        .layout
        .as_deref()
        .and_then(|layout| layout.split(',').nth(1));
    let lists = received == Some("iov") && original.test.starts_with("am_");
    let differ = options
        .layout
        .as_deref()
        .is_some_and(|layout| layout.starts_with("contig,"));
    (lists && differ).then_some("active messages received into pieces (-D): UCX hands them over in one")
}

/// Which end hands its data over as a list.
fn listed(options: &TestArgs) -> Option<String> {
    let (send, receive) = options
        .layout
        .as_deref()
        .map(|layout| layout.split_once(',').unwrap_or((layout, layout)))?;
    let end = match (send, receive) {
        ("iov", "iov") => "both",
        ("iov", _) => "send",
        (_, "iov") => "recv",
        _ => return None,
    };
    Some(end.to_owned())
}

/// Options of transport `ucp`; what carries the data is UCX's own choice from its environment.
pub fn ucp_options(options: &TestArgs, original: &Original) -> Result<Options, Unplanned> {
    if let Some(what) = ucp_lacks(options, original) {
        return Err(Unplanned::not_offered(format!("ucp does not offer {what}")));
    }
    let own = original.options.iter();
    let mut settings: Options = map_of(own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let mut yes = |given: bool, name: &str| {
        if given {
            settings.insert(name.to_owned(), "yes".to_owned());
        }
    };
    yes(options.wildcard, "wildcard");
    yes(options.unexpected, "unexpected");
    yes(options.preregistered, "register");
    yes(options.receive_copy, "receive_copy");
    shared_options(options, &mut settings);
    insert_value(&mut settings, "listed", &listed(options));
    if options.stream_recv.as_deref() == Some("recv_data") {
        settings.insert("stream".to_owned(), "data".to_owned());
    }
    insert_value(&mut settings, "wait", &options.wait);
    // Failover is a way of handling the errors of a peer.
    let errors = options.error_mode.as_deref().map(|mode| match mode {
        "none" => "none".to_owned(),
        _ => "peer".to_owned(),
    });
    insert_value(&mut settings, "errors", &errors);
    Ok(settings)
}

fn insert_value(settings: &mut Options, name: &str, value: &Option<String>) {
    if let Some(value) = value {
        settings.insert(name.to_owned(), value.clone());
    }
}
