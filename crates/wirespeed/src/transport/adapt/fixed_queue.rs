//! A first-in first-out queue whose memory is had at connect. It must never grow: what has no room is refused.

/// A queue of a fixed number of places.
pub struct FixedQueue<T> {
    places: Box<[Option<T>]>,
    first: usize,
    len: usize,
}

impl<T: Copy> FixedQueue<T> {
    /// An empty queue of `count` places.
    pub fn new(count: usize) -> Self {
        FixedQueue {
            places: vec![None; count].into_boxed_slice(),
            first: 0,
            len: 0,
        }
    }

    /// Whether nothing is in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether no place is free.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len == self.places.len()
    }

    /// Add at the end; false when there is no room.
    #[inline(always)]
    pub fn push(&mut self, item: T) -> bool {
        if self.is_full() {
            return false;
        }
        let after_wrap = (self.first + self.len).checked_sub(self.places.len());
        self.places[after_wrap.unwrap_or(self.first + self.len)] = Some(item);
        self.len += 1;
        true
    }

    /// The oldest.
    #[inline(always)]
    pub fn front(&self) -> Option<T> {
        if self.is_empty() {
            None
        } else {
            self.places[self.first]
        }
    }

    /// The oldest, in its place.
    #[inline(always)]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.places.get_mut(self.first)?.as_mut()
    }

    /// Take out the oldest.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let item = self.places.get_mut(self.first)?.take()?;
        self.len -= 1;
        self.first = if self.first + 1 == self.places.len() {
            0
        } else {
            self.first + 1
        };
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_around_the_end_and_never_grows() {
        let mut queue = FixedQueue::new(3);
        assert_eq!(queue.pop(), None);
        for round in 0..5 {
            assert!(queue.push(round) && queue.push(round + 10) && queue.push(round + 20));
            assert!(queue.is_full() && !queue.push(99));
            assert_eq!(queue.front(), Some(round));
            *queue.front_mut().unwrap() += 100;
            assert_eq!(queue.front(), Some(round + 100));
            *queue.front_mut().unwrap() -= 100;
            assert_eq!([queue.pop(), queue.pop()], [Some(round), Some(round + 10)]);
            assert!(queue.push(7));
            assert_eq!(
                [queue.pop(), queue.pop(), queue.pop()],
                [Some(round + 20), Some(7), None]
            );
            assert!(queue.is_empty() && queue.front_mut().is_none());
        }
        assert!(!FixedQueue::new(0).push(1));
    }
}
