//! Checks that must fail: a port that says that everything is done, and does nothing.

use super::*;
use crate::sync::SharedBytes;
use crate::transport::bootstrap::ThreadBootstrap;
use crate::transport::port::{AtomicOp, LinkError, Post, Posted, WordOp};
use wirespeed_schema::case::{RankSpec, Stop};
use wirespeed_schema::test::Atomic as AtomicTest;

struct Idler {
    region: SharedBytes,
    local: SharedBytes,
    completed: u64,
}

impl Idler {
    fn count(&mut self) -> Posted {
        self.completed += 1;
        Ok(Post::Done)
    }
}

impl OneSidedPort for Idler {
    const ZCOPY: bool = true;

    fn put_short(&mut self, _: usize, _: usize, _: &[u8]) -> Posted {
        Ok(Post::Done)
    }

    fn put_bcopy(&mut self, _: usize, _: usize, _: usize, _: impl FnOnce(&mut [u8])) -> Posted {
        Ok(Post::Done)
    }

    fn put_zcopy(&mut self, _: usize, _: usize, _: usize, _: usize) -> Posted {
        self.count()
    }

    fn get_bcopy(&mut self, _: usize, _: usize, _: usize, _: usize) -> Posted {
        self.count()
    }

    fn get_zcopy(&mut self, _: usize, _: usize, _: usize, _: usize) -> Posted {
        self.count()
    }

    fn atomic(&mut self, _: usize, asked: WordOp) -> Posted {
        match asked.op {
            AtomicOp::Add => Ok(Post::Done),
            _ => self.count(),
        }
    }

    fn fetched(&self, _: usize) -> u64 {
        0
    }

    fn completed(&self) -> u64 {
        self.completed
    }

    fn fence(&mut self) -> Posted {
        Ok(Post::Done)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        Ok(true)
    }

    fn poll(&mut self) -> Result<(), LinkError> {
        Ok(())
    }

    fn wait(&mut self) -> Result<(), LinkError> {
        Ok(())
    }

    fn region(&self) -> &SharedBytes {
        &self.region
    }

    fn local(&self) -> &SharedBytes {
        &self.local
    }
}

/// Wrong operations of a lone rank that is its own peer.
fn wrong(test: Test) -> u64 {
    let case = Case::new(test, "inproc")
        .with_ranks(vec![RankSpec::new(Role::Source).with_peer(0)])
        .with_stop(Stop::Iterations { count: 20 })
        .with_warmup(0, 0)
        .with_check(true);
    let bootstrap = ThreadBootstrap::group(1).remove(0);
    let rank = Rank::begin(&case, &bootstrap).unwrap();
    let layout = Layout::new(case.test.size_bytes() as usize, case.test.window(), case.check);
    let port = Idler {
        region: SharedBytes::heap(layout.region_bytes()).unwrap(),
        local: SharedBytes::heap(layout.data_bytes().max(64)).unwrap(),
        completed: 0,
    };
    let run = Run {
        rank: &rank,
        layout,
        report: &mut |_| (),
    };
    let finished = run.run(port).unwrap();
    rank.finish(finished).faults.corrupt_messages
}

#[test]
fn operations_that_do_nothing_are_found_out() {
    for size in [1, 8, 64, 1000] {
        for data in [DataLayout::Short, DataLayout::Bcopy, DataLayout::Zcopy] {
            for test in [Test::PutBw, Test::Get, Test::GetBw] {
                for outstanding in [1, 4] {
                    let test = test(Rma::new(size, data, outstanding));
                    let is_none = matches!(test, Test::Get(_) | Test::GetBw(_)) && data == DataLayout::Short;
                    assert!(is_none || wrong(test.clone()) > 0, "{test:?}");
                }
            }
        }
    }
    for test in [Test::AddMr, Test::Fadd, Test::Swap, Test::Cswap] {
        for size_bytes in [4, 8] {
            let test = test(AtomicTest::new(size_bytes, 1));
            assert!(wrong(test.clone()) > 0, "{test:?}");
        }
    }
}
