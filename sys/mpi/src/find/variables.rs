//! The variables by which launchers tell a process its place in a job. Reading them is no proof: a shell inside a job has
//! them too, and a library of another launcher ignores them.

/// Who started the ranks, by the variables that it sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starter {
    /// Open MPI's mpirun (or PRRTE).
    OpenMpi,
    /// A PMI-1 or PMI-2 server: Hydra of MPICH and Intel MPI, `srun --mpi=pmi2`, PALS.
    Pmi,
    /// A PMIx server that is not Open MPI's: `srun --mpi=pmix`.
    Pmix,
    /// `srun` without any PMI.
    Slurm,
}

impl Starter {
    /// Its name in messages and results.
    pub fn name(self) -> &'static str {
        match self {
            Starter::OpenMpi => "Open MPI's mpirun",
            Starter::Pmi => "a PMI launcher (Hydra, srun --mpi=pmi2)",
            Starter::Pmix => "a PMIx launcher (srun --mpi=pmix)",
            Starter::Slurm => "srun",
        }
    }
}

/// A process's place in its job, as its variables say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobVariables {
    /// Who started it.
    pub starter: Starter,
    /// Its rank.
    pub rank: u32,
    /// Ranks of the job, where the variables say.
    pub size: Option<u32>,
    /// Whether Slurm started it.
    pub slurm: bool,
}

/// What the environment says, read through `variable`. `None` outside of a job.
pub fn job_variables(variable: &dyn Fn(&str) -> Option<String>) -> Option<JobVariables> {
    let number = |name: &str| variable(name).and_then(|v| v.trim().parse::<u32>().ok());
    // A batch script has SLURM_PROCID too; only the tasks of a step have the step's number of tasks with it.
    let step_size = variable("SLURM_STEP_ID").and_then(|_| number("SLURM_STEP_NUM_TASKS"));
    let place = |starter, rank, size: Option<u32>| {
        Some(JobVariables {
            starter,
            rank: rank?,
            size: size.or(step_size),
            slurm: step_size.is_some(),
        })
    };
    place(
        Starter::OpenMpi,
        number("OMPI_COMM_WORLD_RANK"),
        number("OMPI_COMM_WORLD_SIZE"),
    )
    .or_else(|| place(Starter::Pmi, number("PMI_RANK"), number("PMI_SIZE")))
    .or_else(|| place(Starter::Pmix, number("PMIX_RANK"), None))
    .or_else(|| place(Starter::Pmi, number("PALS_RANKID"), number("PALS_SIZE")))
    .or_else(|| {
        // A step of one task is nothing to meet in.
        let size = step_size.filter(|size| *size > 1);
        place(
            Starter::Slurm,
            number("SLURM_PROCID").filter(|_| size.is_some()),
            size,
        )
    })
}

/// The switch that Slurm's topology says this task's node is on: the last of `switch.switch.node`. `None` where it knows none.
pub fn switch_of_node(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let (names, kinds) = (
        variable("SLURM_TOPOLOGY_ADDR")?,
        variable("SLURM_TOPOLOGY_ADDR_PATTERN")?,
    );
    let kinds: Vec<&str> = kinds.split('.').collect();
    // The name of a node may have dots, that of a switch has none.
    let leaf = kinds.iter().rposition(|kind| *kind == "switch")?;
    let name = names.split('.').nth(leaf)?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Option<JobVariables> {
        job_variables(&|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, v)| (*v).to_owned())
        })
    }

    #[test]
    fn the_leaf_switch_is_the_unit_of_a_node() {
        let unit = |names: &str, kinds: &str| {
            let (names, kinds) = (names.to_owned(), kinds.to_owned());
            switch_of_node(&|name| match name {
                "SLURM_TOPOLOGY_ADDR" => Some(names.clone()),
                "SLURM_TOPOLOGY_ADDR_PATTERN" => Some(kinds.clone()),
                _ => None,
            })
        };
        let known = |name: &str| Some(name.to_owned());
        assert_eq!(unit("top.s1.n1", "switch.switch.node"), known("s1"));
        assert_eq!(unit("s2.n3.example.org", "switch.node"), known("s2"));
        assert_eq!(unit("n1", "node"), None, "no topology");
        assert_eq!(unit(".n1", "switch.node"), None);
        assert_eq!(switch_of_node(&|_| None), None);
    }

    #[test]
    fn launchers_are_told_by_their_variables() {
        assert_eq!(read(&[]), None);
        let open_mpi = read(&[
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("PMIX_RANK", "1"),
        ]);
        let open_mpi = open_mpi.unwrap();
        assert_eq!(
            (open_mpi.starter, open_mpi.rank, open_mpi.size),
            (Starter::OpenMpi, 1, Some(4))
        );
        let hydra = read(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap();
        assert_eq!((hydra.starter, hydra.size), (Starter::Pmi, Some(2)));
        let step = [
            ("SLURM_STEP_ID", "0"),
            ("SLURM_STEP_NUM_TASKS", "8"),
            ("SLURM_PROCID", "3"),
        ];
        let bare = read(&step).unwrap();
        assert_eq!(
            (bare.starter, bare.rank, bare.size, bare.slurm),
            (Starter::Slurm, 3, Some(8), true)
        );
        let pmix = read(&[&step[..], &[("PMIX_RANK", "3")]].concat()).unwrap();
        assert_eq!((pmix.starter, pmix.size), (Starter::Pmix, Some(8)));
    }

    #[test]
    fn a_batch_script_and_damaged_variables_are_no_job() {
        assert_eq!(read(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), None);
        assert_eq!(
            read(&[
                ("SLURM_STEP_ID", "0"),
                ("SLURM_STEP_NUM_TASKS", "1"),
                ("SLURM_PROCID", "0")
            ]),
            None
        );
        assert_eq!(read(&[("PMI_RANK", "x"), ("OMPI_COMM_WORLD_RANK", "-1")]), None);
    }
}
