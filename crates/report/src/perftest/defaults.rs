//! What a test of the original is where its command line does not say it: how data are handed over, and how many messages may
//! be under way. The drop-in command measures by it, and a file of the original is read by it, so that both are one case. It
//! must never know which words were typed.

use super::{Api, Generation, Original};
use wirespeed_schema::test::Layout;

/// Size of a message.
pub const SIZE_BYTES: u64 = 8;
/// Flow-control window of active messages of the transport layer.
const WINDOW_TODAY: u64 = 127;
const WINDOW_2015: u64 = 128;
/// Messages that the receive queue of UCX's shared memory holds, as it is set up.
const QUEUE_MESSAGES: u64 = 64;
/// Longest message of which UCP takes a copy on every path.
const COPIED_BYTES_MAX: u64 = 1024;
/// Longest message of which it takes a copy over shared memory, as that is set up.
const COPIED_NEAR_BYTES_MAX: u64 = 8 << 10;
/// Longest active message of UCP that is better copied, with the engine's header before it, than handed over.
const SHORT_BYTES_MAX: u64 = 256;

impl Original {
    /// Whether it is on single words of the peer's memory.
    pub fn is_atomic(&self) -> bool {
        matches!(self.test, "add_lat" | "fadd" | "swap" | "cswap" | "add_mr")
    }

    /// Whether it reads the peer's memory.
    pub fn is_get(&self) -> bool {
        self.test.starts_with("get")
    }

    /// How messages of `size_bytes` are handed over; none where there is nothing to choose, or where the original wants it said.
    ///
    /// Tests of UCP hand over data where they are, never after a copy, but for short messages that are `plain`: of which UCX is
    /// told neither a header, nor a handle of memory, nor pieces.
    pub fn layout(&self, size_bytes: u64, plain: bool) -> Option<Layout> {
        if self.is_atomic() || self.test.starts_with("tag_") {
            return None;
        }
        if self.api == Api::Uct {
            return (!self.is_get()).then_some(Layout::Short);
        }
        let is_short = self.has_header() && plain && size_bytes <= SHORT_BYTES_MAX;
        Some(if is_short { Layout::Short } else { Layout::Zcopy })
    }

    /// Operations outstanding where the command line does not say.
    pub fn outstanding(&self, generation: Generation) -> u64 {
        match generation {
            Generation::Today => self.outstanding,
            Generation::Y2015 => 1,
        }
    }

    /// Credits of a stream of messages of `size_bytes`: of active messages of the transport layer the flow-control window, else
    /// what may be outstanding, `asked` for or not. UCP copies a small message and is done with it, so that this does not hold it
    /// back: as many are under way as the receive queue of its shared memory holds. What is copied on that path only is held back
    /// by what was asked for.
    pub fn credits(
        &self,
        size_bytes: u64,
        window: Option<u64>,
        asked: Option<u64>,
        generation: Generation,
    ) -> u64 {
        let outstanding = asked.unwrap_or(self.outstanding(generation));
        let copied_bytes_max = match asked {
            None => COPIED_NEAR_BYTES_MAX,
            Some(_) => COPIED_BYTES_MAX,
        };
        match (self.api, generation) {
            (Api::Ucp, Generation::Today) if size_bytes <= copied_bytes_max => {
                outstanding.max(QUEUE_MESSAGES)
            }
            (Api::Ucp, _) => outstanding,
            (Api::Uct, Generation::Today) => window.unwrap_or(WINDOW_TODAY),
            (Api::Uct, Generation::Y2015) => window.unwrap_or(WINDOW_2015),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::original;
    use super::*;

    #[test]
    fn what_ucp_copies_is_not_held_back_by_what_may_be_outstanding() {
        let original = original("tag_bw").unwrap();
        let credits = |size, asked, generation| original.credits(size, None, asked, generation);
        let today = Generation::Today;
        assert_eq!(credits(8, None, today), QUEUE_MESSAGES);
        assert_eq!(credits(COPIED_BYTES_MAX, Some(1), today), QUEUE_MESSAGES);
        assert_eq!(credits(8, Some(256), today), 256);
        assert_eq!(credits(COPIED_NEAR_BYTES_MAX, None, today), QUEUE_MESSAGES);
        assert_eq!(credits(COPIED_NEAR_BYTES_MAX, Some(1), today), 1);
        assert_eq!(credits(1 << 20, Some(1), today), 1);
        assert_eq!(credits(1 << 20, None, today), original.outstanding);
        assert_eq!(credits(8, None, Generation::Y2015), 1);
    }

    #[test]
    fn active_messages_of_the_transport_layer_have_a_window() {
        let original = original("am_bw").unwrap();
        let credits = |window, generation| original.credits(8, window, None, generation);
        assert_eq!(credits(None, Generation::Today), WINDOW_TODAY);
        assert_eq!(credits(None, Generation::Y2015), WINDOW_2015);
        assert_eq!(credits(Some(7), Generation::Today), 7);
    }

    #[test]
    fn data_are_handed_over_where_they_are_but_short_messages_that_are_plain() {
        let rows = [
            ("ucp_am_lat", 8, true, Some(Layout::Short)),
            ("ucp_am_lat", 256, true, Some(Layout::Short)),
            ("ucp_am_lat", 257, true, Some(Layout::Zcopy)),
            ("ucp_am_bibw", 8, false, Some(Layout::Zcopy)),
            ("ucp_put_bw", 8, true, Some(Layout::Zcopy)),
            ("ucp_get", 8, true, Some(Layout::Zcopy)),
            ("ucp_fadd", 8, true, None),
            ("tag_bw", 1 << 20, true, None),
            ("am_bw", 1 << 20, true, Some(Layout::Short)),
            ("get", 8, true, None),
            ("add_lat", 8, true, None),
        ];
        for (name, size, plain, expected) in rows {
            let found = original(name).unwrap().layout(size, plain);
            assert_eq!(found, expected, "{name} of {size} B");
        }
    }
}
