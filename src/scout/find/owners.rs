//! Labels and keys that name a field: the field that the class of the object has, which takes the place of what a
//! server says of the label itself (`dataclasses.replace`, nothing).

use std::path::Path;

use crate::lsp::Question;
use crate::plan::SymbolKind;
use crate::python::{DeclarationKind, NameToken, Owner, Tie};
use crate::text::{ByteOffset, RelPath};

use super::Scout;
use crate::scout::ScoutError;
use crate::scout::codebase::{Codebase, Loaded};
use crate::scout::discovery::{Definitions, Place, PlaceFile};
use crate::scout::family::{bases, class_at};

/// Modules whose functions copy an object with other values for some fields.
const COPYING_MODULES: [&str; 6] = ["dataclasses", "copy", "typing", "_typeshed", "attr", "attrs"];

impl Scout<'_> {
    /// Asks for the types of the names that have what these labels and keys name.
    pub(super) async fn ask_owners(
        &mut self,
        definitions: &mut impl Definitions,
        file: &RelPath,
        loaded: &Loaded,
        questions: &[ByteOffset],
    ) -> Result<(), ScoutError> {
        if self.group.kind != SymbolKind::Attribute {
            return Ok(());
        }
        let labels = loaded.module.names().chain(loaded.module.in_strings());
        let owned = labels.filter(|label| questions.contains(&label.span.start()));
        let owned: Vec<(&NameToken, Owner)> = owned.filter_map(|label| Some((label, label.owner?))).collect();
        let owned: Vec<_> = owned.into_iter().filter(|(label, owner)| self.is_open(file, label, *owner)).collect();
        if owned.is_empty() {
            return Ok(());
        }
        let names: Vec<ByteOffset> = owned.iter().map(|(_, owner)| owner.at).collect();
        let types = definitions.locate(self.codebase, Question::TypeDefinition, file, &names).await?;
        for ((label, owner), classes) in owned.into_iter().zip(types) {
            let mut fields = Vec::new();
            for class in &classes {
                fields.extend(self.field_of(definitions, class, owner.tie).await?);
            }
            if !fields.is_empty() {
                self.answers.insert((file.clone(), label.span.start()), fields);
            }
        }
        Ok(())
    }

    /// Whether what a server said of the label leaves open which field it names.
    fn is_open(&self, file: &RelPath, label: &NameToken, owner: Owner) -> bool {
        let answer = self.answers.get(&(file.clone(), label.span.start())).map_or(&[][..], Vec::as_slice);
        match owner.tie {
            Tie::Copies => answer.iter().any(|place| is_copying(&place.file)),
            Tie::Matches | Tie::Keys => true,
        }
    }

    /// The field of the symbol's name that a class or the first of its bases declares.
    async fn field_of(
        &mut self,
        definitions: &mut impl Definitions,
        class: &Place,
        tie: Tie,
    ) -> Result<Option<Place>, ScoutError> {
        let (mut field, mut is_typed_dict) = (None, false);
        let (mut open, mut seen) = (vec![class.clone()], Vec::new());
        while let Some(place) = open.pop() {
            if seen.contains(&place) {
                continue;
            }
            is_typed_dict |= is_named(self.codebase, &place, "TypedDict");
            if let Some(((_, class), file)) = class_at(self.codebase, &place) {
                field = field.or_else(|| declared(self.codebase, &file, &class, &self.name));
                open.extend(bases(self.codebase, definitions, &file, &class).await?.into_iter().rev());
            }
            seen.push(place);
        }
        Ok(field.filter(|_| tie != Tie::Keys || is_typed_dict))
    }
}

fn declared(codebase: &mut Codebase, file: &RelPath, class: &[String], name: &str) -> Option<Place> {
    let loaded = codebase.load(file)?;
    let field = loaded.module.declarations.iter().find(|declaration| {
        let is_field = matches!(declaration.kind, DeclarationKind::Attribute | DeclarationKind::Method);
        is_field && declaration.qualname.split_last().is_some_and(|(last, outer)| last == name && outer == class)
    })?;
    Some(Place { file: PlaceFile::Inside(file.clone()), span: field.name })
}

/// Whether a place is a name outside the workspace.
fn is_named(codebase: &mut Codebase, place: &Place, name: &str) -> bool {
    let PlaceFile::Outside(path) = &place.file else { return false };
    codebase.load_outside(path).is_some_and(|loaded| loaded.source.slice(place.span) == Some(name))
}

/// Whether a file outside the workspace belongs to a module that copies objects.
fn is_copying(file: &PlaceFile) -> bool {
    let PlaceFile::Outside(path) = file else { return false };
    let names = [path.file_stem(), path.parent().and_then(Path::file_name)];
    names.into_iter().flatten().any(|name| COPYING_MODULES.iter().any(|module| name == *module))
}
