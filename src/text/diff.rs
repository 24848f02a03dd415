//! The diff that people read.

use similar::TextDiff;

/// A unified diff of one file with three lines of context, headed `a/PATH` and `b/PATH`; empty when nothing differs.
pub(crate) fn unified_diff(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}
