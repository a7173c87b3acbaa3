//! Who takes part in a mesh: hosts by name, the unit and CPU of each, and where they come from. It must never connect.

use super::hostfile::read;
use crate::args::HostsArgs;
use crate::errors::Failure;
use crate::job;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use wirespeed::host::{allowed_cpus, default_cpus};
use wirespeed_control::StopFlag;
use wirespeed_control::address::Address;
use wirespeed_schema::case::{RankSpec, Role, TransportOptions};
use wirespeed_schema::job::JobSection;
use wirespeed_schema::plan::nearest;

/// Most hosts of one mesh.
pub const HOSTS_MAX: usize = 100_000;
/// Most ranks of this machine where nothing says how many.
const RANKS_MAX: usize = 64;

/// Where hosts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Processes of this machine.
    Here,
    /// The ranks of the job that this process speaks for.
    Job,
    /// Hosts that ssh reaches.
    Ssh,
    /// Servers that run already.
    Servers,
}

/// A host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Its name in results.
    pub name: String,
    /// What reaches it, where it is reached: a name of ssh, or HOST[:PORT].
    pub reached_as: String,
    /// Its unit.
    pub unit: Option<String>,
    /// Its address for data, where it was given.
    pub address: Option<IpAddr>,
    /// Its address on each of its networks, by name.
    pub rails: BTreeMap<String, IpAddr>,
    /// CPU that its rank is pinned to.
    pub cpu: Option<u32>,
    /// Options of the transport that its rank has in place of those of all.
    pub options: TransportOptions,
}

impl Host {
    /// A rank of it.
    pub fn rank(&self, role: Role) -> RankSpec {
        RankSpec::new(role)
            .with_cpu(self.cpu)
            .with_options(self.options.clone())
    }
}

/// All hosts.
#[derive(Debug, Clone)]
pub struct Roster {
    /// Where they come from.
    pub source: Source,
    /// The hosts.
    pub hosts: Vec<Host>,
}

impl Roster {
    /// Who the words, or the job, say takes part.
    pub fn of(words: &HostsArgs) -> Result<Roster, Failure> {
        let listed = words.hostfile.as_deref().map(read).transpose()?;
        let roster = match job::current() {
            Some(ranks) => of_job((ranks.section(), ranks.units()), words, listed)?,
            None if !words.to.is_empty() => of_servers(&addresses(&words.to)?, listed)?,
            None if words.hosts.is_empty() && listed.is_none() => of_machine(words.ranks),
            None => of_ssh(&words.hosts, listed)?,
        };
        match roster.hosts.len() {
            0 | 1 => Err(Failure::usage(
                "a mesh needs two hosts at least",
                "name more: --hosts a,b, --hostfile FILE or --ranks 2",
            )),
            count if count > HOSTS_MAX => Err(Failure::usage(
                format!("{count} hosts are more than {HOSTS_MAX}"),
                "measure a part of them",
            )),
            _ => Ok(roster),
        }
    }

    /// Units by name, in order of their first host, and the unit of each host. Empty where hosts have none.
    pub fn units(&self) -> Result<(Vec<String>, Vec<usize>), Failure> {
        if self.hosts.iter().all(|host| host.unit.is_none()) {
            return Ok((Vec::new(), Vec::new()));
        }
        let (mut names, mut numbers): (Vec<String>, BTreeMap<&str, usize>) = Default::default();
        let mut units = Vec::with_capacity(self.hosts.len());
        for host in &self.hosts {
            let Some(unit) = &host.unit else {
                return Err(Failure::usage(
                    format!("{} has no unit, and others have", host.name),
                    "give every host a unit=NAME, or none",
                ));
            };
            let number = *numbers.entry(unit).or_insert_with(|| {
                names.push(unit.clone());
                names.len() - 1
            });
            units.push(number);
        }
        Ok((names, units))
    }

    /// The number of the host of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Hosts that share the CPUs of one machine with others, at most, and those CPUs; `None` where each has its own machine.
    pub fn crowd(&self) -> Option<(usize, usize)> {
        match (self.source, job::current()) {
            (Source::Here, _) => Some((self.hosts.len(), allowed_cpus().len())),
            (Source::Job, Some(ranks)) => ranks
                .section()
                .crowded_node()
                .map(|(_, ranks, cpus)| (ranks, cpus)),
            _ => None,
        }
    }

    /// Where ranks come from that are beside those that measure: a job has no more of its own.
    pub fn beside(&self) -> Source {
        let is_one_node = || {
            self.hosts
                .windows(2)
                .all(|pair| pair[0].reached_as == pair[1].reached_as)
        };
        match self.source {
            Source::Job if is_one_node() => Source::Here,
            Source::Job => Source::Ssh,
            own => own,
        }
    }

    /// The nearest name, for whoever mistyped one.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        nearest(name, &names).map(str::to_owned)
    }
}

impl Roster {
    /// Name the hosts of this machine by the CPU that each has to itself; by their numbers, where two share one or have none.
    pub fn name_by_cpu(&mut self) {
        let cpus: BTreeSet<u32> = self.hosts.iter().filter_map(|host| host.cpu).collect();
        let apart = cpus.len() == self.hosts.len();
        for (number, host) in self.hosts.iter_mut().enumerate() {
            host.name = match host.cpu.filter(|_| apart) {
                Some(cpu) => format!("cpu{cpu}"),
                None => format!("rank{number}"),
            };
        }
    }
}

fn of_machine(ranks: Option<u32>) -> Roster {
    let allowed = allowed_cpus();
    let count = ranks.map_or(allowed.len().clamp(2, RANKS_MAX), |ranks| ranks as usize);
    let cpus = default_cpus(count);
    let host = |number: usize| Host {
        cpu: cpus.as_ref().and_then(|cpus| cpus.get(number)).copied(),
        ..Host::default()
    };
    let mut roster = Roster {
        source: Source::Here,
        hosts: (0..count).map(host).collect(),
    };
    roster.name_by_cpu();
    roster
}

/// The ranks of a job. Units are those of the file, else the launcher's.
fn of_job(
    (job, units): (&JobSection, &[Option<String>]),
    words: &HostsArgs,
    listed: Option<Vec<Host>>,
) -> Result<Roster, Failure> {
    if !words.hosts.is_empty() || !words.to.is_empty() || words.ranks.is_some() {
        return Err(Failure::usage(
            "in a launcher's job the hosts are its ranks",
            "leave --hosts, --to and --ranks out; --hostfile gives units and options",
        ));
    }
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    let alone = |node: u32| job.ranks.iter().filter(|seat| seat.node == node).count() == 1;
    let mut hosts = Vec::with_capacity(job.ranks.len());
    for seat in &job.ranks {
        let slot = seen.entry(seat.node).or_default();
        let node = job.nodes.get(seat.node as usize).cloned();
        let node = node.unwrap_or_else(|| format!("node{}", seat.node));
        hosts.push(Host {
            name: match alone(seat.node) {
                true => node.clone(),
                false => format!("{node}:{slot}"),
            },
            reached_as: node,
            ..Host::default()
        });
        *slot += 1;
    }
    for (host, line) in of_list(&mut hosts, listed.as_deref())? {
        host.unit.clone_from(&line.unit);
        host.options.clone_from(&line.options);
    }
    if are_units(units) && hosts.iter().all(|host| host.unit.is_none()) {
        for (host, seat) in hosts.iter_mut().zip(&job.ranks) {
            host.unit = units.get(seat.node as usize).cloned().flatten();
        }
    }
    Ok(Roster {
        source: Source::Job,
        hosts,
    })
}

/// Whether every node has a unit, and there are several: one alone has nothing to be compared with.
fn are_units(of_nodes: &[Option<String>]) -> bool {
    let differ = of_nodes.windows(2).any(|pair| pair[0] != pair[1]);
    differ && of_nodes.iter().all(Option::is_some)
}

/// Each host that has a line in the file, with it: one of its own, or of its node. The file may have lines of others, but not
/// of others alone: those are mistyped.
fn of_list<'a>(
    hosts: &'a mut [Host],
    lines: Option<&'a [Host]>,
) -> Result<Vec<(&'a mut Host, &'a Host)>, Failure> {
    let lines = lines.unwrap_or_default();
    let known = hosts.first().map(|host| host.name.clone()).unwrap_or_default();
    let line_of = |host: &Host| {
        let own = lines.iter().find(|line| line.name == host.name);
        own.or_else(|| lines.iter().find(|line| line.reached_as == host.reached_as))
    };
    let found = hosts.iter_mut().filter_map(|host| Some((line_of(host)?, host)));
    let found: Vec<_> = found.map(|(line, host)| (host, line)).collect();
    match lines.first() {
        Some(first) if found.is_empty() => Err(Failure::usage(
            format!("the host file has {}, and no host that takes part", first.name),
            format!("name them as they are called here, {known} for one"),
        )),
        _ => Ok(found),
    }
}

/// A name with many addresses is as many hosts.
fn addresses(to: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for name in to {
        let address = Address::parse(name)?;
        found.extend(address.hosts(&StopFlag::new())?.iter().map(Address::to_string));
    }
    Ok(found)
}

fn of_servers(to: &[String], listed: Option<Vec<Host>>) -> Result<Roster, Failure> {
    let mut hosts: Vec<Host> = to.iter().map(|name| named(name)).collect();
    for (host, line) in of_list(&mut hosts, listed.as_deref())? {
        let own = std::mem::take(host);
        *host = Host {
            name: own.name,
            reached_as: own.reached_as,
            ..line.clone()
        };
    }
    distinct(&hosts)?;
    Ok(Roster {
        source: Source::Servers,
        hosts,
    })
}

fn of_ssh(names: &[String], listed: Option<Vec<Host>>) -> Result<Roster, Failure> {
    let hosts = listed.unwrap_or_else(|| names.iter().map(|name| named(name)).collect());
    distinct(&hosts)?;
    Ok(Roster {
        source: Source::Ssh,
        hosts,
    })
}

fn named(name: &str) -> Host {
    Host {
        name: name.to_owned(),
        reached_as: name.to_owned(),
        ..Host::default()
    }
}

/// No host twice.
fn distinct(hosts: &[Host]) -> Result<(), Failure> {
    let mut seen = BTreeMap::new();
    for (number, host) in hosts.iter().enumerate() {
        if host.name.is_empty() {
            return Err(Failure::usage(
                "a host has no name",
                "write --hosts a,b,c without empty places",
            ));
        }
        if let Some(first) = seen.insert(&host.name, number) {
            return Err(Failure::usage(
                format!(
                    "host {} is named twice, as number {} and {}",
                    host.name,
                    first + 1,
                    number + 1
                ),
                "name each host once; several ranks of one: slots=N in a host file",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
impl Roster {
    /// Hosts that ssh reaches by these names.
    pub fn named(names: &[&str]) -> Roster {
        Roster {
            source: Source::Ssh,
            hosts: names.iter().copied().map(named).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hostfile::parse;
    use super::*;

    #[test]
    fn hosts_are_found_by_name_and_slot() {
        let hosts = parse("n1 unit=r1\nn2 slots=2 unit=r2").unwrap();
        let roster = Roster {
            source: Source::Ssh,
            hosts,
        };
        let (names, units) = roster.units().unwrap();
        assert_eq!((names.join(","), units), ("r1,r2".to_owned(), vec![0, 1, 1]));
        assert_eq!(roster.find("n2:1"), Some(2));
        assert_eq!(roster.nearest("n2:2").as_deref(), Some("n2:0"));
    }

    #[test]
    fn a_host_takes_its_own_line_or_that_of_its_node() {
        let seat = |name: &str| Host {
            name: name.to_owned(),
            reached_as: "n1".to_owned(),
            ..Host::default()
        };
        let mut hosts = [seat("n1:0"), seat("n1:1")];
        let lines = parse("n9 unit=r9\nn1 unit=r1\nn1:1 unit=r2").unwrap();
        let found = of_list(&mut hosts, Some(&lines)).unwrap();
        let units: Vec<_> = found
            .iter()
            .map(|(host, line)| (&host.name[..], line.unit.as_deref()))
            .collect();
        assert_eq!(units, [("n1:0", Some("r1")), ("n1:1", Some("r2"))]);
        assert!(of_list(&mut hosts, None).unwrap().is_empty());
        // A file of other machines changes nothing without a word.
        let failure = of_list(&mut hosts, Some(&lines[..1])).unwrap_err();
        assert!(failure.cause.contains("n9") && failure.remedy.contains("n1:0"));
    }

    #[test]
    fn hosts_are_named_once_and_units_are_whole() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(
            of_ssh(&names(&["a", "b", "a"]), None)
                .unwrap_err()
                .cause
                .contains("1 and 3")
        );
        assert!(of_ssh(&names(&["a", ""]), None).is_err());
        let roster = of_ssh(&[], Some(parse("a unit=x\nb").unwrap())).unwrap();
        assert!(roster.units().unwrap_err().cause.starts_with("b has no unit"));
        let roster = of_ssh(&names(&["a", "b"]), None).unwrap();
        assert_eq!(roster.units().unwrap(), (Vec::new(), Vec::new()));
        let here = of_machine(Some(3));
        assert_eq!((here.hosts.len(), here.source), (3, Source::Here));
    }

    /// A verdict names a CPU that was measured, or none.
    #[test]
    fn hosts_of_a_machine_are_named_by_the_cpus_that_they_have() {
        let mut here = of_machine(Some(3));
        for (cpus, expected) in [
            ([Some(9), Some(1), Some(0)], ["cpu9", "cpu1", "cpu0"]),
            ([Some(1), Some(1), Some(0)], ["rank0", "rank1", "rank2"]),
            ([None, Some(1), Some(0)], ["rank0", "rank1", "rank2"]),
            ([None; 3], ["rank0", "rank1", "rank2"]),
        ] {
            here.hosts
                .iter_mut()
                .zip(cpus)
                .for_each(|(host, cpu)| host.cpu = cpu);
            here.name_by_cpu();
            let names: Vec<&str> = here.hosts.iter().map(|host| host.name.as_str()).collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn ranks_of_a_job_are_called_by_their_nodes() {
        let text = r#"{"nodes":["n1","n2"],"ranks":[{"node":0,"cpus":[]},{"node":1,"cpus":[]},{"node":0,"cpus":[]}],"facts":{}}"#;
        let job: JobSection = serde_json::from_str(text).unwrap();
        let listed = parse("n1 unit=r1\nn2 unit=r2").unwrap();
        let switches = ["s1", "s2"].map(|name| Some(name.to_owned()));
        let none = HostsArgs::default();
        let told = |units: &[Option<String>], listed| {
            let roster = of_job((&job, units), &none, listed).unwrap();
            let hosts = roster.hosts.into_iter();
            hosts
                .map(|host| format!("{}={}", host.name, host.unit.unwrap_or_default()))
                .collect::<Vec<_>>()
        };
        let by_file = ["n1:0=r1", "n2=r2", "n1:1=r1"];
        assert_eq!(
            told(&switches, Some(listed)),
            by_file,
            "the file is the user's word"
        );
        assert_eq!(told(&switches, None), ["n1:0=s1", "n2=s2", "n1:1=s1"]);
        let without = ["n1:0=", "n2=", "n1:1="];
        assert_eq!(
            told(&[switches[0].clone(), None], None),
            without,
            "not all have one"
        );
        assert_eq!(
            told(&[switches[0].clone(), switches[0].clone()], None),
            without,
            "one switch"
        );
        assert_eq!(told(&[], None), without);
        let words = HostsArgs {
            ranks: Some(4),
            ..HostsArgs::default()
        };
        assert_eq!(of_job((&job, &[]), &words, None).unwrap_err().code, 2);
    }
}
