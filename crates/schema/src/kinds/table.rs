//! The rows of the tests, in the order in which docs and `wirespeed run --help` list them.

use super::row::{Kind, Operation, Payload, Roles, UnderWay};
use crate::case::Role;
use crate::neighbours;
use crate::parameter::Parameter;
use crate::plan::error::PlanError;
use crate::test::asked::{Asked, LAYOUT, OUTSTANDING, WINDOW};
use crate::test::defined::{self, Defined};
use crate::test::msgrate::{self, Grid, MsgRate, Pattern};
use crate::test::{Atomic, Bulk, Hub, PingPong, Rma, Stream, Tagged, Test, bulk, hub, stream};

/// Payload of latency tests and atomics.
pub(super) const SMALL: u64 = 8;
/// Payload of bandwidth tests.
pub(super) const LARGE: u64 = 128 << 10;

static LAYOUTS: [&Parameter; 1] = [&LAYOUT];
static WINDOWS: [&Parameter; 1] = [&WINDOW];
static OUTSTANDINGS: [&Parameter; 1] = [&OUTSTANDING];

const PING_PONG: Kind = Kind {
    name: "am_lat",
    summary: "ping-pong of active messages",
    operation: Operation::Message,
    takes: &[&LAYOUTS],
    roles: Roles::Pairs,
    size_bytes: SMALL,
    payload: Payload::Any,
    inlines: true,
    under_way: UnderWay::Fixed(1),
    is_round_trip: true,
    is_both_ways: false,
    is_posted: false,
    repeats: None,
    read: |asked| PingPong::read(asked).map(Test::AmLat),
};

const STREAM: Kind = Kind {
    name: "am_bw",
    summary: "one-way stream of active messages",
    takes: &[&LAYOUTS, &WINDOWS, &stream::OWN],
    size_bytes: LARGE,
    under_way: UnderWay::Fitting(128),
    is_round_trip: false,
    read: |asked| Stream::read(asked).map(Test::AmBw),
    ..PING_PONG
};

const RMA: Kind = Kind {
    operation: Operation::Put,
    takes: &[&LAYOUTS, &OUTSTANDINGS],
    payload: Payload::NotEmpty,
    is_round_trip: false,
    ..PING_PONG
};

const ATOMIC: Kind = Kind {
    operation: Operation::Add,
    takes: &[&OUTSTANDINGS],
    payload: Payload::Word,
    is_round_trip: false,
    ..PING_PONG
};

const POSTED: Kind = Kind {
    operation: Operation::Tagged,
    takes: &[&WINDOWS, &defined::OWN],
    is_round_trip: false,
    is_posted: true,
    ..PING_PONG
};

/// OSU's tests repeat larger messages less often.
const OSU_LARGE_BYTES: u64 = 8192;
/// Limits of IMB's tests: repetitions, and bytes that go through.
const IMB_REPEATS_MAX: u64 = 1000;
const IMB_BYTES_MAX: u64 = 40 << 20;

fn osu_ping_pong(size_bytes: u64) -> (u64, u64) {
    match size_bytes > OSU_LARGE_BYTES {
        false => (10_000, 100),
        true => (1000, 10),
    }
}

fn osu_windows(size_bytes: u64) -> (u64, u64) {
    match size_bytes > OSU_LARGE_BYTES {
        false => (100, 10),
        true => (20, 2),
    }
}

fn imb(size_bytes: u64) -> (u64, u64) {
    let repeats = (IMB_BYTES_MAX / size_bytes.max(1)).clamp(1, IMB_REPEATS_MAX);
    (repeats, (repeats / 10).max(10))
}

const BULK: Kind = Kind {
    name: "bulk_get",
    summary: "a file of a service, fetched in blocks over several connections",
    operation: Operation::Block,
    takes: &[&bulk::OWN, &OUTSTANDINGS],
    roles: Roles::Near(Role::Sink),
    size_bytes: bulk::BLOCK_BYTES,
    payload: Payload::NotEmpty,
    inlines: false,
    under_way: UnderWay::Fixed(2),
    is_round_trip: false,
    read: |asked| Bulk::read(asked).map(Test::BulkGet),
    ..PING_PONG
};

const OSU: Kind = Kind {
    under_way: UnderWay::Fixed(64),
    repeats: Some(osu_windows),
    ..POSTED
};

const IMB: Kind = Kind {
    under_way: UnderWay::Fixed(256),
    repeats: Some(imb),
    ..POSTED
};

/// `msgrate`, refused where the ranks of the case cannot be arranged that way.
fn arranged(asked: &Asked) -> Result<Test, PlanError> {
    let mut test = MsgRate::read(asked)?;
    neighbours::check(&test, asked.ranks).map_err(|misfit| PlanError::new(misfit.cause, misfit.remedy))?;
    if test.pattern != Pattern::Single && test.grid != Grid::Ring {
        test.peers = neighbours::neighbours(&test, asked.ranks, 0).to_ranks.len() as u32;
    }
    Ok(Test::Msgrate(test))
}

/// Every test that a plan may ask for, in the order of the tables.
pub static KINDS: [Kind; 27] = [
    PING_PONG,
    Kind {
        name: "put_lat",
        summary: "ping-pong of puts; each end polls its own memory",
        operation: Operation::Put,
        payload: Payload::NotEmpty,
        read: |asked| PingPong::read(asked).map(Test::PutLat),
        ..PING_PONG
    },
    Kind {
        name: "add_lat",
        summary: "ping-pong of atomic additions",
        takes: &[],
        is_round_trip: true,
        read: |asked| Atomic::read(asked).map(Test::AddLat),
        ..ATOMIC
    },
    Kind {
        name: "get",
        operation: Operation::Get,
        summary: "time until a get has completed",
        inlines: false,
        read: |asked| Rma::read_get(asked).map(Test::Get),
        ..RMA
    },
    Kind {
        name: "fadd",
        operation: Operation::FetchAdd,
        summary: "time until an atomic fetch-and-add has completed",
        read: |asked| Atomic::read(asked).map(Test::Fadd),
        ..ATOMIC
    },
    Kind {
        name: "swap",
        operation: Operation::Swap,
        summary: "time until an atomic swap has completed",
        read: |asked| Atomic::read(asked).map(Test::Swap),
        ..ATOMIC
    },
    Kind {
        name: "cswap",
        operation: Operation::CompareSwap,
        summary: "time until an atomic compare-and-swap has completed",
        read: |asked| Atomic::read(asked).map(Test::Cswap),
        ..ATOMIC
    },
    STREAM,
    Kind {
        name: "put_bw",
        summary: "one-way stream of puts",
        size_bytes: LARGE,
        under_way: UnderWay::Fixed(32),
        read: |asked| Rma::read(asked).map(Test::PutBw),
        ..RMA
    },
    Kind {
        name: "add_mr",
        summary: "stream of posted atomic additions",
        under_way: UnderWay::Fixed(32),
        read: |asked| Atomic::read(asked).map(Test::AddMr),
        ..ATOMIC
    },
    Kind {
        name: "get_bw",
        operation: Operation::Get,
        summary: "stream of gets",
        size_bytes: LARGE,
        under_way: UnderWay::Fixed(32),
        inlines: false,
        read: |asked| Rma::read_get(asked).map(Test::GetBw),
        ..RMA
    },
    Kind {
        name: "am_bibw",
        summary: "streams of active messages both ways at once",
        is_both_ways: true,
        read: |asked| Stream::read(asked).map(Test::AmBibw),
        ..STREAM
    },
    Kind {
        name: "tag_lat",
        summary: "ping-pong of tagged messages",
        operation: Operation::Tagged,
        takes: &[],
        read: |asked| Tagged::read(asked).map(Test::TagLat),
        ..PING_PONG
    },
    Kind {
        name: "tag_bw",
        summary: "windows of tagged messages",
        operation: Operation::Tagged,
        takes: &[&WINDOWS],
        read: |asked| Tagged::read(asked).map(Test::TagBw),
        ..STREAM
    },
    Kind {
        name: "hub_lat",
        summary: "a hub and its workers, a ping-pong with each",
        takes: &[&LAYOUTS, &hub::OWN],
        roles: Roles::Hub,
        read: |asked| Hub::read(asked).map(Test::HubLat),
        ..PING_PONG
    },
    Kind {
        name: "am_alltoall",
        summary: "streams of active messages from every rank to every other",
        roles: Roles::Everybody,
        size_bytes: SMALL,
        read: |asked| Stream::read(asked).map(Test::AmAlltoall),
        ..STREAM
    },
    Kind {
        name: "msgrate",
        summary: "posted sends and receives with several neighbours",
        takes: &[&WINDOWS, &msgrate::OWN],
        roles: Roles::Neighbours,
        under_way: UnderWay::Fixed(128),
        read: arranged,
        ..POSTED
    },
    Kind {
        name: "osu_latency",
        summary: "OSU's ping-pong",
        takes: &[],
        under_way: UnderWay::Fixed(1),
        is_round_trip: true,
        repeats: Some(osu_ping_pong),
        read: |asked| Defined::read_pair(asked).map(Test::OsuLatency),
        ..OSU
    },
    Kind {
        name: "osu_bw",
        summary: "OSU's windows one way, acknowledged",
        size_bytes: LARGE,
        read: |asked| Defined::read_pair(asked).map(Test::OsuBw),
        ..OSU
    },
    Kind {
        name: "osu_bibw",
        summary: "OSU's windows both ways",
        is_both_ways: true,
        size_bytes: LARGE,
        read: |asked| Defined::read_pair(asked).map(Test::OsuBibw),
        ..OSU
    },
    Kind {
        name: "osu_mbw_mr",
        summary: "OSU's windows of several pairs in step",
        read: |asked| Defined::read(asked).map(Test::OsuMbwMr),
        ..OSU
    },
    Kind {
        name: "osu_multi_lat",
        summary: "OSU's ping-pong of several pairs in step",
        takes: &[],
        under_way: UnderWay::Fixed(1),
        is_round_trip: true,
        repeats: Some(osu_ping_pong),
        read: |asked| Defined::read(asked).map(Test::OsuMultiLat),
        ..OSU
    },
    Kind {
        name: "imb_pingpong",
        summary: "IMB's ping-pong",
        takes: &[],
        under_way: UnderWay::Fixed(1),
        is_round_trip: true,
        read: |asked| Defined::read_pair(asked).map(Test::ImbPingpong),
        ..IMB
    },
    Kind {
        name: "imb_uniband",
        summary: "IMB's windows one way, acknowledged",
        read: |asked| Defined::read(asked).map(Test::ImbUniband),
        ..IMB
    },
    Kind {
        name: "imb_biband",
        summary: "IMB's windows both ways, acknowledged",
        is_both_ways: true,
        read: |asked| Defined::read(asked).map(Test::ImbBiband),
        ..IMB
    },
    BULK,
    Kind {
        name: "bulk_put",
        summary: "a file sent to a service in blocks over several connections",
        roles: Roles::Near(Role::Source),
        read: |asked| Bulk::read(asked).map(Test::BulkPut),
        ..BULK
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_repeat_as_often_as_they_are_documented_to() {
        let repeats = |name: &str, size: u64| {
            let kind = KINDS.iter().find(|kind| kind.name == name)?;
            Some(kind.repeats?(size))
        };
        for (size, expected) in [
            (0, (1000, 100)),
            (8, (1000, 100)),
            (40_960, (1000, 100)),
            (1 << 20, (40, 10)),
            (64 << 20, (1, 10)),
        ] {
            assert_eq!(repeats("imb_uniband", size), Some(expected), "IMB, {size} B");
        }
        for (size, expected) in [(8192, (10_000, 100)), (8193, (1000, 10))] {
            assert_eq!(repeats("osu_latency", size), Some(expected), "OSU, {size} B");
        }
        assert_eq!(repeats("osu_bw", 8192), Some((100, 10)));
        assert_eq!(repeats("osu_bw", 8193), Some((20, 2)));
    }
}
