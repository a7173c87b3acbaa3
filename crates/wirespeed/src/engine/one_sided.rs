//! Tests on put, get and atomics: opens the port with the sizes that the case needs, and picks the rank's body by role and
//! operation. It must never touch the port once the body has it.

use super::attached::Attached;
use super::meter::Meter;
use super::operation::{Any, Atomic, Get, Operation, PutBcopy, PutShort, PutZcopy, prepare_to_get};
use super::payload::{Asked, Check, Never};
use super::phases::{Body, drive, idle};
use super::rank::{Finished, Rank};
use super::region::Layout;
use super::train::{Kept, Origin, Target, Train};
use super::volley::{Arrival, Ends, Returner, Striker, Volley};
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::{OneSidedPort, Width};
use crate::transport::{Needs, OneSided, OneSidedRunner, options_at};
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::test::{Layout as DataLayout, PingPong, Rma, Test};

/// Run a test on put, get and atomics as one rank of the group.
pub fn one_sided<T: OneSided>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = options_at::<T>(case, bootstrap.rank())?;
    let rank = Rank::begin(case, bootstrap)?;
    let layout = Layout::new(case.test.size_bytes() as usize, case.test.window(), case.check);
    let needs = Needs {
        buffer_bytes: layout.data_bytes().max(64),
        region_bytes: layout.region_bytes(),
        fetch_slots: usize::try_from(case.test.window()).unwrap_or(usize::MAX),
        message_bytes: layout.size.max(64),
        window_msgs: case.test.window(),
        ..Needs::default()
    };
    let run = Run {
        rank: &rank,
        layout,
        report,
    };
    let finished = <T as OneSided>::open(&rank.connect(needs), &options, run)??;
    Ok(rank.finish(finished))
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    layout: Layout,
    report: Report<'r>,
}

impl OneSidedRunner for Run<'_, '_> {
    type Output = Result<Finished, MeasureError>;

    fn run<P: OneSidedPort>(self, port: P) -> Self::Output {
        let Run { rank, layout, report } = self;
        rank.connected();
        let meter = rank.meter(report);
        let link = Attached::new(port, rank.waiter());
        if rank.spec.role == Role::Idle {
            let facts = link.port.facts();
            return Ok(idle(rank, meter, facts));
        }
        if !matches!(rank.spec.role, Role::Source | Role::Sink) {
            return Err(rank.has_no_part());
        }
        // A slow port's loops decide about the check as they run, others are compiled with and without.
        let body = match P::SLOW || rank.case.check {
            true => picked(rank, &meter, link, layout, Asked(rank.case.check)),
            false => picked(rank, &meter, link, layout, Never),
        }?;
        Ok(drive(rank, meter, body))
    }
}

/// The rank's part with the case's operation: a slow port's loops choose it as they run, others have one for each.
fn picked<'a, P: OneSidedPort + 'a, C: Check + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    link: Attached<P>,
    layout: Layout,
    checks: C,
) -> Result<Box<dyn Body + 'a>, MeasureError> {
    let operation = chosen::<P, C>(&rank.case.test, layout, checks)?;
    let is_volley = matches!(rank.case.test, Test::PutLat(_) | Test::AddLat(_));
    let part = Part {
        rank,
        meter,
        link,
        layout,
        checks,
    };
    Ok(match (is_volley, operation) {
        (true, operation) if P::SLOW => part.volley(operation),
        (false, operation) if P::SLOW => part.train(operation),
        (true, Any::PutShort(put)) => part.volley(put),
        (true, Any::PutBcopy(put)) => part.volley(put),
        (true, Any::PutZcopy(put)) if P::ZCOPY => part.volley(put),
        (true, Any::Add(add)) => part.volley(add),
        (_, Any::PutShort(put)) => part.train(put),
        (_, Any::PutBcopy(put)) => part.train(put),
        (_, Any::PutZcopy(put)) if P::ZCOPY => part.train(put),
        (_, Any::GetBcopy(get)) => part.train(get),
        (_, Any::GetZcopy(get)) if P::ZCOPY => part.train(get),
        (_, Any::Add(atomic)) => part.train(atomic),
        (_, Any::Fadd(atomic)) => part.train(atomic),
        (_, Any::Swap(atomic)) => part.train(atomic),
        (_, Any::Cswap(atomic)) => part.train(atomic),
        (_, Any::PutZcopy(_) | Any::GetZcopy(_)) => return Err(no_zcopy()),
    })
}

/// What every part of a one-sided test is made from.
struct Part<'a, 'm, 'r, P, C> {
    rank: &'a Rank<'a>,
    meter: &'m Meter<'r>,
    link: Attached<P>,
    layout: Layout,
    checks: C,
}

impl<'a, P: OneSidedPort + 'a, C: Check + 'a> Part<'a, '_, '_, P, C> {
    fn volley<O: Operation<Checks = C> + 'a>(self, operation: O) -> Box<dyn Body + 'a> {
        let arrival = match &self.rank.case.test {
            Test::AddLat(add) => Arrival::Add(Width::of(add.size_bytes)),
            _ => Arrival::Put(self.layout),
        };
        let volley = Volley {
            operation,
            arrival,
            next: 0,
            wrong: 0,
            checks: self.checks,
            scratch: vec![0; self.layout.size],
        };
        let ends = Ends::new(self.link, volley, self.layout);
        match self.rank.spec.role {
            Role::Source => Box::new(Striker::new(ends, self.meter)),
            _ => Box::new(Returner(ends)),
        }
    }

    fn train<O: Operation<Checks = C> + 'a>(self, operation: O) -> Box<dyn Body + 'a> {
        let Part {
            rank,
            meter,
            link,
            layout,
            checks,
        } = self;
        let kept = kept(&rank.case.test);
        // In a loopback the source is its own target.
        let is_loopback = rank.case.ranks.len() == 1;
        if rank.spec.role == Role::Sink || is_loopback {
            kept.expose(&link, layout);
        }
        match rank.spec.role {
            Role::Source => {
                if kept == Kept::Fetched && checks.on() {
                    prepare_to_get(layout, link.port.local());
                }
                let train = Train::new(rank, meter, layout, (operation, checks));
                let own = Some(kept).filter(|_| is_loopback && checks.on());
                Box::new(Origin::new(link, train, layout, meter.clock).with_own(own))
            }
            _ => Box::new(Target::new(rank, link, layout, kept)),
        }
    }
}

/// What the target's memory tells of `test`.
fn kept(test: &Test) -> Kept {
    match test {
        Test::PutBw(_) => Kept::Puts,
        Test::Get(_) | Test::GetBw(_) => Kept::Fetched,
        test => Kept::Word(Width::of(test.size_bytes())),
    }
}

/// The operation of `test`.
fn chosen<P: OneSidedPort, C: Check>(test: &Test, layout: Layout, checks: C) -> Result<Any<C>, MeasureError> {
    Ok(match test {
        Test::PutLat(PingPong { layout: data, .. }) | Test::PutBw(Rma { layout: data, .. }) => match data {
            DataLayout::Short => Any::PutShort(PutShort::new(layout, checks)),
            DataLayout::Bcopy => Any::PutBcopy(PutBcopy::new(layout, checks)),
            DataLayout::Zcopy if P::ZCOPY => Any::PutZcopy(PutZcopy::new(layout, checks)),
            DataLayout::Zcopy => return Err(no_zcopy()),
            DataLayout::Shortiov => return Err(no_shortiov()),
        },
        Test::Get(Rma { layout: data, .. }) | Test::GetBw(Rma { layout: data, .. }) => match data {
            DataLayout::Zcopy if P::ZCOPY => Any::GetZcopy(Get::new(layout)),
            DataLayout::Zcopy => return Err(no_zcopy()),
            _ => Any::GetBcopy(Get::new(layout)),
        },
        Test::AddLat(p) => Any::Add(Atomic::new(p.size_bytes, 1)),
        Test::AddMr(p) => Any::Add(Atomic::new(p.size_bytes, 1)),
        Test::Fadd(p) => Any::Fadd(Atomic::new(p.size_bytes, p.outstanding_ops)),
        Test::Swap(p) => Any::Swap(Atomic::new(p.size_bytes, p.outstanding_ops)),
        Test::Cswap(p) => Any::Cswap(Atomic::new(p.size_bytes, p.outstanding_ops)),
        test => {
            return Err(MeasureError::Usage(format!(
                "{} is not a one-sided test",
                test.name()
            )));
        }
    })
}

fn no_shortiov() -> MeasureError {
    MeasureError::Unsupported("only messages have the layout shortiov".to_owned())
}

fn no_zcopy() -> MeasureError {
    MeasureError::Unsupported("this port has no zcopy".to_owned())
}

#[cfg(test)]
mod tests;
