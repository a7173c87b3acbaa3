//! One direction of an emulated link, as arithmetic: rate, delay, loss and a drop-tail queue. It takes the time as an
//! argument and moves no packet, so that it can be held to theory.

/// How a direction is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Bits a second on the wire; `None` for no limit.
    pub rate_bits_per_s: Option<f64>,
    /// From one end to the other, after the last bit was sent.
    pub delay_ns: u64,
    /// Share of packets that are lost, independently.
    pub loss_ratio: f64,
    /// Bytes that may wait for the wire.
    pub queue_bytes: u64,
}

/// What became of the packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came.
    pub packets: u64,
    /// Lost by the dice.
    pub lost_packets: u64,
    /// Dropped by the full queue.
    pub dropped_packets: u64,
}

/// A direction.
#[derive(Debug, Clone)]
pub struct Direction {
    shape: Shape,
    /// When the wire is free again.
    free_ns: f64,
    random: u64,
    /// What became of the packets.
    pub counts: Counts,
}

impl Direction {
    /// A quiet wire; `seed` of the dice.
    pub fn new(shape: Shape, seed: u64) -> Self {
        Direction {
            shape,
            free_ns: 0.0,
            random: seed,
            counts: Counts::default(),
        }
    }

    /// A packet of so many bytes on the wire comes at `now_ns`: when it arrives at the other end, or `None` if never.
    pub fn admit(&mut self, now_ns: u64, wire_bytes: u64, packets: u64) -> Option<u64> {
        self.counts.packets += packets;
        if self.shape.loss_ratio > 0.0 && self.uniform() < self.shape.loss_ratio {
            self.counts.lost_packets += packets;
            return None;
        }
        let Some(rate) = self.shape.rate_bits_per_s else {
            return Some(now_ns + self.shape.delay_ns);
        };
        let start = self.free_ns.max(now_ns as f64);
        let waiting_bytes = (start - now_ns as f64) * rate / 8e9;
        if waiting_bytes > self.shape.queue_bytes as f64 {
            self.counts.dropped_packets += packets;
            return None;
        }
        self.free_ns = start + wire_bytes as f64 * 8e9 / rate;
        Some(self.free_ns as u64 + self.shape.delay_ns)
    }

    /// SplitMix64 (Steele, Lea, Flood 2014), the upper 53 bits.
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Bytes and packets on a wire of Ethernet of a packet that the kernel may have left uncut: each segment has headers of
/// its own. `header` is the packet's `virtio_net_hdr`.
pub fn on_the_wire(header: &[u8; 10], packet_bytes: u64) -> (u64, u64) {
    const ETHERNET_BYTES: u64 = 14;
    let short = |at: usize| u64::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let (uncut, headers, segment) = (header[1] != 0, short(2), short(4));
    if !uncut || segment == 0 || packet_bytes <= headers {
        return (packet_bytes + ETHERNET_BYTES, 1);
    }
    let payload = packet_bytes - headers;
    let segments = payload.div_ceil(segment);
    (payload + segments * (headers + ETHERNET_BYTES), segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        rate_bits_per_s: Some(1e9),
        delay_ns: 15_000_000,
        loss_ratio: 0.0,
        queue_bytes: 1 << 40,
    };

    #[test]
    fn rate_and_delay_are_those_of_theory() {
        let mut wire = Direction::new(SHAPE, 1);
        let mut last = 0;
        for _ in 0..10_000 {
            last = wire.admit(0, 1514, 1).unwrap();
        }
        let theory = 15_000_000.0 + 10_000.0 * 1514.0 * 8.0;
        assert!((last as f64 - theory).abs() <= 2.0, "{last} for {theory}");
        assert_eq!(
            wire.admit(1_000_000_000, 125, 1),
            Some(1_015_001_000),
            "a quiet wire sends at once"
        );
    }

    /// 2e-4 over 1e6 packets: 200 expected, standard deviation 14.1; four of those.
    #[test]
    fn loss_is_within_its_binomial_interval() {
        for seed in 0..5 {
            let mut wire = Direction::new(
                Shape {
                    loss_ratio: 2e-4,
                    ..SHAPE
                },
                seed,
            );
            for at in 0..1_000_000 {
                wire.admit(at * 100_000, 1514, 1);
            }
            let lost = wire.counts.lost_packets;
            assert!((143..=257).contains(&lost), "{lost}");
        }
    }

    #[test]
    fn a_full_queue_drops_and_empties() {
        let mut wire = Direction::new(
            Shape {
                queue_bytes: 10_000,
                ..SHAPE
            },
            1,
        );
        let passed = (0..100).filter(|_| wire.admit(0, 1000, 1).is_some()).count();
        assert_eq!((passed, wire.counts.dropped_packets), (11, 89));
        assert!(wire.admit(8_000, 1000, 1).is_some());
    }

    #[test]
    fn uncut_packets_cost_what_their_segments_would() {
        let mut header = [0; 10];
        assert_eq!(on_the_wire(&header, 1500), (1514, 1));
        header[1] = 1;
        header[2..4].copy_from_slice(&52u16.to_ne_bytes());
        header[4..6].copy_from_slice(&1448u16.to_ne_bytes());
        assert_eq!(on_the_wire(&header, 52 + 1448 * 10), (15140, 10));
        assert_eq!(on_the_wire(&header, 52 + 1449), (1449 + 2 * 66, 2));
    }
}
