//! Bytes to messages and back: `Content-Length` headers around JSON-RPC bodies. Pure; malformed input is an
//! error, since after it nobody knows where the next message starts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::FramingError;

/// Real headers are under 100 bytes.
const HEADER_LIMIT: usize = 4096;
/// Five thousand references take about one megabyte.
const BODY_LIMIT: usize = 128 * 1024 * 1024;

/// The `error` of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ErrorObject {
    pub(super) code: i64,
    pub(super) message: String,
}

/// One JSON-RPC message. Ids stay JSON values: a server may number its own requests with strings.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Answer { id: Value, result: Result<Value, ErrorObject> },
}

#[derive(Deserialize)]
struct RawMessage {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<ErrorObject>,
}

impl Message {
    /// The message with its header.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let body = match self {
            Self::Request { id, method, params } => {
                serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            }
            Self::Notification { method, params } => {
                serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params})
            }
            Self::Answer { id, result: Ok(result) } => {
                serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result})
            }
            Self::Answer { id, result: Err(error) } => {
                serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        }
        .to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn parse(body: &[u8]) -> Result<Self, FramingError> {
        let value: Value = serde_json::from_slice(body).map_err(FramingError::NotJson)?;
        let not_a_message = || FramingError::NotAMessage { found: excerpt(body) };
        if !value.is_object() {
            return Err(not_a_message());
        }
        let RawMessage { id, method, params, result, error } =
            serde_json::from_value(value).map_err(|_| not_a_message())?;
        match (id, method, error) {
            (Some(id), Some(method), None) => Ok(Self::Request { id, method, params }),
            (None, Some(method), None) => Ok(Self::Notification { method, params }),
            (Some(id), None, None) => Ok(Self::Answer { id, result: Ok(result) }),
            // A server that couldn't read a request has no id to answer to.
            (id, None, Some(error)) => Ok(Self::Answer { id: id.unwrap_or(Value::Null), result: Err(error) }),
            (None, None, None) | (_, Some(_), Some(_)) => Err(not_a_message()),
        }
    }
}

/// Collects bytes as they arrive and gives out whole messages.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    buffer: Vec<u8>,
    /// How much of the buffer was given out already.
    taken: usize,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, if all of it is there.
    pub(super) fn next(&mut self) -> Result<Option<Message>, FramingError> {
        let pending = self.buffer.get(self.taken..).unwrap_or_default();
        let Some((header_len, body_len)) = parse_header(pending)? else { return Ok(None) };
        let Some(body) = pending.get(header_len..header_len + body_len) else { return Ok(None) };
        let message = Message::parse(body)?;
        self.taken += header_len + body_len;
        Ok(Some(message))
    }
}

/// Length of the header with its empty line, and of the body it announces; `None` while the header isn't whole.
/// What can't become a header is an error at its first line: waiting for the rest would look like silence.
fn parse_header(pending: &[u8]) -> Result<Option<(usize, usize)>, FramingError> {
    let mut at = 0;
    let mut length = None;
    loop {
        let rest = pending.get(at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            return match pending.len() {
                len if len > HEADER_LIMIT => Err(FramingError::HeaderTooLong { limit: HEADER_LIMIT }),
                _ if rest.iter().any(|byte| !matches!(byte, b' '..=b'~' | b'\t' | b'\r')) => {
                    Err(FramingError::NotAHeader { found: excerpt(rest) })
                }
                _ => Ok(None),
            };
        };
        let line = rest.get(..end).unwrap_or_default();
        let not_a_header = || FramingError::NotAHeader { found: excerpt(line) };
        let line = line.strip_suffix(b"\r").ok_or_else(not_a_header)?;
        at += end + 1;
        if at > HEADER_LIMIT {
            return Err(FramingError::HeaderTooLong { limit: HEADER_LIMIT });
        }
        if line.is_empty() {
            break;
        }
        let line = str::from_utf8(line).map_err(|_| not_a_header())?;
        let (name, value) = line.split_once(':').ok_or_else(not_a_header)?;
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(not_a_header());
        }
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim();
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            if length.is_some() || !digits {
                return Err(FramingError::NoLength);
            }
            length = Some(value.parse::<usize>().map_err(|_| FramingError::NoLength)?);
        }
    }
    let length = length.ok_or(FramingError::NoLength)?;
    if length > BODY_LIMIT {
        return Err(FramingError::BodyTooLong { length, limit: BODY_LIMIT });
    }
    Ok(Some((at, length)))
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..120).unwrap_or(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn notification(text: &str) -> Message {
        Message::Notification { method: "m".to_owned(), params: json!({ "text": text }) }
    }

    fn error_of(bytes: &[u8]) -> FramingError {
        let mut decoder = Decoder::default();
        decoder.push(bytes);
        decoder.next().unwrap_err()
    }

    #[test]
    fn messages_survive_being_cut_at_every_byte() {
        let sent = [notification("é😀"), Message::Answer { id: json!(1), result: Ok(Value::Null) }];
        let bytes: Vec<u8> = sent.iter().flat_map(Message::to_bytes).collect();
        for step in 1..bytes.len() {
            let mut decoder = Decoder::default();
            let mut got = Vec::new();
            for chunk in bytes.chunks(step) {
                decoder.push(chunk);
                while let Some(message) = decoder.next().unwrap() {
                    got.push(message);
                }
            }
            assert_eq!(got, sent, "chunks of {step} bytes");
        }
    }

    #[test]
    fn all_kinds_of_messages_come_back() {
        let error = ErrorObject { code: -32601, message: "no".to_owned() };
        for message in [
            Message::Request { id: json!("s-1"), method: "m".to_owned(), params: json!([1]) },
            notification(""),
            Message::Answer { id: json!(7), result: Ok(json!([])) },
            Message::Answer { id: json!(8), result: Err(error) },
        ] {
            let mut decoder = Decoder::default();
            decoder.push(&message.to_bytes());
            assert_eq!(decoder.next().unwrap(), Some(message));
            assert_eq!(decoder.next().unwrap(), None);
        }
    }

    #[test]
    fn other_headers_and_any_case_are_accepted() {
        let mut decoder = Decoder::default();
        decoder.push(b"content-type: application/json\r\nCONTENT-LENGTH:  14\r\n\r\n{\"method\":\"m\"}");
        assert!(matches!(decoder.next(), Ok(Some(Message::Notification { .. }))));
    }

    #[test]
    fn chatter_is_an_error_at_its_first_line() {
        assert!(matches!(error_of(b"Traceback (most recent call last):\n"), FramingError::NotAHeader { .. }));
        assert!(matches!(error_of(b"hello\r\n"), FramingError::NotAHeader { .. }));
        assert!(matches!(error_of(b"\x00\x01"), FramingError::NotAHeader { .. }));
    }

    #[test]
    fn a_length_must_be_there_once_and_be_a_number() {
        for header in ["X: 1", "Content-Length: -3", "Content-Length: ", "Content-Length: 1\r\nContent-Length: 1"] {
            assert!(matches!(error_of(format!("{header}\r\n\r\n").as_bytes()), FramingError::NoLength), "{header}");
        }
    }

    #[test]
    fn sizes_are_limited_before_anything_is_read() {
        let body = error_of(b"Content-Length: 99999999999\r\n\r\n");
        assert!(matches!(body, FramingError::BodyTooLong { length: 99_999_999_999, .. }));
        assert!(matches!(error_of(&[b'x'; 5000]), FramingError::HeaderTooLong { .. }));
    }

    #[test]
    fn bodies_that_are_no_messages_are_errors() {
        let framed = |body: &str| error_of(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        assert!(matches!(framed("{\"id\":"), FramingError::NotJson(_)));
        for body in ["[]", "3", "{}", "{\"method\": 3}"] {
            assert!(matches!(framed(body), FramingError::NotAMessage { .. }), "{body}");
        }
    }
}
