//! The override family of a method: what the classes above and below its own declare under the same name.
//!
//! A call on a base may run an override, so a signature changes for all of them or for none. Only bases that a class
//! names count: a class that matches a Protocol by shape alone isn't seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::SymbolKind;
use crate::python::{Declaration, DeclarationKind};
use crate::text::RelPath;

use super::ScoutError;
use super::codebase::Codebase;
use super::describe::describe;
use super::discovery::{Definitions, Place, PlaceFile};
use super::group::Group;

/// Methods that a class calls on itself while an object is made: overriding one changes no caller of another.
const OWN_TO_A_CLASS: [&str; 5] = ["__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__"];

/// A class of the workspace: the module's name, so that a stub's class is the same, and the names down to it.
type Class = (String, Vec<String>);

/// Takes what overrides a method, and what it overrides, into its group.
pub(crate) async fn with_overrides(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    mut group: Group,
) -> Result<Group, ScoutError> {
    let name = group.path.name().to_owned();
    let is_mangled = name.starts_with("__") && !name.ends_with("__");
    let Some((_, class)) = group.qualname.split_last() else { return Ok(group) };
    if group.kind != SymbolKind::Method || is_mangled || OWN_TO_A_CLASS.contains(&name.as_str()) {
        return Ok(group);
    }
    let Some(PlaceFile::Inside(file)) = group.members.first().map(|member| member.file.clone()) else {
        return Ok(group);
    };
    let own = (codebase.module_name(&file), class.to_vec());
    let carriers = carriers(codebase, &name);
    let mut hierarchy = Hierarchy::default();
    for (class, places) in &carriers {
        hierarchy.climb(codebase, definitions, class, places).await?;
    }
    let family = hierarchy.family(&own, carriers.keys());
    for class in &family {
        group.members.extend(carriers[class].iter().map(|(place, _)| place.clone()));
    }
    group.notes.extend(note_of_overrides(&own, &family, &name));
    for base in hierarchy.outside_bases(&family) {
        if let Some(overridden) = declared_outside(codebase, base, &name) {
            group
                .notes
                .push(format!("{overridden}, outside the workspace, is overridden: its own callers aren't seen"));
        }
    }
    Ok(group)
}

fn note_of_overrides(own: &Class, family: &BTreeSet<Class>, name: &str) -> Option<String> {
    let others: Vec<String> = family
        .iter()
        .filter(|class| *class != own)
        .map(|(module, class)| format!("{module}.{}.{name}", class.join(".")))
        .collect();
    let list = others.join(", ");
    (!others.is_empty()).then(|| format!("with its override family (--family exact leaves it out): {list}"))
}

/// The classes of the workspace that declare a method of that name, with its name tokens.
fn carriers(codebase: &mut Codebase, name: &str) -> BTreeMap<Class, Vec<(Place, RelPath)>> {
    let mut found: BTreeMap<Class, Vec<(Place, RelPath)>> = BTreeMap::new();
    for file in codebase.files_with(&BTreeSet::from([name.to_owned()])) {
        let Some(loaded) = codebase.load(&file) else { continue };
        let module = codebase.module_name(&file);
        for declaration in loaded.module.declarations.iter().filter(|d| d.kind == DeclarationKind::Method) {
            if let Some((last, class)) = declaration.qualname.split_last()
                && last == name
            {
                let place = Place { file: PlaceFile::Inside(file.clone()), span: declaration.name };
                found.entry((module.clone(), class.to_vec())).or_default().push((place, file.clone()));
            }
        }
    }
    found
}

/// The bases that the classes name, as far as they were climbed.
#[derive(Default)]
struct Hierarchy {
    inside: BTreeMap<Class, BTreeSet<Class>>,
    outside: BTreeMap<Class, BTreeSet<Place>>,
    /// Classes whose bases were asked for, with the file: many classes share the ones above them.
    asked: BTreeSet<(Class, RelPath)>,
}

impl Hierarchy {
    /// Asks for the bases of a class and of all above it.
    async fn climb(
        &mut self,
        codebase: &mut Codebase,
        definitions: &mut impl Definitions,
        class: &Class,
        places: &[(Place, RelPath)],
    ) -> Result<(), ScoutError> {
        let mut open: Vec<(Class, RelPath)> = places.iter().map(|(_, file)| (class.clone(), file.clone())).collect();
        while let Some((class, file)) = open.pop() {
            if !self.asked.insert((class.clone(), file.clone())) {
                continue;
            }
            for base in bases(codebase, definitions, &file, &class.1).await? {
                match class_at(codebase, &base) {
                    Some((above, file)) => {
                        self.inside.entry(class.clone()).or_default().insert(above.clone());
                        open.push((above, file));
                    }
                    None => {
                        self.outside.entry(class.clone()).or_default().insert(base);
                    }
                }
            }
        }
        Ok(())
    }

    fn above(&self, class: &Class) -> BTreeSet<Class> {
        let mut found = BTreeSet::new();
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            for base in self.inside.get(class).into_iter().flatten() {
                if found.insert(base.clone()) {
                    open.push(base);
                }
            }
        }
        found
    }

    /// The carriers that are tied to a class by inheritance, over other carriers.
    fn family<'c>(&self, own: &Class, carriers: impl Iterator<Item = &'c Class>) -> BTreeSet<Class> {
        let above: Vec<(&Class, BTreeSet<Class>)> = carriers.map(|class| (class, self.above(class))).collect();
        let mut family = BTreeSet::from([own.clone()]);
        loop {
            let before = family.len();
            for (class, bases) in &above {
                let is_below = bases.iter().any(|base| family.contains(base));
                let is_above = || above.iter().any(|(member, b)| family.contains(*member) && b.contains(*class));
                if is_below || is_above() {
                    family.insert((*class).clone());
                }
            }
            if family.len() == before {
                return family;
            }
        }
    }

    fn outside_bases(&self, family: &BTreeSet<Class>) -> BTreeSet<&Place> {
        let classes = family.iter().flat_map(|class| self.above(class).into_iter().chain([class.clone()]));
        let classes: BTreeSet<Class> = classes.collect();
        classes.iter().filter_map(|class| self.outside.get(class)).flatten().collect()
    }
}

/// Where the bases that a class of a file names are defined.
pub(super) async fn bases(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    file: &RelPath,
    class: &[String],
) -> Result<Vec<Place>, ScoutError> {
    let Some(loaded) = codebase.load(file) else { return Ok(Vec::new()) };
    let is_class = |d: &&Declaration| d.kind == DeclarationKind::Class && d.qualname == class;
    let named = loaded.module.declarations.iter().filter(is_class).flat_map(|d| d.bases.iter().copied());
    let questions: Vec<_> = named.collect();
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let answers = definitions.definitions(codebase, file, &questions).await?;
    Ok(answers.into_iter().flatten().collect())
}

/// The class of the workspace that is declared at a place.
pub(super) fn class_at(codebase: &mut Codebase, place: &Place) -> Option<(Class, RelPath)> {
    let PlaceFile::Inside(file) = &place.file else { return None };
    let loaded = codebase.load(file)?;
    let declaration = loaded.module.declaration_at(place.span).filter(|d| d.kind == DeclarationKind::Class)?;
    Some(((codebase.module_name(file), declaration.qualname.clone()), file.clone()))
}

/// The dotted name of a method that a class outside the workspace declares itself.
fn declared_outside(codebase: &mut Codebase, class: &Place, name: &str) -> Option<String> {
    let PlaceFile::Outside(path) = &class.file else { return None };
    let loaded = codebase.load_outside(path)?;
    let mut method = loaded.module.declaration_at(class.span)?.qualname.clone();
    method.push(name.to_owned());
    let declared = loaded.module.declarations.iter().find(|d| d.qualname == method)?;
    Some(describe(codebase, &Place { file: class.file.clone(), span: declared.name }))
}
