//! Host files: a host a line, with what is known of it. They must never say who takes part: a [`super::roster::Roster`] does.

use super::roster::{HOSTS_MAX, Host};
use crate::errors::Failure;
use crate::{file, input};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

/// Names all rails on the command line, and so none of a file.
pub const ALL_RAILS: &str = "all";
/// Bytes of a host file.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// What a line of a host file is.
const LINE: &str =
    "write NAME [slots=N] [unit=RACK] [address=IP] [rail=NAME:IP].. [cpu=N] [option=KEY=VALUE]..";

/// The hosts of a file.
pub fn read(path: &Path) -> Result<Vec<Host>, Failure> {
    let text = input::text(path, "file of hosts", FILE_BYTES_MAX)?;
    parse(&text)
        .map_err(|(line, why)| Failure::usage(format!("{}, line {line}: {why}", file::shown(path)), LINE))
}

/// A host a line, `#` begins a comment. The error has the number of its line.
pub fn parse(text: &str) -> Result<Vec<Host>, (usize, String)> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else {
            continue;
        };
        let (host, slots) = of_words(name, words).map_err(|why| (number, why))?;
        if let Some(first) = seen.insert(name.to_owned(), number) {
            return Err((
                number,
                format!("host {name} stands in line {first} already; slots=N gives it several ranks"),
            ));
        }
        let slot = |slot: usize| Host {
            name: match slots {
                1 => name.to_owned(),
                _ => format!("{name}:{slot}"),
            },
            ..host.clone()
        };
        hosts.extend((0..slots).map(slot));
        if hosts.len() > HOSTS_MAX {
            return Err((number, format!("more than {HOSTS_MAX} hosts")));
        }
    }
    Ok(hosts)
}

/// One host and its slots.
fn of_words<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Result<(Host, usize), String> {
    if name.contains('=') || name.starts_with('-') {
        return Err(format!("{name:?} is no name of a host"));
    }
    let mut host = Host {
        name: name.to_owned(),
        reached_as: name.to_owned(),
        ..Host::default()
    };
    let mut slots = 1;
    for word in words {
        let invalid = || format!("invalid {word:?}");
        let (key, value) = word.split_once('=').ok_or_else(invalid)?;
        match key {
            "slots" => {
                slots = value.parse().map_err(|_| invalid())?;
                if !(1..=1024).contains(&slots) {
                    return Err(format!("{word}: expected 1 to 1024"));
                }
            }
            "unit" if !value.is_empty() => host.unit = Some(value.to_owned()),
            "address" => host.address = Some(value.parse().map_err(|_| invalid())?),
            "rail" => {
                let (name, address) = rail(value).ok_or_else(invalid)?;
                if host.rails.insert(name.to_owned(), address).is_some() {
                    return Err(format!("{word}: rail {name} has an address already"));
                }
            }
            "option" => {
                let (key, value) = value
                    .split_once('=')
                    .filter(|(key, _)| !key.is_empty())
                    .ok_or_else(invalid)?;
                if host.options.insert(key.to_owned(), value.to_owned()).is_some() {
                    return Err(format!("{word}: option {key} has a value already"));
                }
            }
            "cpu" => host.cpu = Some(value.parse().map_err(|_| invalid())?),
            _ => return Err(invalid()),
        }
    }
    Ok((host, slots))
}

/// `NAME:IP` of a rail.
fn rail(text: &str) -> Option<(&str, IpAddr)> {
    let (name, address) = text.split_once(':')?;
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name = !name.is_empty() && name != ALL_RAILS && name.chars().all(good);
    Some((name, address.parse().ok()?)).filter(|_| is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_files_have_a_host_a_line() {
        let text = "# cluster\n\nn1 unit=r1 address=10.0.0.1 rail=ib0:10.1.0.1 rail=ib1:fd00::1\nn2 slots=2 unit=r2 cpu=3 option=device=mlx5_1:1 # two\n";
        let hosts = parse(text).unwrap();
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["n1", "n2:0", "n2:1"]);
        assert_eq!(hosts[0].address, "10.0.0.1".parse().ok());
        assert_eq!(hosts[0].rails.len(), 2);
        assert_eq!(hosts[0].rails.get("ib1"), "fd00::1".parse().ok().as_ref());
        assert_eq!((hosts[2].reached_as.as_str(), hosts[2].cpu), ("n2", Some(3)));
        assert_eq!(hosts[2].options["device"], "mlx5_1:1");
        assert!(hosts[0].options.is_empty());
    }

    #[test]
    fn nonsense_is_told_with_its_line() {
        for (text, line, word) in [
            ("a\nb\nnonsense=3", 3, "nonsense=3"),
            ("a\na", 2, "line 1"),
            ("a slots=0", 1, "slots=0"),
            ("a slots=x", 1, "slots=x"),
            ("a option=device", 1, "option=device"),
            ("a option==x", 1, "option==x"),
            (
                "a option=device=x option=device=y",
                1,
                "option device has a value already",
            ),
            ("a\n\nb address=10.0.0", 3, "10.0.0"),
            ("a colour=red", 1, "colour=red"),
            ("a rail=ib0", 1, "rail=ib0"),
            ("a rail=x:10.0.0.1 rail=x:10.0.0.2", 1, "already"),
            ("a unit=", 1, "unit="),
            ("a b", 1, "\"b\""),
            ("-oProxyCommand=x", 1, "no name"),
        ] {
            let (at, why) = parse(text).unwrap_err();
            assert!(at == line && why.contains(word), "{text}: {at} {why}");
        }
    }

    #[test]
    fn rails_have_names_and_addresses() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(rail("ib1:10.1.0.7"), Some(("ib1", ip("10.1.0.7"))));
        assert_eq!(rail("ib1:fd00::7"), Some(("ib1", ip("fd00::7"))));
        for text in [
            "",
            "ib1",
            "ib1:",
            ":10.1.0.7",
            "ib1:node7",
            "all:10.1.0.7",
            "a,b:10.1.0.7",
        ] {
            assert_eq!(rail(text), None, "{text}");
        }
    }
}
