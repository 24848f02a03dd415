//! Where the lines of one text start. A line ends at `\n`, `\r\n` or a lone `\r`, as Python has it.

/// Byte offsets of the starts of all lines; there is always at least one line.
#[derive(Debug, Clone)]
pub(super) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(at + 1);
        }
        Self { starts }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The 0-based line that holds the offset.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// Start of the line and start of the next (or the end of the text).
    pub(super) fn bounds(&self, line: usize, text_len: usize) -> Option<(usize, usize)> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(text_len);
        Some((start, end))
    }
}
