//! Verbs that stand in for another program, given a bad value for each of their options: what they say names no option that
//! they do not take. It must never measure anything.

use crate::home;
use std::collections::BTreeSet;
use wirespeed_tests::deadline::PATIENCE;

/// Each verb with words that are complete without the option, and nothing is measured.
const VERBS: [(&str, &str); 6] = [
    ("perftest", "-t am_bw -x shm -l --dry-run"),
    ("perftest", "-t get -x posix -d memory -l --dry-run"),
    ("perftest", "far:1 -t tag_lat --dry-run"),
    ("msgrate", "--format classic --dry-run"),
    ("workers", "--dry-run"),
    ("session", "--benchmarkPath=client_to_computation --dry-run"),
];
const BAD: [&str; 4] = ["", "x", "-1", "1..0"];

/// What is no server.
const HOSTS: [&str; 4] = ["bad host", "", "[::1", "far:0"];

/// Every option in `text`: a word that begins with one dash and a letter, or with two.
fn options(text: &str) -> BTreeSet<&str> {
    let end = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let words = text.split([' ', '(', '[', '`', '"', '/', ',']);
    let words = words.map(|word| word.split(end).next().unwrap_or_default());
    let named = |word: &&str| match word.strip_prefix("--") {
        Some(name) => name.starts_with(char::is_alphabetic),
        None => word.len() == 2 && word.starts_with('-') && word.ends_with(char::is_alphabetic),
    };
    words.filter(named).collect()
}

/// Of the verb whose help this is, the options, and those of them that have a value.
fn taken(help: &str) -> (BTreeSet<&str>, Vec<String>) {
    let (mut all, mut valued) = (BTreeSet::new(), Vec::new());
    for line in help.lines().map(str::trim).filter(|line| line.starts_with('-')) {
        let names = options(line.split(['<', '[']).next().unwrap_or_default());
        if line.contains('<') {
            valued.extend(names.iter().map(|name| (*name).to_owned()));
        }
        all.extend(names);
    }
    all.extend(options(help));
    (all, valued)
}

#[test]
fn refusals_name_only_options_that_the_verb_takes() {
    let home = home();
    for (verb, words) in VERBS {
        let help = home.run(&format!("{verb} --help")).code(0).stdout;
        let (known, valued) = taken(&help);
        let mut refused = 0;
        let places = valued
            .iter()
            .flat_map(|option| BAD.map(|bad| vec![&**option, bad]));
        let hosts = HOSTS
            .iter()
            .filter(|_| verb == "perftest")
            .map(|host| vec![*host]);
        for typed in places.chain(hosts) {
            // A loopback has no server.
            let is_kept = |word: &&str| typed.len() > 1 || !["-l", "far:1"].contains(word);
            let base = words.split(' ').filter(is_kept);
            let line = std::iter::once(verb).chain(base).chain(typed.iter().copied());
            let ended = home.start(line).end(PATIENCE);
            if ended.code == Some(0) {
                continue;
            }
            refused += 1;
            // A command of wirespeed has the options of its verb.
            let said = ended.stderr.replace("--option=VALUE", "");
            let own = said.lines().filter(|said| !said.contains("`wirespeed "));
            let is_strange = |name: &&str| !known.contains(name) && !typed.contains(name);
            let strange: Vec<&str> = own.flat_map(options).filter(is_strange).collect();
            assert!(strange.is_empty(), "{verb} has no {strange:?}: {ended}");
        }
        assert!(refused > valued.len(), "{verb}: {refused}");
    }
}
