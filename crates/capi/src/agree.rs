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

/// Meet the other ranks. The parameter in which one differs from rank 0, and its number: all ranks learn the same.
pub fn difference(case: &Case, group: &dyn Bootstrap) -> Result<Option<(u32, String)>, MeasureError> {
    let lines: Vec<String> = common(case)
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let blobs = group.exchange(lines.join("\n").as_bytes())?;
    let Some(first) = blobs.first() else {
        return Ok(None);
    };
    let other = (0u32..).zip(&blobs).find(|(_, blob)| *blob != first);
    Ok(other.map(|(rank, blob)| {
        let (here, there) = (String::from_utf8_lossy(first), String::from_utf8_lossy(blob));
        let differs = here.lines().zip(there.lines()).find(|(a, b)| a != b);
        let name = differs.and_then(|(line, _)| line.split_once('='));
        (rank, name.map_or("parameters", |(name, _)| name).to_owned())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::ThreadBootstrap;
    use wirespeed::schema::case::Stop;
    use wirespeed::schema::test::{Layout, PingPong, Stream, Test};

    /// What both ranks learn when the second has `other` in place of `case`.
    fn learnt(case: &Case, other: &Case) -> Vec<Option<(u32, String)>> {
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
            let told = Some((1, name.to_owned()));
            assert_eq!(learnt(&case(), &other), [told.clone(), told], "{other:?}");
        }
        // What belongs to one machine may differ.
        let mut elsewhere = case().with_option("device", "mlx5_1");
        elsewhere.ranks[0].cpu = Some(7);
        assert_eq!(learnt(&case(), &elsewhere), [None, None]);
    }
}
