//! Plays the stories of the pages on a terminal of their own, and draws them. It must never write outside of the folder that
//! it is given.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use wirespeed_tests::recording::cast::Cast;
use wirespeed_tests::recording::{STORIES, Story, play, svg};

const USAGE: &str = "usage: wirespeed-recordings PROGRAM FOLDER [--draw] [STORY ..]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match record(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("recordings: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Play and draw the stories that are asked for, all where none is; with `--draw` draw only what was played before.
fn record(words: &[String]) -> Result<(), String> {
    let [program, folder, asked @ ..] = words else {
        return Err(USAGE.to_owned());
    };
    let folder = Path::new(folder);
    let (flags, names): (Vec<&String>, Vec<&String>) = asked.iter().partition(|word| word.starts_with('-'));
    let draw = match flags[..] {
        [] => false,
        [flag] if flag == "--draw" => true,
        _ => return Err(USAGE.to_owned()),
    };
    if let Some(unknown) = names
        .iter()
        .find(|name| STORIES.iter().all(|story| story.name != name.as_str()))
    {
        let known = STORIES.map(|story| story.name).join(", ");
        return Err(format!("no story is called {unknown}; there are {known}"));
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for story in STORIES
        .iter()
        .filter(|story| names.is_empty() || names.iter().any(|name| story.name == name.as_str()))
    {
        if !draw {
            let played =
                play::play(story, story.line, Path::new(program)).map_err(|error| error.to_string())?;
            write(&story.cast(folder), &played.text())?;
        }
        write(
            &story.picture(folder),
            &svg::picture(story, &read(story, folder)?),
        )?;
    }
    Ok(())
}

fn read(story: &Story, folder: &Path) -> Result<Cast, String> {
    let path = story.cast(folder);
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
    text.and_then(|text| Cast::parse(&text))
        .map_err(|why| format!("{}: {why}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}: {} bytes", path.display(), text.len());
    Ok(())
}
