//! Many ranks on few cores: every pattern ends, and a rank takes the memory of its messages and no more.

use crate::{SOON, document, home, turn};
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, peak_bytes};
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::product::share;
use wirespeed_tests::running::Running;

/// Every pattern with `ranks` ranks.
fn all_patterns_end(mpi: &Installed, ranks: u32) {
    let home = home();
    let line = "msgrate -i 3 -m 16 -s 8,5000 -c 4096 --check --json";
    let ended = Running::start(mpi.command(&home, ranks, line))
        .end(PATIENCE * 4)
        .code(0);
    for case in &document(&ended).cases {
        let label = case.case.label();
        assert_eq!(
            case.status,
            CaseStatus::Ok,
            "{}: {ranks} ranks: {label}: {:?}",
            mpi.name,
            case.error
        );
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn every_pattern_ends_with_many_ranks() {
    let _turn = turn();
    for mpi in share(&installed(), 0, 2) {
        all_patterns_end(&mpi, 9);
    }
}

#[test]
#[ignore = "64 ranks of every library take minutes"]
fn every_pattern_ends_with_sixty_four_ranks() {
    let _turn = turn();
    for mpi in installed() {
        for ranks in [2, 16, 64] {
            all_patterns_end(&mpi, ranks);
        }
    }
}

/// The most memory that any of `ranks` ranks took while they exchanged `messages` messages of `size` bytes with each of
/// two peers.
fn peak(mpi: &Installed, home: &Home, ranks: u32, messages: u64, size: u64) -> u64 {
    let line =
        format!("msgrate -p 2 -m {messages} -s {size} -c 4096 --pattern pre-post,all-start -t 400ms --json");
    let mut most = 0;
    let watch = || {
        let now = mpi
            .ranks(home)
            .iter()
            .filter_map(|(_, pid)| peak_bytes(*pid))
            .max();
        most = most.max(now.unwrap_or(0));
    };
    let ended = Running::start(mpi.command(home, ranks, &line)).end_watched(PATIENCE * 2, watch);
    document(&ended.code(0));
    most
}

#[test]
fn memory_of_a_rank_grows_with_its_messages_only() {
    let _turn = turn();
    // Memory is our own: one library of each family tells.
    for mpi in share(&installed(), 0, 3) {
        let home = home();
        let (size, few, many) = (64 << 10, 64, 256);
        // 2 x peers x messages x size; the library keeps messages that come early, once more at most.
        let own = 2 * 2 * (many - few) * size;
        // Nobody looks at a rank that ends while the machine stands still: the most of up to three runs.
        let (mut less, mut more) = (0, 0);
        let is_right = |_| {
            less = peak(&mpi, &home, 4, few, size).max(less);
            more = peak(&mpi, &home, 4, many, size).max(more);
            (own / 2..=2 * own).contains(&more.saturating_sub(less))
        };
        let found = (0..3).any(is_right);
        assert!(found, "{}: {less}, {more}: not {own} more", mpi.name);
        let crowd = peak(&mpi, &home, 12, few, size);
        assert!(
            crowd <= 2 * less + (64 << 20),
            "{}: 4 ranks {less}, 12 ranks {crowd}",
            mpi.name
        );
    }
}
