//! Bytes to send, placed within a cache line as the transport will place them. A copy between places that differ takes up
//! to twice as long for some KiB, and an allocation falls where it falls: runs would differ by that alone.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes at a chosen place: the end of `memory`, so that one comparison tells where they lie.
pub struct Placed {
    memory: Vec<u8>,
    at: usize,
}

impl Placed {
    /// `size` zeros that begin `place` bytes into a cache line.
    pub fn new(size: usize, place: usize) -> Self {
        let mut memory = vec![0; size.saturating_add(2 * LINE)];
        let at = memory.as_ptr().align_offset(LINE) + place % LINE;
        memory.truncate(at.saturating_add(size));
        Placed { memory, at }
    }

    /// The bytes. They are within bounds since `new`: the loops have no code to panic.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        self.memory.get(self.at..).unwrap_or_default()
    }

    /// The bytes, to be written.
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_lie_where_they_should_at_every_size() {
        for size in [0, 1, 8, 63, 64, 4096, 1 << 20] {
            for place in [0, 8, 63, 72] {
                let mut placed = Placed::new(size, place);
                assert_eq!(placed.bytes().len(), size);
                assert_eq!(placed.bytes().as_ptr() as usize % LINE, place % LINE);
                placed.bytes_mut().fill(7);
                assert!(placed.bytes().iter().all(|byte| *byte == 7));
            }
        }
    }
}
