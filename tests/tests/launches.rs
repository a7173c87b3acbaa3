//! Many launches of every launcher and library, some of them interrupted: none may crash. A crash that comes once in a
//! hundred launches is not seen by tests that launch once.

use rustix::process::Signal;
use std::process::{Child, Command};
use std::time::Duration;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;
use wirespeed_tests::slurm::Slurm;
use wirespeed_tests::under_test::program;

/// Launches of each way on an idle machine, and as many beside busy loops, unless the variable says otherwise.
const LAUNCHES: usize = 25;
const LAUNCHES_VARIABLE: &str = "WIRESPEED_TEST_LAUNCHES";
/// What else the machine does meanwhile, one after the other: the variable takes one of them.
const MACHINES: [(&str, bool); 2] = [("idle", false), ("beside busy loops", true)];
const MACHINE_VARIABLE: &str = "WIRESPEED_TEST_MACHINE";
/// Of so many launches one is interrupted.
const INTERRUPTED_EVERY: usize = 8;
/// The interrupt comes after so many steps of that long, another number of them each time.
const INTERRUPT_STEP: Duration = Duration::from_millis(70);
const INTERRUPT_STEPS: usize = 11;

/// Ranks and words; each way takes them in turn. `MEDIUM` is what the way measures over.
const LINES: [(u32, &str); 5] = [
    (3, "workers -p 10,1000 -n 10 --check --via MEDIUM --json"),
    (2, "run tag_lat,am_lat --via MEDIUM --iters 100 -q --json"),
    (
        2,
        "run put_bw,am_bw -s 4K --check --via MEDIUM --iters 100 -q --json",
    ),
    (4, "msgrate -p 2 -s 8,4K -t 20ms --via MEDIUM --json"),
    (3, "workers -n 5 --via tcp --json"),
];

/// What a client asks of a server that was started for it.
const CLIENTS: [&str; 2] = [
    "run am_lat,am_bw --via tcp --iters 100 -q --json",
    "run am_bw -s 4K --check --via tcp --iters 100 -q --json",
];

/// A way to start ranks.
enum Way {
    Mpi(Box<Installed>),
    Srun(&'static str),
    Local,
    Serve,
}

impl Way {
    fn name(&self) -> String {
        match self {
            Way::Mpi(mpi) => mpi.name.to_owned(),
            Way::Srun(plugin) => format!("srun --mpi={plugin}, 2 nodes"),
            Way::Local => "local processes".to_owned(),
            Way::Serve => "serve".to_owned(),
        }
    }

    fn command(
        &self,
        home: &Home,
        slurm: Option<&Slurm>,
        number: usize,
        server: Option<&str>,
    ) -> Option<Command> {
        let (ranks, words) = LINES[number % LINES.len()];
        let over = |medium| words.replace("MEDIUM", medium);
        match self {
            Way::Mpi(mpi) => Some(mpi.command(home, ranks, &over("mpi"))),
            Way::Srun(plugin) => {
                let mut command = slurm?.command("srun");
                command.args([&format!("--mpi={plugin}"), "-N", "2", "-n", &ranks.to_string()]);
                command.arg(home.program()).args(over("mpi").split_whitespace());
                Some(command)
            }
            // The verbs of many ranks take their number in words of their own.
            Way::Local => {
                let count = match words.split_whitespace().next() {
                    Some("workers") => format!("-w {}", ranks - 1),
                    Some("msgrate") => format!("--ranks {ranks}"),
                    _ => format!("--procs {ranks}"),
                };
                let line = format!("{} {count}", over("shm"));
                Some(home.command(line.split_whitespace()))
            }
            Way::Serve => {
                let line = format!("{} --to {}", CLIENTS[number % CLIENTS.len()], server?);
                Some(home.command(line.split_whitespace()))
            }
        }
    }

    /// A launch, and whatever is wrong with it; nothing where it cannot be launched.
    fn launch(&self, home: &Home, slurm: Option<&Slurm>, number: usize) -> Option<Launch> {
        let server = matches!(self, Way::Serve).then(|| listening(home));
        let address = server.as_ref().map(|(_, address)| address.as_str());
        let running = Running::start(self.command(home, slurm, number, address)?);
        // srun takes the first interrupt for a question.
        let may_interrupt = !matches!(self, Way::Srun(_));
        let interrupted = may_interrupt && number % INTERRUPTED_EVERY == INTERRUPTED_EVERY - 1;
        if interrupted {
            std::thread::sleep(INTERRUPT_STEP * (number % INTERRUPT_STEPS) as u32);
            running.signal(Signal::INT);
        }
        let mut faults: Vec<String> = fault(&running.end(PATIENCE), interrupted).into_iter().collect();
        if let Some((server, _)) = server {
            server.signal(Signal::TERM);
            faults.extend(fault(&server.end(PATIENCE), false));
        }
        Some(Launch { interrupted, faults })
    }
}

struct Launch {
    interrupted: bool,
    faults: Vec<String>,
}

/// A server of its own for one client, and where it listens.
fn listening(home: &Home) -> (Running, String) {
    let server = home.start(["serve", "--port", "0"]);
    server.wait_until("it listens", PATIENCE, |r| r.stdout().contains("key file"));
    let greeting = server.stdout();
    let first = greeting.lines().next().unwrap_or_default();
    let port = first.rsplit_once(':').map_or("", |(_, port)| port);
    (server, format!("127.0.0.1:{port}"))
}

/// Loops that keep every CPU busy while they live.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start() -> BusyLoops {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let one = |_| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]);
            shell.spawn().expect("sh starts")
        };
        BusyLoops((0..count).map(one).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It ends with nothing else.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn ways(slurm: Option<&Slurm>) -> Vec<Way> {
    let mut ways: Vec<Way> = installed()
        .into_iter()
        .map(|mpi| Way::Mpi(Box::new(mpi)))
        .collect();
    for plugin in ["pmix", "pmi2"] {
        match slurm.map(|slurm| slurm.has_mpi(plugin)) {
            Some(Ok(())) => ways.push(Way::Srun(plugin)),
            Some(Err(reason)) => skip(&format!("srun --mpi={plugin}: {reason}")),
            None => {}
        }
    }
    ways.extend([Way::Local, Way::Serve]);
    ways
}

/// What is wrong with a launch, if anything is. One that was interrupted may end as it likes, but for a crash.
fn fault(ended: &Ended, interrupted: bool) -> Option<String> {
    let crash_words = [
        "crashed with",
        "Segmentation fault",
        "Bus error",
        "signal 11",
        "internal:",
    ];
    let crashed = crash_words.iter().any(|word| ended.stderr.contains(word));
    let failed = !interrupted && ended.code != Some(0);
    (crashed || failed).then(|| ended.to_string())
}

#[test]
#[ignore = "hundreds of launches take minutes"]
fn no_launch_crashes() {
    let wanted = std::env::var(LAUNCHES_VARIABLE).ok().and_then(|n| n.parse().ok());
    let launches: usize = wanted.unwrap_or(LAUNCHES);
    let slurm = Slurm::start().map_err(|reason| skip(&reason)).ok();
    let home = Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")));
    let mut faults = Vec::new();
    let only = std::env::var(MACHINE_VARIABLE).unwrap_or_default();
    let machines: Vec<_> = MACHINES.iter().filter(|(name, _)| name.contains(&only)).collect();
    assert!(
        !machines.is_empty(),
        "{MACHINE_VARIABLE} takes \"idle\" or \"busy\""
    );
    for &&(machine, is_busy) in &machines {
        let _loops = is_busy.then(BusyLoops::start);
        for way in ways(slurm.as_ref()) {
            let launched = (0..launches).filter_map(|number| way.launch(&home, slurm.as_ref(), number));
            let launched: Vec<Launch> = launched.collect();
            let cut = launched.iter().filter(|launch| launch.interrupted).count();
            let bad: Vec<&String> = launched.iter().flat_map(|launch| &launch.faults).collect();
            println!(
                "{}, {machine}: {} launches, {cut} interrupted, {} faults",
                way.name(),
                launched.len(),
                bad.len()
            );
            for what in bad {
                println!("{what}");
                faults.push(format!("{}, {machine}: {what}", way.name()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    home.assert_nothing_left(Duration::from_secs(30));
}
