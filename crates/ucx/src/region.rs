//! What peers announce: their bytes for UCX, and their region, which says where a range of it lies over there.

use wirespeed::transport::port::LinkError;

/// A peer's region. Without one, no range lies in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Region {
    base: u64,
    len_bytes: usize,
}

impl Region {
    /// The region of `len_bytes` at `base` in its owner's memory.
    pub fn new(base: u64, len_bytes: u64) -> Self {
        Region {
            base,
            len_bytes: len_bytes as usize,
        }
    }

    /// The owner's address of `len` bytes at `offset`; an error where they do not lie in the region.
    #[inline(always)]
    pub fn address(&self, offset: usize, len: usize) -> Result<u64, LinkError> {
        if offset > self.len_bytes || len > self.len_bytes - offset {
            return Err(LinkError::Unsupported("an operation outside the region"));
        }
        Ok(self.base + offset as u64)
    }
}

/// `bytes` of a peer where reading on does no harm: UCX is not told their length.
pub fn roomy(bytes: &[u8]) -> Vec<u8> {
    let mut room = bytes.to_vec();
    room.resize(bytes.len() + 1024, 0);
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_the_region() {
        let region = Region::new(4096, 64);
        assert_eq!(region.address(0, 64), Ok(4096));
        assert_eq!(region.address(64, 0), Ok(4160));
        for (offset, len) in [(0, 65), (64, 1), (65, 0), (1, usize::MAX), (usize::MAX, 1)] {
            assert!(region.address(offset, len).is_err(), "{offset} {len}");
        }
        assert!(Region::default().address(0, 1).is_err());
    }
}
