//! Text of strangers on a terminal: what file names and source lines hold must not move the cursor, change colours or
//! turn the direction of writing.

use std::fmt::Write as _;

/// One line: control characters and marks of direction as escapes, a tab as it is.
pub(in crate::cli) fn safe(text: &str) -> String {
    escaped(text, |c| c == '\t')
}

/// The same for a text of several lines.
pub(in crate::cli) fn safe_lines(text: &str) -> String {
    escaped(text, |c| c == '\t' || c == '\n')
}

fn escaped(text: &str, is_kept: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) || !(c.is_control() || redirects(c)) {
            out.push(c);
        } else {
            match u32::from(c) {
                code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                code => write!(out, "\\u{{{code:x}}}"),
            }
            .expect("writing to a string can't fail");
        }
    }
    out
}

/// Marks that turn the direction of writing or end a line.
const fn redirects(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(safe("a\u{1b}[31mb\r\n\u{7f}\u{9b}"), "a\\x1b[31mb\\x0d\\x0a\\x7f\\x9b");
        assert_eq!(safe("x\u{202e}y\u{2066}"), "x\\u{202e}y\\u{2066}");
        assert_eq!(safe("\té😀"), "\té😀");
        assert_eq!(safe_lines("a\nb\u{1b}"), "a\nb\\x1b");
    }
}
