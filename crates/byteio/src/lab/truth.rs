//! What an emulated path must show when it is measured, and how far off a figure may be.

/// Ethernet's header, IPv4's and TCP's with timestamps: what a segment costs beside its payload.
const HEADERS_BYTES: f64 = 66.0;
/// Payload of a full segment.
const MSS_BYTES: f64 = 1448.0;

/// A known truth, and how it is held against a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    /// Payload that a link of so many bits a second carries, bytes a second, within 1 %.
    Rate {
        /// Bits a second on the wire.
        bits_per_s: f64,
    },
    /// A round trip, within 2 %.
    RoundTrip {
        /// Nanoseconds, both ways.
        ns: f64,
    },
    /// A share of packets, within what chance allows.
    Loss {
        /// The share.
        ratio: f64,
        /// Packets that were sent.
        packets: f64,
    },
}

impl Truth {
    /// The figure itself.
    pub fn value(self) -> f64 {
        match self {
            Truth::Rate { bits_per_s } => bits_per_s / 8.0 * MSS_BYTES / (MSS_BYTES + HEADERS_BYTES),
            Truth::RoundTrip { ns } => ns,
            Truth::Loss { ratio, .. } => ratio,
        }
    }

    /// Share of the truth by which a figure may differ. Of loss: 3.29 standard deviations of the binomial distribution, which
    /// chance exceeds once in a thousand.
    pub fn tolerance_ratio(self) -> f64 {
        match self {
            Truth::Rate { .. } => 0.01,
            Truth::RoundTrip { .. } => 0.02,
            Truth::Loss { ratio, packets } => 3.29 * ((1.0 - ratio) / (packets * ratio)).sqrt(),
        }
    }

    /// Whether a figure is as near to another one as the truth's tolerance asks.
    pub fn agrees(self, figure: f64, other: f64) -> bool {
        (figure / other - 1.0).abs() <= self.tolerance_ratio()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_those_promised() {
        let gigabit = Truth::Rate { bits_per_s: 1e9 };
        assert!((gigabit.value() * 8.0 / 1e9 - 0.956_407).abs() < 1e-6);
        assert!(gigabit.agrees(gigabit.value() * 1.0099, gigabit.value()));
        assert!(!gigabit.agrees(gigabit.value() * 0.9899, gigabit.value()));
        assert!(!Truth::RoundTrip { ns: 30e6 }.agrees(30.7e6, 30e6));
        // 200 packets of a million are expected, with a standard deviation of 14.14.
        let loss = Truth::Loss {
            ratio: 2e-4,
            packets: 1e6,
        };
        assert!((loss.tolerance_ratio() * 200.0 - 46.5).abs() < 0.1);
        assert!(loss.agrees(246e-6, 2e-4) && !loss.agrees(247e-6, 2e-4));
        assert!(!loss.agrees(f64::NAN, 2e-4));
    }
}
