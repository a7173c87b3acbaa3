//! The laws of simulated latencies: what the truth is.

use wirespeed_report::stats::Random;

/// How long a simulated message takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Always the same.
    Constant {
        /// In ns.
        ns: f64,
    },
    /// exp(N(ln median, sigma²)).
    Lognormal {
        /// Median in ns.
        median_ns: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Two narrow lognormals.
    TwoModes {
        /// Medians in ns.
        medians_ns: [f64; 2],
        /// Share of the first.
        first_share: f64,
    },
    /// Begins slow and becomes steady.
    Drift {
        /// Steady value in ns.
        ns: f64,
        /// Operations after which the excess has fallen to a third.
        decay_ops: f64,
    },
    /// Constant, but every so many operations a stall.
    Stalls {
        /// In ns.
        ns: f64,
        /// Operations between two stalls.
        every: u64,
        /// Length of a stall in ns.
        stall_ns: f64,
    },
    /// Lognormal whose logarithm is autoregressive: x(t) = φ·x(t-1) + e(t).
    Correlated {
        /// Median in ns.
        median_ns: f64,
        /// φ.
        phi: f64,
    },
    /// Grows with size in two pieces.
    Protocol {
        /// Latency without payload in ns, before and after the threshold.
        latency_ns: [f64; 2],
        /// Time of a byte in ns, before and after.
        ns_per_byte: [f64; 2],
        /// Last size of the first piece.
        threshold_bytes: f64,
    },
}

/// A law at work.
#[derive(Debug, Clone)]
pub struct Source {
    law: Law,
    random: Random,
    count: u64,
    state: f64,
}

impl Source {
    /// The law with a seed of its own.
    pub fn new(law: Law, seed: u64) -> Self {
        Source {
            law,
            random: Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            count: 0,
            state: 0.0,
        }
    }

    /// Time of the next message of `size_bytes`, in whole ns.
    pub fn next_ns(&mut self, size_bytes: usize) -> u64 {
        self.count += 1;
        let random = &mut self.random;
        let ns = match self.law {
            Law::Constant { ns } => ns,
            Law::Lognormal { median_ns, sigma } => median_ns * (sigma * random.normal()).exp(),
            Law::TwoModes {
                medians_ns: [first, second],
                first_share,
            } => {
                let median = if random.uniform() < first_share {
                    first
                } else {
                    second
                };
                median * (0.03 * random.normal()).exp()
            }
            Law::Drift { ns, decay_ops } => {
                let excess = 2.0 * (-(self.count as f64) / decay_ops).exp();
                ns * (1.0 + excess) * (0.01 * random.normal()).exp()
            }
            Law::Stalls { ns, every, stall_ns } => match self.count % every {
                0 => ns + stall_ns,
                _ => ns,
            },
            Law::Correlated { median_ns, phi } => {
                self.state = phi * self.state + random.normal();
                median_ns * (0.1 * self.state * (1.0 - phi * phi).sqrt()).exp()
            }
            Law::Protocol {
                latency_ns,
                ns_per_byte,
                threshold_bytes,
            } => {
                let size = size_bytes as f64;
                let piece = usize::from(size > threshold_bytes);
                (latency_ns[piece] + size * ns_per_byte[piece]) * (0.01 * random.normal()).exp()
            }
        };
        ns.round().max(0.0) as u64
    }
}
