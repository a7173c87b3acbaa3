//! Replays every target on the stable toolchain: its committed seeds, and some thousand mutations of them.
//!
//! Deterministic, so that a failure repeats; the real search is `cargo xtask fuzz`.

use std::path::{Path, PathBuf};
use wirespeed_fuzz::TARGETS;

const MUTATIONS: usize = 2000;

/// SplitMix64 (Steele, Lea, Flood 2014): a fixed stream of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn mutate(numbers: &mut Numbers, data: &mut Vec<u8>) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(data.len() + 1);
        match numbers.below(5) {
            0 => data.insert(at, numbers.next() as u8),
            1 => data.truncate(at),
            2 if at < data.len() => data[at] ^= 1 << numbers.below(8),
            3 if at < data.len() => {
                data.remove(at);
            }
            _ => {
                let piece: Vec<u8> = data[at..].iter().copied().take(numbers.below(16)).collect();
                data.splice(at..at, piece);
            }
        }
    }
}

/// The files of a target in their order; none where there is no such folder.
fn files_of(kind: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target);
    let entries = std::fs::read_dir(&folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What fuzzing has found: together they reach most of the code.
#[test]
fn inputs_that_were_found_do_no_harm() {
    let mut count = 0;
    for (name, body) in TARGETS {
        for file in files_of("corpus", name) {
            body(&std::fs::read(&file).unwrap());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn seeds_and_their_mutations_do_no_harm() {
    for (name, body) in TARGETS {
        let files = files_of("seeds", name);
        assert!(!files.is_empty(), "target {name} has seeds");
        let mut numbers = Numbers(1);
        for file in files {
            let seed = std::fs::read(&file).unwrap();
            body(&seed);
            for _ in 0..MUTATIONS {
                let mut data = seed.clone();
                mutate(&mut numbers, &mut data);
                body(&data);
            }
        }
    }
}

#[test]
fn seeds_reach_past_the_first_refusal() {
    let seed = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(path);
        std::fs::read_to_string(path).unwrap()
    };
    toml::from_str::<wirespeed_schema::Plan>(&seed("plan/small.toml")).unwrap();
    let run: wirespeed_schema::Run = serde_json::from_str(&seed("run_document/small.json")).unwrap();
    assert_eq!(
        run.cases[0].repetitions[0].outcomes[0].samples[0].histogram.count,
        3
    );
}
