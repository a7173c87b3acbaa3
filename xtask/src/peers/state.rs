//! What a set has measured so far, kept below target/ so that a later command goes on from it. It is written after each round,
//! whole or not at all. It must never mix figures of different programs or machines.

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Which form the file has, and whose it is.
const FORM: &str = "wirespeed peers, form 1";
const FILE: &str = "state.json";
const RAW: &str = "raw.txt";

/// Machine and programs by name; empty values are those that are absent.
pub type Identity = BTreeMap<String, String>;

/// The whole of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    form: String,
    set: String,
    /// The day it was begun, and the load average then.
    pub begun: (String, String),
    /// What it was measured with.
    pub identity: Identity,
    /// The folder of its archive, from the root, once there is one.
    pub archive: Option<String>,
    /// Remarks, each once.
    pub notes: Vec<String>,
    /// The rows that have pairs.
    pub rows: BTreeMap<String, Row>,
    /// Bytes of the commands and outputs that belong to them.
    raw_bytes: u64,
}

/// What a row has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Ours and theirs, in the order in which they were measured.
    pub pairs: Vec<(f64, f64)>,
    /// How long they took, in s.
    pub took_s: f64,
}

/// A state and where it is kept.
pub struct Store {
    folder: PathBuf,
    /// What is kept.
    pub state: State,
}

/// Where the state of a set is kept.
pub fn folder(root: &Path, set: &str) -> PathBuf {
    root.join("target/peers/state").join(set)
}

impl Store {
    /// Begin anew; what was kept before is dropped.
    pub fn begin(folder: &Path, set: &str, begun: (String, String), identity: Identity) -> Result<Store> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let store = Store {
            folder: folder.to_owned(),
            state: State {
                form: FORM.to_owned(),
                set: set.to_owned(),
                begun,
                identity,
                archive: None,
                notes: Vec::new(),
                rows: BTreeMap::new(),
                raw_bytes: 0,
            },
        };
        File::create(store.raw()).context("cannot write the raw output")?;
        store.write()?;
        Ok(store)
    }

    /// Go on with what was kept; `None` where nothing was. What cannot be gone on with is refused.
    pub fn resume(folder: &Path, set: &str, identity: &Identity) -> Result<Option<Store>> {
        let Some(state) = read(folder, set)? else {
            return Ok(None);
        };
        let was = |name: &String| state.identity.get(name).map_or("", String::as_str);
        let differs = |(name, now): &(&String, &String)| {
            !was(name).is_empty() && !now.is_empty() && was(name) != now.as_str()
        };
        if let Some((name, now)) = identity.iter().find(differs) {
            bail!(
                "{} was measured with another {name}: {}, now {now}; leave out --resume to measure anew",
                folder.display(),
                was(name)
            );
        }
        let raw = OpenOptions::new().write(true).open(folder.join(RAW));
        let length = raw.as_ref().ok().and_then(|raw| Some(raw.metadata().ok()?.len()));
        match (raw, length) {
            // The output of a round that was cut off goes.
            (Ok(raw), Some(length)) if length >= state.raw_bytes => raw.set_len(state.raw_bytes)?,
            _ => return Err(broken(folder, RAW)),
        }
        let folder = folder.to_owned();
        let mut store = Store { folder, state };
        // What was absent may be here now.
        let found = identity.iter().filter(|(_, now)| !now.is_empty());
        let found: Vec<_> = found.map(|(name, now)| (name.clone(), now.clone())).collect();
        store.state.identity.extend(found);
        Ok(Some(store))
    }

    /// Keep a round: what its commands printed, then the state that counts it.
    pub fn keep(&mut self, raw: &str) -> Result<()> {
        let written = OpenOptions::new()
            .append(true)
            .open(self.raw())
            .and_then(|mut file| file.write_all(raw.as_bytes()));
        written.context("cannot write the raw output")?;
        self.state.raw_bytes += raw.len() as u64;
        self.write()
    }

    /// Where the raw output is.
    pub fn raw(&self) -> PathBuf {
        self.folder.join(RAW)
    }

    fn write(&self) -> Result<()> {
        let (path, next) = (self.folder.join(FILE), self.folder.join("state.json.new"));
        let text = serde_json::to_string_pretty(&self.state)?;
        let written = fs::write(&next, text).and_then(|()| fs::rename(&next, &path));
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// What is kept of `set`; `None` where nothing is.
pub fn read(folder: &Path, set: &str) -> Result<Option<State>> {
    let Ok(text) = fs::read_to_string(folder.join(FILE)) else {
        return Ok(None);
    };
    let state: Option<State> = serde_json::from_str(&text).ok();
    let state = state.filter(|state| state.form == FORM && state.set == set);
    state.map(Some).ok_or_else(|| broken(folder, FILE))
}

fn broken(folder: &Path, file: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "{} is cut short or not of this benchmark; leave out --resume to measure anew",
        folder.join(file).display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(program: &str) -> Identity {
        Identity::from([
            ("wirespeed".to_owned(), program.to_owned()),
            ("sockperf".to_owned(), String::new()),
        ])
    }

    fn begun() -> (String, String) {
        ("2026-01-02".to_owned(), "0.1".to_owned())
    }

    /// A state of one row with two rounds.
    fn measured(folder: &Path) -> State {
        let mut store = Store::begin(folder, "typed", begun(), identity("one")).unwrap();
        for round in 1..=2 {
            let row = store.state.rows.entry("a row".to_owned()).or_default();
            row.pairs.push((f64::from(round) + 0.25, 1e9));
            row.took_s += 1.5;
            store.keep("$ said\n").unwrap();
        }
        store.state
    }

    fn refused(folder: &Path, set: &str, identity: &Identity) -> String {
        let refused = Store::resume(folder, set, identity).err();
        let said = refused.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("leave out --resume"), "{said}");
        said
    }

    #[test]
    fn what_was_kept_is_there_again_and_grows() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("state");
        assert!(
            Store::resume(&folder, "typed", &identity("one"))
                .unwrap()
                .is_none()
        );
        let state = measured(&folder);
        let mut store = Store::resume(&folder, "typed", &identity("one"))
            .unwrap()
            .unwrap();
        assert_eq!(store.state, state);
        store.keep("$ more\n").unwrap();
        assert_eq!(
            fs::read_to_string(store.raw()).unwrap(),
            "$ said\n$ said\n$ more\n"
        );
        // Whoever begins anew drops it.
        let store = Store::begin(&folder, "typed", begun(), identity("two")).unwrap();
        assert!(store.state.rows.is_empty());
        assert_eq!(fs::read_to_string(store.raw()).unwrap(), "");
    }

    #[test]
    fn the_output_of_a_round_that_was_cut_off_goes() {
        let root = tempfile::tempdir().unwrap();
        let state = measured(root.path());
        let raw = root.path().join(RAW);
        let more = [fs::read(&raw).unwrap(), b"$ half a rou".to_vec()].concat();
        fs::write(&raw, more).unwrap();
        let store = Store::resume(root.path(), "typed", &identity("one"))
            .unwrap()
            .unwrap();
        assert_eq!(fs::metadata(store.raw()).unwrap().len(), state.raw_bytes);
    }

    #[test]
    fn another_program_is_refused_and_one_that_came_later_is_not() {
        let root = tempfile::tempdir().unwrap();
        measured(root.path());
        let said = refused(root.path(), "typed", &identity("two"));
        assert!(said.contains("another wirespeed: one, now two"), "{said}");
        let mut later = identity("one");
        later.insert("sockperf".to_owned(), "3.7".to_owned());
        let store = Store::resume(root.path(), "typed", &later).unwrap().unwrap();
        assert_eq!(store.state.identity, later);
    }

    #[test]
    fn what_is_cut_or_foreign_is_refused() {
        let root = tempfile::tempdir().unwrap();
        measured(root.path());
        let path = root.path().join(FILE);
        let whole = fs::read_to_string(&path).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 2] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(refused(root.path(), "typed", &identity("one")).contains("cut short"));
        }
        for foreign in ["{}", "[1, 2]", "no JSON"] {
            fs::write(&path, foreign).unwrap();
            refused(root.path(), "typed", &identity("one"));
        }
        fs::write(&path, whole.replace("form 1", "form 2")).unwrap();
        refused(root.path(), "typed", &identity("one"));
        // That of another set.
        fs::write(&path, &whole).unwrap();
        refused(root.path(), "mpi", &identity("one"));
        // The output that it counts is gone.
        fs::write(root.path().join(RAW), "$").unwrap();
        assert!(refused(root.path(), "typed", &identity("one")).contains(RAW));
    }
}
