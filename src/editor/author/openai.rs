//! The model author: one chat completion per attempt from any OpenAI-compatible server. The only file that
//! names the client. What is asked is in `prompt.rs`, how an answer is read in `contract.rs`.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::{Config, OpenAIConfig};
use async_openai::error::OpenAIError;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::editor::contract::{Completion, schema};
use crate::editor::prompt::{self, Turn};
use crate::editor::settled::Masked;
use crate::editor::{EditorError, Spared};
use crate::plan::{Assignment, Reply};

use super::{Attempt, Author, rules};

/// llama.cpp's server drops an idle connection after 5 s without a word.
const IDLE: Duration = Duration::from_secs(4);
/// How often a request is sent again after a connection broke, on top of the client's own retries.
const RETRIES: u32 = 2;
/// A longer message of a server is cut.
const MESSAGE_LIMIT: usize = 500;

/// Where the model is and how patiently it is asked.
#[derive(Clone)]
pub(crate) struct ModelSettings {
    /// With or without the path `/v1`.
    pub(crate) base_url: String,
    /// `None`: the first that the server lists.
    pub(crate) model: Option<String>,
    /// Sent to this server only, and shown nowhere.
    pub(crate) api_key: Option<String>,
    /// For one attempt, retries included.
    pub(crate) time_limit: Duration,
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let api_key = if self.api_key.is_some() { "set" } else { "none" };
        f.debug_struct("ModelSettings")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("api_key", &api_key)
            .field("time_limit", &self.time_limit)
            .finish()
    }
}

/// A model behind a server.
pub(crate) struct Model {
    client: Client<Endpoint>,
    address: String,
    name: String,
    api_key: Option<String>,
    time_limit: Duration,
    spared: Spared,
    /// Cleared for good when the server turns the schema down.
    sends_schema: AtomicBool,
    /// The shortest file with which a prompt was too long for the server, in bytes; files as long stay out of it.
    too_long: AtomicUsize,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("address", &self.address).field("name", &self.name).finish_non_exhaustive()
    }
}

/// The server's address and key. The client's own configuration sends an empty key where there is none.
#[derive(Clone)]
struct Endpoint(OpenAIConfig);

impl Endpoint {
    /// Every field is set, so that nothing meant for another server is read from the environment.
    fn new(address: &str, api_key: Option<&str>) -> Self {
        let config = OpenAIConfig::new().with_api_base(address).with_api_key(api_key.unwrap_or_default());
        Self(config.with_org_id("").with_project_id(""))
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        let mut headers = self.0.headers();
        if self.api_key().expose_secret().is_empty() {
            headers.remove(AUTHORIZATION);
        }
        headers
    }

    fn url(&self, path: &str) -> String {
        self.0.url(path)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.0.query()
    }

    fn api_base(&self) -> &str {
        self.0.api_base()
    }

    fn api_key(&self) -> &SecretString {
        self.0.api_key()
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: &'a [Turn],
    temperature: f32,
    seed: usize,
    max_tokens: usize,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

impl Model {
    /// Reaches the server and settles which model is asked.
    pub(crate) async fn connect(settings: &ModelSettings, spared: Spared) -> Result<Self, EditorError> {
        let address = base_address(&settings.base_url)?;
        let api_key = settings.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        if api_key.is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(EditorError::Key);
        }
        let http = http_client(&address, settings.time_limit)?;
        let name = match &settings.model {
            Some(name) => name.clone(),
            None => first_model(&http, &address, api_key, settings.time_limit).await?,
        };
        Ok(Self {
            client: Client::build(http, Endpoint::new(&address, api_key)),
            address,
            name,
            api_key: api_key.map(str::to_owned),
            time_limit: settings.time_limit,
            spared,
            sends_schema: AtomicBool::new(true),
            too_long: AtomicUsize::new(usize::MAX),
        })
    }

    /// Asks with the file if there is room for it, else without.
    async fn ask_fitting(&self, assignment: &Assignment, code: &str) -> Result<Completion, EditorError> {
        let length = assignment.context.as_ref().map_or(0, String::len);
        let without = || Assignment { context: None, ..assignment.clone() };
        if length >= self.too_long.load(Ordering::Relaxed) {
            return self.ask(&without(), code).await;
        }
        match self.ask(assignment, code).await {
            Err(error) if length > 0 && is_about_the_length(&error) => {
                self.too_long.store(length, Ordering::Relaxed);
                self.ask(&without(), code).await
            }
            other => other,
        }
    }

    async fn ask(&self, assignment: &Assignment, code: &str) -> Result<Completion, EditorError> {
        let messages = prompt::turns(assignment, code);
        let response_format = self.sends_schema.load(Ordering::Relaxed).then(
            || json!({"type": "json_schema", "json_schema": {"name": "site_edit", "strict": true, "schema": schema()}}),
        );
        let mut request = Request {
            model: &self.name,
            messages: &messages,
            // The likeliest answer first; where it was rejected, another one.
            temperature: if assignment.attempt == 0 { 0.0 } else { 0.7 },
            seed: assignment.attempt,
            max_tokens: prompt::max_tokens(assignment),
            stream: false,
            response_format,
        };
        match self.send(&request).await {
            Err(error) if request.response_format.is_some() && is_about_the_schema(&error) => {
                request.response_format = None;
                let completion = self.send(&request).await?;
                self.sends_schema.store(false, Ordering::Relaxed);
                Ok(completion)
            }
            other => other,
        }
    }

    /// Sends a request, again after a broken connection.
    async fn send(&self, request: &Request<'_>) -> Result<Completion, EditorError> {
        let mut retries = 0;
        loop {
            match self.client.chat().create_byot::<_, Completion>(request).await {
                Ok(completion) => return Ok(completion),
                Err(error) if retries < RETRIES && is_passing(&error) => {
                    retries += 1;
                    sleep(Duration::from_millis(200) * retries).await;
                }
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    fn explain(&self, error: OpenAIError) -> EditorError {
        let address = self.address.clone();
        let safe = |message: &str| clean(message, self.api_key.as_deref());
        match error {
            OpenAIError::Reqwest(error) => transport_error(error, &address, self.time_limit),
            OpenAIError::ApiError(response) => {
                // The body of a 5xx comes as it is.
                let body = response.api_error.message;
                let message = serde_json::from_str(&body).ok().and_then(|body| message_of(&body)).unwrap_or(body);
                EditorError::Status { address, status: response.status_code.as_u16(), message: safe(&message) }
            }
            OpenAIError::JSONDeserialize(error, body) => unreadable_body(&address, &error, &body, safe),
            OpenAIError::FileSaveError(_)
            | OpenAIError::FileReadError(_)
            | OpenAIError::StreamError(_)
            | OpenAIError::InvalidArgument(_) => EditorError::Nonsense { address, message: safe(&error.to_string()) },
        }
    }
}

impl Author for Model {
    fn name(&self) -> &str {
        &self.name
    }

    fn composes(&self) -> bool {
        false
    }

    async fn propose(&self, assignment: &Assignment) -> Result<Attempt, EditorError> {
        // What can be told without a model isn't left to one.
        if assignment.operation.is_some()
            && let Err(reply) = rules::settle(assignment, &self.spared)
        {
            return Ok(Attempt::without_model(*reply));
        }
        let started = Instant::now();
        let masked = Masked::new(&assignment.region, &assignment.settled);
        let completion =
            timeout(self.time_limit, self.ask_fitting(assignment, &masked.text)).await.map_err(|_| {
                EditorError::Timeout { address: self.address.clone(), seconds: self.time_limit.as_secs() }
            })??;
        let trims = assignment.region.trim() == assignment.region;
        let reply = completion.site_edit().map(|edit| Reply::Text {
            new_text: masked.restore(if trims { edit.new_text.trim() } else { &edit.new_text }),
            rationale: edit.rationale,
            unchecked: None,
        });
        Ok(Attempt { reply, tokens: completion.tokens(), seconds: started.elapsed().as_secs_f64() })
    }

    fn remarks(&self) -> Vec<String> {
        let length = Some(self.too_long.load(Ordering::Relaxed)).filter(|&length| length < usize::MAX);
        let told = |length| {
            format!("a file of {length} bytes is too long for the model's context: files as long weren't shown to it")
        };
        length.map(told).into_iter().collect()
    }
}

/// The address without a slash at its end; a bare host gets the usual path.
fn base_address(base_url: &str) -> Result<String, EditorError> {
    let failure = |message: String| EditorError::Address { address: base_url.to_owned(), message };
    let url = reqwest::Url::parse(base_url.trim()).map_err(|error| failure(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(failure("only http and https are spoken".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EditorError::Address {
            address: format!("{}://…@{}", url.scheme(), url.host_str().unwrap_or_default()),
            message: "a key belongs in its own setting".to_owned(),
        });
    }
    let address = base_url.trim().trim_end_matches('/');
    Ok(if url.path() == "/" { format!("{address}/v1") } else { address.to_owned() })
}

fn http_client(address: &str, time_limit: Duration) -> Result<reqwest::Client, EditorError> {
    let mut builder = reqwest::Client::builder()
        .timeout(time_limit)
        .connect_timeout(Duration::from_secs(10).min(time_limit))
        .pool_idle_timeout(IDLE)
        .redirect(reqwest::redirect::Policy::none());
    let host = reqwest::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
    if host.is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127.")) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| EditorError::Address { address: address.to_owned(), message: innermost(&error) })
}

/// The first model that the server lists and that isn't for embeddings.
async fn first_model(
    http: &reqwest::Client,
    address: &str,
    api_key: Option<&str>,
    time_limit: Duration,
) -> Result<String, EditorError> {
    let mut request = http.get(format!("{address}/models"));
    if let Some(key) = api_key {
        request = request.bearer_auth(key);
    }
    let failed = |error| transport_error(error, address, time_limit);
    let response = request.send().await.map_err(failed)?;
    let status = response.status();
    let body = response.text().await.map_err(failed)?;
    let json = serde_json::from_str::<Value>(&body);
    if !status.is_success() {
        let message = json.ok().as_ref().and_then(message_of).unwrap_or(body);
        let message = clean(&message, api_key);
        return Err(EditorError::Status { address: address.to_owned(), status: status.as_u16(), message });
    }
    let json = json.map_err(|error| unreadable_body(address, &error, &body, |text| clean(text, api_key)))?;
    let models = json.get("data").and_then(Value::as_array).into_iter().flatten();
    let names = models.filter_map(|model| model.get("id")?.as_str());
    let mut names = names.filter(|name| !name.to_lowercase().contains("embed"));
    names.next().map(str::to_owned).ok_or_else(|| EditorError::NoModel { address: address.to_owned() })
}

fn transport_error(error: reqwest::Error, address: &str, time_limit: Duration) -> EditorError {
    let address = address.to_owned();
    if error.is_timeout() && !error.is_connect() {
        return EditorError::Timeout { address, seconds: time_limit.as_secs() };
    }
    EditorError::Unreachable { address, message: innermost(&error.without_url()) }
}

/// The last cause: "connection refused" rather than "error sending request".
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// A body that the client couldn't read: an error in another form than `OpenAI`'s (llama.cpp's code is a
/// number, LM Studio's error a string), or no answer of such a server at all.
fn unreadable_body(address: &str, error: &serde_json::Error, body: &str, safe: impl Fn(&str) -> String) -> EditorError {
    let address = address.to_owned();
    let json = serde_json::from_str::<Value>(body).ok();
    let Some(message) = json.as_ref().and_then(message_of) else {
        let beginning: String = body.chars().take(80).collect();
        return EditorError::Nonsense { address, message: safe(&format!("{error}, in {beginning:?}")) };
    };
    match json.as_ref().and_then(status_of) {
        Some(status) => EditorError::Status { address, status, message: safe(&message) },
        None => EditorError::Refused { address, message: safe(&message) },
    }
}

/// The message of an error body, in any of the forms that servers use.
fn message_of(body: &Value) -> Option<String> {
    let error = body.get("error");
    let places = [error.and_then(|e| e.get("message")), error, body.get("message"), body.get("detail")];
    places.into_iter().flatten().find_map(Value::as_str).map(str::to_owned)
}

fn status_of(body: &Value) -> Option<u16> {
    body.get("error")?.get("code")?.as_u64().and_then(|code| u16::try_from(code).ok())
}

/// Whether the same request may well succeed: the connection broke, or the server asks for patience.
fn is_passing(error: &OpenAIError) -> bool {
    match error {
        // The client retries what it couldn't connect to, but not a connection that broke.
        OpenAIError::Reqwest(error) => !error.is_timeout() && !error.is_connect() && !error.is_builder(),
        OpenAIError::JSONDeserialize(_, body) => {
            let status = serde_json::from_str(body).ok().as_ref().and_then(status_of);
            status.is_some_and(|status| status == 429 || status >= 500)
        }
        OpenAIError::ApiError(_)
        | OpenAIError::FileSaveError(_)
        | OpenAIError::FileReadError(_)
        | OpenAIError::StreamError(_)
        | OpenAIError::InvalidArgument(_) => false,
    }
}

/// Whether a server turned the request down because of its `response_format`.
fn is_about_the_schema(error: &EditorError) -> bool {
    let words = ["response_format", "json_schema", "schema", "grammar", "structured", "pattern must"];
    turned_down(error)
        .is_some_and(|(status, message)| matches!(status, 400 | 404 | 422 | 501) && holds_one(message, &words))
}

/// Whether a server turned the request down because it is longer than what the model can read.
fn is_about_the_length(error: &EditorError) -> bool {
    let words = ["context", "too long", "too large", "too many tokens", "maximum length", "prompt length"];
    turned_down(error).is_some_and(|(status, message)| {
        status == 413 || (matches!(status, 400 | 422 | 500) && holds_one(message, &words))
    })
}

/// The status and the message of a server that doesn't take a request.
fn turned_down(error: &EditorError) -> Option<(u16, &str)> {
    match error {
        EditorError::Status { status, message, .. } => Some((*status, message)),
        EditorError::Refused { message, .. } => Some((400, message)),
        EditorError::Address { .. }
        | EditorError::Key
        | EditorError::Unreachable { .. }
        | EditorError::Timeout { .. }
        | EditorError::Nonsense { .. }
        | EditorError::NoModel { .. } => None,
    }
}

fn holds_one(message: &str, words: &[&str]) -> bool {
    let message = message.to_lowercase();
    words.iter().any(|word| message.contains(word))
}

/// A server's message in one line, of a bearable length, and without the key in case it is echoed.
fn clean(message: &str, api_key: Option<&str>) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = api_key.map_or_else(|| line.clone(), |key| line.replace(key, "…"));
    line.chars().take(MESSAGE_LIMIT).collect()
}

#[cfg(test)]
mod tests;
