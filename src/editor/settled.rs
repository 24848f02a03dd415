//! Calls inside a region that earlier rounds settled, hidden from a model behind one name each. It can't
//! change what it isn't shown, and isn't led to think that the outer call is done already.

use crate::text::ByteSpan;

/// A region with its settled parts replaced by names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Masked {
    pub(super) text: String,
    /// Name and settled text.
    parts: Vec<(String, String)>,
}

impl Masked {
    pub(super) fn new(region: &str, settled: &[ByteSpan]) -> Self {
        let mut text = region.to_owned();
        let mut parts = Vec::new();
        // From the end, so that earlier spans keep their place.
        let mut spans: Vec<ByteSpan> = outermost(settled);
        spans.sort_by_key(|span| std::cmp::Reverse(*span));
        for span in spans {
            let Some(part) = region.get(span.range()) else { continue };
            let taken = |name: &String| region.contains(name.as_str()) || parts.iter().any(|(other, _)| other == name);
            let mut names = (1..).map(|n| format!("inner_{n}"));
            let name = names.find(|name| !taken(name)).expect("a text of finite length leaves a number free");
            text.replace_range(span.range(), &name);
            parts.push((name, part.to_owned()));
        }
        Self { text, parts }
    }

    /// Puts the settled parts back. A name that is missing or doubled stays visible, and the verifier objects.
    pub(super) fn restore(&self, new_text: &str) -> String {
        self.parts.iter().fold(new_text.to_owned(), |text, (name, part)| {
            if text.matches(name.as_str()).count() == 1 { text.replace(name.as_str(), part) } else { text }
        })
    }
}

/// The spans that lie in no other.
fn outermost(spans: &[ByteSpan]) -> Vec<ByteSpan> {
    let is_inner = |span: &ByteSpan| spans.iter().any(|other| other != span && other.contains(*span));
    let mut outer: Vec<ByteSpan> = spans.iter().copied().filter(|span| !is_inner(span)).collect();
    outer.dedup();
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_parts_are_hidden_and_come_back_as_they_were() {
        let region = "f(f(f(1)), g(2))";
        let masked = Masked::new(region, &[ByteSpan::new(4, 8), ByteSpan::new(2, 9), ByteSpan::new(11, 15)]);
        assert_eq!(masked.text, "f(inner_2, inner_1)");
        assert_eq!(masked.restore("f(inner_2, inner_1, v=True)"), "f(f(f(1)), g(2), v=True)");
    }

    #[test]
    fn a_name_that_is_lost_or_doubled_is_not_papered_over() {
        let masked = Masked::new("f(g(1))", &[ByteSpan::new(2, 6)]);
        assert_eq!(masked.restore("f(v=True)"), "f(v=True)");
        assert_eq!(masked.restore("f(inner_1, inner_1)"), "f(inner_1, inner_1)");
    }

    #[test]
    fn the_names_are_new_to_the_region() {
        assert_eq!(Masked::new("f(g(1), inner_1)", &[ByteSpan::new(2, 6)]).text, "f(inner_2, inner_1)");
    }
}
