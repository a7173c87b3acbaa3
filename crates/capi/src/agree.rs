//! Whether all ranks were given the same measurement: ranks that measure different things wait for each other for ever, or
//! deliver figures of nothing. It must never compare what each machine may choose for itself: CPUs, devices, cache sizes.

use wirespeed::schema::case::Case;
use wirespeed::{Bootstrap, MeasureError};

/// What all ranks must have in common, by the names of the parameters.
fn common(case: &Case) -> [(&'static str, String); 6] {
    let mut test = serde_json::to_value(&case.test).unwrap_or_default();
    if let Some(parameters) = test.as_object_mut() {
        // Where nobody gives it, it follows from the machine.
        parameters.remove("cache_bytes");
    }
    let roles: Vec<_> = case.ranks.iter().map(|rank| rank.role.name()).collect();
    [
        ("via", case.transport.clone()),
        ("test or size", test.to_string()),
        ("iters or duration", format!("{:?}", case.stop)),
        (
            "warmup",
            format!("{} {}", case.warmup_iterations, case.warmup_ns_max),
        ),
        ("check", case.check.to_string()),
        ("roles", roles.join(",")),
    ]
}

/// What a rank says that was given no case.
const NO_CASE: &[u8] = b"no case";

/// Meet the other ranks. What is wrong where they were not all given the same: all ranks learn the same.
pub fn difference(case: &Case, group: &dyn Bootstrap) -> Result<Option<String>, MeasureError> {
    let lines: Vec<String> = common(case)
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let blobs = group.exchange(lines.join("\n").as_bytes())?;
    if let Some(rank) = blobs.iter().position(|blob| blob.as_slice() == NO_CASE) {
        return Ok(Some(format!(
            "rank {rank} was given parameters that make no case"
        )));
    }
    let Some(first) = blobs.first() else {
        return Ok(None);
    };
    let other = blobs.iter().enumerate().find(|(_, blob)| *blob != first);
    Ok(other.map(|(rank, blob)| {
        let (here, there) = (String::from_utf8_lossy(first), String::from_utf8_lossy(blob));
        let differs = here.lines().zip(there.lines()).find(|(a, b)| a != b);
        match differs.and_then(|(line, _)| line.split_once('=')) {
            Some((name, _)) => format!("rank {rank} was given another {name} than rank 0"),
            None => format!("rank {rank} does not say what it was given, or says what rank 0 cannot read"),
        }
    }))
}

/// Meet the other ranks without a case: they are told that this one has none, where any of them has one.
pub fn give_up(group: &dyn Bootstrap) {
    // Why it has none is worth more to the caller than that nobody heard.
    let _ = group.exchange(NO_CASE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::ThreadBootstrap;
    use wirespeed::schema::case::Stop;
    use wirespeed::schema::test::{Layout, PingPong, Stream, Test};

    /// What both ranks learn when the second has `other` in place of `case`.
    fn learnt(case: &Case, other: &Case) -> Vec<Option<String>> {
        std::thread::scope(|scope| {
            let ranks: Vec<_> = ThreadBootstrap::group(2)
                .into_iter()
                .zip([case, other])
                .map(|(rank, case)| scope.spawn(move || difference(case, &rank).unwrap()))
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn ranks_that_differ_learn_in_what() {
        let case = || Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "inproc");
        assert_eq!(learnt(&case(), &case()), [None, None]);
        let size = Case::new(Test::AmLat(PingPong::new(16, Layout::Short)), "inproc");
        let test = Case::new(Test::AmBw(Stream::new(8, Layout::Short, 64)), "inproc");
        let via = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "shm");
        for (other, name) in [
            (size, "test or size"),
            (test, "test or size"),
            (via, "via"),
            (
                case().with_stop(Stop::Iterations { count: 7 }),
                "iters or duration",
            ),
            (case().with_warmup(1, 1), "warmup"),
            (case().with_check(true), "check"),
        ] {
            let told = Some(format!("rank 1 was given another {name} than rank 0"));
            assert_eq!(learnt(&case(), &other), [told.clone(), told], "{other:?}");
        }
        // One that says nothing.
        let told = std::thread::scope(|scope| {
            let mut ranks = ThreadBootstrap::group(2).into_iter();
            let (sound, other) = (ranks.next().unwrap(), ranks.next().unwrap());
            scope.spawn(move || other.exchange(&[]).unwrap());
            difference(&case(), &sound).unwrap()
        });
        let silent = "rank 1 does not say what it was given, or says what rank 0 cannot read";
        assert_eq!(told.as_deref(), Some(silent));
        // One that was given nonsense.
        let told = std::thread::scope(|scope| {
            let mut ranks = ThreadBootstrap::group(2).into_iter();
            let (sound, other) = (ranks.next().unwrap(), ranks.next().unwrap());
            let other = scope.spawn(move || give_up(&other));
            let told = difference(&case(), &sound).unwrap();
            other.join().unwrap();
            told
        });
        assert_eq!(told.unwrap(), "rank 1 was given parameters that make no case");
        // What belongs to one machine may differ.
        let mut elsewhere = case().with_option("device", "mlx5_1");
        elsewhere.ranks[0].cpu = Some(7);
        assert_eq!(learnt(&case(), &elsewhere), [None, None]);
    }
}
