//! When each message of a paced stream is to be sent: start + i / rate, whatever became of those before it; and how long after
//! that it was answered. It must never wait itself.

use super::meter::Meter;
use super::phases::Phase;
use super::series::Series;
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::test::Stream;

/// An absolute schedule, which a late message does not shift. Each message has the interval behind it, the last one too: so many
/// messages a second take a second.
pub struct Schedule {
    interval_ticks: f64,
    is_on: bool,
    from: u64,
    /// When paced: time from the moment at which each message was due to the acknowledgement that covers it. A sender
    /// that falls behind its schedule cannot hide it.
    responses: Option<Series>,
    /// Messages whose response is recorded.
    answered: u64,
}

impl Schedule {
    /// Of messages `interval_ticks` apart; 0 for none, which go as soon as they can.
    pub fn new(interval_ticks: f64, meter: &Meter) -> Self {
        Schedule {
            interval_ticks,
            is_on: false,
            from: 0,
            responses: (interval_ticks > 0.0).then(|| meter.series(SampleKind::Response)),
            answered: 0,
        }
    }

    /// `phase` begins now. What is one operation by itself has no pace.
    pub fn restart(&mut self, phase: Phase, now: u64) {
        self.is_on = self.interval_ticks > 0.0 && matches!(phase, Phase::WarmUp | Phase::Measured);
        (self.from, self.answered) = (now, 0);
        self.responses.iter_mut().for_each(Series::clear);
    }

    /// Whether messages of this phase wait for their time.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// When message `number` is due, which is when the interval of the one before it ends.
    #[inline(always)]
    pub fn due(&self, number: u64) -> u64 {
        self.from + (number as f64 * self.interval_ticks) as u64
    }

    /// The receiver has so many messages by now. One that was lost is taken for answered with the next that was not.
    #[inline(never)]
    pub fn note_answers(&mut self, count: u64, now: u64) {
        for number in self.answered..count {
            let due = self.due(number);
            if let Some(responses) = &mut self.responses {
                responses.record(now.saturating_sub(due));
            }
        }
        self.answered = self.answered.max(count);
    }

    /// What was recorded, where a stream is paced.
    pub fn responses(self) -> Option<Series> {
        self.responses
    }
}

/// Messages that an acknowledgement covers, where that is `unpaced` of a stream without a pace. Of a paced one each has its own:
/// it has a moment at which it was due, and what comes behind it may take its time.
pub fn ack_every(stream: &Stream, unpaced: u64) -> u64 {
    match stream.pace_msg_per_s {
        Some(_) => 1,
        None => unpaced,
    }
}
