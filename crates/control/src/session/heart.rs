//! Heartbeats of one connection: when to ask, and when the other end counts as silent.

use super::Timing;
use std::time::Duration;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// Nothing before this time.
    Wait(Duration),
    /// Send a ping.
    Ping,
    /// The other end has said nothing for too long.
    Silent,
}

/// Watches one connection. Anything heard counts, not only answers to pings.
#[derive(Debug, Clone)]
pub struct Heart {
    interval: Duration,
    silence: Duration,
    heard: Duration,
    asked: Duration,
}

impl Heart {
    /// A heart that beats from `now`, four times in the time of silence that it takes; no slower than the other end, which
    /// has the usual patience, expects of us.
    pub fn new(silence: Duration, now: Duration) -> Self {
        Heart {
            interval: silence.min(Timing::default().silence) / 4,
            silence,
            heard: now,
            asked: now,
        }
    }

    /// Something arrived.
    pub fn heard(&mut self, now: Duration) {
        self.heard = now;
    }

    /// Take so much silence from now on; the beat stays.
    pub fn set_silence(&mut self, silence: Duration) {
        self.silence = silence;
    }

    /// What is due at `now`. Asking counts as done.
    pub fn poll(&mut self, now: Duration) -> Beat {
        if now >= self.heard + self.silence {
            return Beat::Silent;
        }
        if now >= self.asked + self.interval {
            self.asked = now;
            return Beat::Ping;
        }
        Beat::Wait((self.asked + self.interval).min(self.heard + self.silence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_four_times_and_gives_up() {
        let ms = Duration::from_millis;
        let mut heart = Heart::new(ms(1000), ms(5000));
        let mut now = ms(5000);
        let mut pings = 0;
        loop {
            match heart.poll(now) {
                Beat::Wait(until) => {
                    assert!(until > now);
                    now = until;
                }
                Beat::Ping => pings += 1,
                Beat::Silent => break,
            }
        }
        assert_eq!((pings, now), (3, ms(6000)));
        heart.heard(now);
        assert_eq!(heart.poll(now), Beat::Ping);
        assert_eq!(heart.poll(now), Beat::Wait(ms(6250)));
    }

    #[test]
    fn patience_changes_and_the_beat_stays() {
        let ms = Duration::from_millis;
        let mut heart = Heart::new(ms(1000), ms(0));
        assert_eq!(heart.poll(ms(250)), Beat::Ping);
        heart.set_silence(ms(300));
        assert_eq!(heart.poll(ms(299)), Beat::Wait(ms(300)));
        assert_eq!(heart.poll(ms(300)), Beat::Silent);
        heart.set_silence(ms(2000));
        assert_eq!(heart.poll(ms(300)), Beat::Wait(ms(500)));
        // No slower than another end of the usual patience expects.
        let mut patient = Heart::new(ms(3_600_000), ms(0));
        assert_eq!(patient.poll(ms(0)), Beat::Wait(ms(2500)));
    }
}
