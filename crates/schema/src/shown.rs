//! Which characters of a name from outside may reach a screen or a page. What stands in place of the others is the form's to
//! say.

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

#[cfg(test)]
mod tests {
    use super::is_obeyed;

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
}
