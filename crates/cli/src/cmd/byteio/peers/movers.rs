//! Movers at work: one run of one of them at a time, ours or another's. It must never time another's by our clock where its own
//! program tells.

use super::{Path, Row, Who, broken};
use crate::cmd::byteio::runner::Transfers;
use crate::errors::Failure;
use crate::experiment::loads::refused;
use crate::experiment::{Measured, OnSeen, Runner, Visit};
use crate::file;
use wirespeed::load::{Background, Measuring};
use wirespeed_byteio::peers::{Mover, Room, Shape, Transferred};
use wirespeed_control::StopFlag;
use wirespeed_report::byteio::{BulkRun, ceiling, repetition};
use wirespeed_schema::case::Load;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::Remark;

/// Segments of Ethernet; movers do not tell theirs.
const MSS_BYTES: u64 = 1448;

/// The load of a rank, while it lives.
fn started(load: &Load, word: Option<&str>) -> Result<Option<Background>, Failure> {
    if load.is_idle() {
        return Ok(None);
    }
    let load = Background::start(load, &Measuring::alone(None));
    load.map(Some)
        .map_err(|error| refused(word.unwrap_or_default(), &error))
}

/// Ours and those of others, as runs of an experiment's cells.
pub(super) struct Movers<'a> {
    pub path: &'a Path<'a>,
    pub rows: &'a [Row],
    pub transfers: Transfers<'a>,
    /// Where those write who can only write files.
    pub room: Room,
    pub host: HostFingerprint,
}

impl Movers<'_> {
    /// One transfer by a mover of others.
    fn moved(&self, mover: Mover, port: u16) -> Result<BulkRun, Failure> {
        let path = self.path;
        let file = match (&path.arguments.mounted, mover) {
            (Some(mounted), Mover::Mounted) => file::text(mounted)?,
            _ => path.far.file.clone(),
        };
        let shape = Shape {
            at: path.far.at,
            port,
            file,
            total_bytes: path.total_bytes,
            threads: path.arguments.threads.min(mover.threads_max()),
            block_bytes: path.block_bytes,
            limit: path.limit,
            folder: self.room.path().to_owned(),
        };
        let moved = match path.arguments.put {
            false => mover.fetch(&shape),
            true => mover.send(&shape),
        };
        moved.map(|moved| self.run_of(&moved)).map_err(broken)
    }

    fn run_of(&self, moved: &Transferred) -> BulkRun {
        let rate = moved.payload_bytes as f64 / (moved.elapsed_ns.max(1) as f64 / 1e9);
        let mut figures = Vec::new();
        figures.extend(
            moved
                .retransmitted_ratio
                .map(|ratio| ("retransmitted_ratio", ratio)),
        );
        if let Some(nominal) = self.path.nominal {
            figures.push(("nominal_ratio", rate / nominal.get()));
            figures.push(("ceiling_ratio", rate / ceiling(nominal.get(), MSS_BYTES)));
        }
        BulkRun {
            payload_bytes: moved.payload_bytes,
            blocks: moved.payload_bytes.div_ceil(self.path.block_bytes),
            elapsed_ns: moved.elapsed_ns,
            figures,
            facts: moved.facts(),
            host: Some(self.host.clone()),
            ..BulkRun::default()
        }
    }
}

impl Runner for Movers<'_> {
    fn measure(&mut self, visit: Visit, planned: &PlannedCase, stop: &StopFlag, on_seen: OnSeen) -> Measured {
        let (mover, port) = match &self.rows[visit.subject].who {
            Ok(Who::Theirs { mover, port }) => (*mover, *port),
            Ok(Who::Ours(_)) => {
                // Each of ours is an arm of its own to the transfers.
                let arm = visit.subject;
                let measured = self
                    .transfers
                    .measure(Visit { arm, ..visit }, planned, stop, on_seen);
                let error = measured
                    .repetition
                    .as_ref()
                    .and_then(|run| run.outcomes[0].error.clone());
                let failure = measured.failure.map(|failure| failure.cause).or(error);
                return Measured {
                    failure: failure.map(broken),
                    is_last: false,
                    ..measured
                };
            }
            Err(_) => return Measured::default(),
        };
        let case = &planned.case;
        let load = started(&case.ranks[0].load, visit.load);
        let run = load.and_then(|load| {
            let run = self.moved(mover, port)?;
            Ok(BulkRun {
                load_done: load.map(Background::stop).unwrap_or_default(),
                ..run
            })
        });
        match run {
            Ok(run) => Measured {
                repetition: Some(repetition(case, run, visit.round)),
                ..Measured::default()
            },
            Err(failure) => Measured {
                failure: Some(failure),
                ..Measured::default()
            },
        }
    }

    fn remarks(&self, cell: usize) -> Vec<Remark> {
        self.transfers.remarks(cell)
    }
}
