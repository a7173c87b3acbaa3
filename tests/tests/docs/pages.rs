//! What the written pages show: commands, plan files, code. It must never drop a block that it does not understand.

use std::path::{Path, PathBuf};

/// One written page.
pub struct Page {
    /// Path from the root of the repository.
    pub name: String,
    pub text: String,
}

/// Where a command is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    Here,
    Server,
    Client,
    /// On a machine of a cluster with Slurm.
    Cluster,
}

/// A command as the reader would type it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Page and line.
    pub place: String,
    pub prompt: Prompt,
    pub line: String,
    /// The exit code that the page promises.
    pub exits: i32,
}

/// A fenced block.
pub struct Block {
    /// Page and line.
    pub place: String,
    /// What follows the opening fence.
    pub info: String,
    pub lines: Vec<String>,
}

impl Block {
    pub fn language(&self) -> &str {
        self.info.split([' ', ',']).next().unwrap_or_default()
    }

    /// The name of its page.
    pub fn page(&self) -> &str {
        self.place.split(':').next().unwrap_or_default()
    }

    /// The file that the block is the text of: `title=NAME` after the language.
    pub fn title(&self) -> Option<&str> {
        self.info.split(' ').find_map(|word| word.strip_prefix("title="))
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages that users and contributors read.
pub fn all() -> Vec<Page> {
    let mut names = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md"]
        .map(str::to_owned)
        .to_vec();
    for folder in ["docs", "docs/how-to"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    names.sort();
    names.into_iter().map(|name| page(&name)).collect()
}

pub fn page(name: &str) -> Page {
    Page {
        name: name.to_owned(),
        text: std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}")),
    }
}

/// Every fenced block, indented ones too.
pub fn blocks(page: &Page) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (number, line) in page.text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open) {
            (Some(info), false) => {
                open = true;
                found.push(Block {
                    place: format!("{}:{}", page.name, number + 1),
                    info: info.trim().to_owned(),
                    lines: Vec::new(),
                });
            }
            (Some(_), true) => open = false,
            (None, true) => found.last_mut().unwrap().lines.push(line.to_owned()),
            (None, false) => {}
        }
    }
    assert!(!open, "{}: a block has no end", page.name);
    found
}

/// The commands of a console block; lines without a prompt are their output.
pub fn commands(block: &Block) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut goes_on = false;
    for line in &block.lines {
        let line = line.trim();
        let typed = [
            ("$ ", Prompt::Here),
            ("server$ ", Prompt::Server),
            ("client$ ", Prompt::Client),
            ("cluster$ ", Prompt::Cluster),
        ]
        .into_iter()
        .find_map(|(prefix, prompt)| line.strip_prefix(prefix).map(|rest| (prompt, rest)));
        match (typed, found.last_mut()) {
            (Some((prompt, rest)), _) => found.push(Shown {
                place: block.place.clone(),
                prompt,
                line: rest.to_owned(),
                exits: 0,
            }),
            (None, Some(last)) if goes_on => last.line = format!("{}\n{line}", last.line),
            (None, Some(last)) => {
                if let Some(code) = line.strip_prefix("# exits ") {
                    last.exits = code.parse().expect("a number after `# exits`");
                }
            }
            (None, None) => panic!("{}: output before the first command", block.place),
        }
        goes_on = line.ends_with('\\');
    }
    assert!(!found.is_empty(), "{}: a console block without `$ `", block.place);
    found
}

/// Texts between backticks outside fenced blocks.
pub fn inline_code(page: &Page) -> Vec<String> {
    let mut prose = String::new();
    let mut open = false;
    for line in page.text.lines() {
        let fence = line.trim_start().starts_with("```");
        open ^= fence;
        if !open && !fence {
            prose.push_str(line);
            prose.push(' ');
        }
    }
    prose
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|code| code.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}
