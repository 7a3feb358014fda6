//! Maps the scopes of a grammar to the few classes that have a colour.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use syntect::parsing::Scope;

/// Every class that a highlighted span may have.
pub const CLASSES: [&str; 22] = [
    "hl-attribute",
    "hl-bold",
    "hl-changed",
    "hl-comment",
    "hl-constant",
    "hl-deleted",
    "hl-escape",
    "hl-function",
    "hl-heading",
    "hl-inserted",
    "hl-italic",
    "hl-keyword",
    "hl-link",
    "hl-macro",
    "hl-number",
    "hl-operator",
    "hl-parameter",
    "hl-property",
    "hl-string",
    "hl-tag",
    "hl-type",
    "hl-variable",
];

/// The first matching prefix decides, so special ones come before general ones.
const PREFIXES: [(&str, &str); 46] = [
    ("comment", "hl-comment"),
    ("constant.character.escape", "hl-escape"),
    ("constant.character.entity", "hl-escape"),
    ("constant.other.placeholder", "hl-escape"),
    ("constant.numeric", "hl-number"),
    ("constant", "hl-constant"),
    ("entity.name.function", "hl-function"),
    ("entity.name.macro", "hl-macro"),
    ("entity.name.section", "hl-heading"),
    ("entity.name.tag", "hl-tag"),
    ("entity.name.class", "hl-type"),
    ("entity.name.enum", "hl-type"),
    ("entity.name.impl", "hl-type"),
    ("entity.name.interface", "hl-type"),
    ("entity.name.namespace", "hl-type"),
    ("entity.name.struct", "hl-type"),
    ("entity.name.trait", "hl-type"),
    ("entity.name.type", "hl-type"),
    ("entity.name.union", "hl-type"),
    ("entity.name.constant", "hl-constant"),
    ("entity.other.attribute-name", "hl-attribute"),
    ("entity.other.inherited-class", "hl-type"),
    ("keyword.operator", "hl-operator"),
    ("keyword", "hl-keyword"),
    ("markup.bold", "hl-bold"),
    ("markup.changed", "hl-changed"),
    ("markup.deleted", "hl-deleted"),
    ("markup.heading", "hl-heading"),
    ("markup.inserted", "hl-inserted"),
    ("markup.italic", "hl-italic"),
    ("markup.raw", "hl-string"),
    ("markup.underline.link", "hl-link"),
    ("meta.diff.header", "hl-heading"),
    ("storage", "hl-keyword"),
    ("string", "hl-string"),
    ("support.class", "hl-type"),
    ("support.constant", "hl-constant"),
    ("support.function", "hl-function"),
    ("support.macro", "hl-macro"),
    ("support.type.property-name", "hl-property"),
    ("support.type", "hl-type"),
    ("variable.annotation", "hl-attribute"),
    ("variable.function", "hl-function"),
    ("variable.language", "hl-constant"),
    ("variable.other.member", "hl-property"),
    ("variable.parameter", "hl-parameter"),
];

static RULES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    PREFIXES
        .iter()
        .filter_map(|(prefix, class)| Some((Scope::new(prefix).ok()?, *class)))
        .collect()
});

thread_local! {
    // A cache: a file has few different scopes and many spans.
    static CACHE: RefCell<HashMap<Scope, Option<&'static str>>> = RefCell::default();
}

/// The class of the innermost scope that has one.
pub(super) fn class_of(stack: &[Scope]) -> Option<&'static str> {
    CACHE.with_borrow_mut(|cache| {
        stack.iter().rev().find_map(|scope| {
            *cache.entry(*scope).or_insert_with(|| {
                RULES
                    .iter()
                    .find(|(prefix, _)| prefix.is_prefix_of(*scope))
                    .map(|(_, class)| *class)
            })
        })
    })
}
