//! Words of a command line as text. A name that is not UTF-8 is written as a shell takes it, `$'caf\xe9'`; it must never lose a byte
//! in silence.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use wirespeed_schema::shown::{for_shell, is_obeyed};

/// The word itself, or what stands for it in a shell.
pub fn of(word: &OsStr) -> String {
    if let Some(text) = word.to_str() {
        return text.to_owned();
    }
    let mut said = String::from("$'");
    let hex = |said: &mut String, bytes: &[u8]| {
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(said, "\\x{byte:02x}");
        }
    };
    for chunk in word.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' => said.extend(['\\', c]),
                c if is_obeyed(c) => hex(&mut said, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => said.push(c),
            }
        }
        hex(&mut said, chunk.invalid());
    }
    said + "'"
}

/// Words as a line that a shell takes apart into the same.
pub fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| for_shell(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_takes_a_line_apart_into_the_same_words() {
        let words = ["a", "", "it's", "b c", "$HOME", "\\", "*", "é\"`", "~", "#"].map(str::to_owned);
        let told = format!("printf '%s\\n' {}", line(&words));
        let said = Command::new("sh").args(["-c", &told]).output().unwrap().stdout;
        assert_eq!(String::from_utf8(said).unwrap(), words.join("\n") + "\n");
        assert_eq!(line(&["lab".to_owned(), "a b".to_owned()]), "lab 'a b'");
    }

    #[test]
    fn no_byte_of_a_word_is_lost() {
        for (bytes, said) in [
            (&b"run"[..], "run"),
            ("naïve 'x'".as_bytes(), "naïve 'x'"),
            (b"caf\xe9.json", r"$'caf\xe9.json'"),
            (b"\xc3\xa9'\\\n\xff", r"$'é\'\\\x0a\xff'"),
        ] {
            assert_eq!(of(OsStr::from_bytes(bytes)), said);
        }
    }
}
