//! How data are cut: into pieces of about one length or of given sizes, which lie together or at a distance.

use crate::options::{IOV, IOV_MAX, STRIDE};
use wirespeed::sync::SharedBytes;
use wirespeed::transport::options::{OptionError, OptionReader};
use wirespeed::transport::{ConnectError, check_available};

/// Memory that lies apart begins at a line of its own.
const LINE: usize = 64;
/// Messages of this length are copied in any case: the engine's own words have it too.
const WORD_BYTES: usize = 8;

/// What the options say about pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iov {
    sizes: Sizes,
    stride: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sizes {
    About(usize),
    Given(Vec<usize>),
}

impl Default for Iov {
    fn default() -> Self {
        Iov {
            sizes: Sizes::About(1),
            stride: 0,
        }
    }
}

impl Iov {
    /// From options [`IOV`] and [`STRIDE`].
    pub fn parse(reader: &OptionReader) -> Result<Self, OptionError> {
        let refused = || {
            let what = format!("a count from 1 to {IOV_MAX}, or as many sizes: 512+512");
            reader.refuse(IOV.name, what)
        };
        let sizes = match reader.text(IOV.name) {
            None => Sizes::About(1),
            Some(text) if text.contains('+') => {
                let size = |word: &str| wirespeed_schema::units::parse_size(word).ok();
                let size = |word| size(word).and_then(|size| usize::try_from(size).ok());
                let sizes: Option<Vec<usize>> = text.split('+').map(size).collect();
                let fits = |sizes: &Vec<usize>| sizes.len() <= IOV_MAX && !sizes.contains(&0);
                Sizes::Given(sizes.filter(fits).ok_or_else(refused)?)
            }
            Some(_) => {
                let count = reader
                    .count(IOV.name)?
                    .and_then(|count| usize::try_from(count).ok());
                let count = count.filter(|count| (1..=IOV_MAX).contains(count));
                Sizes::About(count.ok_or_else(refused)?)
            }
        };
        let stride = reader.size(STRIDE.name)?.unwrap_or(0);
        let stride = usize::try_from(stride).ok().filter(|stride| *stride <= 1 << 30);
        let stride = stride.ok_or_else(|| reader.refuse(STRIDE.name, "a distance of at most 1 GiB"))?;
        Ok(Iov { sizes, stride })
    }

    /// Number of pieces.
    pub fn count(&self) -> usize {
        match &self.sizes {
            Sizes::About(count) => *count,
            Sizes::Given(sizes) => sizes.len(),
        }
    }

    /// Whether the pieces lie at a distance of each other.
    pub fn is_apart(&self) -> bool {
        self.stride > 0
    }

    /// For results.
    pub fn text(&self) -> String {
        match &self.sizes {
            Sizes::About(count) => count.to_string(),
            Sizes::Given(sizes) => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+"),
        }
    }

    /// Distance of the pieces' starts; 0 where they lie together.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

/// One piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins in the message.
    pub from: usize,
    /// Where it begins in memory, counted from the first.
    pub at: usize,
    /// Its length.
    pub len: usize,
}

/// The pieces of messages of one length.
#[derive(Debug, Clone)]
pub struct Spans {
    list: [Span; IOV_MAX],
    count: usize,
    total: usize,
}

impl Spans {
    /// Of messages of `total` bytes. Fewer pieces where there are fewer bytes.
    pub fn of(iov: &Iov, total: usize) -> Result<Self, ConnectError> {
        let mut spans = Spans {
            list: [Span::default(); IOV_MAX],
            count: 0,
            total,
        };
        let about = |count: usize| vec![total.div_ceil(count).max(1); count];
        let sizes = match &iov.sizes {
            Sizes::About(count) => about(*count),
            Sizes::Given(sizes) => sizes.clone(),
        };
        let sum = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if matches!(iov.sizes, Sizes::Given(_)) && sum != total {
            return Err(ConnectError::Other(format!(
                "iov={} are pieces of {sum} bytes in all, the messages have {total}",
                iov.text()
            )));
        }
        let (mut from, mut at) = (0, 0);
        for size in sizes {
            let len = size.min(total - from);
            if len == 0 {
                break;
            }
            if iov.is_apart() && len > iov.stride {
                return Err(ConnectError::Other(format!(
                    "a piece of {len} bytes does not fit into a distance of {}",
                    iov.stride
                )));
            }
            spans.list[spans.count] = Span { from, at, len };
            spans.count += 1;
            from += len;
            at += if iov.is_apart() { iov.stride } else { len };
        }
        Ok(spans)
    }

    /// They, in order.
    #[inline(always)]
    pub fn list(&self) -> &[Span] {
        &self.list[..self.count]
    }

    /// Whether a message of `len` bytes is one of those that are cut.
    #[inline(always)]
    pub fn are_of(&self, len: usize) -> bool {
        len == self.total && self.count > 0
    }

    /// The length of the messages that are cut.
    #[inline(always)]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Bytes from the start of the first to the end of the last.
    fn extent(&self) -> usize {
        self.list().last().map_or(0, |last| last.at + last.len)
    }
}

/// Memory in which the pieces of messages lie apart. What they hold matters only where payloads are checked; else all
/// messages share one place, as in ucx_perftest.
pub struct Apart<H> {
    memory: SharedBytes,
    /// UCX's handle of it.
    pub handle: H,
    spans: Spans,
    place_bytes: usize,
    copies: bool,
}

impl<H> Apart<H> {
    /// For `places` messages at once, where the pieces do lie apart. `allocate` gives memory of a length.
    pub fn new<E: Into<ConnectError>>(
        iov: &Iov,
        spans: &Spans,
        places: usize,
        check: bool,
        allocate: impl FnOnce(usize) -> Result<(SharedBytes, H), E>,
    ) -> Result<Option<Self>, ConnectError> {
        if !iov.is_apart() {
            return Ok(None);
        }
        let place_bytes = spans.extent().next_multiple_of(LINE).max(LINE);
        let bytes = place_bytes.saturating_mul(places.max(1));
        check_available("pieces that lie apart", bytes)?;
        let (memory, handle) = allocate(bytes).map_err(Into::into)?;
        Ok(Some(Apart {
            memory,
            handle,
            spans: spans.clone(),
            place_bytes,
            copies: check || spans.total == WORD_BYTES,
        }))
    }

    /// The place to use: `own` where each message has its own, else `shared`.
    #[inline(always)]
    pub fn place(&self, own: usize, shared: usize) -> usize {
        if self.copies { own } else { shared }
    }

    /// Where a place begins.
    #[inline(always)]
    pub fn start(&self, place: usize) -> *mut u8 {
        self.memory.as_ptr().wrapping_add(place * self.place_bytes)
    }

    /// The message at `offset` of `source` goes into its place.
    #[inline(always)]
    pub fn fill(&self, place: usize, source: &SharedBytes, offset: usize) {
        if self.copies {
            for span in self.spans.list() {
                let to = place * self.place_bytes + span.at;
                self.memory.copy_from(to, source, offset + span.from, span.len);
            }
        }
    }

    /// As `fill`, from bytes that are the caller's.
    #[inline(always)]
    pub fn fill_from(&self, place: usize, message: &[u8]) {
        if self.copies {
            for span in self.spans.list() {
                let part = &message[span.from..span.from + span.len];
                self.memory.write(place * self.place_bytes + span.at, part);
            }
        }
    }

    /// What arrived in a place goes to `offset` of `target`.
    #[inline(always)]
    pub fn empty(&self, place: usize, target: &SharedBytes, offset: usize) {
        if self.copies {
            for span in self.spans.list() {
                let from = place * self.place_bytes + span.at;
                target.copy_from(offset + span.from, &self.memory, from, span.len);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::case::TransportOptions;

    fn iov(iov: &str, stride: &str) -> Result<Iov, OptionError> {
        const SPECS: &[wirespeed::transport::options::OptionSpec] = &[IOV, STRIDE];
        let options = [(IOV.name, iov), (STRIDE.name, stride)];
        let options: TransportOptions = options
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Iov::parse(&OptionReader::new("ucp", SPECS, &options).unwrap())
    }

    #[test]
    fn pieces_cover_the_data_once() {
        for total in [0, 1, 2, 7, 16, 17, 100] {
            for count in ["1", "2", "3", "16"] {
                let spans = Spans::of(&iov(count, "").unwrap(), total).unwrap();
                assert!(spans.list().len() <= count.parse().unwrap());
                let mut next = 0;
                for span in spans.list() {
                    assert_eq!((span.from, span.at), (next, next));
                    next += span.len;
                }
                assert_eq!(next, total);
                assert_eq!(spans.are_of(total), total > 0);
            }
        }
    }

    #[test]
    fn given_sizes_and_distances() {
        let spans = Spans::of(&iov("4308+4308+8192", "8K").unwrap(), 16808).unwrap();
        let list: Vec<_> = spans.list().iter().map(|s| (s.from, s.at, s.len)).collect();
        assert_eq!(list, [(0, 0, 4308), (4308, 8192, 4308), (8616, 16384, 8192)]);
        assert_eq!(spans.extent(), 16384 + 8192);
        assert!(Spans::of(&iov("8+8", "").unwrap(), 17).is_err());
        assert!(Spans::of(&iov("8+80", "64").unwrap(), 88).is_err());
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["0", "17", "8+", "8+0", "+", "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1"] {
            assert!(iov(text, "").is_err(), "{text}");
        }
        assert!(iov("2", "2G").is_err() && iov("2", "-1").is_err());
    }

    #[test]
    fn what_lies_apart_comes_back_whole() {
        let iov = iov("3+1+4", "16").unwrap();
        let spans = Spans::of(&iov, 8).unwrap();
        let heap = |len| {
            SharedBytes::heap(len)
                .map(|bytes| (bytes, ()))
                .ok_or(ConnectError::Other("no memory".into()))
        };
        let apart = Apart::new(&iov, &spans, 2, true, heap).unwrap().unwrap();
        let (message, back) = (SharedBytes::heap(64).unwrap(), SharedBytes::heap(64).unwrap());
        message.write(8, b"abcdefgh");
        apart.fill(1, &message, 8);
        apart.empty(1, &back, 16);
        let mut read = [0; 8];
        back.read(16, &mut read);
        assert_eq!(&read, b"abcdefgh");
        apart.fill_from(0, b"ABCDEFGH");
        apart.empty(0, &back, 0);
        back.read(0, &mut read);
        assert_eq!(&read, b"ABCDEFGH");
        assert!(
            Apart::new(&Iov::default(), &spans, 2, true, heap)
                .unwrap()
                .is_none()
        );
    }
}
