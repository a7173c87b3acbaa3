//! One host's part: it knows what is free here, starts computations as processes of their own within their limits,
//! watches them, and reaps every one. It must never grant what it does not have, nor leave anything behind.

use crate::definition::{Computation, Resources};
use crate::groups::{Group, Held, Roots};
use crate::refused;
use crate::report::{ComputationReport, Granted};
use crate::running::Running;
use crate::say::{Order, Work, say};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use wirespeed_control::auth::IDENTITY_VARIABLE;
use wirespeed_control::{Failure, RankProgram};
use wirespeed_schema::Finite;
use wirespeed_schema::order::InOrder as _;

/// What enforces where Slurm does.
const SLURM: &str = "Slurm";

/// What of a host is not set aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Free {
    /// Cores.
    pub cores: f64,
    /// Memory.
    pub memory_bytes: u64,
}

impl Free {
    /// Whether `resources` fit.
    pub fn holds(&self, resources: &Resources) -> bool {
        resources.cores.map_or(0.0, Finite::get) <= self.cores + 1e-9
            && resources.memory_bytes.unwrap_or(0) <= self.memory_bytes
    }

    /// Set `resources` aside.
    pub fn take(&mut self, resources: &Resources) {
        self.cores -= resources.cores.map_or(0.0, Finite::get);
        self.memory_bytes = self
            .memory_bytes
            .saturating_sub(resources.memory_bytes.unwrap_or(0));
    }

    /// Give `resources` back.
    pub fn give(&mut self, resources: &Resources) {
        self.cores += resources.cores.map_or(0.0, Finite::get);
        self.memory_bytes += resources.memory_bytes.unwrap_or(0);
    }
}

/// The CPUs of this host, with how many computations each was given to.
#[derive(Debug)]
struct Cpus(Vec<(u32, u32)>);

impl Cpus {
    /// The `count` that the fewest computations have (at least one CPU), and whether all of them were free.
    fn take(&mut self, count: usize) -> (Vec<u32>, bool) {
        self.0.order_by_key(|(cpu, users)| (*users, *cpu));
        let chosen = self.0.iter_mut().take(count.max(1));
        let (mut cpus, mut were_free) = (Vec::new(), true);
        for (cpu, users) in chosen {
            were_free &= *users == 0;
            *users += 1;
            cpus.push(*cpu);
        }
        cpus.sort_unstable();
        (cpus, were_free)
    }

    fn give(&mut self, cpus: &[u32]) {
        let given = self.0.iter_mut().filter(|(cpu, _)| cpus.contains(cpu));
        given.for_each(|(_, users)| *users = users.saturating_sub(1));
    }
}

/// A host on which computations can be started.
#[derive(Debug)]
pub struct Node {
    name: String,
    program: RankProgram,
    roots: Roots,
    free: Arc<Mutex<Free>>,
    cpus: Arc<Mutex<Cpus>>,
    /// Slurm has placed us and set the resources aside.
    in_slurm: bool,
}

impl Node {
    /// This host under `name`; `program` becomes a computation (`wirespeed __computation`).
    pub fn new(name: impl Into<String>, program: RankProgram) -> Self {
        let cpus = wirespeed::host::allowed_cpus();
        let free = Free {
            cores: cpus.len() as f64,
            memory_bytes: wirespeed::host::available_bytes(),
        };
        Node {
            name: name.into(),
            program,
            roots: Roots::find(),
            free: Arc::new(Mutex::new(free)),
            cpus: Arc::new(Mutex::new(Cpus(cpus.into_iter().map(|cpu| (cpu, 0)).collect()))),
            in_slurm: false,
        }
    }

    /// As [`Node::new`], for the step of Slurm that this process is: Slurm has granted what is asked for, and enforces it or
    /// not; what it does not enforce is enforced here as anywhere.
    pub fn in_slurm(name: impl Into<String>, program: RankProgram) -> Self {
        Node {
            // More than anybody asks for, and a number that JSON has.
            free: Arc::new(Mutex::new(Free {
                cores: f64::from(u32::MAX),
                memory_bytes: u64::MAX >> 1,
            })),
            in_slurm: true,
            ..Self::new(name, program)
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is free.
    pub fn free(&self) -> Free {
        *self.free.lock()
    }

    /// Start all of them, and wait until they are ready; nothing is left when one is not.
    pub fn start_all(&self, computations: &[(Computation, Work)]) -> Result<Vec<Arc<Running>>, Failure> {
        let start = |(what, work): &(Computation, Work)| self.start(what, work.clone()).map(Arc::new);
        let all = computations.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        all.iter().try_for_each(|running| running.wait_ready())?;
        Ok(all)
    }

    /// Start a computation; on return it runs, but is not ready yet. What does not fit is refused.
    pub fn start(&self, what: &Computation, work: Work) -> Result<Running, Failure> {
        let mut set_aside = self.set_aside(&what.resources)?;
        let launched = self.launch(what, &work);
        let (child, channel, talk) = launched.map_err(|e| {
            crate::failed(
                format!("{}: cannot start {}: {e}", what.name, self.program.path.display()),
                "check that processes may be started",
            )
        })?;
        let cores = what.resources.cores.map(Finite::get);
        let held = match self.in_slurm {
            true => self.roots.held_by_slurm(&what.resources),
            false => Held::default(),
        };
        let mut group = Group::make(&self.roots, cores, what.resources.memory_bytes, held);
        group.hold(child.id());
        let (granted, cpus) = granted(&mut set_aside, &group, held);
        let be = Order::Be {
            work: work.clone(),
            cpus,
            groups: group.folders().to_vec(),
        };
        // A computation that is gone already shows as the end of its socket.
        let _ = say(&talk, &be);
        let report = ComputationReport {
            name: what.name.clone(),
            node: self.name.clone(),
            asked: what.resources,
            granted,
            ..ComputationReport::default()
        };
        Running::watch(child, channel, talk, group, report, work, set_aside)
    }

    fn set_aside(&self, resources: &Resources) -> Result<SetAside, Failure> {
        let mut free = self.free.lock();
        if !free.holds(resources) {
            return Err(too_much(resources, &[(&self.name, *free)]));
        }
        free.take(resources);
        Ok(SetAside {
            free: self.free.clone(),
            resources: *resources,
            cpus: self.cpus.clone(),
            given: Vec::new(),
        })
    }

    fn launch(&self, what: &Computation, work: &Work) -> io::Result<(Child, UnixStream, UnixStream)> {
        let (channel, its_channel) = UnixStream::pair()?;
        let (talk, its_talk) = UnixStream::pair()?;
        let child = Command::new(&self.program.path)
            .args(&self.program.arguments)
            // What proves that one may ask for sessions is no computation's.
            .env_remove(IDENTITY_VARIABLE)
            .envs(self.program.environment.iter().map(|(k, v)| (k, v)))
            .envs(&what.environment)
            .envs(work.prepended(&what.environment))
            .env("WIRESPEED_COMPUTATION", &what.name)
            .stdin(Stdio::from(OwnedFd::from(its_channel)))
            .stdout(Stdio::from(OwnedFd::from(its_talk)))
            .process_group(0)
            .spawn()?;
        Ok((child, channel, talk))
    }
}

/// More was asked for than there is; names what is free.
pub(crate) fn too_much(resources: &Resources, nodes: &[(&str, Free)]) -> Failure {
    use wirespeed_schema::units::{counted_about, format_size};
    let free: Vec<String> = nodes
        .iter()
        .map(|(name, free)| {
            let cores = counted_about(free.cores.max(0.0), 3, "core");
            format!("{name} has {cores} and {} free", format_size(free.memory_bytes))
        })
        .collect();
    let cores = resources.cores.map(|cores| counted_about(cores.get(), 3, "core"));
    let memory = resources.memory_bytes.map(format_size);
    let asked: Vec<String> = cores.into_iter().chain(memory).collect();
    refused(
        format!("no node has {}: {}", asked.join(" and "), free.join(", ")),
        "ask for less with --cores and --requestMb, or end other sessions",
    )
}

/// What is enforced by the group, and the CPUs where affinity must do.
fn granted(set_aside: &mut SetAside, group: &Group, held: Held) -> (Granted, Option<Vec<u32>>) {
    let asked = set_aside.resources;
    let nothing = || "nothing".to_owned();
    let mut granted = Granted {
        cores_by: nothing(),
        memory_by: nothing(),
        refusals: group.refusals.clone(),
        ..Granted::default()
    };
    if held.memory {
        granted.memory_bytes = asked.memory_bytes;
        granted.memory_by = SLURM.to_owned();
    }
    if held.cores {
        granted.cores = asked.cores.and_then(|cores| Finite::maybe(cores.get().ceil()));
        granted.cores_by = SLURM.to_owned();
    }
    if group.memory_enforced {
        granted.memory_bytes = asked.memory_bytes;
        granted.memory_by = group.means().to_owned();
    }
    if group.cores_enforced {
        granted.cores = asked.cores;
        granted.cores_by = group.means().to_owned();
    }
    if group.cores_enforced || held.cores {
        return (granted, None);
    }
    let cpus = asked.cores.map(|cores| {
        let (cpus, were_free) = set_aside.take_cpus(cores.get().ceil() as usize);
        granted.cores = Finite::maybe(cpus.len() as f64);
        granted.cores_by = "affinity".to_owned();
        if !were_free {
            let shared = "cores: its CPUs are shared with other computations";
            granted.refusals.push(shared.to_owned());
        }
        cpus
    });
    (granted, cpus)
}

/// Resources of a computation, given back when dropped.
#[derive(Debug)]
pub(crate) struct SetAside {
    free: Arc<Mutex<Free>>,
    resources: Resources,
    cpus: Arc<Mutex<Cpus>>,
    /// CPUs of its own, where affinity is what enforces its cores.
    given: Vec<u32>,
}

impl SetAside {
    /// CPUs for the computation, and whether nobody else has them.
    fn take_cpus(&mut self, count: usize) -> (Vec<u32>, bool) {
        let (cpus, were_free) = self.cpus.lock().take(count);
        self.given.clone_from(&cpus);
        (cpus, were_free)
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        self.cpus.lock().give(&self.given);
        self.free.lock().give(&self.resources);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computations_have_cpus_of_their_own_while_there_are_any() {
        let mut cpus = Cpus(vec![(2, 0), (3, 0), (5, 0)]);
        let (first, own) = cpus.take(1);
        assert_eq!((first.as_slice(), own), (&[2][..], true));
        assert_eq!(cpus.take(2), (vec![3, 5], true));
        assert_eq!(cpus.take(1), (vec![2], false));
        cpus.give(&[3, 5]);
        cpus.give(&first);
        assert_eq!(cpus.take(2), (vec![3, 5], true));
        // No more than there are, and never none.
        assert_eq!(cpus.take(9).0, [2, 3, 5]);
        assert_eq!(cpus.take(0).0.len(), 1);
    }
}
