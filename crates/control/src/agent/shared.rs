//! What the reader and the measuring thread of a rank share.

use crate::session::agent::AgentMachine;
use crate::watch::Watch;
use crate::wire::Sender;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;
use wirespeed::Cancel;
use wirespeed::transport::cancel::CancelReason;

/// Blobs with the ranks that brought them.
pub(super) type Blobs = Vec<(u32, Vec<u8>)>;

#[derive(Default)]
struct State {
    delivered: VecDeque<(u64, Blobs)>,
    cancel: Cancel,
    told_to_cancel: bool,
    closed: bool,
    measuring_ended: bool,
}

/// The shared state of one rank.
pub(super) struct Shared {
    machine: Mutex<AgentMachine>,
    sender: Sender,
    watch: Watch,
    state: Mutex<State>,
    moved: Condvar,
}

impl Shared {
    pub(super) fn new(machine: AgentMachine, sender: Sender, watch: Watch) -> Self {
        Shared {
            machine: Mutex::new(machine),
            sender,
            watch,
            state: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    pub(super) fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(super) fn with_machine<T>(&self, act: impl FnOnce(&mut AgentMachine, Duration) -> T) -> T {
        let mut machine = self.machine.lock();
        act(&mut machine, self.watch.now())
    }

    /// What `receive` gives, which sleeps until the machine wants to be told the time.
    pub(super) fn wait<T>(&self, receive: impl FnOnce(Option<Duration>) -> T) -> T {
        let time = self.with_machine(|m, now| m.next_deadline().map(|d| d.saturating_sub(now)));
        match time {
            Some(time) => self.watch.wait(time, |time| receive(Some(time))),
            None => receive(None),
        }
    }

    /// A run begins: with a cancel flag of its own.
    pub(super) fn begin_run(&self) {
        let mut state = self.state.lock();
        state.delivered.clear();
        state.cancel = Cancel::new();
        state.told_to_cancel = false;
    }

    /// The run is over; whether the coordinator had cancelled it.
    pub(super) fn end_run(&self) -> bool {
        self.with_machine(|m, _| m.run_ended());
        self.state.lock().told_to_cancel
    }

    /// Whether the last run was cancelled because another rank was lost.
    pub(super) fn has_lost_peer(&self) -> bool {
        self.state.lock().cancel.reason() == Some(CancelReason::PeerLost)
    }

    pub(super) fn deliver(&self, round: u64, blobs: Blobs) {
        self.state.lock().delivered.push_back((round, blobs));
        self.moved.notify_all();
    }

    pub(super) fn cancel_flag(&self) -> Cancel {
        self.state.lock().cancel.clone()
    }

    pub(super) fn cancel(&self, reason: CancelReason) {
        let cancel = {
            let mut state = self.state.lock();
            state.told_to_cancel = true;
            state.cancel.clone()
        };
        // Outside the lock: hooks of ports run here.
        cancel.cancel(reason);
        // Under it, so that nobody is between looking at the flag and sleeping.
        drop(self.state.lock());
        self.moved.notify_all();
    }

    /// The coordinator is gone.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.moved.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// The blobs of `round` if they are there, after waiting for at most `time` for something to change.
    pub(super) fn take_delivered(&self, round: u64, time: Duration) -> Option<Blobs> {
        let mut state = self.state.lock();
        if state.delivered.is_empty() && !state.closed && state.cancel.reason().is_none() {
            self.moved.wait_for(&mut state, time);
        }
        let (delivered, blobs) = state.delivered.pop_front()?;
        // Rounds are delivered in order and waited for in order; a stale one is dropped.
        (delivered == round).then_some(blobs)
    }

    pub(super) fn measuring_ended(&self) {
        self.state.lock().measuring_ended = true;
        self.moved.notify_all();
    }

    /// Wait for the measuring thread; false when it has not ended within `time`.
    pub(super) fn wait_measuring_ended(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        self.moved
            .wait_while_for(&mut state, |state| !state.measuring_ended, time);
        state.measuring_ended
    }
}
