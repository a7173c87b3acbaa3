//! A limit for what a library does before the ranks can talk without it: one that crashed there is never missed by those
//! that wait for it in the library. It must not count on anything of the library.

use crate::thread::spawn;
use std::sync::mpsc;
use std::time::Duration;

/// The ranks of a job have met by then, or something is wrong with one of them.
const MEET_TIME: Duration = Duration::from_secs(60);
/// More for each rank: a job may have many on few cores.
const MEET_TIME_PER_RANK: Duration = Duration::from_millis(200);

/// The time in which ranks meet. Dropped, they have met.
pub struct Joining {
    /// Dropped with it, which ends the watch.
    _met: mpsc::Sender<()>,
}

impl Joining {
    /// Ranks of a job of `size` begin to meet. `late` is told how long was waited, when it was too long; the process ends
    /// with exit code 1 after that, without another word of any library.
    pub fn begin(size: u32, late: impl FnOnce(Duration) + Send + 'static) -> std::io::Result<Self> {
        Self::within(MEET_TIME + MEET_TIME_PER_RANK * size, late, || {
            signal_hook::low_level::exit(1)
        })
    }

    fn within(
        limit: Duration,
        late: impl FnOnce(Duration) + Send + 'static,
        end: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, met) = mpsc::channel();
        spawn("joining", move || {
            if met.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                late(limit);
                end();
            }
        })?;
        Ok(Joining { _met: sender })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_meets_in_time_is_let_go_and_who_does_not_is_told() {
        let (told, hears) = mpsc::channel();
        let late = {
            let told = told.clone();
            move |limit| told.send(format!("late after {limit:?}")).unwrap()
        };
        let long = Duration::from_secs(3600);
        drop(Joining::within(long, late, || ()).unwrap());
        let late = {
            let told = told.clone();
            move |limit| told.send(format!("late after {limit:?}")).unwrap()
        };
        let limit = Duration::from_millis(1);
        let joining = Joining::within(limit, late, move || told.send("ended".into()).unwrap()).unwrap();
        assert_eq!(hears.recv().unwrap(), "late after 1ms");
        assert_eq!(hears.recv().unwrap(), "ended");
        // The first one has said nothing, and has let go of the channel.
        assert!(hears.recv().is_err());
        drop(joining);
    }
}
