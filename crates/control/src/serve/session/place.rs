//! Which CPUs the server's ranks are pinned to. It must never move a rank that the client placed.

use wirespeed_schema::case::Case;

/// `case` with this machine's `cpus` for those of `ranks` that the client left to us. A client that pins none of its own
/// ranks wants none pinned. A rank takes the CPU of its number, so that both ends may be the same machine.
pub(super) fn placed(case: &Case, ranks: &[u32], cpus: Option<Vec<u32>>) -> Box<Case> {
    let mut case = Box::new(case.clone());
    let pins = case.ranks.iter().any(|rank| rank.cpu.is_some());
    for &number in ranks.iter().filter(|_| pins) {
        let cpu = cpus.as_ref().and_then(|cpus| cpus.get(number as usize));
        if let Some(rank) = case.ranks.get_mut(number as usize) {
            rank.cpu = rank.cpu.or(cpu.copied());
        }
    }
    case
}

/// `case` with `ranks` on `cpus` in turn: the server's own choice, over the client's.
pub(super) fn pinned(case: &Case, ranks: &[u32], cpus: &[u32]) -> Box<Case> {
    let mut case = Box::new(case.clone());
    for (&number, &cpu) in ranks.iter().zip(cpus.iter().cycle()) {
        if let Some(rank) = case.ranks.get_mut(number as usize) {
            rank.cpu = Some(cpu);
        }
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(cpus: [Option<u32>; 2]) -> Case {
        let case = serde_json::json!({
            "test": "am_lat", "size_bytes": 8, "layout": "short", "transport": "tcp", "group": "hosts",
            "ranks": [{"role": "source", "cpu": cpus[0]}, {"role": "sink", "cpu": cpus[1]}],
            "stop": {"by": "iterations", "count": 1},
            "warmup_iterations": 0, "warmup_ns_max": 0, "idle": "spin",
        });
        serde_json::from_value(case).unwrap()
    }

    #[test]
    fn ranks_left_to_the_server_get_the_cpu_of_their_number() {
        let cpus = |asked, have: Option<Vec<u32>>| placed(&case(asked), &[1], have).ranks[1].cpu;
        assert_eq!(cpus([Some(0), None], Some(vec![2, 5])), Some(5));
        assert_eq!(cpus([Some(0), Some(7)], Some(vec![2, 5])), Some(7));
        assert_eq!(cpus([None, None], Some(vec![2, 5])), None);
        assert_eq!(cpus([Some(0), None], None), None);
        let own = pinned(&case([Some(0), Some(7)]), &[1], &[3, 4]);
        assert_eq!((own.ranks[0].cpu, own.ranks[1].cpu), (Some(0), Some(3)));
        assert_eq!(
            placed(&case([Some(3), None]), &[1], Some(vec![2, 5])).ranks[0].cpu,
            Some(3)
        );
    }
}
