//! Pairs requests with answers, and answers what the server asks of us.
//!
//! There is no background task: whoever waits for an answer writes and reads at the same time, so neither
//! full pipe can block the other, and nothing happens while nobody waits. Notifications from the server are
//! dropped; nothing here needs them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, timeout_at};

use super::error::ClientError;
use super::framing::{Decoder, ErrorObject, Message};

/// How many requests are on their way at once. Enough to keep the server busy, few enough that a dying server
/// is noticed early.
const WINDOW: usize = 32;
const READ_SIZE: usize = 64 * 1024;
const METHOD_NOT_FOUND: i64 = -32601;

/// One end of a conversation with a language server.
pub(super) struct Client<R, W> {
    reader: R,
    writer: W,
    /// Where bytes are read into; a field, so that futures stay small.
    chunk: Vec<u8>,
    decoder: Decoder,
    /// Bytes that still have to be written.
    outgoing: Vec<u8>,
    /// False once the server closed its input; what it said before that can still be read.
    writable: bool,
    /// The answer to each item of `workspace/configuration`.
    settings: Value,
    next_id: i64,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<R, W> {
    pub(super) fn new(reader: R, writer: W, settings: Value) -> Self {
        let (chunk, decoder) = (vec![0; READ_SIZE], Decoder::default());
        Self { reader, writer, chunk, decoder, outgoing: Vec::new(), writable: true, settings, next_id: 1 }
    }

    /// Puts a notification in line; it is written with the next request or [`Self::flush`].
    pub(super) fn notify(&mut self, method: &str, params: &impl Serialize) {
        let params = to_value(params);
        self.put(&Message::Notification { method: method.to_owned(), params });
    }

    pub(super) async fn ask<P: Serialize, A: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &P,
        limit: Duration,
    ) -> Result<A, ClientError> {
        let mut answers = self.ask_all(method, std::slice::from_ref(params), limit).await?;
        Ok(answers.pop().expect("one question has one answer"))
    }

    /// Asks one question per element of `params`, some at a time; answers in the order of the questions.
    /// `limit` is how long the server may go without answering any of them.
    pub(super) async fn ask_all<P: Serialize, A: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &[P],
        limit: Duration,
    ) -> Result<Vec<A>, ClientError> {
        let mut waiting = BTreeMap::new();
        let mut answers: BTreeMap<usize, A> = BTreeMap::new();
        let mut unasked = params.iter().enumerate();
        let mut deadline = Instant::now() + limit;
        while answers.len() < params.len() {
            while waiting.len() < WINDOW
                && let Some((index, question)) = unasked.next()
            {
                waiting.insert(self.post(method, question), index);
            }
            let silent = || ClientError::Silent { method, limit };
            let (id, result) = timeout_at(deadline, self.next_answer(method)).await.map_err(|_| silent())??;
            // An answer to nothing in this call belongs to a question whose time limit had passed.
            let Some(index) = waiting.remove(&id) else { continue };
            let value =
                result.map_err(|error| ClientError::Refused { method, code: error.code, message: error.message })?;
            let answer = serde_json::from_value(value).map_err(|source| ClientError::BadAnswer { method, source })?;
            answers.insert(index, answer);
            deadline = Instant::now() + limit;
        }
        Ok(answers.into_values().collect())
    }

    /// Writes what is in line.
    pub(super) async fn flush(&mut self, limit: Duration) -> Result<(), ClientError> {
        let silent = |_| ClientError::Silent { method: "write", limit };
        timeout_at(Instant::now() + limit, async {
            while !self.outgoing.is_empty() {
                self.pump("write").await?;
            }
            Ok(())
        })
        .await
        .map_err(silent)?
    }

    fn post(&mut self, method: &str, params: &impl Serialize) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let params = to_value(params);
        self.put(&Message::Request { id: id.into(), method: method.to_owned(), params });
        id
    }

    fn put(&mut self, message: &Message) {
        if self.writable {
            self.outgoing.extend(message.to_bytes());
        }
    }

    /// Reads until the server answers something, and answers its own requests on the way.
    async fn next_answer(&mut self, method: &'static str) -> Result<(i64, Result<Value, ErrorObject>), ClientError> {
        loop {
            match self.decoder.next()? {
                Some(Message::Answer { id, result }) => match (id.as_i64(), result) {
                    (Some(id), result) => return Ok((id, result)),
                    (None, Err(error)) => {
                        return Err(ClientError::Refused { method, code: error.code, message: error.message });
                    }
                    (None, Ok(_)) => {}
                },
                Some(Message::Request { id, method, params }) => {
                    let result = self.reply(&method, &params);
                    self.put(&Message::Answer { id, result });
                }
                Some(Message::Notification { .. }) => {}
                None => self.pump(method).await?,
            }
        }
    }

    /// Moves bytes in whichever direction can go on. Both branches may be cancelled without losing a byte.
    async fn pump(&mut self, method: &'static str) -> Result<(), ClientError> {
        tokio::select! {
            read = self.reader.read(&mut self.chunk) => match read.map_err(ClientError::Read)? {
                0 => return Err(ClientError::Closed { method }),
                count => self.decoder.push(self.chunk.get(..count).unwrap_or_default()),
            },
            written = self.writer.write(&self.outgoing), if !self.outgoing.is_empty() => match written {
                Ok(count) if count > 0 => {
                    self.outgoing.drain(..count);
                }
                // The server doesn't listen any more. Its output says better why than this error does.
                Ok(_) | Err(_) => {
                    self.writable = false;
                    self.outgoing.clear();
                }
            },
        }
        Ok(())
    }

    fn reply(&self, method: &str, params: &Value) -> Result<Value, ErrorObject> {
        match method {
            "workspace/configuration" => {
                let items = params.get("items").and_then(Value::as_array).map_or(0, Vec::len);
                Ok(json!(vec![&self.settings; items]))
            }
            "window/workDoneProgress/create" | "client/registerCapability" | "client/unregisterCapability" => {
                Ok(Value::Null)
            }
            unknown => Err(ErrorObject { code: METHOD_NOT_FOUND, message: format!("{unknown} is not supported") }),
        }
    }
}

fn to_value(params: &impl Serialize) -> Value {
    serde_json::to_value(params).expect("protocol values have string keys and no failing serializer")
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};
    use tokio::task::JoinSet;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);
    const SHORT: Duration = Duration::from_millis(300);
    type TestClient = Client<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

    /// The server's end of the pipe, driven by the test.
    struct Server {
        stream: DuplexStream,
        decoder: Decoder,
    }

    impl Server {
        async fn next(&mut self) -> Message {
            loop {
                if let Some(message) = self.decoder.next().unwrap() {
                    return message;
                }
                let mut chunk = [0; 512];
                let count = self.stream.read(&mut chunk).await.unwrap();
                assert_ne!(count, 0, "the client closed the pipe");
                self.decoder.push(&chunk[..count]);
            }
        }

        async fn next_request(&mut self) -> (Value, Value) {
            let message = self.next().await;
            let Message::Request { id, params, .. } = message else { panic!("not a request: {message:?}") };
            (id, params)
        }

        async fn send(&mut self, message: Message) {
            self.stream.write_all(&message.to_bytes()).await.unwrap();
        }

        async fn answer(&mut self, id: Value, result: Value) {
            self.send(Message::Answer { id, result: Ok(result) }).await;
        }
    }

    fn pair(capacity: usize) -> (TestClient, Server) {
        let (ours, theirs) = duplex(capacity);
        let (reader, writer) = split(ours);
        let client = Client::new(reader, writer, json!({"setting": 1}));
        (client, Server { stream: theirs, decoder: Decoder::default() })
    }

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_questions_not_of_their_arrival() {
        let (mut client, mut server) = pair(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut got = vec![server.next_request().await, server.next_request().await, server.next_request().await];
            got.reverse();
            for (id, params) in got {
                server.answer(id, params).await;
            }
        });
        let answers: Vec<i64> = client.ask_all("echo", &[10, 20, 30], LIMIT).await.unwrap();
        assert_eq!(answers, [10, 20, 30]);
    }

    #[tokio::test]
    async fn a_server_that_writes_before_it_reads_does_not_block_us() {
        let (mut client, mut server) = pair(64);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            for _ in 0..500 {
                let (id, params) = server.next_request().await;
                // Each answer is larger than the pipe, while our next questions already fill the other pipe.
                server.answer(id, json!({"echo": params, "padding": "x".repeat(300)})).await;
            }
        });
        let questions: Vec<i64> = (0..500).collect();
        let answers: Vec<Value> = client.ask_all("echo", &questions, LIMIT).await.unwrap();
        let echoed: Vec<i64> = answers.iter().map(|answer| answer["echo"].as_i64().unwrap()).collect();
        assert_eq!(echoed, questions);
    }

    #[tokio::test]
    async fn requests_of_the_server_are_answered() {
        let (mut client, mut server) = pair(4096);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (asked, _) = server.next_request().await;
            let mut replies = Vec::new();
            for (id, method, params) in [
                (json!("a"), "workspace/configuration", json!({"items": [{}, {}]})),
                (json!(7), "window/workDoneProgress/create", json!({"token": 1})),
                (json!(8), "client/registerCapability", json!({})),
                (json!(9), "workspace/applyEdit", json!({})),
            ] {
                server.send(Message::Request { id, method: method.to_owned(), params }).await;
                replies.push(server.next().await);
            }
            server.answer(asked, Value::Null).await;
            replies
        });
        client.ask::<_, Value>("wait", &(), LIMIT).await.unwrap();
        let replies = tasks.join_next().await.unwrap().unwrap();
        let ok = |id: Value, result| Message::Answer { id, result: Ok(result) };
        assert_eq!(replies[0], ok(json!("a"), json!([{"setting": 1}, {"setting": 1}])));
        assert_eq!(replies[1], ok(json!(7), Value::Null));
        assert_eq!(replies[2], ok(json!(8), Value::Null));
        assert!(matches!(&replies[3], Message::Answer { result: Err(error), .. } if error.code == METHOD_NOT_FOUND));
    }

    #[tokio::test]
    async fn an_error_answer_is_an_error() {
        let (mut client, mut server) = pair(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (id, _) = server.next_request().await;
            let error = ErrorObject { code: -32602, message: "bad".to_owned() };
            server.send(Message::Answer { id, result: Err(error) }).await;
            server
        });
        let error = client.ask::<_, Value>("m", &(), LIMIT).await.unwrap_err();
        assert!(matches!(error, ClientError::Refused { method: "m", code: -32602, .. }), "{error:?}");
    }

    #[tokio::test]
    async fn silence_ends_at_the_time_limit_even_under_a_rain_of_notifications() {
        let (mut client, mut server) = pair(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                server.send(Message::Notification { method: "noise".to_owned(), params: Value::Null }).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let error = client.ask::<_, Value>("m", &(), SHORT).await.unwrap_err();
        assert!(matches!(error, ClientError::Silent { method: "m", limit: SHORT }), "{error:?}");
    }

    #[tokio::test]
    async fn the_time_limit_counts_from_the_last_answer() {
        let (mut client, mut server) = pair(4096);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            for _ in 0..4 {
                let (id, params) = server.next_request().await;
                tokio::time::sleep(SHORT / 2).await;
                server.answer(id, params).await;
            }
        });
        let answers: Vec<i64> = client.ask_all("slow", &[1, 2, 3, 4], SHORT).await.unwrap();
        assert_eq!(answers, [1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn a_late_answer_is_not_taken_for_the_next_one() {
        let (mut client, mut server) = pair(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (late, _) = server.next_request().await;
            let (id, _) = server.next_request().await;
            server.answer(late, json!("late")).await;
            server.answer(id, json!("right")).await;
        });
        client.ask::<_, Value>("m", &(), SHORT).await.unwrap_err();
        assert_eq!(client.ask::<_, Value>("m", &(), LIMIT).await.unwrap(), json!("right"));
    }

    #[tokio::test]
    async fn a_server_that_goes_away_is_an_error() {
        let (mut client, mut server) = pair(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            server.next_request().await;
            server.stream.write_all(b"Content-Length: 50\r\n\r\n{\"half\"").await.unwrap();
        });
        let error = client.ask::<_, Value>("m", &(), LIMIT).await.unwrap_err();
        assert!(matches!(error, ClientError::Closed { method: "m" }), "{error:?}");
    }

    #[tokio::test]
    async fn garbage_and_answers_of_another_shape_are_errors() {
        let (mut client, mut server) = pair(1024);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (id, _) = server.next_request().await;
            server.answer(id, json!("text")).await;
            server.next_request().await;
            server.stream.write_all(b"panicked at line 1\n").await.unwrap();
            server
        });
        let error = client.ask::<_, Vec<i64>>("m", &(), LIMIT).await.unwrap_err();
        assert!(matches!(error, ClientError::BadAnswer { .. }), "{error:?}");
        let error = client.ask::<_, Value>("m", &(), LIMIT).await.unwrap_err();
        assert!(matches!(error, ClientError::Framing(_)), "{error:?}");
    }
}
