//! UCX's transport layer over one device: the calls that UCX's own protocols are built from.
//!
//! Which devices and transports there are, and what each can do, UCX is asked; no name stands here. It must never
//! measure another layout than the one that was asked for.

mod caps;
mod link_completions;
mod link_connect;
mod link_interface;
mod link_memory;
mod link_messages;
mod link_one_sided;
mod link_pieces;
mod link_walk;

use crate::error::UcxError;
use crate::options::{
    HEADER, IOV, NO_YES, NONBLOCK, PASSIVE, STRIDE, THREAD_MODE, THREAD_MODES, UCX, available, header_bytes,
    library, word,
};
use crate::pieces::Iov;
use caps::{Caps, Kind, nothing};
use link_interface::{Interface, Ways};
use link_walk::{Found, Name, find, survey};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::Facts;
use wirespeed::transport::{
    Availability, Connect, ConnectError, Limits, MessageRunner, Messages, OneSided, OneSidedRunner, Ran,
    Resource, SizeLimit, Support, Tagged, Transport, adapt,
};
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_ucx_sys::{
    Loaded, UCS_ASYNC_MODE_SIGNAL, UCS_ASYNC_MODE_THREAD_MUTEX, UCS_ASYNC_MODE_THREAD_SPINLOCK,
    UCT_MD_MEM_FLAG_NONBLOCK, ucs_async_mode_t,
};

const NOT_APART: SizeLimit =
    SizeLimit::never("pieces of puts and gets lie together: leave option stride out");

/// What serves events.
const EVENTS: [(&str, ucs_async_mode_t); 3] = [
    ("thread_spinlock", UCS_ASYNC_MODE_THREAD_SPINLOCK),
    ("thread_mutex", UCS_ASYNC_MODE_THREAD_MUTEX),
    ("signal", UCS_ASYNC_MODE_SIGNAL),
];

/// The transport.
pub struct Uct;

/// Its options.
#[derive(Debug, Clone, Default)]
pub struct UctOptions {
    ucx: Option<PathBuf>,
    tl: Option<String>,
    device: Option<String>,
    iov: Iov,
    header_bytes: usize,
    ways: Ways,
    passive: bool,
}

/// The device that options choose.
#[derive(Clone)]
pub struct Chosen {
    loaded: &'static Loaded,
    name: Name,
    caps: Caps,
}

impl Chosen {
    fn open(&self, options: &UctOptions) -> Result<Arc<Interface>, UcxError> {
        let domain = find(self.loaded, &self.name)?;
        Interface::open(domain, &self.name, options.ways).map(Arc::new)
    }

    fn is_loopback(&self) -> bool {
        self.name.kind == Kind::Loopback
    }

    fn what(&self) -> String {
        format!("{}/{}", self.name.tl, self.name.device)
    }

    fn facts(&self, options: &UctOptions) -> Facts {
        let mut facts = Facts::new();
        let mut fact = |name: &str, value: String| facts.insert(name.to_owned(), value);
        fact("ucx", self.loaded.version.to_string());
        fact("ucx_library", self.loaded.path.display().to_string());
        fact("tl", self.name.tl.clone());
        fact("device", self.name.device.clone());
        fact("iov", options.iov.text());
        fact("stride", options.iov.stride().to_string());
        fact("header", options.header_bytes.to_string());
        fact("events", word(&EVENTS, options.ways.events));
        fact("nonblock", word(&NO_YES, options.ways.memory != 0));
        fact("passive", word(&NO_YES, options.passive));
        fact("thread_mode", word(&THREAD_MODES, options.ways.threads));
        fact("wait", "poll".to_owned());
        facts
    }
}

/// What a survey is made for: a transport, a device, or all of them.
type Wanted = (Option<String>, Option<String>);

/// Surveys open every device that they name; what was found once stays true for the life of the process.
static SURVEYS: Mutex<BTreeMap<Wanted, Arc<Vec<Found>>>> = Mutex::new(BTreeMap::new());

fn surveyed(loaded: &'static Loaded, options: &UctOptions) -> Result<Arc<Vec<Found>>, UcxError> {
    let wanted = (options.tl.clone(), options.device.clone());
    let mut surveys = SURVEYS.lock();
    if let Some(found) = surveys.get(&wanted) {
        return Ok(found.clone());
    }
    let fits = |asked: &Option<String>, name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    let found = survey(loaded, |name| {
        fits(&options.tl, &name.tl) && fits(&options.device, &name.device)
    })?;
    let found = Arc::new(found);
    surveys.insert(wanted, found.clone());
    Ok(found)
}

/// The device that `options` choose: the one that they name, else the one that UCX believes to be the fastest between
/// processes of this machine.
fn choose(options: &UctOptions) -> Result<Chosen, String> {
    let loaded = library(options.ucx.as_ref()).map_err(|e| e.to_string())?;
    let found = surveyed(loaded, options).map_err(|e| e.to_string())?;
    let chosen = |found: &Found, caps: &Caps| Chosen {
        loaded,
        name: found.name.clone(),
        caps: caps.clone(),
    };
    if options.tl.is_some() {
        return match found.first() {
            Some(first) => match &first.caps {
                Ok(caps) => Ok(chosen(first, caps)),
                Err(why) => Err(why.clone()),
            },
            None => Err(unknown(loaded, options)),
        };
    }
    let usable = |f: &&Found| {
        f.caps
            .as_ref()
            .is_ok_and(|c| c.host_memory && c.connects && c.has_messages())
    };
    let preference = |f: &&Found| {
        let reach = match f.name.kind {
            Kind::SharedMemory => 0,
            Kind::Network => 1,
            Kind::Accelerator => 2,
            Kind::Loopback => 3,
        };
        (reach, f.caps.as_ref().map_or(u64::MAX, |c| c.latency_ns))
    };
    let best = found.iter().filter(usable).min_by_key(preference);
    match best.and_then(|f| f.caps.as_ref().ok().map(|caps| chosen(f, caps))) {
        Some(chosen) => Ok(chosen),
        None => Err(unknown(loaded, options)),
    }
}

/// What there is instead of the device that was asked for.
fn unknown(loaded: &'static Loaded, options: &UctOptions) -> String {
    let all = surveyed(loaded, &UctOptions::default()).unwrap_or_default();
    let known: Vec<_> = all
        .iter()
        .map(|f| format!("tl={} device={}", f.name.tl, f.name.device))
        .collect();
    let any = |name: &Option<String>| name.clone().unwrap_or_else(|| "any".to_owned());
    format!(
        "UCX {} has no tl={} device={} here; it has: {}",
        loaded.version,
        any(&options.tl),
        any(&options.device),
        known.join(", ")
    )
}

impl Transport for Uct {
    const NAME: &'static str = "uct";
    const SUMMARY: &'static str =
        "UCX's transport layer over one device: the one chosen, or its fastest local one";
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec::new(
            "tl",
            "NAME",
            "UCX's transport, as `wirespeed list uct` names it; without it the fastest between processes here",
        ),
        OptionSpec::new(
            "device",
            "NAME",
            "the device, as `wirespeed list uct` names it; without it the first of the transport",
        ),
        OptionSpec::new(
            "events",
            "thread_spinlock|thread_mutex|signal",
            "what serves events of the device outside wirespeed's calls: a thread of UCX's, or a signal",
        )
        .with_default("thread_spinlock"),
        IOV,
        STRIDE,
        HEADER,
        THREAD_MODE,
        NONBLOCK,
        PASSIVE,
        UCX,
    ];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Emulated(adapt::tagged::MEANS);
    const ONE_SIDED: Support = Support::Native;
    const BY_DEVICE: bool = true;
    type Options = UctOptions;

    fn parse(options: &TransportOptions) -> Result<UctOptions, OptionError> {
        let reader = OptionReader::new(Self::NAME, Self::OPTIONS, options)?;
        let text = |name: &'static str| reader.text(name).map(str::to_owned);
        Ok(UctOptions {
            ucx: text(UCX.name).map(PathBuf::from),
            tl: text("tl"),
            device: text("device"),
            iov: Iov::parse(&reader)?,
            header_bytes: header_bytes(&reader)?,
            ways: Ways {
                events: reader.choice("events", &EVENTS)?,
                threads: reader.choice(THREAD_MODE.name, &THREAD_MODES)?,
                memory: match reader.choice(NONBLOCK.name, &NO_YES)? {
                    true => UCT_MD_MEM_FLAG_NONBLOCK,
                    false => 0,
                },
            },
            passive: reader.choice(PASSIVE.name, &NO_YES)?,
        })
    }

    fn probe() -> Availability {
        available(None)
    }

    fn about() -> Facts {
        crate::options::about()
    }

    fn ready(options: &UctOptions) -> Availability {
        match choose(options) {
            Ok(_) => Availability::Ready,
            Err(why) => Availability::Missing(why),
        }
    }

    fn limits(options: &UctOptions) -> Limits {
        match choose(options) {
            Ok(chosen) => {
                let caps = &chosen.caps;
                let mut limits = caps.limits(
                    chosen.name.kind,
                    &chosen.what(),
                    options.iov.count(),
                    options.header_bytes,
                );
                if options.iov.is_apart() {
                    // The last bytes of a put say that it has come: they lie where the engine writes them.
                    (limits.put[2], limits.get[2]) = (NOT_APART, NOT_APART);
                }
                limits
            }
            Err(why) => nothing(&why, &[GroupKind::Threads, GroupKind::Processes], 2),
        }
    }

    fn resources(options: &UctOptions) -> Vec<Resource> {
        let found = library(options.ucx.as_ref())
            .ok()
            .and_then(|loaded| surveyed(loaded, options).ok())
            .unwrap_or_default();
        let resource = |found: &Found| {
            let mut chosen = TransportOptions::new();
            chosen.insert("tl".to_owned(), found.name.tl.clone());
            chosen.insert("device".to_owned(), found.name.device.clone());
            if let Some(ucx) = &options.ucx {
                chosen.insert(UCX.name.to_owned(), ucx.display().to_string());
            }
            let about = match &found.caps {
                Ok(caps) => format!(
                    "{}, latency about {} ns by UCX's own estimate",
                    found.name.kind.name(),
                    caps.latency_ns
                ),
                Err(why) => format!("{}, not usable: {why}", found.name.kind.name()),
            };
            Resource::new(chosen, about)
        };
        found.iter().map(resource).collect()
    }
}

fn chosen(options: &UctOptions) -> Result<Chosen, ConnectError> {
    choose(options).map_err(ConnectError::Other)
}

impl Messages for Uct {
    fn open<R: MessageRunner>(ctx: &Connect, options: &UctOptions, runner: R) -> Ran<R::Output> {
        link_messages::open(ctx, options, &chosen(options)?, runner)
    }
}

impl Tagged for Uct {}

impl OneSided for Uct {
    fn open<R: OneSidedRunner>(ctx: &Connect, options: &UctOptions, runner: R) -> Ran<R::Output> {
        link_one_sided::open(ctx, options, &chosen(options)?, runner)
    }
}
