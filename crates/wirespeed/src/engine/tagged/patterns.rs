//! The four patterns of `msgrate`: one iteration of each as one rank takes part in it. The time of an iteration is from
//! its first post to the end of its last wait; bringing the caches into their state and the meeting of all ranks come
//! before it.

use super::group::Group;
use super::places::Places;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};

/// The messages of one rank.
pub struct Messages {
    /// Slots of the neighbours that messages come from, in the order of posting.
    pub from: Vec<usize>,
    /// Slots of the neighbours that messages go to.
    pub to: Vec<usize>,
    /// Messages to each.
    pub each: usize,
    /// Where they lie.
    pub places: Places,
}

impl Messages {
    /// Post all receives from the `neighbour`-th neighbour.
    #[inline(always)]
    fn post_receives<P: TaggedPort>(&self, group: &mut Group<P>, neighbour: usize) -> Result<(), LinkError> {
        let first = neighbour * self.each;
        for index in first..first + self.each {
            group.receive(
                self.from[neighbour],
                self.places.incoming(index),
                self.places.size,
            )?;
        }
        Ok(())
    }

    /// Post all receives of the next iteration from the `neighbour`-th neighbour.
    #[inline(always)]
    fn post_next<P: TaggedPort>(&self, group: &mut Group<P>, neighbour: usize) -> Result<(), LinkError> {
        let first = neighbour * self.each;
        for index in first..first + self.each {
            group.receive(
                self.from[neighbour],
                self.places.incoming_next(index),
                self.places.size,
            )?;
        }
        Ok(())
    }

    /// Post all sends to the `neighbour`-th neighbour.
    #[inline(always)]
    fn post_sends<P: TaggedPort>(&self, group: &mut Group<P>, neighbour: usize) -> Result<(), LinkError> {
        let first = neighbour * self.each;
        for index in first..first + self.each {
            group.send(self.to[neighbour], self.places.outgoing(index), self.places.size)?;
        }
        Ok(())
    }
}

/// One iteration of a pattern.
pub trait Iteration {
    /// Before the first iteration of a phase; ticks that it took.
    fn begin<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
    ) -> Result<u64, LinkError> {
        let _ = (messages, group, clock);
        Ok(0)
    }

    /// One iteration; ticks that it took. `last`: none follows.
    fn hot_run<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
        last: bool,
    ) -> Result<u64, LinkError>;
}

/// [`wirespeed_schema::posted::Pattern::Single`].
pub struct Single;
/// [`wirespeed_schema::posted::Pattern::Pair`].
pub struct Pair;
/// [`wirespeed_schema::posted::Pattern::PrePost`].
pub struct PrePost;
/// [`wirespeed_schema::posted::Pattern::AllStart`].
pub struct AllStart;

impl Iteration for Single {
    /// A sender posts sends, a receiver receives; either waits for its own.
    #[inline(never)]
    fn hot_run<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
        _: bool,
    ) -> Result<u64, LinkError> {
        let start = clock.now();
        for neighbour in 0..messages.to.len() {
            messages.post_sends(group, neighbour)?;
        }
        for neighbour in 0..messages.from.len() {
            messages.post_receives(group, neighbour)?;
        }
        group.wait_all()?;
        Ok(clock.now() - start)
    }
}

impl Iteration for Pair {
    /// Neighbour by neighbour: receives, sends to the opposite one, wait for both.
    fn hot_run<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
        _: bool,
    ) -> Result<u64, LinkError> {
        hot_exchange(messages, group, clock, 1)
    }
}

impl Iteration for PrePost {
    fn begin<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
    ) -> Result<u64, LinkError> {
        hot_post_receives(messages, group, clock)
    }

    /// All sends, wait for them and for the receives posted before; then the receives of the next iteration, if any.
    #[inline(never)]
    fn hot_run<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
        last: bool,
    ) -> Result<u64, LinkError> {
        let start = clock.now();
        for neighbour in 0..messages.to.len() {
            messages.post_sends(group, neighbour)?;
        }
        group.wait_all()?;
        if !last {
            for neighbour in 0..messages.from.len() {
                messages.post_next(group, neighbour)?;
            }
        }
        Ok(clock.now() - start)
    }
}

/// Post the receives of all neighbours.
#[inline(never)]
fn hot_post_receives<P: TaggedPort>(
    messages: &Messages,
    group: &mut Group<P>,
    clock: Clock,
) -> Result<u64, LinkError> {
    let start = clock.now();
    for neighbour in 0..messages.from.len() {
        messages.post_next(group, neighbour)?;
    }
    Ok(clock.now() - start)
}

impl Iteration for AllStart {
    /// Receives and sends of every neighbour, one wait for all.
    fn hot_run<P: TaggedPort>(
        messages: &mut Messages,
        group: &mut Group<P>,
        clock: Clock,
        _: bool,
    ) -> Result<u64, LinkError> {
        hot_exchange(messages, group, clock, messages.to.len().max(1))
    }
}

/// Receives from and sends to each neighbour, and a wait for what was posted with each `together` of them, which divide all.
#[inline(never)]
fn hot_exchange<P: TaggedPort>(
    messages: &Messages,
    group: &mut Group<P>,
    clock: Clock,
    together: usize,
) -> Result<u64, LinkError> {
    let start = clock.now();
    for first in (0..messages.to.len()).step_by(together) {
        for neighbour in first..first + together {
            messages.post_receives(group, neighbour)?;
            messages.post_sends(group, neighbour)?;
        }
        group.wait_all()?;
    }
    Ok(clock.now() - start)
}
