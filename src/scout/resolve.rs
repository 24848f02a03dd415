//! The second pass of symbol resolution: a name or a position to exactly one declaration group.
//!
//! Invariants, from the two ways in which a single pass goes wrong: an alias resolves to its target, never to
//! itself, and of several bindings of one name the innermost scope's counts. A wrong symbol would corrupt the
//! whole worklist, and nothing behind this room could notice.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::plan::{SymbolKind, SymbolPath};
use crate::python::{Declaration, DeclarationKind, NameToken, Role, ScopeKind, Usage};
use crate::text::{ByteOffset, ByteSpan, Position, RelPath};

use super::ScoutError;
use super::codebase::{Codebase, Loaded};
use super::describe::describe;
use super::discovery::{Definitions, Place, PlaceFile};
use super::error::Candidate;
use super::group::{Group, symbol_kind, symbol_path};

/// How many close names are suggested.
const SUGGESTIONS: usize = 3;
/// How many files are read for suggestions.
const SUGGESTION_FILES: usize = 2000;

/// What the user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Query {
    /// A dotted name, any suffix of the fully qualified one.
    Name(SymbolPath),
    /// A place in a file: 0-based line, and 0-based column in characters where one was given.
    Place { file: RelPath, line: usize, column: Option<usize> },
}

/// The declaration group that the query means.
pub(crate) async fn resolve(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    query: &Query,
) -> Result<Group, ScoutError> {
    match query {
        Query::Name(name) => by_name(codebase, definitions, name).await,
        Query::Place { file, line, column } => by_place(codebase, definitions, file, *line, *column).await,
    }
}

/// A declaration that matches a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    /// Module-level first, then members of classes, then what is local to a function.
    tier: usize,
    symbol: SymbolPath,
    file: RelPath,
    name: ByteSpan,
}

async fn by_name(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    name: &SymbolPath,
) -> Result<Group, ScoutError> {
    let matches = declared(codebase, name);
    let Some(tier) = matches.iter().map(|found| found.tier).min() else {
        return match by_reexport(codebase, definitions, name).await? {
            Some(group) => Ok(group),
            None => Err(not_found(codebase, name)),
        };
    };
    let best: Vec<&Match> = matches.iter().filter(|found| found.tier == tier).collect();
    let exact = best.iter().filter(|found| found.symbol == *name).copied().collect::<Vec<_>>();
    let best = if exact.is_empty() { best } else { exact };
    let mut groups = Vec::new();
    for found in &best {
        let place = Place { file: PlaceFile::Inside(found.file.clone()), span: found.name };
        if let Some(group) = declared_at(codebase, &place)
            && !groups.iter().any(|known: &Group| known.members == group.members)
        {
            groups.push(group);
        }
    }
    if groups.len() > 1 {
        let candidates = best.iter().filter_map(|found| candidate(codebase, found)).collect::<BTreeSet<_>>();
        let candidates = candidates.into_iter().collect();
        return Err(ScoutError::Ambiguous { symbol: name.to_string(), candidates });
    }
    groups.pop().ok_or_else(|| not_found(codebase, name))
}

/// Declarations of the workspace whose fully qualified name ends in `name`.
fn declared(codebase: &mut Codebase, name: &SymbolPath) -> Vec<Match> {
    let texts = BTreeSet::from([name.name().to_owned()]);
    let mut matches = Vec::new();
    for file in codebase.files_with(&texts) {
        let Some(loaded) = codebase.load(&file) else { continue };
        let modules = codebase.module_names(&file);
        for declaration in &loaded.module.declarations {
            let kind = symbol_kind(declaration.kind);
            let mut symbols = modules.iter().filter_map(|module| symbol_path(module, &declaration.qualname, kind));
            let Some(symbol) = symbols.next() else { continue };
            // Below several import roots a file has several names, of which the first is its own.
            if name.is_suffix_of(&symbol) || symbols.any(|symbol| name.is_suffix_of(&symbol)) {
                matches.push(Match {
                    tier: tier(declaration, &loaded),
                    symbol,
                    file: file.clone(),
                    name: declaration.name,
                });
            }
        }
    }
    matches.sort();
    matches
}

fn tier(declaration: &Declaration, loaded: &Loaded) -> usize {
    let around = declaration.qualname.split_last().map_or(&[][..], |(_, around)| around);
    let classes: BTreeSet<&[String]> = loaded
        .module
        .declarations
        .iter()
        .filter(|d| symbol_kind(d.kind) == SymbolKind::Class)
        .map(|d| d.qualname.as_slice())
        .collect();
    let is_local = match loaded.module.scopes.kind(declaration.scope) {
        ScopeKind::Module | ScopeKind::Class => false,
        ScopeKind::Function | ScopeKind::Comprehension | ScopeKind::TypeParameters => true,
    };
    if is_local {
        2
    } else if around.is_empty() {
        0
    } else if (1..=around.len()).all(|depth| around.get(..depth).is_some_and(|prefix| classes.contains(prefix))) {
        1
    } else {
        2
    }
}

fn candidate(codebase: &mut Codebase, found: &Match) -> Option<Candidate> {
    let loaded = codebase.load(&found.file)?;
    let line = loaded.source.position(found.name.start()).ok()?.line() + 1;
    Some(Candidate { symbol: found.symbol.to_string(), place: format!("{}:{line}", found.file) })
}

/// `pkg.f`, where `pkg/__init__.py` only imports `f`, and `os.path.join`, which the workspace only imports: follows the
/// import to the original definition, inside the workspace or not.
async fn by_reexport(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    name: &SymbolPath,
) -> Result<Option<Group>, ScoutError> {
    let texts = BTreeSet::from([name.name().to_owned()]);
    let mut groups: BTreeMap<SymbolPath, Group> = BTreeMap::new();
    for file in codebase.files_with(&texts) {
        let Some(loaded) = codebase.load(&file) else { continue };
        let module = codebase.module_name(&file);
        for clause in &loaded.module.imports {
            let Some(imported) = clause.target.name.clone().filter(|_| !clause.star) else { continue };
            // Either the name that the import makes, or the one that it is of: `from os.path import join as j`.
            let made = symbol_path(&module, &[clause.bound_name().to_owned()], SymbolKind::Variable);
            let of = symbol_path(&clause.target.module, &[imported], SymbolKind::Variable);
            let of = of.filter(|_| clause.target.level == 0);
            if ![made, of].into_iter().flatten().any(|path| name.is_suffix_of(&path)) {
                continue;
            }
            if let Ok(group) = at_token(codebase, definitions, &file, &loaded, clause.name.start()).await {
                groups.insert(group.path.clone(), group);
            }
        }
    }
    match groups.len() {
        0 | 1 => Ok(groups.into_values().next()),
        _ => {
            let place = |group: &Group| group.members.iter().next().map(|member| describe_file(&member.file));
            let candidates = groups
                .values()
                .map(|group| Candidate { symbol: group.path.to_string(), place: place(group).unwrap_or_default() })
                .collect();
            Err(ScoutError::Ambiguous { symbol: name.to_string(), candidates })
        }
    }
}

fn describe_file(file: &PlaceFile) -> String {
    match file {
        PlaceFile::Inside(file) => file.to_string(),
        PlaceFile::Outside(path) => path.display().to_string(),
    }
}

fn not_found(codebase: &mut Codebase, name: &SymbolPath) -> ScoutError {
    let files: Vec<RelPath> = codebase.files().take(SUGGESTION_FILES).cloned().collect();
    let mut close: Vec<(usize, Candidate)> = Vec::new();
    for file in files {
        let Some(loaded) = codebase.load(&file) else { continue };
        let module = codebase.module_name(&file);
        for declaration in &loaded.module.declarations {
            let kind = symbol_kind(declaration.kind);
            let own = declaration.qualname.last().map_or("", String::as_str);
            let distance = strsim::damerau_levenshtein(own, name.name());
            if kind == SymbolKind::Parameter || distance * 3 > name.name().chars().count() {
                continue;
            }
            let line = loaded.source.position(declaration.name.start()).map_or(0, Position::line) + 1;
            if let Some(symbol) = symbol_path(&module, &declaration.qualname, kind) {
                close.push((distance, Candidate { symbol: symbol.to_string(), place: format!("{file}:{line}") }));
            }
        }
    }
    close.sort();
    close.dedup_by(|a, b| a.1.symbol == b.1.symbol);
    close.truncate(SUGGESTIONS);
    ScoutError::NotFound {
        symbol: name.to_string(),
        workspace: codebase.root().to_string(),
        close: close.into_iter().map(|(_, candidate)| candidate).collect(),
    }
}

async fn by_place(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    file: &RelPath,
    line: usize,
    column: Option<usize>,
) -> Result<Group, ScoutError> {
    let place = || match column {
        Some(column) => format!("{file}:{}:{}", line + 1, column + 1),
        None => format!("{file}:{}", line + 1),
    };
    if !codebase.contains(file) && !codebase.root().join(file).is_file() {
        return Err(ScoutError::NoFile { file: file.to_string(), workspace: codebase.root().to_string() });
    }
    let Some(loaded) = codebase.load(file) else {
        let (_, reason) = codebase.why_not(file);
        return Err(ScoutError::Unreadable { file: file.to_string(), reason });
    };
    let nothing = |reason: &str| ScoutError::NothingThere { place: place(), reason: reason.to_owned() };
    let no_such_place = |source| ScoutError::Position { place: place(), source };
    let at = loaded.source.offset(Position::new(line, column.unwrap_or(0))).map_err(no_such_place)?;
    let token = if column.is_some() {
        let touching = |token: &&NameToken| token.span.touches(at);
        let token = loaded.module.names().filter(touching).find(|token| token.span.end() != at);
        token.or_else(|| loaded.module.names().find(touching)).cloned()
    } else {
        only_token(&loaded, line).map_err(|reason| nothing(&reason))?
    };
    let token = token.ok_or_else(|| nothing("there is no name"))?;
    at_token(codebase, definitions, file, &loaded, token.span.start()).await
}

/// The one name of a line that is meant: what it defines, else the only thing that it calls, else its only name.
fn only_token(loaded: &Loaded, line: usize) -> Result<Option<NameToken>, String> {
    let on_line = |token: &&NameToken| loaded.source.position(token.span.start()).is_ok_and(|p| p.line() == line);
    let tokens: Vec<&NameToken> = loaded.module.names().filter(on_line).collect();
    let defined = tokens.iter().find(|token| token.role == Role::Definition);
    let called: Vec<&NameToken> = tokens.iter().copied().filter(|token| token.usage == Usage::Call).collect();
    match (defined, called.as_slice(), tokens.as_slice()) {
        (Some(token), _, _) | (None, [token], _) | (None, _, [token]) => Ok(Some((*token).clone())),
        (None, _, []) => Ok(None),
        (None, _, many) => {
            let column =
                |token: &&&NameToken| loaded.source.position(token.span.start()).map_or(0, Position::column) + 1;
            let list: Vec<String> = many
                .iter()
                .map(|token| {
                    format!("{} at column {}", loaded.source.slice(token.span).unwrap_or_default(), column(&token))
                })
                .collect();
            Err(format!("the line holds several names, so give a column: {}", list.join(", ")))
        }
    }
}

/// The group of what the identifier that starts at the offset refers to.
async fn at_token(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    file: &RelPath,
    loaded: &Rc<Loaded>,
    at: ByteOffset,
) -> Result<Group, ScoutError> {
    let place_text = || {
        let position = loaded.source.position(at).unwrap_or(Position::new(0, 0));
        format!("{file}:{}:{}", position.line() + 1, position.column() + 1)
    };
    let nothing = |reason: String| ScoutError::NothingThere { place: place_text(), reason };
    let token = loaded.module.name_at(at).ok_or_else(|| nothing("there is no name".to_owned()))?;
    let own = Place { file: PlaceFile::Inside(file.clone()), span: token.span };
    if loaded.module.declaration_at(token.span).is_some() && token.role != Role::Store
        || matches!(token.role, Role::Definition | Role::Parameter | Role::TypeParameter)
    {
        return declared_at(codebase, &own).ok_or_else(|| nothing("nothing can be asked for there".to_owned()));
    }
    let mut answers = definitions.definitions(codebase, file, &[at]).await?;
    let targets = answers.pop().unwrap_or_default();
    let name = loaded.source.slice(token.span).unwrap_or_default();
    for target in targets.iter().filter(|target| **target != own) {
        if let Some(group) = declared_at(codebase, target).filter(|group| !is_hook_for(group, name)) {
            return Ok(group);
        }
    }
    if let Some(group) = by_scopes(codebase, file, loaded, token) {
        return Ok(group);
    }
    if let Some(group) = by_way_of(codebase, definitions, file, loaded, token).await? {
        return Ok(group);
    }
    // A variable is its own definition; so is an import that doesn't resolve.
    for target in targets.iter().chain([&own]) {
        let group = declared_at(codebase, target).filter(|group| !is_hook_for(group, name));
        if let Some(group) = group.or_else(|| unresolved_import(codebase, target)) {
            return Ok(group);
        }
    }
    Err(match targets.first() {
        Some(target) => {
            nothing(format!("it is {}, which isn't a symbol that can be asked for", describe(codebase, target)))
        }
        None => nothing("nobody knows what the name there refers to".to_owned()),
    })
}

/// Whether a definition is only what runs when something called `name` is used: `K(1)` leads to `K.__init__`, and
/// a call of what `lru_cache` wraps to the wrapper's `__call__`.
fn is_hook_for(group: &Group, name: &str) -> bool {
    let is_dunder = |name: &str| name.starts_with("__") && name.ends_with("__");
    group.kind == SymbolKind::Method && is_dunder(group.path.name()) && !is_dunder(name)
}

/// What a name means by the import that binds it, or by the module or class in front of its dot.
async fn by_way_of(
    codebase: &mut Codebase,
    definitions: &mut impl Definitions,
    file: &RelPath,
    loaded: &Rc<Loaded>,
    token: &NameToken,
) -> Result<Option<Group>, ScoutError> {
    let Some(name) = loaded.source.slice(token.span) else { return Ok(None) };
    if let Some(receiver) = token.receiver {
        let Some(last) = loaded.module.names().filter(|token| receiver.contains(token.span)).last() else {
            return Ok(None);
        };
        let owners = definitions.definitions(codebase, file, &[last.span.start()]).await?.pop().unwrap_or_default();
        return Ok(owners.iter().find_map(|owner| member_of(codebase, owner, name)));
    }
    let Some(scope) = loaded.module.scopes.lookup(token.scope, name) else { return Ok(None) };
    for binding in loaded.module.scopes.bindings(scope, name) {
        let Some(clause) = loaded.module.import_at(binding.span.start()) else { continue };
        let imported = definitions.definitions(codebase, file, &[clause.name.start()]).await?.pop().unwrap_or_default();
        if let Some(group) = imported.iter().find_map(|target| declared_at(codebase, target)) {
            return Ok(Some(group));
        }
    }
    Ok(None)
}

/// What is called `name` in the module or class at a place of the workspace.
fn member_of(codebase: &mut Codebase, owner: &Place, name: &str) -> Option<Group> {
    let PlaceFile::Inside(file) = &owner.file else { return None };
    let loaded = codebase.load(file)?;
    let mut qualname = match loaded.module.declaration_at(owner.span) {
        Some(class) if class.kind == DeclarationKind::Class => class.qualname.clone(),
        None if owner.span.is_empty() => Vec::new(),
        Some(_) | None => return None,
    };
    qualname.push(name.to_owned());
    let kind = loaded.module.declarations.iter().find(|declaration| declaration.qualname == qualname)?.kind;
    Group::of(codebase, file, &qualname, symbol_kind(kind))
}

/// The innermost binding of a plain name, by the scopes of the file alone.
fn by_scopes(codebase: &mut Codebase, file: &RelPath, loaded: &Loaded, token: &NameToken) -> Option<Group> {
    if !token.role.is_plain() {
        return None;
    }
    let name = loaded.source.slice(token.span)?;
    let scope = loaded.module.scopes.lookup(token.scope, name)?;
    let bindings = loaded.module.scopes.bindings(scope, name);
    let places: Vec<Place> =
        bindings.iter().map(|binding| Place { file: PlaceFile::Inside(file.clone()), span: binding.span }).collect();
    places.iter().find_map(|place| declared_at(codebase, place))
}

/// The group that a target of a definition belongs to.
fn declared_at(codebase: &mut Codebase, target: &Place) -> Option<Group> {
    let loaded = match &target.file {
        PlaceFile::Inside(file) => codebase.load(file)?,
        PlaceFile::Outside(path) => codebase.load_outside(path)?,
    };
    let declaration = loaded.module.declaration_at(target.span)?;
    match &target.file {
        PlaceFile::Inside(file) => Group::around(codebase, file, declaration),
        PlaceFile::Outside(path) => {
            let (qualname, kind) = (declaration.qualname.clone(), symbol_kind(declaration.kind));
            let path = symbol_path(&codebase.module_name_of(path), &qualname, kind)?;
            Some(Group::external(path, kind, qualname, target.clone()))
        }
    }
}

/// A symbol that is known by imports alone: every import of it in the workspace declares it.
fn unresolved_import(codebase: &mut Codebase, target: &Place) -> Option<Group> {
    let PlaceFile::Inside(file) = &target.file else { return None };
    let loaded = codebase.load(file)?;
    let clause = loaded.module.import_at(target.span.start())?.clone();
    let name = clause.target.name.clone()?;
    if clause.star || !codebase.resolve_import(file, &clause.target).is_empty() {
        return None;
    }
    let path = symbol_path(&clause.target.module, std::slice::from_ref(&name), SymbolKind::Variable)?;
    let mut members = BTreeSet::new();
    for file in codebase.files_with(&BTreeSet::from([name.clone()])) {
        let Some(loaded) = codebase.load(&file) else { continue };
        let same = loaded.module.imports.iter().filter(|other| other.target == clause.target);
        members.extend(same.map(|other| Place { file: PlaceFile::Inside(file.clone()), span: other.name }));
    }
    let mut group = Group::external(path, SymbolKind::Function, vec![name], target.clone());
    group.members = members;
    Some(group)
}
