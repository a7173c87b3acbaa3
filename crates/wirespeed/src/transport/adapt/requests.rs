//! Requests of a tagged port: a slab of slots made at connect, and queues of them linked through the slots, so that any
//! number of peers shares the memory.

use crate::transport::port::{LinkError, Request};

const NONE: u32 = u32::MAX;

/// Most requests of one port.
const REQUESTS_MAX: usize = 1 << 24;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Pending,
    Done,
}

/// What a request is about.
#[derive(Clone, Copy)]
pub struct Range {
    /// Its tag.
    pub tag: u64,
    /// Where its bytes are in the buffer.
    pub offset: usize,
    /// How many there are, at most.
    pub len: usize,
}

struct Slot {
    state: State,
    next: u32,
    range: Range,
}

/// A queue of requests, in the order in which they were posted.
#[derive(Clone, Copy)]
pub struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    /// An empty one.
    pub const fn new() -> Self {
        Queue {
            first: NONE,
            last: NONE,
        }
    }

    /// Whether it is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// All requests of a port.
pub struct Requests {
    slots: Vec<Slot>,
    free: u32,
}

impl Requests {
    /// Room for `count`.
    pub fn new(count: usize) -> Self {
        let count = count.clamp(1, REQUESTS_MAX);
        let slot = |i: usize| Slot {
            state: State::Free,
            next: if i + 1 < count { i as u32 + 1 } else { NONE },
            range: Range {
                tag: 0,
                offset: 0,
                len: 0,
            },
        };
        Requests {
            slots: (0..count).map(slot).collect(),
            free: 0,
        }
    }

    #[inline(always)]
    fn take(&mut self, state: State, range: Range) -> Result<u32, LinkError> {
        let index = self.free;
        let slot = self
            .slots
            .get_mut(index as usize)
            .ok_or(LinkError::Exhausted("more requests than the port was opened for"))?;
        self.free = slot.next;
        *slot = Slot {
            state,
            next: NONE,
            range,
        };
        Ok(index)
    }

    /// A request that is done already.
    #[inline(always)]
    pub fn finished(&mut self, range: Range) -> Result<Request, LinkError> {
        self.take(State::Done, range).map(Request)
    }

    /// A request at the end of `queue`.
    #[inline(always)]
    pub fn enqueue(&mut self, queue: &mut Queue, range: Range) -> Result<Request, LinkError> {
        let index = self.take(State::Pending, range)?;
        match self.slots.get_mut(queue.last as usize) {
            Some(last) => last.next = index,
            None => queue.first = index,
        }
        queue.last = index;
        Ok(Request(index))
    }

    /// The first request of `queue`.
    #[inline(always)]
    pub fn first(&self, queue: &Queue) -> Option<Range> {
        self.slots.get(queue.first as usize).map(|slot| slot.range)
    }

    /// The first request of `queue` is done.
    #[inline(always)]
    pub fn finish_first(&mut self, queue: &mut Queue) {
        self.unlink(queue, NONE, queue.first);
    }

    /// Take the first request with `tag` out of `queue` as done.
    #[inline(always)]
    pub fn finish_matching(&mut self, queue: &mut Queue, tag: u64) -> Option<Range> {
        let (mut before, mut index) = (NONE, queue.first);
        loop {
            let slot = self.slots.get(index as usize)?;
            if slot.range.tag == tag {
                let range = slot.range;
                self.unlink(queue, before, index);
                return Some(range);
            }
            (before, index) = (index, slot.next);
        }
    }

    #[inline(always)]
    fn unlink(&mut self, queue: &mut Queue, before: u32, index: u32) {
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return;
        };
        slot.state = State::Done;
        let next = std::mem::replace(&mut slot.next, NONE);
        match self.slots.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => queue.first = next,
        }
        if queue.last == index {
            queue.last = before;
        }
    }

    /// Whether `request` is done; if so it is forgotten.
    #[inline(always)]
    pub fn forget_if_done(&mut self, request: Request) -> Result<bool, LinkError> {
        match self.slots.get_mut(request.0 as usize) {
            Some(slot) if slot.state == State::Pending => Ok(false),
            Some(slot) if slot.state == State::Done => {
                slot.state = State::Free;
                slot.next = self.free;
                self.free = request.0;
                Ok(true)
            }
            _ => Err(LinkError::Unsupported("a request that is not outstanding")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(tag: u64) -> Range {
        Range {
            tag,
            offset: 0,
            len: 0,
        }
    }

    #[test]
    fn matches_in_order_wherever_the_tag_stands() {
        let mut requests = Requests::new(4);
        let mut queue = Queue::new();
        let posted: Vec<_> = [7, 8, 7, 9]
            .map(|tag| requests.enqueue(&mut queue, range(tag)).unwrap())
            .into();
        assert!(requests.enqueue(&mut queue, range(1)).is_err());
        assert!(requests.finish_matching(&mut queue, 5).is_none());
        for (tag, at) in [(9, 3), (7, 0), (7, 2), (8, 1)] {
            assert_eq!(requests.forget_if_done(posted[at]), Ok(false));
            assert!(requests.finish_matching(&mut queue, tag).is_some());
            assert_eq!(requests.forget_if_done(posted[at]), Ok(true));
            assert!(requests.forget_if_done(posted[at]).is_err());
        }
        assert!(queue.is_empty());
        let again = requests.enqueue(&mut queue, range(3)).unwrap();
        assert_eq!(requests.first(&queue).unwrap().tag, 3);
        requests.finish_first(&mut queue);
        assert!(queue.is_empty());
        assert_eq!(requests.forget_if_done(again), Ok(true));
    }
}
