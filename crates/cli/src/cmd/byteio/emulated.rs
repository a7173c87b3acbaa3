//! The five pairs of M. Morgan's "ByteIO Performance Tests" (2009) as rows of the lab, on one machine. The paper gives
//! their speeds; round-trip times are plausible for where the machines stood, and nothing of the machines is emulated.

use super::bench::speed;
use super::job::size;
use super::pairs::{Planned, this_program};
use crate::args::TransferArgs;
use crate::errors::Failure;
use std::fs::File;

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

/// The file's name below the folder that is served.
const NAME: &str = "file";
/// Served where the size is not given.
const SIZE: &str = "1GiB";

/// The pairs, each inside a lab of its own, and the folder with the file that all serve; it is gone when dropped.
pub fn plan(words: &TransferArgs) -> Result<(tempfile::TempDir, Vec<Planned>), Failure> {
    let failed = |e: std::io::Error| {
        Failure::failed(
            format!("cannot make the file to serve: {e}"),
            "point TMPDIR to a folder with room",
        )
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = File::create(folder.path().join(NAME)).map_err(failed)?;
    file.set_len(size("size", words.size.as_deref().unwrap_or(SIZE))?)
        .map_err(failed)?;
    let program = this_program();
    let served = folder.path().display();
    let far = format!("'{program}' byteio serve '{served}' --listen 192.0.2.2 --plain");
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
    let plan = ROWS.iter().map(planned).collect::<Result<_, Failure>>()?;
    Ok((folder, plan))
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
    fn scaled_rows_say_so() {
        assert_eq!(how(&ROWS[0]), "round trip 30 ms");
        assert_eq!(how(&ROWS[2]), "1/10 of 10000 Mb/s, round trip 40 ms");
        assert_eq!(how(&ROWS[4]), "one cable");
    }
}
