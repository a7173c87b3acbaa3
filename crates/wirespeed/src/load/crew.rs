//! Threads of a load being started: each goes to its CPUs first and reports once whether it got them.

use super::{Background, LoadError, Worker};
use crate::host::{HostError, restrict_thread};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

/// The threads of one load.
pub(super) struct Crew {
    cpus: Arc<[u32]>,
    ready: Sender<Result<(), HostError>>,
    reports: Receiver<Result<(), HostError>>,
}

impl Crew {
    /// A crew that will run on `cpus`, any thread on any of them.
    pub(super) fn new(cpus: Vec<u32>) -> Self {
        let (ready, reports) = channel();
        Crew {
            cpus: cpus.into(),
            ready,
            reports,
        }
    }

    /// Start a thread that counts what it does until it is told to stop.
    pub(super) fn hire(
        &self,
        background: &mut Background,
        key: &'static str,
        task: impl FnOnce(&AtomicBool) -> u64 + Send + 'static,
    ) -> Result<(), LoadError> {
        let (stop, cpus, ready) = (background.stop.clone(), self.cpus.clone(), self.ready.clone());
        let body = move || {
            let placed = restrict_thread(&cpus);
            let good = placed.is_ok();
            // Nobody listens any more when another thread could not be started.
            let _ = ready.send(placed);
            drop(ready);
            if good { task(&stop) } else { 0 }
        };
        let builder = Builder::new().name("wirespeed-load".to_owned());
        let handle = builder.spawn(body).map_err(LoadError::Spawn)?;
        background.threads.push(Worker { key, handle });
        Ok(())
    }

    /// Return when every thread is at work, or with the first one's error.
    pub(super) fn wait_for_all(self) -> Result<(), LoadError> {
        drop(self.ready);
        self.reports.iter().collect::<Result<(), HostError>>()?;
        Ok(())
    }
}
