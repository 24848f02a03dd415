//! `--why`: what stands at one place, what each source said of it, which rule decided, and what would resolve it.
//! It reads what the scout kept and asks nobody again.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::{Mention, Near, Site, Statement, Unresolvable, Worklist};
use crate::python::Module;
use crate::scout::ScoutError;
use crate::text::{ByteOffset, ByteSpan, Position, ProjectRoot, RelPath, SourceText};

use super::wire::{SCHEMA_VERSION, WireSpan, WireTool};
use super::{Asked, HarnessError, Scouted};

/// How many of the nearest mentions are named where a place is none.
const NEAREST: usize = 3;

/// All that is known of a place: JSON, version 1. Lines and columns are 0-based, those of `points_at` 1-based.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    schema_version: u32,
    tool: WireTool,
    pub(crate) symbol: String,
    pub(crate) file: String,
    pub(crate) line: usize,
    /// Missing where the whole line was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    /// The line as it is written.
    pub(crate) text: String,
    /// The mentions at the place, from left to right.
    pub(crate) mentions: Vec<Explained>,
    /// What else is listed for a person: about the place, and about the file as a whole.
    pub(crate) remarks: Vec<ExplainedReason>,
    /// What stands there, where no mention does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instead: Option<Instead>,
}

/// One mention with everything that decided its class.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Explained {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) span: WireSpan,
    /// The name as written.
    pub(crate) text: String,
    pub(crate) class: String,
    pub(crate) kind: String,
    /// What a decoy resolves to.
    pub(crate) resolves_to: Option<String>,
    /// The row of the census's table that decided.
    pub(crate) rule: String,
    pub(crate) because: String,
    pub(crate) definition: Answered,
    /// Where the definition points, `FILE:LINE:COLUMN`, 1-based.
    pub(crate) points_at: Vec<String>,
    pub(crate) glean: Answered,
    pub(crate) references: Answered,
    /// Another server's, with `--second-opinion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) second_opinion: Option<SecondOpinion>,
    pub(crate) scopes: Answered,
    /// What kind of token it is.
    pub(crate) syntax: String,
    /// Why it is listed for a person, where it is.
    pub(crate) reasons: Vec<ExplainedReason>,
}

/// What one source answered: a word for scripts, and a sentence without its subject for people.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Answered {
    pub(crate) answer: String,
    pub(crate) told: String,
}

/// What another server than pyrefly's answered.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SecondOpinion {
    pub(crate) server: String,
    #[serde(flatten)]
    pub(crate) said: Answered,
}

/// A reason with what it means and what would resolve it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ExplainedReason {
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) explanation: String,
    pub(crate) remedy: String,
}

/// What stands where no mention does.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Instead {
    pub(crate) what: String,
    /// The nearest mentions of the file.
    pub(crate) nearest: Vec<NearestMention>,
}

/// A mention by its place, `FILE:LINE:COLUMN`, 1-based.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NearestMention {
    pub(crate) place: String,
    pub(crate) class: String,
}

/// Explains a place of the workspace.
///
/// # Errors
/// [`HarnessError::Argument`] where the place is a name, [`HarnessError::Scout`] where it isn't in the workspace.
pub(crate) fn explain(workspace: &ProjectRoot, scouted: &Scouted, place: &Asked) -> Result<Explanation, HarnessError> {
    let (file, line, column) = match place {
        Asked::Place { file, line, column } => (file, *line, *column),
        Asked::Name(name) => {
            return Err(HarnessError::Argument {
                argument: name.clone(),
                reason: "--why takes a place: FILE:LINE or FILE:LINE:COL, counted from 1".to_owned(),
            });
        }
    };
    let worklist = &scouted.worklist;
    let whole_file = worklist.unresolvable.iter().filter(|entry| entry.file == file.as_str() && entry.place.is_none());
    let bytes = std::fs::read(workspace.join(file))
        .map_err(|_| ScoutError::NoFile { file: file.to_string(), workspace: workspace.to_string() })?;
    let mut explanation = Explanation {
        schema_version: SCHEMA_VERSION,
        tool: WireTool::new(&scouted.pyrefly_version),
        symbol: worklist.symbol.path.to_string(),
        file: file.to_string(),
        line,
        column,
        text: String::new(),
        mentions: Vec::new(),
        remarks: whole_file.map(explained_reason).collect(),
        instead: None,
    };
    let Ok(source) = SourceText::from_bytes(bytes) else {
        let what = "a file that isn't UTF-8, so it has no lines and columns".to_owned();
        explanation.instead = Some(Instead { what, nearest: Vec::new() });
        return Ok(explanation);
    };
    let spot = Spot::new(file, &source, line, column)?;
    let no_position = |source| ScoutError::Position { place: spot.to_string(), source };
    source.line(line).map_err(no_position)?.clone_into(&mut explanation.text);
    let here = |mention: &&Mention| mention.file == *file && spot.meets(mention.position, mention.span);
    let mentions: Vec<&Mention> = worklist.mentions.iter().filter(here).collect();
    let belongs = |entry: &&Unresolvable| {
        let of_a_mention = |span| mentions.iter().any(|mention| mention.span == span);
        entry.file == file.as_str()
            && entry.place.is_some_and(|(position, span)| spot.meets(position, span) && !of_a_mention(span))
    };
    explanation.remarks.extend(worklist.unresolvable.iter().filter(belongs).map(explained_reason));
    explanation.mentions = mentions.iter().map(|mention| explained(worklist, &source, mention)).collect();
    if mentions.is_empty() {
        explanation.instead = Some(instead(worklist, &source, &spot));
    }
    Ok(explanation)
}

/// The place that was asked about: a line of a file, or one place on it.
struct Spot<'f> {
    file: &'f RelPath,
    position: Position,
    /// Where its line begins, or the place on it.
    offset: ByteOffset,
    is_line: bool,
}

impl<'f> Spot<'f> {
    fn new(file: &'f RelPath, source: &SourceText, line: usize, column: Option<usize>) -> Result<Self, ScoutError> {
        let position = Position::new(line, column.unwrap_or(0));
        let no_position = |source| ScoutError::Position { place: format!("{file}:{}", shown(position)), source };
        let offset = source.offset(position).map_err(no_position)?;
        Ok(Self { file, position, offset, is_line: column.is_none() })
    }

    /// Whether the name at a place is meant; a place just behind a name means it, too.
    fn meets(&self, position: Position, span: ByteSpan) -> bool {
        if self.is_line { position.line() == self.position.line() } else { span.touches(self.offset) }
    }
}

impl fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, shown(self.position))
    }
}

fn explained(worklist: &Worklist, source: &SourceText, mention: &Mention) -> Explained {
    let evidence = &mention.evidence;
    let of_it = |entry: &&Unresolvable| {
        entry.file == mention.file.as_str() && entry.place.is_some_and(|(_, span)| span == mention.span)
    };
    Explained {
        line: mention.position.line(),
        column: mention.position.column(),
        span: mention.span.into(),
        text: source.slice(mention.span).unwrap_or_default().to_owned(),
        class: mention.class.as_str().to_owned(),
        kind: mention.kind.as_str().to_owned(),
        resolves_to: mention.resolves_to.clone(),
        rule: evidence.rule.as_str().to_owned(),
        because: evidence.rule.sentence().to_owned(),
        definition: answered(&evidence.definition),
        points_at: evidence.points_at.clone(),
        glean: Answered { answer: evidence.glean.as_str().to_owned(), told: evidence.glean.told().to_owned() },
        references: Answered {
            answer: evidence.references.as_str().to_owned(),
            told: evidence.references.told().to_owned(),
        },
        second_opinion: evidence
            .opinion
            .as_ref()
            .map(|(who, statement)| SecondOpinion { server: who.as_str().to_owned(), said: answered(statement) }),
        scopes: answered(&evidence.scopes),
        syntax: evidence.syntax.to_owned(),
        reasons: worklist.unresolvable.iter().filter(of_it).map(explained_reason).collect(),
    }
}

fn answered(statement: &Statement) -> Answered {
    let told = match &statement.about {
        Some(about) => format!("{} {about}", statement.told),
        None => statement.told.to_owned(),
    };
    Answered { answer: statement.answer.to_owned(), told }
}

fn explained_reason(entry: &Unresolvable) -> ExplainedReason {
    let reason = entry.reason;
    ExplainedReason {
        reason: reason.as_str().to_owned(),
        message: entry.message.clone(),
        explanation: reason.explanation().to_owned(),
        remedy: reason.remedy().to_owned(),
    }
}

fn instead(worklist: &Worklist, source: &SourceText, spot: &Spot<'_>) -> Instead {
    let mut nearest: Vec<&Mention> = worklist.mentions.iter().filter(|mention| mention.file == *spot.file).collect();
    let distance = |mention: &Mention| {
        let columns = if spot.is_line { 0 } else { mention.position.column().abs_diff(spot.position.column()) };
        (mention.position.line().abs_diff(spot.position.line()), columns, mention.span)
    };
    nearest.sort_by_key(|mention| distance(mention));
    nearest.truncate(NEAREST);
    let nearest = nearest.into_iter().map(|mention| NearestMention {
        place: format!("{}:{}", spot.file, shown(mention.position)),
        class: mention.class.as_str().to_owned(),
    });
    Instead { what: what_stands(worklist, source, spot), nearest: nearest.collect() }
}

fn what_stands(worklist: &Worklist, source: &SourceText, spot: &Spot<'_>) -> String {
    let here = |near: &&Near| near.file == *spot.file && spot.meets(near.position, near.span);
    if let Some(near) = worklist.near.iter().find(here) {
        let target = near.resolves_to.as_ref().map(|target| format!(", {target}")).unwrap_or_default();
        return format!("`{}`{target}: a longer name that contains the symbol's, and no mention of it", near.text);
    }
    let what = if !spot.is_line {
        token_at(source, spot)
    } else if source.line(spot.position.line()).is_ok_and(|line| line.trim().is_empty()) {
        "an empty line".to_owned()
    } else {
        "a line that doesn't name the symbol".to_owned()
    };
    match region_around(worklist, spot) {
        Some(site) => format!("{what}, inside the region of the site at {site}"),
        None => what,
    }
}

/// The site whose region holds the place, the innermost of them.
fn region_around(worklist: &Worklist, spot: &Spot<'_>) -> Option<String> {
    let around = |site: &&Site| site.file == *spot.file && site.region.touches(spot.offset);
    let innermost = worklist.sites.iter().filter(around).min_by_key(|site| site.region.len())?;
    Some(format!("{}:{}", spot.file, shown(innermost.position)))
}

fn token_at(source: &SourceText, spot: &Spot<'_>) -> String {
    let Some(module) = Module::of_file(source, spot.file.extension()) else { return "no Python".to_owned() };
    if let Some(token) = module.names().find(|token| token.span.touches(spot.offset)) {
        return format!("`{}`, {}", source.slice(token.span).unwrap_or_default(), token.role.describe());
    }
    match module.text_around(ByteSpan::new(spot.offset.get(), spot.offset.get())) {
        Some(kind) => format!("text {}", kind.describe()),
        None => "no name".to_owned(),
    }
}

/// `LINE:COLUMN`, 1-based.
fn shown(position: Position) -> String {
    format!("{}:{}", position.line() + 1, position.column() + 1)
}

/// The JSON Schema of an explanation.
pub(crate) fn explanation_schema() -> serde_json::Value {
    schemars::schema_for!(Explanation).to_value()
}
