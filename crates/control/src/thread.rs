//! Threads: one with a name, and the same work for many things side by side. It must never start more of them at a time than
//! it was told, nor give up where the system has fewer, nor let the panic of one work end another's.

use parking_lot::Mutex;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

/// Some work panicked: a defect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked, which is a defect: {why}")]
pub struct Panicked {
    why: String,
}

impl Panicked {
    pub(crate) fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Panicked {
            why: text.unwrap_or("no reason given").to_owned(),
        }
    }
}

/// Do `work` in a thread called `name`. Where there is none to be had, `work` is dropped.
///
/// # Errors
/// The system's.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(work)
}

/// Do `work`; its panic is an error like others.
pub(crate) fn guarded<R, E: From<Panicked>>(work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    // What it was at is of no use to anybody afterwards.
    let ended = catch_unwind(AssertUnwindSafe(work));
    ended.unwrap_or_else(|panic| Err(Panicked::of(&*panic).into()))
}

/// Do `work` to each of `all`, in at most `at_once` threads, this one among them; what came of each, in their order.
pub fn side_by_side<T: Sync, R: Send, E: Send + From<Panicked>>(
    all: &[T],
    at_once: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Vec<Result<R, E>> {
    let done: Vec<Option<Result<R, E>>> = all.iter().map(|_| None).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(done));
    let share = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(number) else { return };
            let result = guarded(|| work(one));
            done.lock()[number] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..all.len().min(at_once) {
            // With fewer threads it takes longer, and no more.
            let _ = Builder::new().name("side".into()).spawn_scoped(scope, share);
        }
        share();
    });
    done.into_inner().into_iter().flatten().collect()
}

/// Drop `all` side by side, each of which may take a while. A defect in one has been reported as it panicked.
pub fn drop_side_by_side<T: Send>(all: impl IntoIterator<Item = T>, at_once: usize) {
    let all: Vec<Mutex<Option<T>>> = all.into_iter().map(|one| Mutex::new(Some(one))).collect();
    side_by_side(&all, at_once, |one| {
        drop(one.lock().take());
        Ok::<(), Panicked>(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_came_of_each_is_in_its_place_and_no_more_work_at_a_time() {
        let (busy, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let numbers: Vec<u64> = (0..20).collect();
        let doubled = side_by_side(&numbers, 4, |number| {
            most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(20 - number));
            busy.fetch_sub(1, Ordering::SeqCst);
            Ok::<u64, Panicked>(2 * number)
        });
        assert!(
            doubled
                .iter()
                .zip(&numbers)
                .all(|(twice, number)| *twice == Ok(2 * number))
        );
        assert_eq!((doubled.len(), busy.into_inner()), (20, 0));
        assert!((2..=4).contains(&most.into_inner()));
        assert!(side_by_side(&[], 4, |(): &()| Ok::<(), Panicked>(())).is_empty());
    }

    #[test]
    fn what_panics_is_an_error_of_its_own_alone() {
        for at_once in [1, 3] {
            let halves = side_by_side(&[8, 7, 6], at_once, |number: &u64| match number % 2 {
                0 => Ok(number / 2),
                _ => panic!("{number} is odd"),
            });
            let why = "7 is odd".to_owned();
            assert_eq!(halves, [Ok(4), Err(Panicked { why }), Ok(3)], "{at_once} at once");
        }
    }

    /// A panic that leaves a destructor in which others are dropped would end the process where that runs for a panic.
    #[test]
    fn what_panics_as_it_is_dropped_keeps_no_other_and_ends_no_process() {
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
                panic!("a defect");
            }
        }
        struct All<'a>(Vec<Counted<'a>>);
        impl Drop for All<'_> {
            fn drop(&mut self) {
                drop_side_by_side(self.0.drain(..), 2);
            }
        }
        let dropped = AtomicUsize::new(0);
        let first = catch_unwind(AssertUnwindSafe(|| {
            let _all = All((0..4).map(|_| Counted(&dropped)).collect());
            panic!("the first");
        }));
        assert_eq!(Panicked::of(&*first.unwrap_err()).why, "the first");
        assert_eq!(dropped.into_inner(), 4);
    }

    #[test]
    fn a_thread_has_its_name() {
        let name = spawn("quiet", || std::thread::current().name().map(str::to_owned));
        assert_eq!(name.unwrap().join().unwrap().as_deref(), Some("quiet"));
    }
}
