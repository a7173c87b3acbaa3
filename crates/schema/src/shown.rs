//! Which characters of text from outside may reach a screen or a page, and the one way to quote such text in a message. What a
//! form shows in place of the others is the form's to say.

/// Whether a terminal or a browser obeys `character` rather than showing it: control characters, marks that turn the direction
/// of text, ends of lines and paragraphs, and characters without width, which make two names look alike.
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// `text` of others as a message may quote it: in one line, without what a terminal obeys, and of at most `characters_max`
/// characters.
pub fn quoted(text: &str, characters_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let shown = words.join(" ");
    shown
        .chars()
        .filter(|c| !is_obeyed(*c))
        .take(characters_max)
        .collect()
}

/// A value as an error repeats it: as it was typed, in quotation marks where it could be taken for words of the error's own.
pub fn value(text: &str) -> String {
    let is_word = |c: char| !c.is_whitespace() && c != '"';
    match !text.is_empty() && text.chars().all(is_word) && !text.contains("--") {
        true => text.to_owned(),
        false => format!("{text:?}"),
    }
}

/// Without the system's numbers of its errors, `(os error 11)`: the words before them say the same.
pub fn without_numbers(mut text: String) -> String {
    const NUMBER: &str = " (os error ";
    while let Some(start) = text.find(NUMBER) {
        let rest = &text[start + NUMBER.len()..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if !rest[digits..].starts_with(')') {
            break;
        }
        text.replace_range(start..start + NUMBER.len() + digits + 1, "");
    }
    text
}

/// A word as a shell takes it for one, whatever is in it.
pub fn for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/.,:_-+=@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_obeyed, quoted, value, without_numbers};

    #[test]
    fn values_that_are_no_words_are_in_quotation_marks() {
        for plain in ["8", "1..4:x2", "-1", "a'b"] {
            assert_eq!(value(plain), plain);
        }
        for (typed, shown) in [
            ("", r#""""#),
            ("x --window", r#""x --window""#),
            (r#"a"b"#, r#""a\"b""#),
            ("x--y", r#""x--y""#),
        ] {
            assert_eq!(value(typed), shown);
        }
    }

    #[test]
    fn only_whole_numbers_of_errors_are_left_out() {
        for (text, left) in [
            ("refused (os error 111)", "refused"),
            ("a (os error 2) of b (os error 13): c", "a of b: c"),
            ("a (os error x)", "a (os error x)"),
            ("a (os error 5", "a (os error 5"),
            ("a (5)", "a (5)"),
        ] {
            assert_eq!(without_numbers(text.to_owned()), left);
        }
    }

    #[test]
    fn what_moves_the_cursor_or_turns_text_is_obeyed() {
        for character in
            "\u{0}\u{1b}\u{7f}\u{9b}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}".chars()
        {
            assert!(is_obeyed(character), "{character:?}");
        }
        for character in "aß µ·─█⣀中".chars() {
            assert!(!is_obeyed(character), "{character:?}");
        }
    }

    #[test]
    fn quoted_text_is_one_short_line_that_moves_nothing() {
        assert_eq!(
            quoted(" two\r\nlines\tand\u{2028}more ", 99),
            "two lines and more"
        );
        assert_eq!(quoted("a\u{1b}[2Jb\u{202e}c\u{200b}d", 99), "a[2Jbcd");
        assert_eq!(quoted("µµµµ", 3), "µµµ");
        assert_eq!(
            quoted("\u{7}\u{7}\u{7}abc", 3),
            "abc",
            "what is dropped does not count"
        );
    }
}
