//! From a caller's words to one checked case.

use wirespeed::schema::case::{Case, GroupKind};
use wirespeed::{Machine, Registry};
use wirespeed_schema::kinds::kind;
use wirespeed_schema::plan::{Plan, PlanError, Template, canonical_key, expand};
use wirespeed_schema::test::Capability;

/// Keys that the runtime answers, not the caller: how many ranks there are and where.
const OF_THE_RUNTIME: [&str; 4] = ["threads", "procs", "to", "repeats"];

/// `error` with a remedy that a caller from C can follow: there is no command line that says how many ranks there are, and no
/// plan file.
fn of_c(mut error: PlanError) -> PlanError {
    let names_ranks = |text: &str| {
        let is_one = |word: &str| OF_THE_RUNTIME.iter().any(|key| word == format!("--{key}"));
        text.split(|c: char| c.is_whitespace() || c == ',').any(is_one)
    };
    let others: Vec<&str> = error
        .remedy
        .split(", or ")
        .filter(|way| !names_ranks(way))
        .collect();
    error.remedy = match error.remedy.split_once("choose from: ") {
        _ if names_ranks(&error.remedy) && !others.is_empty() => others.join(", or "),
        _ if names_ranks(&error.cause) || names_ranks(&error.remedy) => {
            "the runtime (ws_rte) says how many ranks there are: give it another size".to_owned()
        }
        Some((before, names)) => {
            let taken = |name: &&str| !OF_THE_RUNTIME.contains(name);
            let names: Vec<_> = names.split(", ").filter(taken).collect();
            format!("{before}choose from: {}", names.join(", "))
        }
        None => {
            let clause = error.remedy.split_once(", or give that test a [[case]]");
            clause
                .map_or(error.remedy.as_str(), |(before, _)| before)
                .to_owned()
        }
    };
    [error.cause, error.remedy] = [error.cause, error.remedy].map(|text| as_parameters(&text));
    error
}

/// Options of a command line by the names that they are set by here; commands, which stand in backquotes, and what was given,
/// which stands in quotes, as they are.
fn as_parameters(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => without_dashes(part).replace("-O ", "option."),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

fn without_dashes(text: &str) -> String {
    let mut pieces = text.split("--");
    let mut bare = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_option = !bare.ends_with(|before: char| !" (".contains(before))
            && piece.starts_with(|c: char| c.is_ascii_lowercase());
        bare.push_str(if is_option { "" } else { "--" });
        bare.push_str(piece);
    }
    bare
}

/// Parameters of one case, as they were given.
#[derive(Debug, Clone, Default)]
pub struct Words(Vec<(String, String)>);

impl Words {
    /// Set parameter `key`, or option NAME of the transport as `option.NAME`; a later value replaces an earlier one.
    /// Values are looked at when the case is built, because they depend on each other.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PlanError> {
        let key = match key.strip_prefix("option.") {
            Some(_) => key.to_owned(),
            None => {
                let spelled = key.replace('-', "_");
                if OF_THE_RUNTIME.contains(&spelled.as_str()) {
                    return Err(PlanError::new(
                        format!("{key:?} is no parameter of a case here"),
                        "the runtime that is given to the measurement says how many ranks there are and where",
                    ));
                }
                canonical_key(key).map_err(of_c)?.to_owned()
            }
        };
        self.0.retain(|(known, _)| *known != key);
        self.0.push((key, value.to_owned()));
        Ok(())
    }

    /// The one case that the words describe, for `ranks` ranks.
    pub fn case(&self, registry: &Registry, group: GroupKind, ranks: u32) -> Result<Case, PlanError> {
        self.expanded(registry, group, ranks).map_err(of_c)
    }

    fn expanded(&self, registry: &Registry, group: GroupKind, ranks: u32) -> Result<Case, PlanError> {
        let named = self.0.iter().find(|(key, _)| key == "test");
        let test = named.and_then(|(_, name)| kind(name));
        if let Some(test) = test.filter(|test| test.capability() == Capability::Bulk) {
            return Err(PlanError::new(
                format!("{} cannot be measured from C: it needs a service", test.name),
                "run `wirespeed byteio bench`",
            ));
        }
        let mut template = Template::default();
        for (key, value) in &self.0 {
            match key.strip_prefix("option.") {
                Some(name) => drop(template.options.insert(name.to_owned(), vec![value.clone()])),
                None => template.add(key, std::slice::from_ref(value))?,
            }
        }
        let place = if group == GroupKind::Threads {
            "threads"
        } else {
            "procs"
        };
        template.axes.insert(place.to_owned(), vec![ranks.to_string()]);
        let plan = Plan::of(vec![template]);
        let mut cases = expand(&plan, &Machine::new(registry))?;
        if cases.len() != 1 {
            return Err(PlanError::new(
                format!("the parameters describe {} cases", cases.len()),
                "give each parameter one value, and measure in a loop",
            ));
        }
        let mut case = cases.remove(0).case;
        if group == GroupKind::Hosts {
            case.group = group;
            // The CPUs of another machine are not known here.
            if !self.0.iter().any(|(key, _)| key == "cpus") {
                case.ranks.iter_mut().for_each(|rank| rank.cpu = None);
            }
        }
        Ok(case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pairs: &[(&str, &str)]) -> Result<Words, PlanError> {
        let mut words = Words::default();
        for (key, value) in pairs {
            words.set(key, value)?;
        }
        Ok(words)
    }

    #[test]
    fn words_become_one_case() {
        let words = words(&[
            ("test", "am_lat"),
            ("via", "inproc"),
            ("size", "64"),
            ("size", "8"),
        ])
        .unwrap();
        let case = words.case(&Registry::builtin(), GroupKind::Threads, 2).unwrap();
        assert_eq!((case.test.size_bytes(), case.ranks.len()), (8, 2));
        assert_eq!(case.group, GroupKind::Threads);
    }

    #[test]
    fn ranks_on_hosts_are_pinned_only_on_request() {
        let given = [("test", "am_lat"), ("via", "tcp")];
        let case = |words: Words| words.case(&Registry::builtin(), GroupKind::Hosts, 2).unwrap();
        let free = case(words(&given).unwrap());
        assert_eq!(free.group, GroupKind::Hosts);
        assert!(free.ranks.iter().all(|rank| rank.cpu.is_none()));
    }

    #[test]
    fn what_was_given_is_quoted_as_it_was() {
        let words = words(&[("test", "am_lat"), ("via", "--tcp")]).unwrap();
        let refused = words.case(&Registry::builtin(), GroupKind::Threads, 2);
        let cause = refused.unwrap_err().cause;
        assert!(cause.contains("\"--tcp\""), "{cause}");
    }

    #[test]
    fn nonsense_is_refused_with_a_remedy() {
        assert!(words(&[("sise", "8")]).unwrap_err().remedy.contains("size"));
        assert!(words(&[("threads", "2")]).unwrap_err().remedy.contains("runtime"));
        let several = words(&[("test", "am_lat"), ("via", "inproc"), ("size", "8,16")]).unwrap();
        let error = several
            .case(&Registry::builtin(), GroupKind::Threads, 2)
            .unwrap_err();
        assert!(error.cause.contains("2 cases"), "{error}");
        // No remedy names what the caller cannot give.
        let refused = |pairs: &[(&str, &str)], ranks| {
            let words = words(pairs)?;
            let case = words.case(&Registry::builtin(), GroupKind::Threads, ranks);
            case.map(drop)
        };
        for (pairs, ranks) in [
            (&[("sise", "8")][..], 2),
            (&[("test", "am_lat"), ("via", "inproc")], 1),
            (&[("test", "am_lat"), ("via", "inproc")], 4_000_000),
            (&[("test", "am_lat"), ("via", "inproc"), ("grid", "2d")], 2),
            (&[("test", "bulk_get"), ("via", "inproc"), ("check", "true")], 2),
            (
                &[
                    ("test", "am_lat"),
                    ("via", "inproc"),
                    ("roles", "source,sink,idle"),
                ],
                2,
            ),
        ] {
            let remedy = refused(pairs, ranks).unwrap_err().remedy;
            for word in ["threads", "procs", "repeats", "[[case]]"] {
                assert!(!remedy.contains(word), "{pairs:?}: {remedy}");
            }
        }
        // Nor is it told by options of a command line.
        let wrong = [
            ("via", "tcpp"),
            ("size", "8x"),
            ("window", "0"),
            ("layout", "shortiov"),
            ("load", "x"),
            ("iters", "0"),
            ("cpus", "x"),
        ];
        let found = wrong.map(|one| refused(&[("test", "am_bw"), ("via", "tcp"), one], 2).err());
        let found: Vec<PlanError> = found.into_iter().flatten().collect();
        assert!(found.len() > 4, "{found:?}");
        for error in found {
            let told = [error.cause, error.remedy].join(": ");
            let outside: Vec<&str> = told.split('`').step_by(2).collect();
            assert!(!outside.concat().contains("--"), "{told}");
        }
        // And what helps is told.
        let told = |pairs: &[(&str, &str)]| refused(pairs, 2).unwrap_err();
        let roles = told(&[
            ("test", "am_lat"),
            ("via", "inproc"),
            ("roles", "source,sink,idle"),
        ]);
        assert!(roles.remedy.contains("one role a rank"), "{roles}");
        let bulk = told(&[("test", "bulk_get"), ("via", "inproc")]);
        assert!(
            bulk.cause.contains("from C") && bulk.remedy.contains("byteio"),
            "{bulk}"
        );
        let none = words(&[("test", "am_lat")]).unwrap();
        assert!(none.case(&Registry::builtin(), GroupKind::Threads, 2).is_err());
    }
}
