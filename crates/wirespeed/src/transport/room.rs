//! Whether every rank of a machine has a CPU of its own, which the ranks find out when they meet: each says where it may run,
//! which quotas of CPU time bound it, and how many threads are busy beside it. How ranks wait follows from that.
//!
//! It must never be guessed before: whoever plans a case knows its own CPUs, and neither those of a peer that taskset, srun or
//! mpirun bound elsewhere nor what else a peer does.

use super::bootstrap::Bootstrap;
use super::error::ConnectError;
use crate::host::{allowed_cpus, boot_id, cpu_quotas, format_cpu_list, parse_cpu_list};
use crate::load::Measuring;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::case::{Case, IdlePolicy, Role};

/// What ranks of one machine find there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// A CPU for each rank and for each thread of their loads: ranks poll.
    Own,
    /// A CPU for each rank, but none left for all threads of their loads: polls would take turns with them.
    Loaded,
    /// Fewer CPUs than ranks: a peer may be waiting for the CPU that this rank has.
    Shared,
    /// Far fewer CPUs than ranks, of which all but two wait at any time: polls of those would go round before each message.
    Queued,
    /// A CPU for each rank, and a quota that grants them less than its time.
    Rationed,
}

/// Ranks for each CPU, over the CPUs of all, beyond which those that wait for their turn sleep. (Measured on two CPUs, in-process, round trips of a hub:
/// 9 ranks 9.9 us polling and 11.7 asleep, 17 ranks 12.9 and 7.8, 65 ranks 78 and 16, 256 ranks 204 and 7. Where all have work
/// at once, polling is faster up to 160 ranks.)
const QUEUE_OF_A_CPU: usize = 8;

impl Room {
    /// The room that ranks have which idle as `policy` says, unasked.
    pub(crate) fn said(policy: Option<IdlePolicy>) -> Self {
        match policy {
            Some(IdlePolicy::Yield) => Room::Shared,
            Some(IdlePolicy::Spin) | None => Room::Own,
        }
    }

    /// What a rank that polls does between two empty polls.
    pub fn idle(self) -> IdlePolicy {
        match self {
            Room::Own | Room::Loaded => IdlePolicy::Spin,
            Room::Shared | Room::Queued | Room::Rationed => IdlePolicy::Yield,
        }
    }

    /// Whether somebody else may need the CPU on which a rank waits: ports of the kernel's had better sleep in it. Whoever is
    /// woken comes before what never slept.
    pub fn is_crowded(self) -> bool {
        self != Room::Own
    }

    /// Whether ranks that poll memory had better sleep: whoever runs meanwhile is seldom the peer that they wait for.
    pub fn had_better_sleep(self) -> bool {
        matches!(self, Room::Loaded | Room::Queued)
    }

    /// Tell the others of this machine where this rank may run, and hear where they may. Collective. A case that names a policy is believed
    /// without asking.
    pub(crate) fn meet(case: &Case, bootstrap: &dyn Bootstrap) -> Result<Self, ConnectError> {
        if case.idle.is_some() {
            return Ok(Room::said(case.idle));
        }
        let mine = Seat::here(case, bootstrap);
        let blobs = bootstrap.exchange_among(mine.color(), mine.to_text().as_bytes())?;
        // Who is elsewhere or has left takes up no CPU here.
        let here = blobs.iter().enumerate().filter(|(_, blob)| !blob.is_empty());
        let seats = here.map(|(rank, blob)| {
            let seat = std::str::from_utf8(blob).ok().and_then(Seat::from_text);
            seat.ok_or_else(|| ConnectError::Other(format!("rank {rank} does not say where it may run")))
        });
        let seats: Vec<Seat> = seats.collect::<Result<_, _>>()?;
        let here = seats.iter().filter(|seat| seat.machine == mine.machine);
        Ok(Room::of(&here.collect::<Vec<_>>(), case.test.takes_turns()))
    }

    fn of(seats: &[&Seat], by_turns: bool) -> Self {
        let ranks = seats
            .iter()
            .flat_map(|seat| std::iter::repeat_n(&seat.cpus, seat.ranks));
        let ranks: Vec<&Vec<u32>> = ranks.collect();
        let loads = seats
            .iter()
            .flat_map(|seat| std::iter::repeat_n(&seat.load_cpus, seat.load_threads));
        if !fits(&ranks) {
            let cpus: BTreeSet<u32> = ranks.iter().flat_map(|cpus| cpus.iter().copied()).collect();
            return match by_turns && ranks.len() > QUEUE_OF_A_CPU * cpus.len() {
                true => Room::Queued,
                false => Room::Shared,
            };
        }
        if !is_granted(seats, |seat| seat.ranks) {
            return Room::Rationed;
        }
        let all: Vec<&Vec<u32>> = ranks.iter().copied().chain(loads).collect();
        match fits(&all) && is_granted(seats, |seat| seat.ranks + seat.load_threads) {
            true => Room::Own,
            false => Room::Loaded,
        }
    }
}

/// Where one rank may run, and what is busy beside it.
#[derive(Debug, PartialEq, Eq)]
struct Seat {
    /// The machine, whichever container or namespace the rank is in.
    machine: String,
    /// 1, or 0 for a rank without a part.
    ranks: usize,
    /// CPUs that the measuring thread may use; empty where nobody can tell.
    cpus: Vec<u32>,
    load_threads: usize,
    load_cpus: Vec<u32>,
    /// Thousandths of a core that each group with a quota grants to all of its threads.
    quotas: Vec<(String, u64)>,
}

/// What stands for an empty list of CPUs.
const NONE: &str = "-";

impl Seat {
    fn here(case: &Case, bootstrap: &dyn Bootstrap) -> Self {
        let me = bootstrap.rank();
        let spec = &case.ranks[me as usize];
        let allowed = allowed_cpus();
        let own = if spec.load.of_others {
            0
        } else {
            spec.load.threads()
        };
        let threads = own + u64::from(bootstrap.busy_threads());
        // Where there is nothing to place, the topology need not be read.
        let load_cpus = match threads {
            0 => Vec::new(),
            _ => Measuring::in_case(case, me)
                .cpus(spec.load.place, &allowed)
                .unwrap_or_else(|_| allowed.clone()),
        };
        Seat {
            // Whoever has no kernel to ask shares a machine with all others who have none.
            machine: boot_id().unwrap_or_else(|_| NONE.to_owned()),
            ranks: usize::from(spec.role != Role::Idle),
            cpus: spec.cpu.map_or(allowed, |cpu| vec![cpu]),
            load_threads: usize::try_from(threads).unwrap_or(usize::MAX).min(THREADS_MAX),
            load_cpus,
            quotas: cpu_quotas()
                .into_iter()
                .map(|quota| (quota.group, (quota.cores * 1000.0) as u64))
                .take(QUOTAS_MAX)
                .collect(),
        }
    }

    /// A number that all ranks of the machine name, and seldom others.
    fn color(&self) -> u64 {
        let digits: String = self
            .machine
            .chars()
            .filter(char::is_ascii_hexdigit)
            .take(16)
            .collect();
        u64::from_str_radix(&digits, 16).unwrap_or(0)
    }

    fn to_text(&self) -> String {
        let list = |cpus: &[u32]| match cpus {
            [] => NONE.to_owned(),
            cpus => format_cpu_list(cpus),
        };
        let (own, load) = (list(&self.cpus), list(&self.load_cpus));
        let mut text = format!(
            "{} {} {own} {} {load}",
            self.machine, self.ranks, self.load_threads
        );
        for (group, millicores) in &self.quotas {
            text += &format!(" {group}={millicores}");
        }
        text
    }

    /// What a peer says; `None` where it is not such a text, or names more threads than there can be.
    fn from_text(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [machine, ranks, cpus, load_threads, load_cpus, ref quotas @ ..] = words[..] else {
            return None;
        };
        let quota = |word: &&str| {
            let (group, millicores) = word.split_once('=')?;
            Some((group.to_owned(), millicores.parse().ok()?))
        };
        let list = |text: &str| match text {
            NONE => Some(Vec::new()),
            text => parse_cpu_list(text).ok(),
        };
        Some(Seat {
            machine: machine.to_owned(),
            ranks: ranks.parse().ok().filter(|ranks| *ranks <= 1)?,
            cpus: list(cpus)?,
            load_threads: load_threads
                .parse()
                .ok()
                .filter(|threads| *threads <= THREADS_MAX)?,
            load_cpus: list(load_cpus)?,
            quotas: match quotas.len() <= QUOTAS_MAX {
                true => quotas.iter().map(quota).collect::<Option<_>>()?,
                false => return None,
            },
        })
    }
}

/// Most groups with a quota that count for a rank: they stand within each other.
const QUOTAS_MAX: usize = 16;

/// Whether every group with a quota grants a core to each of the threads in it.
fn is_granted(seats: &[&Seat], threads: impl Fn(&Seat) -> usize) -> bool {
    let within = |group: &str| {
        let is_in = |seat: &&&Seat| seat.quotas.iter().any(|(name, _)| name == group);
        seats
            .iter()
            .filter(is_in)
            .map(|seat| threads(seat) as u64)
            .sum::<u64>()
    };
    let quotas = seats.iter().flat_map(|seat| &seat.quotas);
    quotas
        .into_iter()
        .all(|(group, millicores)| within(group) * 1000 <= *millicores)
}

/// Most threads of a rank's load that are counted: more crowd every machine.
const THREADS_MAX: usize = crate::load::THREADS_MAX as usize;

/// Whether each of `wants` can have one CPU of those that it may use to itself: a matching of threads and CPUs, each thread in
/// turn given a free CPU, or one whose holder finds another (Kuhn, 1955). Whoever knows no CPUs is in nobody's way.
fn fits(wants: &[&Vec<u32>]) -> bool {
    let cpus: BTreeSet<u32> = wants.iter().flat_map(|cpus| cpus.iter().copied()).collect();
    let choosy = || (0..wants.len()).filter(|&thread| !wants[thread].is_empty());
    let mut holders = BTreeMap::new();
    choosy().count() <= cpus.len()
        && choosy().all(|thread| find(wants, thread, &mut holders, &mut BTreeSet::new()))
}

fn find(
    wants: &[&Vec<u32>],
    thread: usize,
    holders: &mut BTreeMap<u32, usize>,
    tried: &mut BTreeSet<u32>,
) -> bool {
    let free = wants[thread].iter().find(|cpu| !holders.contains_key(cpu));
    if let Some(&cpu) = free {
        holders.insert(cpu, thread);
        return true;
    }
    for &cpu in wants[thread] {
        if tried.insert(cpu) && find(wants, holders[&cpu], holders, tried) {
            holders.insert(cpu, thread);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(cpus: &[u32]) -> Seat {
        Seat {
            machine: "m".into(),
            ranks: 1,
            cpus: cpus.to_vec(),
            load_threads: 0,
            load_cpus: Vec::new(),
            quotas: Vec::new(),
        }
    }

    fn room(seats: &[Seat]) -> Room {
        Room::of(&seats.iter().collect::<Vec<_>>(), false)
    }

    #[test]
    fn ranks_bound_apart_have_room_whoever_binds_them() {
        assert_eq!(room(&[seat(&[0]), seat(&[1])]), Room::Own);
        assert_eq!(room(&[seat(&[0, 1]), seat(&[0, 1])]), Room::Own);
        // The one that may run on either makes way for the one that may not, in either order.
        assert_eq!(room(&[seat(&[0, 1]), seat(&[0])]), Room::Own);
        assert_eq!(room(&[seat(&[0]), seat(&[0, 1])]), Room::Own);
        assert_eq!(
            room(&[seat(&[0, 1]), seat(&[1, 2]), seat(&[0]), seat(&[1])]),
            Room::Shared
        );
        assert_eq!(room(&[seat(&[0, 1]), seat(&[1, 2]), seat(&[0])]), Room::Own);
        assert_eq!(room(&[seat(&[3]), seat(&[3])]), Room::Shared);
        assert_eq!(room(&[seat(&[0, 1]), seat(&[0, 1]), seat(&[0, 1])]), Room::Shared);
        // A machine that tells nothing is thought to be large enough.
        assert_eq!(room(&[seat(&[]), seat(&[]), seat(&[])]), Room::Own);
    }

    #[test]
    fn ranks_that_wait_for_their_turn_sleep_where_a_cpu_has_many_of_them() {
        let crowd = |ranks: usize, by_turns| {
            let seats: Vec<Seat> = (0..ranks).map(|_| seat(&[0, 1])).collect();
            Room::of(&seats.iter().collect::<Vec<_>>(), by_turns)
        };
        let (few, many) = (2 * QUEUE_OF_A_CPU, 2 * QUEUE_OF_A_CPU + 1);
        assert_eq!([crowd(2, true), crowd(few, true)], [Room::Own, Room::Shared]);
        assert_eq!(
            [crowd(many, true), crowd(many, false)],
            [Room::Queued, Room::Shared]
        );
        let sleeps = [
            Room::Own,
            Room::Loaded,
            Room::Shared,
            Room::Queued,
            Room::Rationed,
        ]
        .map(Room::had_better_sleep);
        assert_eq!(sleeps, [false, true, false, true, false]);
    }

    #[test]
    fn loads_and_idle_ranks_count_for_what_they_take() {
        let loaded = |threads, load_cpus: &[u32]| Seat {
            load_threads: threads,
            load_cpus: load_cpus.to_vec(),
            ..seat(&[0, 1])
        };
        assert_eq!(room(&[loaded(2, &[2, 3]), seat(&[0, 1])]), Room::Own);
        assert_eq!(room(&[loaded(2, &[0, 1]), seat(&[0, 1])]), Room::Loaded);
        // A load cannot make ranks share that have a CPU each.
        assert_eq!(room(&[loaded(9, &[0]), seat(&[1])]), Room::Loaded);
        let idle = Seat {
            ranks: 0,
            ..seat(&[0])
        };
        assert_eq!(room(&[idle, seat(&[0])]), Room::Own);
    }

    #[test]
    fn ranks_share_what_a_quota_grants_them() {
        let within = |groups: &[(&str, u64)], load_threads| Seat {
            quotas: groups
                .iter()
                .map(|(group, millicores)| ((*group).to_owned(), *millicores))
                .collect(),
            load_threads,
            load_cpus: vec![2, 3],
            ..seat(&[0, 1])
        };
        let one = within(&[("a", 1000)], 0);
        assert_eq!(room(&[one, within(&[("a", 1000)], 0)]), Room::Rationed);
        // A container each.
        assert_eq!(
            room(&[within(&[("a", 1000)], 0), within(&[("b", 1000)], 0)]),
            Room::Own
        );
        let pod = [("a", 1000), ("pod", 1500)];
        assert_eq!(
            room(&[within(&pod, 0), within(&[("b", 1000), ("pod", 1500)], 0)]),
            Room::Rationed
        );
        assert_eq!(room(&[within(&[("a", 900)], 0), seat(&[1])]), Room::Rationed);
        assert_eq!(
            room(&[within(&[("a", 2000)], 0), within(&[("a", 2000)], 0)]),
            Room::Own
        );
        assert_eq!(
            room(&[within(&[("a", 2000)], 1), within(&[("a", 2000)], 0)]),
            Room::Loaded
        );
    }

    #[test]
    fn what_a_rank_says_is_read_back_and_nonsense_is_not() {
        let seat = Seat {
            load_threads: 2,
            load_cpus: vec![5],
            ..seat(&[0, 1, 2, 7])
        };
        assert_eq!(seat.to_text(), "m 1 0-2,7 2 5");
        assert_eq!(Seat::from_text(&seat.to_text()), Some(seat));
        let mut bound = self::seat(&[0]);
        bound.quotas = vec![("1e.7f".to_owned(), 1500), ("1e.80".to_owned(), 2000)];
        assert_eq!(bound.to_text(), "m 1 0 0 - 1e.7f=1500 1e.80=2000");
        assert_eq!(Seat::from_text(&bound.to_text()), Some(bound));
        assert_eq!(
            Seat::from_text(&("m 1 0 0 -".to_owned() + &" a=1".repeat(17))),
            None
        );
        for text in [
            "",
            "m 1 0 0",
            "m 2 0 0 -",
            "m 1 x 0 -",
            "m 1 0-99999999 0 -",
            "m 1 0 99999 -",
            "m 1 0 0 - more",
            "m 1 0 0 - a=",
            "m 1 0 0 - a=1.5",
        ] {
            assert_eq!(Seat::from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn how_ranks_wait_follows_from_the_room() {
        assert_eq!(
            [
                Room::Own,
                Room::Loaded,
                Room::Shared,
                Room::Queued,
                Room::Rationed
            ]
            .map(Room::idle),
            [
                IdlePolicy::Spin,
                IdlePolicy::Spin,
                IdlePolicy::Yield,
                IdlePolicy::Yield,
                IdlePolicy::Yield
            ]
        );
        assert_eq!(Room::said(Some(IdlePolicy::Yield)), Room::Shared);
        assert_eq!(Room::said(None), Room::Own);
    }
}
