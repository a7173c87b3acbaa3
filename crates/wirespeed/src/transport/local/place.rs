//! Where a rank is: enough to tell whether two ranks can see the same memory.

use crate::host::boot_id;
use crate::transport::ConnectError;
use serde::{Deserialize, Serialize};

/// A process of a machine as the kernel knows it. Two live processes never have the same place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The kernel's random name for this boot: the machine.
    boot: String,
    /// The namespace in which `pid` counts.
    pid_namespace: String,
    /// The process.
    pub pid: u32,
    /// When it started, in clock ticks since boot: process numbers come back.
    started: u64,
}

impl Place {
    /// This process.
    pub fn here() -> Result<Self, ConnectError> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|e| ConnectError::os(path, e));
        let namespace = "/proc/self/ns/pid";
        let stat = read("/proc/self/stat")?;
        // The second field is a name that may hold blanks and brackets; the start is the 20th after it.
        let started = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok())
            .ok_or_else(|| ConnectError::Other("/proc/self/stat has no start time".into()))?;
        Ok(Place {
            boot: boot_id().map_err(|e| ConnectError::os("the kernel's name of this boot", e))?,
            pid_namespace: std::fs::read_link(namespace)
                .map_err(|e| ConnectError::os(namespace, e))?
                .to_string_lossy()
                .into_owned(),
            pid: std::process::id(),
            started,
        })
    }

    /// Whether `other` can be reached by its process number.
    pub fn same_machine(&self, other: &Place) -> bool {
        self.boot == other.boot && self.pid_namespace == other.pid_namespace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn here_is_here() {
        let here = Place::here().unwrap();
        assert_eq!(here, Place::here().unwrap());
        let elsewhere = Place {
            boot: "another".into(),
            ..here.clone()
        };
        assert!(!here.same_machine(&elsewhere));
    }
}
