//! Lanes: where several threads of a process are ranks of their own, each has a communicator of its own, made when the job
//! is joined. A rank receives on its own lane, and sends on the lane of the thread that is to receive; the tag says which
//! thread sent. Between threads of the same number, as pairs are, a lane is thus used by one thread at each end.
//!
//! Lanes are as old as the job: a case that ends badly leaves messages in them, after which no further case gets one.

use crate::link::{self, Comm};
use crate::options;
use crate::process;
use core::ffi::c_int;
use std::sync::OnceLock;
use wirespeed::transport::{Connect, ConnectError};
use wirespeed_mpi_sys::{Handle, Mpi};

/// The lanes of this process, by thread; kept as numbers, because a static does not know the handle's kind.
static LANES: OnceLock<Vec<usize>> = OnceLock::new();

/// Make a lane for each of `count` threads. Collective; called once, before any other thread calls MPI.
pub fn make<H: Handle>(mpi: &'static Mpi<H>, count: u32) -> Result<(), String> {
    let (f, c) = (&mpi.functions, &mpi.constants);
    let mut lanes = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let mut lane = H::BLANK;
        // SAFETY: MPI is initialised; all ranks make this call, one thread of each.
        link::checked(mpi, "MPI_Comm_dup", unsafe {
            (f.comm_dup)(c.comm_world, &mut lane)
        })?;
        // SAFETY: a communicator of this library, and its own error handler.
        let code = unsafe { (f.comm_set_errhandler)(lane, c.errors_return) };
        link::checked(mpi, "MPI_Comm_set_errhandler", code)?;
        lanes.push(lane.to_bits());
    }
    let _ = LANES.set(lanes);
    Ok(())
}

/// Another rank as a port addresses it.
#[derive(Debug, Clone, Copy)]
pub struct Peer<H> {
    /// Its process.
    pub process: c_int,
    /// Where messages to it are sent.
    pub comm: H,
    /// What is added to the tags of its messages.
    pub tag_base: c_int,
}

/// How a rank addresses the others and is addressed.
pub struct Lane<H: Handle> {
    /// Where messages to this rank arrive.
    pub comm: Comm<H>,
    /// What is added to the tags of its messages.
    pub tag_base: c_int,
    /// Largest tag, before anything is added.
    pub tag_max: u64,
    /// The other ranks, by slot.
    pub peers: Vec<Peer<H>>,
}

impl<H: Handle> Lane<H> {
    /// For the rank of `ctx`: a communicator of the case's own where a process is one rank, else the thread's lane.
    pub fn open(mpi: &'static Mpi<H>, ctx: &Connect) -> Result<Self, ConnectError> {
        let threads = process::choice().threads_per_process;
        if threads <= 1 {
            let comm = Comm::duplicate(mpi, &ctx.cancel)?;
            let peer = |rank: &u32| Peer {
                process: *rank as c_int,
                comm: comm.handle,
                tag_base: 0,
            };
            return Ok(Lane {
                peers: ctx.peers.iter().map(peer).collect(),
                tag_base: 0,
                tag_max: comm.tag_max(),
                comm,
            });
        }
        if link::is_damaged() {
            return Err(ConnectError::Other(
                "a case before it left messages between the threads of the job: start the job again".into(),
            ));
        }
        let lane = |thread: u32| {
            let found = LANES.get().and_then(|lanes| lanes.get(thread as usize));
            let missing = || ConnectError::Other(options::NOT_INITIALISED.into());
            found.map(|bits| H::from_bits(*bits)).ok_or_else(missing)
        };
        let me = ctx.bootstrap.rank() % threads;
        let comm = Comm::of_job(mpi, lane(me)?, &ctx.cancel);
        let tags = (comm.tag_max() + 1) / u64::from(threads);
        let tag_base = |thread: u32| (u64::from(thread) * tags) as c_int;
        let peer = |rank: &u32| -> Result<Peer<H>, ConnectError> {
            Ok(Peer {
                process: (rank / threads) as c_int,
                comm: lane(rank % threads)?,
                tag_base: tag_base(rank % threads),
            })
        };
        Ok(Lane {
            peers: ctx.peers.iter().map(peer).collect::<Result<_, _>>()?,
            tag_base: tag_base(me),
            tag_max: tags - 1,
            comm,
        })
    }
}
