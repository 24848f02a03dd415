//! Our values to the protocol's and back; no I/O.

use lsp_types::{
    ClientCapabilities, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DynamicRegistrationClientCapabilities,
    GeneralClientCapabilities, GotoCapability, GotoDefinitionParams, InitializeParams, PartialResultParams, Position,
    PositionEncodingKind, Range, ReferenceContext, ReferenceParams, TextDocumentClientCapabilities,
    TextDocumentIdentifier, TextDocumentItem, TextDocumentPositionParams, Uri, WorkDoneProgressParams,
    WorkspaceClientCapabilities, WorkspaceFolder,
};
use serde::Deserialize;
use serde_json::Value;

use crate::text::Utf16Position;

/// The encoding of positions that a server insists on, where it isn't the one that we offered.
pub(super) fn foreign_encoding(initialized: &Value) -> Option<String> {
    let encoding = initialized.pointer("/capabilities/positionEncoding")?.as_str()?;
    (encoding != PositionEncodingKind::UTF16.as_str()).then(|| encoding.to_owned())
}

#[expect(deprecated, reason = "`rootUri` is what older servers read; the folders say the same")]
pub(super) fn initialize(root: Uri) -> InitializeParams {
    let folder = WorkspaceFolder { uri: root.clone(), name: "workspace".to_owned() };
    let workspace = WorkspaceClientCapabilities {
        // Else the settings are never asked for, and in a project without configuration pyrefly infers too little
        // (1.5.0 with our barrier) or never builds an index at all.
        configuration: Some(true),
        workspace_folders: Some(true),
        ..WorkspaceClientCapabilities::default()
    };
    let text_document = TextDocumentClientCapabilities {
        definition: Some(GotoCapability { dynamic_registration: Some(false), link_support: Some(false) }),
        type_definition: Some(GotoCapability { dynamic_registration: Some(false), link_support: Some(false) }),
        references: Some(DynamicRegistrationClientCapabilities { dynamic_registration: Some(false) }),
        ..TextDocumentClientCapabilities::default()
    };
    let general = GeneralClientCapabilities {
        position_encodings: Some(vec![PositionEncodingKind::UTF16]),
        ..GeneralClientCapabilities::default()
    };
    InitializeParams {
        // A server that outlives us ends by itself.
        process_id: Some(std::process::id()),
        root_uri: Some(root),
        workspace_folders: Some(vec![folder]),
        capabilities: ClientCapabilities {
            workspace: Some(workspace),
            text_document: Some(text_document),
            general: Some(general),
            ..ClientCapabilities::default()
        },
        ..InitializeParams::default()
    }
}

pub(super) fn did_open(uri: Uri, text: &str) -> DidOpenTextDocumentParams {
    let text_document = TextDocumentItem { uri, language_id: "python".to_owned(), version: 1, text: text.to_owned() };
    DidOpenTextDocumentParams { text_document }
}

pub(super) fn did_close(uri: Uri) -> DidCloseTextDocumentParams {
    DidCloseTextDocumentParams { text_document: TextDocumentIdentifier { uri } }
}

pub(super) fn definition(uri: Uri, at: Utf16Position) -> GotoDefinitionParams {
    GotoDefinitionParams {
        text_document_position_params: place(uri, at),
        work_done_progress_params: WorkDoneProgressParams::default(),
        partial_result_params: PartialResultParams::default(),
    }
}

pub(super) fn references(uri: Uri, at: Utf16Position) -> ReferenceParams {
    ReferenceParams {
        text_document_position: place(uri, at),
        work_done_progress_params: WorkDoneProgressParams::default(),
        partial_result_params: PartialResultParams::default(),
        context: ReferenceContext { include_declaration: false },
    }
}

fn place(uri: Uri, at: Utf16Position) -> TextDocumentPositionParams {
    TextDocumentPositionParams {
        text_document: TextDocumentIdentifier { uri },
        position: Position { line: at.line(), character: at.unit() },
    }
}

/// A place in an answer. Its URI stays text: pyrefly leaves `[`, `]` and `|` in it as they are, and the protocol's
/// own type would refuse the whole answer.
#[derive(Debug, Deserialize)]
pub(super) struct Location {
    pub(super) uri: String,
    pub(super) range: Range,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    target_uri: String,
    target_selection_range: Range,
}

/// The shapes of an answer to "where is this defined", beside `null`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Defined {
    Scalar(Location),
    Array(Vec<Location>),
    Links(Vec<Link>),
}

/// All of them as one list.
pub(super) fn locations(answer: Option<Defined>) -> Vec<Location> {
    match answer {
        None => Vec::new(),
        Some(Defined::Scalar(location)) => vec![location],
        Some(Defined::Array(locations)) => locations,
        Some(Defined::Links(links)) => links
            .into_iter()
            .map(|link| Location { uri: link.target_uri, range: link.target_selection_range })
            .collect(),
    }
}

/// Both ends of a range.
pub(super) const fn ends(range: Range) -> (Utf16Position, Utf16Position) {
    (
        Utf16Position::new(range.start.line, range.start.character),
        Utf16Position::new(range.end.line, range.end.character),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shape_of_a_definition_answer_is_one_list() {
        let range = json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}});
        let location = json!({"uri": "file:///w/a.py", "range": range});
        let wide = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
        let link = json!({"targetUri": "file:///w/a.py", "targetRange": wide, "targetSelectionRange": range});
        for (answer, count) in
            [(json!(null), 0), (json!([]), 0), (location.clone(), 1), (json!([location]), 1), (json!([link]), 1)]
        {
            let found = locations(serde_json::from_value(answer.clone()).unwrap());
            assert_eq!(found.len(), count, "{answer}");
            for location in found {
                assert_eq!(ends(location.range), (Utf16Position::new(1, 2), Utf16Position::new(1, 5)));
            }
        }
    }
}
