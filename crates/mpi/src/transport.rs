//! The cold half of the transport `mpi`: options, limits, and which port is opened.

use crate::link_messages::{MESSAGE_BYTES_MAX, MessageLink};
use crate::link_one_sided::{OneSidedLink, Window};
use crate::link_tagged::TaggedLink;
use crate::options::{MpiOptions, NOT_INITIALISED, WaitMode};
use crate::process;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::Facts;
use wirespeed::transport::{
    Atomics, Availability, Connect, ConnectError, Limits, MessageRunner, Messages, OneSided, OneSidedRunner,
    Ran, SizeLimit, Support, Tagged, TaggedRunner, Transport, adapt,
};
use wirespeed_mpi_sys::{Handle, Loaded};
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_schema::test::{Layout, Test};

/// The transport over an MPI library.
pub struct Mpi;

impl Transport for Mpi {
    const NAME: &'static str = "mpi";
    const SUMMARY: &'static str = "any MPI library, loaded at run time, between the ranks of its launcher";
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec::new("wait", "poll|block", "test for completion, or let the library wait (MPI_Waitall), as osu and IMB do").with_default("poll"),
        OptionSpec::new("requests", "plain|persistent", "matched messages by MPI_Isend and MPI_Irecv, or by persistent requests that are started again").with_default("plain"),
        OptionSpec::new("windows", "auto|native", "put, get and atomics where the library refuses a window: over active messages, which the result says; or an error").with_default("auto"),
    ];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Native;
    const ONE_SIDED: Support = Support::Native;
    const TAGS_FIRST: bool = true;
    // Windows are made by all ranks of a job.
    const JOB_WIDE: bool = true;
    type Options = MpiOptions;

    fn parse(options: &TransportOptions) -> Result<MpiOptions, OptionError> {
        let reader = OptionReader::new(Self::NAME, Self::OPTIONS, options)?;
        Ok(MpiOptions {
            wait: reader.choice("wait", &[("poll", WaitMode::Poll), ("block", WaitMode::Block)])?,
            emulate: reader.choice("windows", &[("auto", true), ("native", false)])?,
            persistent: reader.choice("requests", &[("plain", false), ("persistent", true)])?,
        })
    }

    fn probe() -> Availability {
        match crate::job::obstacle() {
            None => Availability::Ready,
            Some(why) => Availability::Missing(why),
        }
    }

    fn limits(_: &MpiOptions) -> Limits {
        let any = || SizeLimit::UpTo(u64::MAX);
        let packed = || SizeLimit::UpTo(MESSAGE_BYTES_MAX);
        let no_pieces = || SizeLimit::lacks("MPI has no inlined pieces");
        let no_inline = SizeLimit::lacks("a get has nothing to inline");
        let messages = [packed(), packed(), packed(), no_pieces()];
        let put = [packed(), packed(), any(), no_pieces()];
        let get = [no_inline, any(), any(), no_pieces()];
        Limits::of_messages(&[GroupKind::Job], messages)
            .with_tagged(any())
            .with_one_sided(put, get)
            .with_atomics(Atomics::ALL)
    }

    fn about() -> Facts {
        crate::job::about()
    }
}

impl Messages for Mpi {
    fn open<R: MessageRunner>(ctx: &Connect, _: &MpiOptions, runner: R) -> Ran<R::Output> {
        check_world(ctx)?;
        check_alone()?;
        Ok(match process::library().map_err(ConnectError::Other)? {
            Loaded::Pointers(mpi) => runner.run(MessageLink::open(mpi, ctx)?),
            Loaded::Integers(mpi) => runner.run(MessageLink::open(mpi, ctx)?),
        })
    }
}

impl OneSided for Mpi {
    fn open<R: OneSidedRunner>(ctx: &Connect, options: &MpiOptions, runner: R) -> Ran<R::Output> {
        check_world(ctx)?;
        check_alone()?;
        match process::library().map_err(ConnectError::Other)? {
            Loaded::Pointers(mpi) => one_sided(mpi, ctx, options, runner),
            Loaded::Integers(mpi) => one_sided(mpi, ctx, options, runner),
        }
    }
}

/// On a window where the library makes one at every rank; else over active messages, which the result says.
fn one_sided<H: Handle, R: OneSidedRunner>(
    mpi: &'static wirespeed_mpi_sys::Mpi<H>,
    ctx: &Connect,
    options: &MpiOptions,
    runner: R,
) -> Ran<R::Output> {
    refuse_known_crash(&mpi.version, ctx)?;
    let window = Window::allocate(mpi, ctx)?;
    let refusal = window.as_ref().err().cloned().unwrap_or_default();
    let refusals = ctx.bootstrap.exchange(refusal.as_bytes())?;
    let refused = refusals.into_iter().find(|said| !said.is_empty());
    let said = match (window, refused) {
        (Ok(window), None) => return Ok(runner.run(OneSidedLink::new(window, ctx)?)),
        (window, refused) => {
            let _ = window.map(Window::refuse);
            refused.unwrap_or_default()
        }
    };
    let said = String::from_utf8_lossy(&said);
    let why = match options.emulate {
        true if ctx.case.test.layout() == Some(Layout::Zcopy) => {
            format!("({said}), and over active messages there is no zcopy: use --layout bcopy")
        }
        true => return adapt::one_sided::open::<Mpi, R>(ctx, options, runner),
        false => format!("({said}); -O windows=auto measures over active messages instead"),
    };
    Err(ConnectError::Other(format!(
        "{} makes no window {why}",
        mpi.version
    )))
}

impl Tagged for Mpi {
    fn open<R: TaggedRunner>(ctx: &Connect, options: &MpiOptions, runner: R) -> Ran<R::Output> {
        check_world(ctx)?;
        match process::library().map_err(ConnectError::Other)? {
            Loaded::Pointers(mpi) => tagged(mpi, ctx, options, runner),
            Loaded::Integers(mpi) => tagged(mpi, ctx, options, runner),
        }
    }
}

fn tagged<H: Handle, R: TaggedRunner>(
    mpi: &'static wirespeed_mpi_sys::Mpi<H>,
    ctx: &Connect,
    options: &MpiOptions,
    runner: R,
) -> Ran<R::Output> {
    Ok(match options.persistent {
        true => runner.run(TaggedLink::<H, true>::open(mpi, ctx, options)?),
        false => runner.run(TaggedLink::<H, false>::open(mpi, ctx, options)?),
    })
}

/// Open MPI 4 ends the target with a segmentation fault in a compare-and-swap of 8 bytes between ranks of one node, unless
/// another component makes the window. A crash would take the whole job with it.
fn refuse_known_crash(version: &str, ctx: &Connect) -> Result<(), ConnectError> {
    let chosen = [
        "OMPI_MCA_osc",
        "OMPI_MCA_btl",
        "OMPI_MCA_btl_vader_single_copy_mechanism",
    ];
    let chosen = chosen.iter().any(|name| std::env::var_os(name).is_some());
    let wide = matches!(&ctx.case.test, Test::Cswap(atomic) if atomic.size_bytes == 8);
    if wide && version.starts_with("Open MPI v4.") && !chosen {
        return Err(ConnectError::Other(format!(
            "{version} crashes in a compare-and-swap of 8 bytes on one node: use --size 4, or set OMPI_MCA_osc=sm"
        )));
    }
    Ok(())
}

/// Active messages, put, get and atomics have one rank a process.
fn check_alone() -> Result<(), ConnectError> {
    match process::choice().threads_per_process {
        0 | 1 => Ok(()),
        _ => Err(ConnectError::Other(
            "threads of a process exchange matched messages only: use tag_lat, tag_bw, msgrate or an osu or imb test, \
             or leave --mpi-threads-per-process out"
                .into(),
        )),
    }
}

/// The group must be the world: ranks of a launcher's job, numbered as MPI numbers them; where threads are ranks, those of
/// a process follow each other.
fn check_world(ctx: &Connect) -> Result<(), ConnectError> {
    let world = process::world().ok_or_else(|| ConnectError::Other(NOT_INITIALISED.into()))?;
    let threads = process::choice().threads_per_process.max(1);
    let (rank, size) = (ctx.bootstrap.rank(), ctx.bootstrap.size());
    if (rank / threads, size) != (world.rank, world.size * threads) {
        return Err(ConnectError::Other(
            "the ranks of the group are not those of the MPI job".into(),
        ));
    }
    Ok(())
}
