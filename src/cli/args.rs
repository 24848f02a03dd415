//! What may be typed. Doc comments here are the help texts, so they are written for a terminal and not for rustdoc.
#![expect(clippy::doc_markdown, rustdoc::bare_urls, reason = "the doc comments are help texts")]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::harness::OpinionRequest;
use crate::plan::{Effort, Family, ScoutOptions};

/// Every reference to a Python symbol, edited one by one under a type checker's veto.
#[derive(Debug, Parser)]
#[command(name = "tainie", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0    every site handled, already so, or nothing to do (scout: the list is complete)
  1    ran to the end, but sites were skipped or left to a person, or nothing was written
       after a veto; with --check: something would change or is unresolved
  2    the command line, task or worklist is malformed, or the workspace isn't there
  3    can't be carried out here (no such symbol, ambiguous, no pyrefly, no model server)
  4    refused to write (a file changed, is locked, or may not be written)
  101  a bug in tainie
  130  interrupted

Examples:
  tainie demo                               see it work on a built-in fixture
  tainie scout render_report ./project      every place that refers to render_report
  tainie edit --task task.md --dry-run      the diff that a task comes to
  tainie undo                               take the last run back";

#[derive(Debug, Args)]
pub(super) struct Global {
    /// The pyrefly program to use, instead of looking for one
    #[arg(long, global = true, value_name = "PATH")]
    pub(super) pyrefly: Option<PathBuf>,
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List every mention of a symbol, and what each is
    Scout(ScoutArgs),
    /// Say which symbol a name or a place means
    Resolve(ResolveArgs),
    /// Edit every site of a symbol, keeping what the type checker doesn't object to
    Edit(EditArgs),
    /// Take a run back, byte for byte
    Undo(UndoArgs),
    /// Bring a run that was interrupted to an end: all of its files as before, or all as after
    Recover(RecoverArgs),
    /// List the runs of a workspace
    History(HistoryArgs),
    /// Show the report of a run
    Show(ShowArgs),
    /// Run the main job on a built-in fixture, in a temporary folder
    Demo(DemoArgs),
    /// Say what is there, what is missing, and what mends it
    Doctor(DoctorArgs),
    /// Install the pinned pyrefly into tainie's own folder
    Setup,
    /// Print the JSON Schema of an output
    Schema(SchemaArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FamilyChoice {
    /// Only the method's own declarations
    Exact,
    /// What it overrides and what overrides it, too
    Overrides,
}

impl From<FamilyChoice> for Family {
    fn from(choice: FamilyChoice) -> Self {
        match choice {
            FamilyChoice::Exact => Self::Exact,
            FamilyChoice::Overrides => Self::Overrides,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScoutFormat {
    /// For people
    Text,
    /// The worklist, which `edit --worklist` takes
    Json,
    /// A header, then one JSON object per line
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub workflow commands: a notice for each site, a warning for what is unresolved
    Github,
    /// FILE:LINE:COL:TEXT with COL in bytes, for an editor's quickfix list
    Vimgrep,
}

#[derive(Debug, Args)]
pub(super) struct ScoutArgs {
    /// A dotted name (any suffix of the full one), `mod.f(param)`, or FILE:LINE[:COL] (1-based)
    #[arg(required_unless_present = "reasons")]
    pub(super) symbol: Option<String>,
    /// The workspace; a folder that holds task.md and work/ means its work/
    pub(super) path: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = ScoutFormat::Text)]
    pub(super) format: ScoutFormat,
    #[command(flatten)]
    pub(super) scouting: Scouting,
    /// List every mention with its class, not only the sites
    #[arg(long)]
    pub(super) explain: bool,
    /// Say of one place (1-based) what it is, what each source said and what would resolve it
    #[arg(long, value_name = "FILE:LINE[:COL]", conflicts_with_all = ["explain", "check", "kind", "include", "exclude"])]
    pub(super) why: Option<String>,
    /// List only sites of this kind, such as call or decorator (repeatable); the sums stay those of everything
    #[arg(long, value_name = "KIND")]
    pub(super) kind: Vec<String>,
    /// List only what stands in files that match (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) include: Vec<String>,
    /// List nothing of files that match (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// Exit with 1 if anything is unresolved, listed or not
    #[arg(long)]
    pub(super) check: bool,
    /// Say what each reason for not following something means, and what resolves it
    #[arg(long, exclusive = true)]
    pub(super) reasons: bool,
}

/// How the places are found.
#[derive(Debug, Clone, Args)]
pub(super) struct Scouting {
    /// What belongs to a method
    #[arg(long, value_enum, default_value_t = FamilyChoice::Overrides)]
    family: FamilyChoice,
    /// Ask every source about every mention, also in a tree of more than 1,000 Python files
    #[arg(long)]
    verify: bool,
    /// How many threads may work at once; 1 does one thing after the other [default: as suits the machine]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Ask the type checker again, also about a tree that hasn't changed since the last time
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    pub(super) roots: Roots,
    /// Ask another installed language server, too: ty, basedpyright, auto (the first that is there), or its PATH
    /// with arguments; it may confirm, settle what is unresolved, and raise doubts, and never fails the command
    #[arg(long, value_name = "SERVER")]
    second_opinion: Option<String>,
    /// Seconds that the other server may be silent before it is left out
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    second_opinion_timeout: u64,
}

/// Where modules are imported from.
#[derive(Debug, Clone, Args)]
pub(super) struct Roots {
    /// A folder that modules are imported from, searched before those that the project declares (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(super) search_path: Vec<PathBuf>,
}

impl Scouting {
    /// `search_path`: [`Self::roots`] as what they mean here.
    pub(super) fn options(&self, search_path: Vec<PathBuf>) -> ScoutOptions {
        ScoutOptions {
            family: self.family.into(),
            effort: Effort { verify: self.verify, jobs: self.jobs },
            afresh: self.no_cache,
            search_path,
        }
    }

    pub(super) fn second_opinion(&self, folder: &Path) -> Option<OpinionRequest> {
        let (folder, time_limit) = (folder.to_owned(), Duration::from_secs(self.second_opinion_timeout));
        self.second_opinion.clone().map(|named| OpinionRequest { named, folder, time_limit })
    }
}

#[derive(Debug, Args)]
pub(super) struct ResolveArgs {
    /// FILE:LINE[:COL] (1-based) or a dotted name
    pub(super) symbol: String,
    pub(super) path: Option<PathBuf>,
    #[command(flatten)]
    pub(super) roots: Roots,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Editor {
    /// Rules when the instruction can be read exactly, else the model
    Auto,
    /// Built in, without a model
    Rules,
    /// An OpenAI-compatible server
    Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GateMode {
    /// The whole project is checked
    Project,
    /// Only the files that change are checked: callers elsewhere go unseen
    File,
    /// Nothing is checked, and every edit is reported as unchecked
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Context {
    /// The region and the definition around it
    Region,
    /// The whole file with line numbers, too
    File,
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// A dotted name or FILE:LINE[:COL]; with --task, --symbol or the task's own
    #[arg(required_unless_present_any = ["task", "worklist"])]
    pub(super) symbol: Option<String>,
    /// The workspace; else the task's, else work/ beside the task, else the current folder
    pub(super) path: Option<PathBuf>,
    /// A task file: Markdown with optional YAML front matter
    #[arg(long, value_name = "FILE")]
    pub(super) task: Option<PathBuf>,
    /// A worklist that `scout --format json` wrote: only its sites are edited
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub(super) worklist: Option<PathBuf>,
    /// What to do at each site, in words
    #[arg(long, value_name = "TEXT", conflicts_with = "task")]
    pub(super) instruction: Option<String>,
    /// What to do at each site, exactly: `add-keyword NAME=VALUE`
    #[arg(long, value_name = "OPERATION")]
    pub(super) operation: Option<String>,
    #[command(flatten)]
    pub(super) scouting: Scouting,
    /// Print the unified diff and write nothing
    #[arg(long, visible_alias = "diff")]
    pub(super) dry_run: bool,
    /// Write nothing, and exit with 1 if something would change
    #[arg(long)]
    pub(super) check: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
    #[arg(long, value_enum, default_value_t = Editor::Auto)]
    pub(super) editor: Editor,
    #[arg(long, value_enum, default_value_t = GateMode::Project)]
    pub(super) gate: GateMode,
    /// Skip sites that the type checker can't judge, instead of reporting them as unchecked
    #[arg(long)]
    pub(super) strict: bool,
    /// Edit only references of this kind, such as call or decorator (repeatable)
    #[arg(long, value_name = "KIND")]
    pub(super) kind: Vec<String>,
    /// Edit only files that match (repeatable); also lets generated files be edited
    #[arg(long, value_name = "GLOB")]
    pub(super) include: Vec<String>,
    /// Leave files that match alone (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// Run before and after the edits, in the shadow; red after means that nothing is written
    #[arg(long, value_name = "COMMAND")]
    pub(super) oracle: Option<String>,
    /// What the model is shown beside the region
    #[arg(long, value_enum, default_value_t = Context::Region)]
    pub(super) context: Context,
    #[command(flatten)]
    pub(super) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    /// Address of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1
    /// [env: TAINIE_BASE_URL, then OPENAI_BASE_URL; key: OPENAI_API_KEY]
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// The model's name; else the first that the server lists
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Attempts at one site before it is skipped
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub(super) attempts: u8,
    /// Seconds that one answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) timeout: u64,
}

#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// The run, as `tainie history` numbers it; else the last one
    pub(super) run: Option<String>,
    /// The workspace; else the nearest one with a journal from the current folder upwards
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RecoverArgs {
    /// The workspace; else the nearest one with a journal from the current folder upwards
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The run, as `tainie history` numbers it; else the last one
    pub(super) run: Option<String>,
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// The fixture; else all of them
    #[arg(value_parser = ["d4", "d7"])]
    pub(super) fixture: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    pub(super) path: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    #[arg(value_parser = ["worklist", "jsonl", "why", "report"])]
    pub(super) name: String,
}
