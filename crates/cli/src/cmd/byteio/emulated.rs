//! The five pairs of M. Morgan's "ByteIO Performance Tests" (2009) as rows of the lab, on one machine. The paper gives
//! their speeds; round-trip times are plausible for where the machines stood, and nothing of the machines is emulated.

use super::job::size;
use super::pairs::{Planned, this_program};
use super::served::NAME;
use crate::args::TransferArgs;
use crate::cmd::speed::speed;
use crate::errors::Failure;
use crate::words;

/// A pair of the paper.
struct Row {
    name: &'static str,
    /// As in its Table 2.
    nominal_megabits: u32,
    /// Divides the speed: no emulator here carries 10 Gb/s.
    divisor: u32,
    /// One way; `None` for the pair in one building.
    delay_ms: Option<u32>,
}

const ROWS: [Row; 5] = [
    Row {
        name: "Mark iMac -> Abe1196",
        nominal_megabits: 100,
        divisor: 1,
        delay_ms: Some(15),
    },
    Row {
        name: "Hess -> BigBen",
        nominal_megabits: 1000,
        divisor: 1,
        delay_ms: Some(9),
    },
    Row {
        name: "Ranger -> BigBen",
        nominal_megabits: 10_000,
        divisor: 10,
        delay_ms: Some(20),
    },
    Row {
        name: "Ranger -> Abe1196",
        nominal_megabits: 10_000,
        divisor: 10,
        delay_ms: Some(15),
    },
    Row {
        name: "Sulla -> Cicero",
        nominal_megabits: 1000,
        divisor: 1,
        delay_ms: None,
    },
];

/// Served where the size is not given.
const SIZE: &str = "1GiB";

/// Bytes of the file that all serve.
pub fn size_bytes(words: &TransferArgs) -> Result<u64, Failure> {
    size("size", words.size.as_deref().unwrap_or(SIZE))
}

/// The pairs, each inside a lab of its own, and a service of what is in `folder`.
pub fn plan(folder: &str) -> Result<Vec<Planned>, Failure> {
    let program = this_program()?;
    let far = far_service(&program, folder);
    let planned = |row: &Row| {
        let rate = format!("{}Mb/s", row.nominal_megabits / row.divisor);
        let mut reader: Vec<String> = [&program, "lab", "--rate", &rate].map(str::to_owned).to_vec();
        match row.delay_ms {
            Some(delay) => reader.extend(["--delay".to_owned(), format!("{delay}ms")]),
            None => reader.push("--lan".to_owned()),
        }
        reader.extend(["--far", &far, "--", &program].map(str::to_owned));
        Ok(Planned {
            name: row.name.to_owned(),
            reader,
            url: format!("http://192.0.2.2:7412/{NAME}"),
            nominal: Some(speed(&rate)?),
            emulated: Some(how(row)),
        })
    };
    ROWS.iter().map(planned).collect()
}

/// The command of a lab's far end that serves what is in `folder`.
pub fn far_service(program: &str, folder: &str) -> String {
    let words = [
        program,
        "byteio",
        "serve",
        folder,
        "--listen",
        "192.0.2.2",
        "--plain",
    ];
    words::line(&words.map(str::to_owned))
}

fn how(row: &Row) -> String {
    let path = match row.delay_ms {
        Some(delay) => format!("round trip {} ms", 2 * delay),
        None => "one cable".to_owned(),
    };
    match row.divisor {
        1 => path,
        divisor => format!("1/{divisor} of {} Mb/s, {path}", row.nominal_megabits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_far_end_serves_whatever_its_folder_is_called() {
        assert_eq!(
            far_service("/it's/ws", "/a b"),
            r"'/it'\''s/ws' byteio serve '/a b' --listen 192.0.2.2 --plain"
        );
    }

    #[test]
    fn scaled_rows_say_so() {
        assert_eq!(how(&ROWS[0]), "round trip 30 ms");
        assert_eq!(how(&ROWS[2]), "1/10 of 10000 Mb/s, round trip 40 ms");
        assert_eq!(how(&ROWS[4]), "one cable");
    }
}
