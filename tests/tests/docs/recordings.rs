//! The recordings that pages show are what the program prints today, and their pictures are drawn from them. It must never
//! compare a figure.

use crate::pages;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use wirespeed_tests::recording::cast::Cast;
use wirespeed_tests::recording::frames::last_text;
use wirespeed_tests::recording::play::play;
use wirespeed_tests::recording::shape::shapes;
use wirespeed_tests::recording::{FOLDER, STORIES, Story, svg};
use wirespeed_tests::skip;
use wirespeed_tests::under_test::program;

/// What a picture may take: pages carry several.
const PICTURE_BYTES_MAX: usize = 60 << 10;

/// One story at a time: each wants the whole machine.
static TURN: Mutex<()> = Mutex::new(());

fn folder() -> PathBuf {
    pages::root().join(FOLDER)
}

fn recorded(story: &Story) -> Cast {
    let path = story.cast(&folder());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Cast::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Play the story of this name, with less to measure, and compare what the screen says.
fn screen_is_as_recorded(name: &str) {
    if !Path::new("/dev/ptmx").exists() {
        return skip("pseudo-terminals: no /dev/ptmx");
    }
    // A story that failed has let go of everything.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let story = STORIES.iter().find(|story| story.name == name).unwrap();
    let line = story.shorter_line();
    assert_ne!(line, story.line, "{name}: nothing is shortened");
    let program = program(env!("CARGO_BIN_EXE_wirespeed-under-test"));
    let played = play(story, &line, Path::new(program)).unwrap();
    let new = last_text(&played);
    let recorded = last_text(&recorded(story));
    let [before, now] = shapes(story, [(story.line, &recorded), (&line, &new)]);
    assert!(before.len() > 5, "{name}: {before:?}");
    assert!(
        before == now,
        "{line}\nthe screen has changed; record it anew: cargo xtask recordings {name}\nrecorded: {before:#?}\nnow: \
         {now:#?}\n{new}"
    );
}

#[test]
fn quick_is_as_recorded() {
    screen_is_as_recorded("quick");
}

#[test]
fn latency_is_as_recorded() {
    screen_is_as_recorded("latency");
}

#[test]
fn slower_is_as_recorded() {
    screen_is_as_recorded("slower");
}

#[test]
fn window_is_as_recorded() {
    screen_is_as_recorded("window");
}

#[test]
fn live_is_as_recorded() {
    screen_is_as_recorded("live");
}

#[test]
fn pictures_are_drawn_from_their_recordings() {
    for story in &STORIES {
        let path = story.picture(&folder());
        let picture = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(
            picture == svg::picture(story, &recorded(story)),
            "{} is not what its cast shows; draw it anew: cargo xtask recordings --draw",
            path.display()
        );
        assert!(
            picture.len() <= PICTURE_BYTES_MAX,
            "{}: {} bytes",
            path.display(),
            picture.len()
        );
    }
}

#[test]
fn what_is_typed_is_what_was_recorded_and_a_page_shows_it() {
    let pages = pages::all();
    for story in &STORIES {
        // The edge of the screen may stand for a blank.
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let screen = last_text(&recorded(story));
        assert!(
            bare(&screen).starts_with(&bare(&format!("$ {}", story.line))),
            "{}: {screen}",
            story.name
        );
        let picture = format!("recordings/{}.svg)", story.name);
        assert!(
            pages.iter().any(|page| page.text.contains(&picture)),
            "no page shows {picture}"
        );
    }
}
