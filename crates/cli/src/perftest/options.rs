//! Options of a test from several places: which win, and what a range of them stands for.

use crate::args::TestArgs;
use crate::errors::Failure;
use wirespeed_schema::units;

/// One option of a test.
type Pick = fn(&mut TestArgs) -> &mut Option<String>;

impl TestArgs {
    /// These options, and `base` where these say nothing.
    pub fn over(self, base: TestArgs) -> TestArgs {
        TestArgs {
            test: self.test.or(base.test),
            transport: self.transport.or(base.transport),
            device: self.device.or(base.device),
            layout: self.layout.or(base.layout),
            size: self.size.or(base.size),
            iters: self.iters.or(base.iters),
            warmup: self.warmup.or(base.warmup),
            window: self.window.or(base.window),
            outstanding: self.outstanding.or(base.outstanding),
            header: self.header.or(base.header),
            loopback: self.loopback | base.loopback,
            percentile: self.percentile.or(base.percentile),
            threads: self.threads.or(base.threads),
            wait: self.wait.or(base.wait),
            check: self.check | base.check,
            one_sided: self.one_sided | base.one_sided,
            stride: self.stride.or(base.stride),
            nonblock: self.nonblock | base.nonblock,
            async_mode: self.async_mode.or(base.async_mode),
            thread_mode: self.thread_mode.or(base.thread_mode),
            wildcard: self.wildcard | base.wildcard,
            unexpected: self.unexpected | base.unexpected,
            stream_recv: self.stream_recv.or(base.stream_recv),
            error_mode: self.error_mode.or(base.error_mode),
            preregistered: self.preregistered | base.preregistered,
            wakeup: self.wakeup | base.wakeup,
            receive_copy: self.receive_copy | base.receive_copy,
            memory: self.memory.or(base.memory),
            gpu_devices: self.gpu_devices.or(base.gpu_devices),
            gpu_level: self.gpu_level.or(base.gpu_level),
            gpu_completions: self.gpu_completions.or(base.gpu_completions),
            gpu_channel: self.gpu_channel.or(base.gpu_channel),
            silent: self.silent | base.silent,
            nothing: self.nothing | base.nothing,
        }
    }

    /// One set of options for every combination of the ranges (`8..64:x2`) in these, with what tells it from the others:
    /// `s8`, `s16:W4`. Without a range these alone, told from nothing.
    pub fn unrolled(&self) -> Result<Vec<(String, TestArgs)>, Failure> {
        let mut all = vec![(String::new(), self.clone())];
        let axes: [(char, Pick); 7] = [
            ('s', |options| &mut options.size),
            ('W', |options| &mut options.window),
            ('O', |options| &mut options.outstanding),
            ('H', |options| &mut options.header),
            ('T', |options| &mut options.threads),
            ('n', |options| &mut options.iters),
            ('w', |options| &mut options.warmup),
        ];
        for (letter, pick) in axes {
            let text = pick(&mut self.clone()).clone().unwrap_or_default();
            if !text.contains("..") {
                continue;
            }
            let expanded = match letter {
                's' => units::expand_list(&text),
                _ => units::expand_counts(&text),
            };
            let values = expanded.map_err(|error| {
                Failure::usage(
                    format!("-{letter}: {error}"),
                    "write a rising range such as 8..1M:x2 or 8..64:+8",
                )
            })?;
            if all.len().saturating_mul(values.len()) > super::TESTS_MAX {
                return Err(super::too_many());
            }
            let mut next = Vec::with_capacity(all.len() * values.len());
            for (name, options) in &all {
                for value in &values {
                    let mut options = options.clone();
                    *pick(&mut options) = Some(value.clone());
                    let colon = if name.is_empty() { "" } else { ":" };
                    next.push((format!("{name}{colon}{letter}{value}"), options));
                }
            }
            all = next;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(size: Option<&str>, window: Option<&str>) -> TestArgs {
        TestArgs {
            size: size.map(str::to_owned),
            window: window.map(str::to_owned),
            ..TestArgs::default()
        }
    }

    #[test]
    fn what_is_said_wins_over_what_is_not() {
        let both = options(Some("8"), None).over(options(Some("16"), Some("4")));
        assert_eq!(both, options(Some("8"), Some("4")));
    }

    #[test]
    fn ranges_make_combinations_and_lists_stay() {
        let all = options(Some("8..32:x2"), Some("1..2:+1")).unrolled().unwrap();
        let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["s8:W1", "s8:W2", "s16:W1", "s16:W2", "s32:W1", "s32:W2"]);
        let list = options(Some("8,16"), None);
        assert_eq!(list.unrolled().unwrap(), [(String::new(), list.clone())]);
        assert!(options(Some("8..4"), None).unrolled().is_err());
        assert!(
            options(Some("1..9999:+1"), Some("1..9999:+1"))
                .unrolled()
                .is_err()
        );
    }
}
