//! `tainie scout`: the worklist, or why one place is what it is.

use crate::cli::args::{ScoutArgs, ScoutFormat};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::progress::Bar;
use crate::cli::render;
use crate::cli::request::{Here, site_kinds};
use crate::harness::{self, Asked, Detail, Filter, HarnessError, Listing, Scouted, WireWorklist};
use crate::plan::MentionClass;
use crate::text::ProjectRoot;

pub(super) async fn run(args: &ScoutArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    if args.reasons {
        output.data(&render::reasons());
        return Ok(Exit::Done);
    }
    let workspace = here.workspace(args.path.as_deref())?;
    // What is malformed is said before the search, which may take long.
    let filter =
        Filter { kinds: site_kinds(&args.kind)?, include: args.include.clone(), exclude: args.exclude.clone() };
    filter.check()?;
    let why = args.why.as_ref().map(|place| why(place, args.format, here, &workspace)).transpose()?;
    let asked = here.asked(args.symbol.as_deref().unwrap_or_default(), &workspace)?;
    let bar = Bar::new(output.is_quiet());
    let (options, opinion) =
        (args.scouting.options(here.import_roots(&args.scouting.roots)?), args.scouting.second_opinion(&here.folder));
    let scouted = harness::scout(&here.surroundings, &workspace, &asked, &options, opinion.as_ref(), &bar).await;
    bar.finish();
    let scouted = scouted?;
    if let Some(place) = why {
        let explanation = harness::explain(&workspace, &scouted, &place)?;
        if args.format == ScoutFormat::Json {
            output.exact(&render::json(&explanation));
        } else {
            output.data(&render::explanation(&explanation));
        }
        return Ok(Exit::Done);
    }
    let detail = if args.explain { Detail::Explained } else { Detail::Worklist };
    show(&scouted, &filter, args.format, detail, &workspace, here, output)?;
    let unresolved = scouted.worklist.accounting.of(MentionClass::Unresolved) > 0;
    Ok(if args.check && unresolved { Exit::Incomplete } else { Exit::Done })
}

/// The place to explain; only people and scripts that read JSON are told.
fn why(place: &str, format: ScoutFormat, here: &Here, workspace: &ProjectRoot) -> Result<Asked, HarnessError> {
    match format {
        ScoutFormat::Text | ScoutFormat::Json => here.asked(place, workspace),
        ScoutFormat::Jsonl | ScoutFormat::Sarif | ScoutFormat::Github | ScoutFormat::Vimgrep => {
            let reason = "one place is explained as text or as JSON".to_owned();
            Err(HarnessError::Argument { argument: "--why".to_owned(), reason })
        }
    }
}

fn show(
    scouted: &Scouted,
    filter: &Filter,
    format: ScoutFormat,
    detail: Detail,
    workspace: &ProjectRoot,
    here: &Here,
    output: &mut Output,
) -> Result<(), HarnessError> {
    let listing = Listing::new(&scouted.worklist, filter)?;
    let wire = || WireWorklist::new(&listing, workspace, &scouted.pyrefly_version, detail);
    let sources = || listing.sources(workspace);
    match format {
        ScoutFormat::Text => output.data(&render::worklist(&listing, &sources(), detail)),
        ScoutFormat::Json => output.exact(&render::json(&wire())),
        ScoutFormat::Jsonl => output.exact(&render::json_lines(&wire().into_lines())),
        ScoutFormat::Sarif => output.exact(&render::json(&render::sarif(&listing, &sources()))),
        ScoutFormat::Github => output.exact(&render::github(&listing, &sources(), &here.prefix(workspace))),
        ScoutFormat::Vimgrep => output.exact(&render::vimgrep(&listing, &sources(), &here.prefix(workspace))),
    }
    Ok(())
}
