//! Pages as a browser draws them, beside the pictures that were looked at: each page at four widths, light, dark and on paper,
//! in one picture. A picture is kept as the mean colour of each square of it, so that the edges of letters do not count; where
//! a machine has other letters, everything lies elsewhere, and the test says so and compares nothing.

use crate::browser::{browser, has_browser};
use crate::pages::{View, document, views};
use crate::{home, turn};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use wirespeed_tests::home::Home;
use wirespeed_tests::skip;

/// Side of a square, in pixels.
const SIDE: usize = 16;
/// Height of a picture in pixels, and of the letters at its top that tell one machine from another.
const HEIGHT: usize = 1600;
const LETTERS: usize = 32;
/// A square is another one where a colour differs by more than this, of 255: the edges of letters differ by up to 10 where
/// the browser draws a column that it holds in a layer of its own.
const COLOR_MAX: u8 = 30;
/// A page is drawn up to so many times: on a busy machine the browser may take its picture before the last rows are there.
const DRAWN_MAX: usize = 4;

/// Mean colours of squares, row by row.
#[derive(PartialEq)]
struct Picture {
    columns: usize,
    squares: Vec<[u8; 3]>,
}

impl Picture {
    /// What the browser draws of `views`, side by side below a line of letters.
    fn drawn(home: &Home, views: &[View]) -> Picture {
        let mut frames = String::new();
        let mut width = 0;
        for view in views {
            view.write(home, "");
            // Each begins at the edge of a square.
            let room = view.width.next_multiple_of(SIDE as u32);
            frames += &format!(
                "<iframe src=\"{}\" scrolling=\"no\" style=\"float:left;border:0;width:{}px;margin-right:{}px;height:{HEIGHT}px\"></iframe>",
                view.file(),
                view.width,
                room - view.width
            );
            width += room;
        }
        let letters = "The quick brown fox jumps over the lazy dog 0123456789 µ ─ ▁█";
        home.write(
            "side_by_side.html",
            &format!(
                "<!DOCTYPE html><meta charset=\"utf-8\"><title>pages</title><body style=\"margin:0;background:#fff\">\
                 <p style=\"margin:0;height:{LETTERS}px;font:16px system-ui,'DejaVu Sans',sans-serif;white-space:pre\">\
                 {letters} <code>{letters}</code></p>{frames}"
            ),
        );
        let file = home.path("side_by_side.png");
        let words = [
            format!("--screenshot={}", file.display()),
            format!("--window-size={width},{}", HEIGHT + LETTERS),
            // Nothing is drawn before its time is over.
            "--virtual-time-budget=5000".to_owned(),
            "--force-device-scale-factor=1".to_owned(),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        browser(home, &words, "side_by_side.html").code(0);
        let (size, pixels) = read(&file);
        Picture::of(size, &pixels)
    }

    /// The squares of a picture of three bytes a pixel.
    fn of((width, height): (usize, usize), pixels: &[u8]) -> Picture {
        let (columns, rows) = (width / SIDE, height / SIDE);
        let mean = |at: usize| {
            let (left, top) = (at % columns * SIDE, at / columns * SIDE);
            let mut sums = [0_usize; 3];
            for y in top..top + SIDE {
                let row = &pixels[3 * (y * width + left)..][..3 * SIDE];
                for pixel in row.chunks_exact(3) {
                    sums.iter_mut()
                        .zip(pixel)
                        .for_each(|(sum, color)| *sum += usize::from(*color));
                }
            }
            sums.map(|sum| (sum / (SIDE * SIDE)) as u8)
        };
        Picture {
            columns,
            squares: (0..columns * rows).map(mean).collect(),
        }
    }

    /// Its line of letters.
    fn letters(&self) -> &[[u8; 3]] {
        &self.squares[..self.columns * LETTERS / SIDE]
    }

    /// Where, in pixels, it is not as `other` is, and by how much.
    fn differences(&self, other: &Picture) -> Vec<(usize, usize, u8)> {
        if (self.columns, self.squares.len()) != (other.columns, other.squares.len()) {
            return vec![(0, 0, u8::MAX); self.squares.len()];
        }
        let apart = |(a, b): (&[u8; 3], &[u8; 3])| {
            let colors = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
            colors.max().unwrap_or(0)
        };
        let pairs = self.squares.iter().zip(&other.squares).map(apart).enumerate();
        let place = |at: usize| (at % self.columns * SIDE, at / self.columns * SIDE);
        let found = pairs.filter(|(_, apart)| *apart > COLOR_MAX);
        found
            .map(|(at, apart)| (place(at).0, place(at).1, apart))
            .collect()
    }

    fn write(&self, path: &Path) {
        let rows = self.squares.len() / self.columns;
        let mut encoder = png::Encoder::new(File::create(path).unwrap(), self.columns as u32, rows as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(self.squares.as_flattened()).unwrap();
    }
}

/// Width, height, and three bytes a pixel.
fn read(path: &Path) -> ((usize, usize), Vec<u8>) {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    decoder.set_transformations(png::Transformations::STRIP_16 | png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    let samples = frame.color_type.samples();
    let pixels = bytes[..frame.buffer_size()].chunks_exact(samples);
    let pixels = pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    ((frame.width as usize, frame.height as usize), pixels)
}

/// The picture that was looked at.
fn known(page: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/pages");
    folder.join(format!("{page}.png"))
}

#[test]
fn pages_look_as_they_did() {
    if !has_browser() {
        return skip("chromium is not installed");
    }
    let _turn = turn();
    let home = home();
    let bless = std::env::var_os("WIRESPEED_BLESS").is_some();
    for (page, path) in [("quick", "documents/quick.json"), ("example", "golden/run.json")] {
        home.write(&format!("{page}.json"), &document(path));
        home.run(&format!("report {page}.json -o {page}.html")).code(0);
        let mut drawn = Picture::drawn(&home, &views(&[page]));
        if bless {
            drawn.write(&known(page));
        }
        let (size, squares) = read(&known(page));
        let known = Picture {
            columns: size.0,
            squares: squares.as_chunks().0.to_vec(),
        };
        if known.letters() != drawn.letters() {
            return skip("this browser has other letters than the one that drew the pictures");
        }
        let mut found = drawn.differences(&known);
        for _ in 1..DRAWN_MAX {
            if found.is_empty() {
                break;
            }
            drawn = Picture::drawn(&home, &views(&[page]));
            found = drawn.differences(&known);
        }
        assert!(
            found.is_empty(),
            "{page}.html is drawn otherwise, in {} squares of {SIDE} pixels, among them {:?}; if that is meant, run with \
             WIRESPEED_BLESS=1 and look at the page",
            found.len(),
            &found[..found.len().min(20)]
        );
        if page != "example" {
            continue;
        }
        // Headings that are a pixel larger are seen.
        let html = std::fs::read_to_string(home.path(&format!("{page}.html"))).unwrap();
        let [sound, fault] = ["h2{font-size:1.2rem", "h2{font-size:1.27rem"];
        assert!(html.contains(sound));
        home.write(&format!("{page}.html"), &html.replace(sound, fault));
        let seen = Picture::drawn(&home, &views(&[page])).differences(&drawn).len();
        assert!(seen > 200, "a fault in {page}.html was not seen: {seen} squares");
    }
}
