//! The recordings that pages show: what is typed, and where cast and picture lie. It must never hold what a program printed;
//! that is in the casts.

pub mod cast;
pub mod frames;
pub mod play;
pub mod shape;
pub mod svg;

use std::path::{Path, PathBuf};

/// Columns of the terminal.
pub const COLUMNS: u16 = 80;

/// What stands before the line that is typed.
pub const PROMPT: &str = "$ ";

/// What a newcomer types, and sees.
pub struct Story {
    /// The name of its files.
    pub name: &'static str,
    /// The question that it answers.
    pub title: &'static str,
    /// What the screen shows, for those who cannot see it.
    pub description: &'static str,
    /// The line that is typed.
    pub line: &'static str,
    /// Rows of the terminal: enough for what is printed last. A picture has as many as are in use.
    pub rows: u16,
    /// A part of the line, and what a check types in its place: less to measure, the same screen. Operations are counted
    /// where they can be, so that even the busiest machine has figures.
    pub shorter: (&'static str, &'static str),
    /// How the shape of a line begins that one measurement prints and the next does not: it tells of figures.
    pub free: &'static [&'static str],
}

/// Every story, in the order of the pages.
pub const STORIES: [Story; 5] = [
    Story {
        name: "quick",
        title: "Which transport is fastest here?",
        description: "wirespeed quick measures every transport of the machine; then a table compares them.",
        line: "wirespeed quick",
        rows: 26,
        shorter: ("quick", "quick --budget 5s"),
        free: &["# of # cases"],
    },
    Story {
        name: "latency",
        title: "How long is a round trip?",
        description: "wirespeed run latency measures two transports six times each; the answer has an interval.",
        line: "wirespeed run latency --via shm,tcp --repeats 6",
        rows: 40,
        shorter: ("latency", "latency -n 1000"),
        free: &[],
    },
    Story {
        name: "slower",
        title: "Is B slower than A?",
        description: "wirespeed ab measures two sides in turn and says whether B is slower; so does its exit code.",
        line: "wirespeed ab --pairs 8 -- latency --via unix -t 50ms -- latency --via unix -t 50ms -O wait=block; echo exit code $?",
        rows: 48,
        shorter: ("-t 50ms", "-n 1000"),
        free: &[
            "B is ",
            "inconclusive:",
            "B/A:",
            "no verdict:",
            "error:",
            "exit ",
            "help:",
        ],
    },
    Story {
        name: "window",
        title: "What window is enough?",
        description: "wirespeed sweep measures one window after the other, draws the rates and names the window that is enough.",
        line: "wirespeed sweep --over window -- rate --via unix -t 50ms --window 1..64:x2",
        rows: 60,
        shorter: ("-t 50ms", "-n 1000"),
        free: &["Bandwidth-delay:", "Little's law", "Larger windows"],
    },
    Story {
        name: "live",
        title: "What happens while it measures?",
        description: "wirespeed run --live draws rate and quantiles of the last moments while a run goes on.",
        line: "wirespeed run latency --via tcp -t 8s --live",
        rows: 40,
        shorter: ("-t 8s", "-t 2s"),
        free: &[],
    },
];

/// The folder of casts and pictures, seen from the root of the repository.
pub const FOLDER: &str = "docs/recordings";

impl Story {
    /// Its cast in `folder`.
    pub fn cast(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.cast", self.name))
    }

    /// Its picture in `folder`.
    pub fn picture(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.svg", self.name))
    }

    /// What a check types.
    pub fn shorter_line(&self) -> String {
        self.line.replace(self.shorter.0, self.shorter.1)
    }
}
