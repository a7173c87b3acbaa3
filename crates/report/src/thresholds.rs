//! Every threshold on which a sentence, a remark or a verdict depends: one a concept, and nowhere else.
//!
//! Parameters of estimators (batch sizes, draws, the smallest mode) are in `stats`; they decide no sentence by themselves.

/// A best value counts as reached from this share of it on: the window that is enough, the sizes with full bandwidth.
pub const REACHED_SHARE: f64 = 0.95;
/// Bandwidth behind the largest cache that is below this share of the best has fallen.
pub(crate) const FALLEN_SHARE: f64 = 0.8;
/// A smaller share of an offered rate is not the rate that was asked for.
pub(crate) const CARRIED_SHARE_MIN: f64 = 0.99;
/// Messages of a run from which on one that is left behind is no large share of them.
pub(crate) const CARRIED_MESSAGES_MIN: u64 = 10;
/// A window is full from this share of it in flight on.
pub(crate) const WINDOW_FULL_SHARE: f64 = 0.75;
/// With less than this share of it in flight a window held nothing back.
pub(crate) const WINDOW_ROOM_SHARE: f64 = 0.5;
/// Little's law may be exceeded by so much: not every message is timed.
pub(crate) const IN_FLIGHT_TOLERANCE: f64 = 1.25;
/// An acknowledgement that takes more than so many unloaded round trips waited in a queue.
pub(crate) const QUEUED_TIMES: f64 = 2.0;
/// A CPU that is used for this share of the time is busy.
pub(crate) const BUSY_SHARE: f64 = 0.9;
/// A message is small up to this size.
pub(crate) const SMALL_BYTES: u64 = 256;
/// Unacknowledged messages from which on a backlog is worth a sentence.
pub(crate) const BACKLOG_MSGS: f64 = 1000.0;

/// A model whose residuals are larger than this part of the values does not describe them, and is not told.
pub(crate) const FIT_RESIDUAL_MAX: f64 = 0.15;
/// The same for the worst of its points, where that alone is known.
pub(crate) const FIT_WORST_MAX: f64 = 0.25;
/// A model of two parameters is told from this many points on.
pub(crate) const FIT_POINTS_MIN: usize = 4;
/// The knee of a load curve needs this many rates that are carried.
pub(crate) const KNEE_POINTS_MIN: usize = 5;
/// It needs response times that rise by so much over them.
pub(crate) const KNEE_RISE_MIN: f64 = 1.2;
/// A curve over sizes changes where time or bandwidth changes by more than this.
pub(crate) const CHANGE_MIN: f64 = 0.10;

/// What costs less than so many times as much is not worth a sentence.
pub(crate) const WORTH_RATIO: f64 = 1.3;
/// Runs from which an interval over them is given: no order statistic of fewer holds the median at 95 %, and one that is
/// resampled from five holds the truth far less often than it says.
pub(crate) const INTERVAL_RUNS_MIN: usize = 6;
/// Of fewer samples a share says less than a number.
pub(crate) const SHARE_SAMPLES_MIN: u64 = 100;
/// More rounds than this are not advised: nobody waits for them.
pub(crate) const ROUNDS_WORTH_MAX: u64 = 200;
/// A ratio that is so far from the quotient of the figures beside it needs a word.
pub(crate) const RATIO_APART_MIN: f64 = 0.05;
/// A pair, worker or host that takes so many times as long as the median is slow.
pub(crate) const SLOW_RATIO: f64 = 1.2;
/// A 99th percentile of so many medians is a far tail.
pub(crate) const TAIL_TIMES: f64 = 5.0;
/// A first operation of so many medians is told.
pub(crate) const FIRST_OPERATION_TIMES: f64 = 10.0;
/// Above this share of the median the harness is told.
pub(crate) const FLOOR_SHARE_MAX: f64 = 0.20;

/// Ratios within 1 ± this are the same, unless somebody asks for another margin.
pub(crate) const WITHIN_RATIO: f64 = 0.02;
/// A smaller ratio between two files of which one was disturbed may be the machine's: on shared virtual machines, runs of
/// the same thing some minutes apart were seen to differ up to threefold. An experience, not an estimate; where it holds a
/// verdict back, measuring both in turn gives one.
pub(crate) const DRIFT_RATIO: f64 = 3.0;
/// Chance of a verdict with the runs that are announced, and of naming what is said to be detectable.
pub const POWER: f64 = 0.9;
/// A mesh in which a host at this share of the median would go unnamed says nothing of those that it does not name.
pub const FINDABLE_RATIO: f64 = 0.8;
/// More runs than this are not announced: the difference is at the very edge of the margin.
pub(crate) const MORE_RUNS_MAX: f64 = 1e5;

/// Rates are added where all senders are under way in this share of the time.
pub(crate) const AT_ONCE_SHARE_MIN: f64 = 0.5;
/// A path's or medium's limit may be exceeded by so much: it was itself measured, or stated in round numbers.
pub(crate) const LIMIT_TOLERANCE: f64 = 1.05;
/// The two ends' times may differ by so much of the longer one.
pub(crate) const ELAPSED_TOLERANCE: f64 = 0.10;
/// Times that differ by less than this agree: start and end of a run are one message apart.
pub(crate) const ELAPSED_SLACK_NS: u64 = 1_000_000;
/// The sum of all round trips may exceed the run's time by so much.
pub(crate) const TIME_TOLERANCE: f64 = 1.02;

/// More involuntary switches a second than this are a warning, fewer a note: a timer tick alone causes some.
pub(crate) const SWITCHES_PER_S_MAX: f64 = 10.0;
/// A larger share of the run stolen or waited for is a warning.
pub(crate) const TAKEN_SHARE_MAX: f64 = 0.001;
/// A larger share lost in the noise scan is a warning.
pub(crate) const NOISE_SHARE_MAX: f64 = 0.01;
/// With a larger share lost a noise scan says nothing about the core's speed.
pub(crate) const QUIET_SHARE_MAX: f64 = 0.10;
/// Cores whose speed changed by more over a run are a warning.
pub(crate) const FREQUENCY_SHARE_MAX: f64 = 0.05;
/// More minor page faults than this in a run are told.
pub(crate) const MINOR_FAULTS_MAX: u64 = 1_000;
/// Runs that differ by more of their median than this are told.
pub(crate) const BETWEEN_RUNS_MAX: f64 = 0.10;
/// A load average above this share of the CPUs is told.
pub(crate) const LOAD_SHARE_TOLD: f64 = 0.5;
/// A beginning whose median differs by more from what follows is not steady.
pub(crate) const STEADY_SHARE: f64 = 0.05;
/// Runs closer than this to each other have no outlier among them.
pub(crate) const RESOLUTION_RATIO: f64 = 0.01;

/// A timed piece shorter than so many steps of the clock is too coarsely measured.
pub(crate) const CLOCK_STEPS_MIN: f64 = 20.0;
/// Above this the clock's rate is not known well enough.
pub(crate) const CALIBRATION_PPM_MAX: f64 = 100.0;
/// Runs shorter than this are mostly start and end.
pub(crate) const RUN_NS_MIN: u64 = 10_000_000;

/// From this share of the ceiling on, a link counts as full.
pub(crate) const LINK_FULL_SHARE: f64 = 0.93;
/// A path with a shorter round trip loses nothing on the way: what is sent again there is the hosts' own doing.
pub(crate) const LONG_RTT_NS: u64 = 1_000_000;
/// From this multiple of the path's own round trip on, packets of a transfer queue for the slowest link.
pub(crate) const LINK_QUEUED_TIMES: f64 = 1.3;
/// Bytes on the sockets up to this multiple of what a mechanism needs are no matter.
pub(crate) const WIRE_OVERHEAD_TIMES: f64 = 1.02;
/// From this share of the time on, a phase of a transfer counts as its limit.
pub(crate) const PHASE_SHARE: f64 = 0.3;
/// From this share of payload sent again, loss matters.
pub(crate) const LOSS_RATIO: f64 = 1e-4;
/// Phases of a transfer below this share are left out of the line.
pub(crate) const PHASE_TOLD_SHARE: f64 = 0.005;
/// Bandwidth that grows by less than this from one payload to the next has levelled off.
pub(crate) const LEVEL_TOLERANCE: f64 = 0.05;
