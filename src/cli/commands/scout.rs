//! `tainie scout`: the worklist.

use crate::cli::args::{Format, ScoutArgs};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::progress::Bar;
use crate::cli::render;
use crate::cli::request::Here;
use crate::harness::{self, Detail, HarnessError, WireWorklist};
use crate::plan::MentionClass;

pub(super) async fn run(args: &ScoutArgs, here: &Here, output: &mut Output) -> Result<Exit, HarnessError> {
    let workspace = here.workspace(args.path.as_deref())?;
    let asked = here.asked(&args.symbol, &workspace)?;
    let bar = Bar::new(output.is_quiet());
    let scouted = harness::scout(&here.surroundings, &workspace, &asked, args.scouting.options(), &bar).await;
    bar.finish();
    let scouted = scouted?;
    let worklist = &scouted.worklist;
    let detail = if args.explain { Detail::Explained } else { Detail::Worklist };
    match args.format {
        Format::Json => {
            let wire = WireWorklist::new(worklist, &workspace, &scouted.pyrefly_version, detail);
            output.data(&render::json(&wire));
        }
        Format::Text => output.data(&render::worklist(worklist, detail)),
    }
    let unresolved = worklist.accounting.of(MentionClass::Unresolved) > 0;
    Ok(if args.check && unresolved { Exit::Incomplete } else { Exit::Done })
}
