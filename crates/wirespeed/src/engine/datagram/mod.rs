//! Tests on active messages over a medium that may lose, double or reorder them: every message is accounted for.
//!
//! The phases are those of the reliable loops (first operation, warm-up, settling, measurement); what differs is that
//! nothing here waits for a message without a limit, that ends are agreed by repetition, and that what is late, lost
//! or double is counted instead of being an error.

mod attend;
mod ending;
mod header;
mod patience;
mod pingpong;
mod receive;
mod sequence;
mod stream;
mod traffic;

#[cfg(test)]
mod tests;

use super::meter::Meter;
use super::payload::{Asked, Sender};
use super::phases::Body;
use super::rank::Rank;
use super::wired::Wired;
use crate::error::MeasureError;
use crate::transport::port::MessagePort;
use pingpong::{Answerer, Replies, Requester, Requests};
use receive::{Incoming, Sink};
use stream::{Outgoing, Source};
use traffic::Traffic;
use wirespeed_schema::case::Role;
use wirespeed_schema::test::Test;

/// The rank's part in the case's test.
pub fn body<'a, P: MessagePort + 'a, S: Sender + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    link: Wired<P>,
    sender: S,
) -> Result<Box<dyn Body + 'a>, MeasureError> {
    let checks = Asked(rank.case.check);
    let size = rank.case.test.size_bytes() as usize;
    Ok(match (&rank.case.test, rank.spec.role) {
        (Test::AmLat(_), Role::Source) => {
            Box::new(Requester::new(link, sender, Replies::new(size, checks), meter))
        }
        (Test::AmLat(_), Role::Sink) => {
            Box::new(Answerer::new(link, sender, Requests::new(size, checks), meter))
        }
        (Test::AmBw(p), Role::Source) | (Test::AmBibw(p), Role::Source | Role::Sink) => {
            let both = matches!(rank.case.test, Test::AmBibw(_));
            let traffic = Traffic::new(size, p, checks);
            let out = Outgoing::new(rank, meter, p, both);
            Box::new(Source::new(link, sender, traffic, out))
        }
        (Test::AmBw(p), Role::Sink) => {
            let traffic = Traffic::new(size, p, checks);
            Box::new(Sink::new(link, traffic, Incoming::new(rank, meter, p)))
        }
        (test, _) => {
            return Err(MeasureError::Unsupported(format!(
                "{} needs a transport that loses no messages, {} may lose some",
                test.name(),
                rank.case.transport
            )));
        }
    })
}
