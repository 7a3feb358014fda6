//! Extracts the functions and types that a source file defines, with tree-sitter.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lathe_protocol::ipc::SymbolKind;
use tree_sitter::{Language, Parser, Query, QueryCursor, StreamingIterator};

/// A definition. Lines count from 1; `end_line` is its last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub name: Box<str>,
    pub kind: SymbolKind,
    pub line: u32,
    pub end_line: u32,
}

/// A grammar and its query. Each match captures a `name` and a definition, whose capture name
/// is the kind.
pub struct Grammar {
    language: Language,
    query: Query,
}

macro_rules! grammars {
    ($($name:ident: $language:expr, $query:literal, [$($ending:literal),+];)+) => {
        $(static $name: LazyLock<Option<Grammar>> = LazyLock::new(|| {
            Grammar::new($language.into(), include_str!(concat!("tags/", $query, ".scm")))
        });)+

        /// The grammar for a path by its extension; `None` if the language is not supported.
        pub fn grammar_of(path: &str) -> Option<&'static Grammar> {
            let (_, ending) = path.rsplit_once('.')?;
            match ending {
                $($($ending)|+ => $name.as_ref(),)+
                _ => None,
            }
        }

        #[cfg(test)]
        const ENDINGS: &[&str] = &[$($($ending),+),+];
    };
}

grammars! {
    C: tree_sitter_c::LANGUAGE, "c", ["c", "h"];
    GO: tree_sitter_go::LANGUAGE, "go", ["go"];
    JAVASCRIPT: tree_sitter_javascript::LANGUAGE, "javascript", ["js", "mjs", "cjs", "jsx"];
    PYTHON: tree_sitter_python::LANGUAGE, "python", ["py", "pyi"];
    RUST: tree_sitter_rust::LANGUAGE, "rust", ["rs"];
    TSX: tree_sitter_typescript::LANGUAGE_TSX, "typescript", ["tsx"];
    TYPESCRIPT: tree_sitter_typescript::LANGUAGE_TYPESCRIPT, "typescript", ["ts", "mts", "cts"];
}

impl Grammar {
    fn new(language: Language, query: &str) -> Option<Self> {
        match Query::new(&language, query) {
            Ok(query) => Some(Grammar { language, query }),
            Err(error) => {
                tracing::warn!(%error, "a grammar does not fit its question");
                None
            }
        }
    }

    /// The definitions in the order of the file.
    pub fn tags(&self, parser: &mut Parser, source: &str) -> Vec<Tag> {
        if parser.set_language(&self.language).is_err() {
            return Vec::new();
        }
        let Some(tree) = parser.parse(source, None) else {
            return Vec::new();
        };
        let names = self.query.capture_names();
        let mut found: BTreeMap<usize, Tag> = BTreeMap::new();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&self.query, tree.root_node(), source.as_bytes());
        while let Some(one) = matches.next() {
            let (mut name, mut definition) = (None, None);
            for capture in one.captures() {
                match names[capture.index as usize] {
                    "name" => name = Some(capture.node),
                    kind => definition = kind_of(kind).map(|kind| (kind, capture.node)),
                }
            }
            let (Some(name), Some((kind, node))) = (name, definition) else {
                continue;
            };
            let tag = Tag {
                name: source[name.byte_range()].into(),
                kind,
                line: line(node.start_position().row),
                end_line: line(node.end_position().row),
            };
            // A method also matches as a function: the more specific kind wins.
            let known = found
                .entry(name.start_byte())
                .or_insert_with(|| tag.clone());
            if matches!(known.kind, SymbolKind::Function | SymbolKind::Type) {
                *known = tag;
            }
        }
        found.into_values().collect()
    }
}

fn line(row: usize) -> u32 {
    u32::try_from(row + 1).unwrap_or(u32::MAX)
}

fn kind_of(name: &str) -> Option<SymbolKind> {
    Some(match name {
        "class" => SymbolKind::Class,
        "constant" => SymbolKind::Constant,
        "enum" => SymbolKind::Enum,
        "function" => SymbolKind::Function,
        "interface" => SymbolKind::Interface,
        "macro" => SymbolKind::Macro,
        "method" => SymbolKind::Method,
        "module" => SymbolKind::Module,
        "struct" => SymbolKind::Struct,
        "type" => SymbolKind::Type,
        _ => return None,
    })
}

/// The `SymbolKind` number of the Language Server Protocol.
pub fn lsp_kind(kind: SymbolKind) -> i64 {
    match kind {
        SymbolKind::Module => 2,
        SymbolKind::Class | SymbolKind::Type => 5,
        SymbolKind::Method => 6,
        SymbolKind::Enum => 10,
        SymbolKind::Interface => 11,
        SymbolKind::Function | SymbolKind::Macro => 12,
        SymbolKind::Constant => 14,
        SymbolKind::Struct => 23,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tags formatted as `kind name first-last`.
    fn tags(file: &str, source: &str) -> Vec<String> {
        let grammar = grammar_of(file).unwrap();
        let tags = grammar.tags(&mut Parser::new(), source);
        let show = |tag: &Tag| format!("{:?} {} {}-{}", tag.kind, tag.name, tag.line, tag.end_line);
        tags.iter().map(show).collect()
    }

    #[test]
    fn every_query_fits_its_grammar() {
        for ending in ENDINGS {
            assert!(grammar_of(&format!("a.{ending}")).is_some(), "{ending}");
        }
        assert!(grammar_of("a.txt").is_none() && grammar_of("rs").is_none());
    }

    #[test]
    fn definitions_are_found_with_their_lines() {
        let rust = "pub struct Tea {\n  hot: bool,\n}\nimpl Tea {\n  fn pour(&self) {}\n}\n\
                    trait Drink { fn sip(&self); }\nfn main() {}\nconst A: u8 = 1;\n\
                    enum E { X }\nmacro_rules! m { () => {} }\nmod inner { fn deep() {} }\n";
        assert_eq!(
            tags("a.rs", rust),
            [
                "Struct Tea 1-3",
                "Method pour 5-5",
                "Interface Drink 7-7",
                "Method sip 7-7",
                "Function main 8-8",
                "Constant A 9-9",
                "Enum E 10-10",
                "Macro m 11-11",
                "Module inner 12-12",
                "Function deep 12-12",
            ]
        );
        let typescript = "interface A { x: number }\nexport class B {\n  run() {}\n}\n\
                          const f = () => 1;\ntype T = string;\nenum E { X }\nfunction g() {}\n";
        let expected = [
            "Interface A 1-1",
            "Class B 2-4",
            "Method run 3-3",
            "Function f 5-5",
            "Type T 6-6",
            "Enum E 7-7",
            "Function g 8-8",
        ];
        assert_eq!(tags("a.ts", typescript), expected);
        assert_eq!(tags("a.tsx", typescript), expected);
        assert_eq!(
            tags(
                "a.js",
                "class A { m() {} }\nfunction* g() {}\nconst h = function () {};\n"
            ),
            [
                "Class A 1-1",
                "Method m 1-1",
                "Function g 2-2",
                "Function h 3-3"
            ]
        );
        assert_eq!(
            tags(
                "a.py",
                "LIMIT = 3\nlocal = 1\nclass A:\n    @x\n    def m(self):\n        pass\n\ndef f():\n    pass\n"
            ),
            [
                "Constant LIMIT 1-1",
                "Class A 3-6",
                "Method m 5-6",
                "Function f 8-9"
            ]
        );
        assert_eq!(
            tags(
                "a.go",
                "package p\n\nfunc F() {}\n\nfunc (s S) M() {}\n\ntype S struct{}\ntype I interface{}\ntype N int\nconst C = 1\n"
            ),
            [
                "Function F 3-3",
                "Method M 5-5",
                "Struct S 7-7",
                "Interface I 8-8",
                "Type N 9-9",
                "Constant C 10-10",
            ]
        );
        assert_eq!(
            tags(
                "a.c",
                "struct s { int x; };\nstatic int f(void) {\n  return 1;\n}\nchar *g(void) { return 0; }\ntypedef int t;\n#define M(x) x\n"
            ),
            [
                "Struct s 1-1",
                "Function f 2-4",
                "Function g 5-5",
                "Type t 6-6",
                "Macro M 7-8"
            ]
        );
    }

    #[test]
    fn broken_source_still_gives_its_intact_definitions() {
        assert_eq!(
            tags("a.rs", "fn whole() {}\nfn broken( {"),
            ["Function whole 1-1"]
        );
    }
}
