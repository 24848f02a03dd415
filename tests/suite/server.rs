//! A model server of the suite's own: it speaks as much HTTP as a client needs, answers as it is told, and
//! keeps what it was asked.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Such as `GET /v1/models`.
    pub(crate) line: String,
    /// Lower-case names, values as sent.
    headers: Vec<(String, String)>,
    /// As it came over the wire.
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn is_chat(&self) -> bool {
        self.line == "POST /v1/chat/completions"
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("a request is JSON: {e}\n{}", self.body))
    }

    /// The last turn: what is asked now. It is JSON itself.
    pub(crate) fn asked(&self) -> Value {
        let turn = &self.json()["messages"].as_array().and_then(|turns| turns.last()).cloned().unwrap_or_default();
        assert_eq!(turn["role"], "user");
        serde_json::from_str(turn["content"].as_str().expect("a turn has a text")).expect("a question is JSON")
    }

    /// The code that is to be edited.
    pub(crate) fn code(&self) -> String {
        self.asked()["code"].as_str().expect("a question shows code").to_owned()
    }

    /// 0 for the first attempt at a site.
    pub(crate) fn attempt(&self) -> u64 {
        self.json()["seed"].as_u64().expect("each attempt has its seed")
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A status and a body.
    Body(u16, String),
    /// Nothing, with the connection open.
    Silence,
}

/// A completion that ended by itself.
pub(crate) fn completion(content: &str) -> Answer {
    ended(content, "stop")
}

/// A completion that ended for this reason.
pub(crate) fn ended(content: &str, finish_reason: &str) -> Answer {
    let message = json!({"role": "assistant", "content": content});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
    let usage = json!({"prompt_tokens": 161, "completion_tokens": 27, "total_tokens": 188});
    let body = json!({"id": "x", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice], "usage": usage});
    Answer::Body(200, body.to_string())
}

/// A well-formed answer with this new text.
pub(crate) fn edit(new_text: &str) -> Answer {
    completion(&json!({"new_text": new_text, "rationale": "Added verbose=True."}).to_string())
}

/// Appends an argument to the call that ends the text: the outermost one.
pub(crate) fn with_argument(code: &str, argument: &str) -> String {
    let open = code.strip_suffix(')').unwrap_or_else(|| panic!("{code:?} ends with a call"));
    let (inside, blank) = open.split_at(open.trim_end().len());
    let separator = if inside.ends_with('(') {
        ""
    } else if inside.ends_with(',') {
        " "
    } else {
        ", "
    };
    format!("{inside}{separator}{argument}{blank})")
}

/// What a server does right: it reads the argument from the instruction and adds it to the code that it is shown.
pub(crate) fn right(request: &Request) -> Answer {
    let asked = request.json()["messages"].to_string();
    let instruction = asked.rsplit("Add the keyword argument ").next().and_then(|rest| rest.split(" to the ").next());
    edit(&with_argument(&request.code(), instruction.expect("the instruction names the argument")))
}

/// A server that runs as long as the test does.
pub(crate) struct Server {
    pub(crate) base_url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Lists one model, `scripted`, and answers chats.
    pub(crate) fn chat(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let models = json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).to_string();
        Self::start(move |request| match request.line.as_str() {
            "GET /v1/models" => Answer::Body(200, models.clone()),
            _ if request.is_chat() => answer(request),
            other => panic!("nobody should ask {other}"),
        })
    }

    /// Answers everything that is asked.
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { base_url: format!("http://127.0.0.1:{port}/v1"), requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no server thread panics with the lock").clone()
    }

    pub(crate) fn chats(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_chat).collect()
    }
}

/// An address where nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    format!("http://{}/v1", listener.local_addr().expect("a bound socket has an address"))
}

/// One connection, one request.
fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request) -> Answer) {
    let Some(request) = read(&mut stream) else { return };
    kept.lock().expect("no server thread panics with the lock").push(request.clone());
    match answer(&request) {
        Answer::Body(status, body) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            // The client may have given up; that is its business.
            drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())));
        }
        Answer::Silence => thread::sleep(Duration::from_mins(1)),
    }
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        bytes.extend_from_slice(buffer.get(..read)?);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(bytes.get(..end)?).into_owned();
        let body = bytes.get(end + 4..)?;
        let mut lines = head.split("\r\n");
        let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length").map_or(Some(0), |(_, n)| n.parse().ok());
        if body.len() >= length? {
            let body = String::from_utf8(body.to_vec()).expect("a request is UTF-8");
            return Some(Request { line, headers, body });
        }
    }
}

#[test]
fn the_scripted_edit_is_the_one_that_is_asked() {
    for (code, edited) in [
        ("f()", "f(v=1)"),
        ("f(f(2))", "f(f(2), v=1)"),
        ("q.m(a).m(b, )", "q.m(a).m(b, v=1 )"),
        ("f(\n    a,\n)", "f(\n    a, v=1\n)"),
    ] {
        assert_eq!(with_argument(code, "v=1"), edited);
    }
}
