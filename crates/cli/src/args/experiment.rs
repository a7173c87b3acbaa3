//! How cases are measured, whatever is measured: the options that every measuring verb has.

use clap::{Arg, Args};
use wirespeed_schema::plan::CPUS;

/// What `--repeats` is where the verb says nothing else of it.
const REPEATS: &str = "Run every case N times, with new processes and connections, in random order [default: 1; 10 with --interference]";

/// `--repeats` in a verb's own words, in its short help and its long one.
pub fn repeats(option: Arg, help: &'static str) -> Arg {
    option.help(help).long_help(long_help(help))
}

fn long_help(help: &str) -> String {
    format!(
        "{help}\n\nFrom 6 runs on a figure has an interval over runs, which says how far it would differ tomorrow."
    )
}

/// Repetitions, their order, when to stop, what runs beside them.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Experiment")]
pub struct ExperimentArgs {
    #[arg(long, value_name = "N", allow_negative_numbers = true, help = REPEATS, long_help = long_help(REPEATS))]
    pub repeats: Option<String>,

    /// Repeat each case until its figure is known within a width: p50:2%, p99:5%, rate:1%
    ///
    /// The width is half of the 95 % interval over runs, by the median. It is looked at after 10, 13, 17, 22, .. runs;
    /// --repeats is then the most [default: 50]. The result says for each case whether the goal was reached, and why not.
    #[arg(long, value_name = "STATISTIC:WIDTH")]
    pub until: Option<String>,

    /// With --until: begin no run after this long [default: no limit]
    #[arg(long, value_name = "TIME")]
    pub until_time: Option<String>,

    /// Measure each case without and with background load, in turn, and show what the load costs [default: no load]
    ///
    /// LOAD is KIND[=THREADS][@PLACE]. Kinds: cpu (busy threads), memory (threads that copy far more than the caches hold),
    /// cache (threads that dirty as much as the largest cache holds), none (the control, whose ratios should be 1). THREADS
    /// are those of each measuring rank; unless given, all together are one for each CPU of the place. Places: apart (cores
    /// that no rank measures on), sibling (other hardware threads of the measuring cores), same (the measuring CPUs), beside
    /// (any CPU but the rank's own); unless given, of pinned ranks apart where there are such cores, else same, and of others
    /// beside. --repeats is the number of rounds, 10 unless given; runs follow each other in random order, reversed in every
    /// second round. Without LOAD: cpu,memory,cache.
    #[arg(long, value_name = "LOAD,..", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    #[arg(default_missing_values = ["cpu", "memory", "cache"])]
    pub interference: Vec<String>,

    #[arg(long, value_name = CPUS.value_name, help = CPUS.help)]
    pub cpus: Vec<String>,

    /// Seed of the random order, to repeat the order of an earlier result [default: a new one, kept in the result]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Draw the current run on the terminal: rate, percentiles, their course so far, time left
    ///
    /// Ranks report between samples, every 500ms unless the test has an interval of its own; no sample is delayed by it.
    #[arg(long)]
    pub live: bool,

    /// Print the cases with all their parameters, and measure nothing
    #[arg(long, conflicts_with_all = ["csv", "ndjson", "output"])]
    pub dry_run: bool,
}
