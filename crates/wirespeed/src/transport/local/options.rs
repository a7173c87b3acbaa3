//! Options of the transports over shared memory.

use crate::sync::ring;
use crate::transport::options::{OptionError, OptionReader, OptionSpec};

/// How a receiver waits.
pub const WAIT: OptionSpec = OptionSpec::new(
    "wait",
    "auto|poll|block",
    "poll: look again and again; block: sleep in the kernel (a futex) until a sender wakes; auto: poll, unless loads leave \
     ranks no CPUs of their own, or many ranks wait for their turn on few CPUs",
)
.with_default("auto");

/// Polls before sleep.
pub const SPIN: OptionSpec = OptionSpec::new(
    "spin",
    "COUNT",
    "empty polls before a receiver that blocks goes to sleep",
)
.with_default("100");

/// Size of a ring.
pub const RING: OptionSpec = OptionSpec::new(
    "ring",
    "SIZE",
    "bytes of each ring, a power of two from 4K to 256M; by default 64K or four of the largest message",
);

const RING_MIN: u64 = 4 << 10;
const RING_MAX: u64 = 256 << 20;
const RING_DEFAULT: usize = 64 << 10;
const SPIN_DEFAULT: u32 = 100;

/// Options, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalOptions {
    /// Sleep in the kernel while waiting; absent where the room decides.
    pub block: Option<bool>,
    /// Empty polls before sleep.
    pub spin: u32,
    /// Capacity of each ring; absent for what the messages need.
    pub ring_bytes: Option<usize>,
}

impl LocalOptions {
    /// Read them.
    pub fn read(reader: &OptionReader) -> Result<Self, OptionError> {
        let block = reader.choice(
            WAIT.name,
            &[("auto", None), ("poll", Some(false)), ("block", Some(true))],
        )?;
        let spin = reader.count(SPIN.name)?;
        let spin = u32::try_from(spin.unwrap_or(SPIN_DEFAULT.into()))
            .map_err(|_| reader.refuse(SPIN.name, "at most 4294967295"))?;
        if block == Some(false) && reader.text(SPIN.name).is_some() {
            return Err(reader.refuse(
                SPIN.name,
                "wait=block or auto with it: polling never ends otherwise",
            ));
        }
        let ring_bytes = match reader.size(RING.name)? {
            None => None,
            Some(size) if (RING_MIN..=RING_MAX).contains(&size) && size.is_power_of_two() => {
                Some(size as usize)
            }
            Some(_) => return Err(reader.refuse(RING.name, "a power of two from 4K to 256M")),
        };
        Ok(LocalOptions {
            block,
            spin,
            ring_bytes,
        })
    }

    /// Capacity of a ring for messages of up to `message_bytes`; `None` when no ring is large enough.
    pub fn capacity(&self, message_bytes: usize) -> Option<usize> {
        let capacity = match self.ring_bytes {
            Some(capacity) => capacity,
            None => ring::capacity_for(message_bytes)?.max(RING_DEFAULT),
        };
        (capacity <= RING_MAX as usize && message_bytes <= ring::payload_max(capacity)).then_some(capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::case::TransportOptions;

    fn read(pairs: &[(&str, &str)]) -> Result<LocalOptions, OptionError> {
        let options: TransportOptions = pairs
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        LocalOptions::read(&OptionReader::new("test", &[WAIT, SPIN, RING], &options)?)
    }

    #[test]
    fn reads_good_and_refuses_bad() {
        let options = read(&[("wait", "block"), ("ring", "1M"), ("spin", "7")]).unwrap();
        assert_eq!(
            options,
            LocalOptions {
                block: Some(true),
                spin: 7,
                ring_bytes: Some(1 << 20)
            }
        );
        for bad in [
            ("wait", "sleep"),
            ("ring", "3K"),
            ("ring", "1K"),
            ("ring", "512M"),
            ("spin", "many"),
            ("bell", "x"),
        ] {
            assert!(read(&[bad]).is_err(), "{bad:?}");
        }
        assert!(read(&[("wait", "poll"), ("spin", "5")]).is_err());
        assert_eq!(read(&[("spin", "5")]).unwrap().block, None);
    }

    #[test]
    fn a_ring_holds_its_messages() {
        let options = read(&[]).unwrap();
        assert_eq!(options.capacity(8), Some(64 << 10));
        assert_eq!(options.capacity(1 << 20), Some(4 << 20));
        assert_eq!(options.capacity(64 << 20), Some(256 << 20));
        assert_eq!(options.capacity(65 << 20), None);
        assert_eq!(options.capacity(usize::MAX), None);
        assert_eq!(read(&[("ring", "4K")]).unwrap().capacity(4096), None);
    }
}
