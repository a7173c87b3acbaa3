//! srun as what carries a program to a node of Slurm: a step of the allocation that we are in, or a job of its own. What
//! the program may use is asked of Slurm; whether Slurm enforces it, its configuration says.

use super::program::RankProgram;
use std::process::{Command, Stdio};
use wirespeed_schema::order::InOrder;

/// Seconds for which srun waits for free resources.
const IMMEDIATE_SECONDS: u32 = 20;
/// Set inside of an allocation.
const ALLOCATION: &str = "SLURM_JOB_ID";
/// Options of an allocation, or of the step that runs us, that would contradict those of a step.
const CONTRADICTING: [&str; 10] = [
    "SLURM_CPU_BIND",
    "SLURM_CPU_BIND_LIST",
    "SLURM_CPU_BIND_TYPE",
    "SLURM_DISTRIBUTION",
    "SLURM_MEM_PER_CPU",
    "SLURM_MEM_PER_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NNODES",
];
/// Words of srun by which it says that what was asked for is not there.
const REFUSALS: [&str; 9] = [
    "Memory specification can not be satisfied",
    "configuration not available now",
    "Requested node configuration is not available",
    "More processors requested than permitted",
    "Memory required by task is not available",
    "Unable to allocate resources",
    "Unable to create step",
    "Requested nodes are busy",
    "invalid node name",
];

/// What one program asks Slurm for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// Its name, for `squeue`.
    pub name: String,
    /// `--cpus-per-task`.
    pub cpus: Option<u32>,
    /// `--mem`, in whole MiB, rounded up.
    pub memory_bytes: Option<u64>,
    /// Only on this node.
    pub node: Option<String>,
}

/// A node as `sinfo` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmNode {
    /// Its name.
    pub name: String,
    /// CPUs that no job has.
    pub cpus_idle: u32,
    /// Memory that it is configured with.
    pub memory_bytes: u64,
}

impl Step {
    /// The command that runs `program` as this step; its standard input and output are carried here.
    pub fn command(&self, program: &RankProgram) -> Command {
        let mut srun = Command::new("srun");
        for name in CONTRADICTING {
            srun.env_remove(name);
        }
        srun.args(self.options(is_in_allocation()));
        srun.arg("--").arg(&program.path).args(&program.arguments);
        srun.envs(program.environment.iter().map(|(k, v)| (k, v)));
        srun.stdin(Stdio::piped()).stdout(Stdio::piped());
        srun
    }

    fn options(&self, in_allocation: bool) -> Vec<String> {
        let mut options: Vec<String> = [
            "--nodes=1",
            "--ntasks=1",
            "--mpi=none",
            "--export=ALL",
            "--kill-on-bad-exit=1",
        ]
        .map(str::to_owned)
        .into();
        options.push(format!("--immediate={IMMEDIATE_SECONDS}"));
        options.push(format!("--job-name={}", self.name));
        options.push(format!("--cpus-per-task={}", self.cpus.unwrap_or(1)));
        // None asked for: a step shares what its allocation has, a job takes the cluster's default.
        let memory = self.memory_bytes.map(|bytes| bytes.div_ceil(1 << 20));
        if let Some(mb) = memory.or(in_allocation.then_some(0)) {
            options.push(format!("--mem={mb}M"));
        }
        if in_allocation {
            // Beside the step that runs us, and beside each other.
            options.extend(["--overlap".to_owned(), "--exact".to_owned()]);
        }
        options.extend(self.node.iter().map(|node| format!("--nodelist={node}")));
        options
    }
}

/// Whether this process is in an allocation, whose nodes a step reaches.
pub fn is_in_allocation() -> bool {
    std::env::var_os(ALLOCATION).is_some()
}

/// Whether srun's words say that what was asked for is not there.
pub fn is_refusal(said: &str) -> bool {
    REFUSALS.iter().any(|words| said.contains(words))
}

/// The nodes with what is free there; empty where `sinfo` does not answer.
pub fn nodes() -> Vec<SlurmNode> {
    let said = output(Command::new("sinfo").args(["--noheader", "--Node", "--format=%N|%C|%m"]));
    parse_nodes(&said)
}

/// What the configuration says about enforcement: `TaskPlugin=task/none, ...`.
pub fn policy() -> String {
    let said = output(Command::new("scontrol").args(["show", "config"]));
    parse_policy(&said)
}

fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    })
}

/// `n1|0/4/0/4|1000`: name, CPUs allocated/idle/other/total, memory in MiB. A node of several partitions comes once.
fn parse_nodes(said: &str) -> Vec<SlurmNode> {
    let node = |line: &str| {
        let mut fields = line.split('|');
        let name = fields.next()?.trim().to_owned();
        let cpus_idle = fields.next()?.split('/').nth(1)?.parse().ok()?;
        let memory_mb: u64 = fields.next()?.trim().trim_end_matches('+').parse().ok()?;
        Some(SlurmNode {
            name,
            cpus_idle,
            memory_bytes: memory_mb << 20,
        })
    };
    let mut nodes: Vec<SlurmNode> = said.lines().filter_map(node).collect();
    nodes.order_by(|a, b| a.name.cmp(&b.name));
    nodes.dedup_by(|a, b| a.name == b.name);
    nodes
}

fn parse_policy(said: &str) -> String {
    let value = |key: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(key))?;
        Some(format!("{key}={}", line.trim_start().strip_prefix('=')?.trim()))
    };
    let keys = [
        "TaskPlugin",
        "ProctrackType",
        "SelectTypeParameters",
        "JobAcctGatherParams",
    ];
    let found: Vec<String> = keys.into_iter().filter_map(value).collect();
    found.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_options() {
        let step = Step {
            name: "mcrt".into(),
            cpus: Some(2),
            memory_bytes: Some((64 << 20) + 1),
            node: Some("n1".into()),
        };
        let outside = step.options(false);
        for option in [
            "--cpus-per-task=2",
            "--mem=65M",
            "--nodelist=n1",
            "--job-name=mcrt",
        ] {
            assert!(outside.iter().any(|o| o == option), "{outside:?}");
        }
        assert!(!outside.iter().any(|o| o == "--overlap"), "{outside:?}");
        let inside = Step::default().options(true);
        for option in ["--overlap", "--exact", "--mem=0M", "--cpus-per-task=1"] {
            assert!(inside.iter().any(|o| o == option), "{inside:?}");
        }
        let free = Step::default().options(false);
        assert!(!free.iter().any(|o| o.starts_with("--mem")), "{free:?}");
    }

    #[test]
    fn what_slurm_says_is_read() {
        let nodes = parse_nodes("n2|1/3/0/4|1000+\nn1|0/4/0/4|1000\nn1|0/4/0/4|1000\ngarbage\n");
        let names: Vec<(&str, u32)> = nodes.iter().map(|n| (n.name.as_str(), n.cpus_idle)).collect();
        assert_eq!(names, [("n1", 4), ("n2", 3)]);
        assert_eq!(nodes[1].memory_bytes, 1000 << 20);
        let config =
            "TaskPlugin              = task/cgroup,task/affinity\nTaskPluginParam         = (null type)\n";
        assert_eq!(parse_policy(config), "TaskPlugin=task/cgroup,task/affinity");
        assert_eq!(parse_policy(""), "");
        assert!(is_refusal(
            "srun: error: Unable to allocate resources: Requested node configuration is not available"
        ));
        assert!(!is_refusal(
            "slurmstepd: error: execve(): /x: No such file or directory"
        ));
    }
}
