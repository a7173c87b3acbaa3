//! The command line of ucx_perftest that a file shows above its rows: what it says of the case. What it does not say is the
//! tool's default, and is not made up here.

use super::ucx::layout_named;
use crate::perftest::{HEADER_BYTES, Original, SIZE_BYTES, original};
use std::collections::BTreeMap;
use wirespeed_schema::test::Layout;
use wirespeed_schema::units::parse_size;

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Typed {
    /// `-t`.
    pub test: Option<&'static Original>,
    /// `-s`, or the default without it; none where it is more than one size.
    pub size_bytes: Option<u64>,
    /// `-D`.
    pub layout: Option<Layout>,
    /// `-W`.
    pub window_msgs: Option<u64>,
    /// `-O`.
    pub outstanding: Option<u64>,
    /// `-H`.
    pub header_bytes: Option<u64>,
    /// `-x` and `-d`.
    device: [Option<String>; 2],
    /// `-z`.
    registered: bool,
    /// `-D iov`, or iov at one end.
    listed: bool,
}

impl Typed {
    /// Read a line such as `$ ucx_perftest host -t tag_lat -s64 -v`; none where it asks for no test.
    pub fn read(line: &str) -> Option<Typed> {
        let mut words = line.split_once("ucx_perftest")?.1.split_whitespace().peekable();
        let mut typed = Typed {
            size_bytes: Some(SIZE_BYTES),
            ..Typed::default()
        };
        while let Some(word) = words.next() {
            let Some((letter, glued)) = word.strip_prefix('-').and_then(|rest| rest.split_at_checked(1))
            else {
                continue;
            };
            let next = words.peek().copied().unwrap_or_default();
            typed.take(letter, if glued.is_empty() { next } else { glued });
        }
        typed.test.map(|_| typed)
    }

    fn take(&mut self, letter: &str, value: &str) {
        match letter {
            "t" => self.test = original(value),
            "s" => self.size_bytes = parse_size(value).ok(),
            "D" => {
                self.layout = layout_named(value);
                self.listed = value.contains("iov");
            }
            "W" => self.window_msgs = value.parse().ok(),
            "O" => self.outstanding = value.parse().ok().filter(|&count| count > 0),
            "H" => self.header_bytes = value.parse().ok(),
            "x" => self.device[0] = Some(value.to_owned()),
            "d" => self.device[1] = Some(value.to_owned()),
            "z" => self.registered = true,
            _ => {}
        }
    }

    /// Whether data lie together, and UCX is given no handle of them.
    pub fn is_plain(&self) -> bool {
        !self.registered && !self.listed
    }

    /// Options of transport `uct` or `ucp` that make a case the test `original`, with a header of `header` bytes.
    pub fn options(&self, original: &Original, header: u64) -> BTreeMap<String, String> {
        let [tl, device] = &self.device;
        let header = (header != HEADER_BYTES).then(|| header.to_string());
        let asked = [
            ("tl", tl.clone()),
            ("device", device.clone()),
            ("header", header),
            ("register", self.registered.then(|| "yes".to_owned())),
        ];
        let mut options = BTreeMap::new();
        for (name, value) in original.options {
            options.insert((*name).to_owned(), (*value).to_owned());
        }
        for (name, value) in asked {
            if let Some(value) = value {
                options.insert(name.to_owned(), value);
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::order::map_of;

    #[test]
    fn a_command_line_is_read_as_the_tool_reads_it() {
        let line = "$ numactl -N 0 ucx_perftest node7 -t am_bw -x posix -d memory -s4K -D bcopy -W 64 -H16 -n 1000 -v";
        let typed = Typed::read(line).unwrap();
        assert_eq!(typed.test.map(|test| test.name), Some("am_bw"));
        assert_eq!(
            (typed.size_bytes, typed.layout),
            (Some(4096), Some(Layout::Bcopy))
        );
        assert_eq!(
            (typed.window_msgs, typed.outstanding, typed.header_bytes),
            (Some(64), None, Some(16))
        );
        let options = typed.options(original("am_bw").unwrap(), 16);
        let expected = [("device", "memory"), ("header", "16"), ("tl", "posix")];
        assert_eq!(
            options,
            map_of(expected.map(|(name, value)| (name.to_owned(), value.to_owned())))
        );
        assert!(typed.is_plain());
        let size = |line: &str| Typed::read(line).unwrap().size_bytes;
        assert_eq!(size("ucx_perftest -t put_bw"), Some(8), "the tool's default");
        assert_eq!(size("ucx_perftest -t put_bw -s 8,16"), None);
    }

    #[test]
    fn what_is_not_plain_is_seen_and_what_is_no_command_is_none() {
        for line in ["ucx_perftest -t ucp_am_bw -z", "ucx_perftest -t ucp_am_bw -D iov"] {
            assert!(!Typed::read(line).unwrap().is_plain(), "{line}");
        }
        for line in [
            "",
            "ucx_perftest",
            "ucx_perftest -t",
            "ucx_perftest -t none",
            "-t am_lat",
            "ucx_perftest -",
        ] {
            assert!(Typed::read(line).is_none(), "{line}");
        }
    }
}
