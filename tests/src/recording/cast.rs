//! What a terminal was sent and when, as an asciicast (version 2): a header and an event a line, which asciinema plays. It
//! must never hold when or where it was recorded.

use serde_json::{Value, json};

/// What is sent within this time is one event, in seconds.
const TOGETHER_S: f64 = 0.1;

/// A recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Cast {
    /// Columns of the terminal.
    pub columns: u16,
    /// Rows of the terminal.
    pub rows: u16,
    /// What it shows.
    pub title: String,
    /// Seconds from the beginning, and what came then.
    pub events: Vec<(f64, String)>,
}

impl Cast {
    /// Add what came `at_s`; what comes together becomes one event.
    pub fn push(&mut self, at_s: f64, text: &str) {
        match self.events.last_mut() {
            Some((last_s, said)) if at_s - *last_s < TOGETHER_S => said.push_str(text),
            _ => self
                .events
                .push(((at_s * 1000.0).round() / 1000.0, text.to_owned())),
        }
    }

    /// The file.
    pub fn text(&self) -> String {
        let header = json!({
            "version": 2, "width": self.columns, "height": self.rows, "title": self.title,
            "env": {"TERM": "xterm-256color"},
        });
        let events = self.events.iter().map(|(at_s, said)| json!([at_s, "o", said]));
        std::iter::once(header)
            .chain(events)
            .map(|line| format!("{line}\n"))
            .collect()
    }

    /// Read a file.
    ///
    /// # Errors
    /// What is wrong with which line, counted from 1.
    pub fn parse(text: &str) -> Result<Cast, String> {
        let mut lines = text.lines().enumerate().map(|(number, line)| {
            let value = serde_json::from_str::<Value>(line);
            value.map_err(|error| format!("line {}: {error}", number + 1))
        });
        let header = lines.next().ok_or("no header")??;
        let number = |key: &str| {
            let number = header[key].as_u64().and_then(|number| u16::try_from(number).ok());
            number
                .filter(|number| *number > 0)
                .ok_or(format!("line 1: no {key}"))
        };
        let mut events = Vec::new();
        for line in lines {
            let line = line?;
            match (line[0].as_f64(), line[1].as_str(), line[2].as_str()) {
                (Some(at_s), Some("o"), Some(said)) => events.push((at_s, said.to_owned())),
                _ => return Err(format!("not an output event: {line}")),
            }
        }
        Ok(Cast {
            columns: number("width")?,
            rows: number("height")?,
            title: header["title"].as_str().unwrap_or_default().to_owned(),
            events,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_comes_back_as_it_was() {
        let mut cast = Cast {
            columns: 80,
            rows: 24,
            title: "a \"title\"".to_owned(),
            events: Vec::new(),
        };
        for (at_s, said) in [(0.0, "$ "), (0.05, "a"), (0.5, "\u{1b}[2K\r\n⣀")] {
            cast.push(at_s, said);
        }
        assert_eq!(cast.events.len(), 2, "what comes together is one event");
        assert_eq!(Cast::parse(&cast.text()), Ok(cast));
    }

    #[test]
    fn a_torn_cast_is_refused() {
        for text in ["", "{}", "{\"width\":80,\"height\":24}\n[1,\"o\"]", "[1"] {
            assert!(Cast::parse(text).is_err(), "{text}");
        }
    }
}
