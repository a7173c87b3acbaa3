//! Shape of a file: length, length of functions, its opening line, what must not stand in it.

use super::Finding;
use super::source::{Source, has_word};

const FILE_LINES_SOFT: usize = 400;
const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 70;

/// Macros and words that must not be left behind. Split, so that this file does not find itself.
const LEFT_BEHIND: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const MACROS: [&str; 3] = [
    concat!("dbg", "!"),
    concat!("unimplemented", "!"),
    concat!("todo", "!"),
];

/// Breaches in one file.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, message: String| findings.push(Finding::at(&source.path, line, message));
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX {
        find(
            lines,
            format!("{lines} lines; split it, at most {FILE_LINES_MAX}"),
        );
    }
    if !source.text.starts_with("//!") {
        find(
            1,
            "does not open with `//!`: what it is, and what it must never do".to_owned(),
        );
    }
    for (number, line) in source.text.lines().enumerate() {
        if let Some(word) = LEFT_BEHIND.iter().find(|w| has_word(line, w)) {
            find(number + 1, format!("{word}: do it or drop it"));
        }
    }
    for (number, line) in source.lines() {
        if let Some(name) = MACROS.iter().find(|m| line.contains(**m)) {
            find(number, format!("{name} left behind"));
        }
    }
    for function in functions(source) {
        if function.lines > FUNCTION_LINES_MAX {
            let message = format!(
                "function {} has {} lines; at most {FUNCTION_LINES_MAX}",
                function.name, function.lines
            );
            find(function.line, message);
        }
    }
    findings.extend(unwraps(source));
    findings
}

/// What deserves a look but fails nothing.
pub fn hints(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().count();
    if lines <= FILE_LINES_SOFT || lines > FILE_LINES_MAX {
        return Vec::new();
    }
    let message = format!("{lines} lines; above {FILE_LINES_SOFT} a file often holds two things");
    vec![Finding::at(&source.path, 0, message)]
}

/// `unwrap` and `expect` outside tests need a comment, on the line or just above it, that proves they cannot fail.
fn unwraps(source: &Source) -> Vec<Finding> {
    let text: Vec<&str> = source.text.lines().collect();
    let risky = |line: &str| line.contains(".unwrap()") || line.contains(".expect(");
    let explained = |number: usize| {
        let first = number.saturating_sub(5);
        text[first..number].iter().any(|l| l.contains("// "))
    };
    source
        .shipped()
        .filter(|(number, line)| risky(line) && !explained(*number))
        .map(|(number, _)| {
            Finding::at(
                &source.path,
                number,
                "unwrap without a comment that proves that it cannot fail",
            )
        })
        .collect()
}

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

/// Every function with a body, by counting braces in stripped code.
fn functions(source: &Source) -> Vec<Function> {
    let code = source.code.as_bytes();
    let mut found = Vec::new();
    for (at, _) in source.code.match_indices("fn ") {
        if at > 0 && (code[at - 1].is_ascii_alphanumeric() || code[at - 1] == b'_') {
            continue;
        }
        let rest = &source.code[at + 3..];
        let name: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if let Some(end) = body_end(rest).filter(|_| !name.is_empty()) {
            let lines_before = |offset: usize| source.code[..offset].matches('\n').count();
            let line = lines_before(at) + 1;
            let lines = lines_before(at + 3 + end) + 2 - line;
            found.push(Function { name, line, lines });
        }
    }
    found
}

/// Offset of the brace that closes the body of the signature at the start of `rest`; `None` for a declaration.
fn body_end(rest: &str) -> Option<usize> {
    let (mut nested, mut braces) = (0i32, 0i32);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' | b'[' if braces == 0 => nested += 1,
            b')' | b']' if braces == 0 => nested -= 1,
            b';' if nested == 0 && braces == 0 => return None,
            b'{' if nested == 0 => braces += 1,
            b'}' if nested == 0 => {
                braces -= 1;
                if braces == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let source = Source::new("crates/x/src/lib.rs", text.to_owned());
        check(&source).into_iter().map(|f| f.message).collect()
    }

    #[test]
    fn a_long_function_is_found_and_a_short_one_is_not() {
        let body = "    let a = \"}\";\n".repeat(69);
        let long = format!("//! x\nfn long<T>(a: [u8; 2])\nwhere T: Copy {{\n{body}}}\n");
        assert_eq!(messages(&long), ["function long has 72 lines; at most 70"]);
        assert!(messages("//! x\nfn short() {}\ntrait T { fn declared(&self); }\n").is_empty());
    }

    #[test]
    fn what_is_left_behind_is_found() {
        let text = format!("//! x\nfn f() {{ {}(1); }} // {}\n", MACROS[0], LEFT_BEHIND[0]);
        assert_eq!(messages(&text).len(), 2);
        assert_eq!(messages("fn f() {}\n").len(), 1, "no opening line");
        assert_eq!(messages(&"//! x\n".repeat(801)).len(), 1, "too long");
    }

    #[test]
    fn unwrap_needs_a_proof() {
        assert_eq!(messages("//! x\nfn f() { g().unwrap(); }\n").len(), 1);
        assert!(
            messages("//! x\nfn f() {\n    // g never fails: it is constant.\n    g().unwrap();\n}\n")
                .is_empty()
        );
        assert!(messages("//! x\n#[cfg(test)]\nmod tests { fn f() { g().unwrap(); } }\n").is_empty());
    }
}
