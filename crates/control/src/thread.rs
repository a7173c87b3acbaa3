//! Threads: one with a name, and the same work for many things side by side. It must never start more of them at a time than
//! it was told, nor give up where the system has fewer.

use parking_lot::Mutex;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

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

/// Do `work` to each of `all`, in at most `at_once` threads, this one among them; what came of each, in their order.
pub fn side_by_side<T: Sync, R: Send>(all: &[T], at_once: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let done: Vec<Option<R>> = all.iter().map(|_| None).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(done));
    let share = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(number) else { return };
            let result = work(one);
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
            2 * number
        });
        assert!(
            doubled
                .iter()
                .zip(&numbers)
                .all(|(twice, number)| *twice == 2 * number)
        );
        assert_eq!((doubled.len(), busy.into_inner()), (20, 0));
        assert!((2..=4).contains(&most.into_inner()));
        assert!(side_by_side(&[], 4, |(): &()| ()).is_empty());
    }

    #[test]
    fn a_thread_has_its_name() {
        let name = spawn("quiet", || std::thread::current().name().map(str::to_owned));
        assert_eq!(name.unwrap().join().unwrap().as_deref(), Some("quiet"));
    }
}
