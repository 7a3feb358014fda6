//! The way through the parse tree, down to simple commands.
//!
//! Node kinds are listed, not excluded: one that is not known here makes the command opaque.

use tree_sitter::{Node, Parser};

use super::{Findings, Reason, raw, word};

/// Scripts inside scripts; deeper ones are not looked at.
const DEEPEST: usize = 3;

impl Findings<'_> {
    pub(super) fn script(&mut self, source: &str, depth: usize) {
        let joined = raw::joined_lines(source);
        if joined.is_none() {
            self.because(Reason::Deceptive);
        }
        let source = joined.as_deref().unwrap_or(source);
        for reason in raw::reasons(source) {
            self.because(reason);
        }
        let mut parser = Parser::new();
        let language = tree_sitter_bash::LANGUAGE.into();
        let parsed = parser
            .set_language(&language)
            .ok()
            .and_then(|()| parser.parse(source, None));
        let Some(tree) = parsed.filter(|_| depth <= DEEPEST) else {
            self.because(Reason::ParseError);
            return self.pattern(source.trim().to_owned());
        };
        if tree.root_node().has_error() {
            self.because(Reason::ParseError);
            self.pattern(source.trim().to_owned());
        }
        self.visit(tree.root_node(), source, depth);
    }

    fn visit(&mut self, node: Node, source: &str, depth: usize) {
        let text = || source[node.byte_range()].trim().to_owned();
        match node.kind() {
            "comment" => {}
            "command" => return self.visit_command(node, source, depth),
            "file_redirect" => self.redirect(node, source),
            "heredoc_redirect" | "herestring_redirect" => self.because(Reason::Heredoc),
            "variable_assignment" | "variable_assignments" => self.because(Reason::Assignment),
            "declaration_command" | "unset_command" => {
                self.because(Reason::Assignment);
                self.pattern(text());
            }
            // Inside them arithmetic is evaluated, which can run commands.
            "test_command" | "c_style_for_statement" => {
                self.because(Reason::Unclear);
                self.pattern(text());
            }
            "function_definition" => self.because(Reason::Definition),
            "command_substitution" | "process_substitution" => self.because(Reason::Substitution),
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "do_group"
            | "redirected_statement"
            | "negated_command"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "case_statement"
            | "case_item"
            | "for_statement" => {}
            // Leaves of the above and of what is opaque already.
            "word" | "number" | "string" | "raw_string" | "concatenation" | "simple_expansion"
            | "variable_name" | "string_content" | "file_descriptor" => {
                if matches!(node.kind(), "simple_expansion") {
                    self.because(Reason::Variable);
                }
            }
            "ERROR" => self.because(Reason::ParseError),
            _ => self.because(Reason::Unclear),
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.visit(child, source, depth);
        }
    }

    fn visit_command(&mut self, node: Node, source: &str, depth: usize) {
        let home = self.surroundings.home;
        let mut words = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    self.because(Reason::Assignment);
                    self.visit(child, source, depth);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.visit(child, source, depth);
                }
                kind => {
                    let inner = if kind == "command_name" {
                        child.child(0).unwrap_or(child)
                    } else {
                        child
                    };
                    self.substitutions(inner, source, depth);
                    let mut because = |reason| {
                        self.analysis.reasons.insert(reason);
                    };
                    words.push(word::read(inner, source, home, &mut because));
                }
            }
        }
        self.command(words, depth);
    }

    /// Commands inside a word count too: a rule may deny them.
    fn substitutions(&mut self, node: Node, source: &str, depth: usize) {
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            return self.visit(node, source, depth);
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.substitutions(child, source, depth);
        }
    }

    /// Joining the two outputs and throwing output away touch no file.
    fn redirect(&mut self, node: Node, source: &str) {
        let home = self.surroundings.home;
        let mut unclear = false;
        let target = node.child_by_field_name("destination").map(|destination| {
            word::read(destination, source, home, &mut |_| unclear = true).value
        });
        let mut cursor = node.walk();
        let joins = node
            .children(&mut cursor)
            .any(|child| matches!(child.kind(), ">&" | "<&"));
        let harmless = match target.as_deref() {
            Some("/dev/null") => true,
            Some(target) => joins && !unclear && target.chars().all(|c| c.is_ascii_digit()),
            None => false,
        };
        if harmless {
            return;
        }
        self.because(Reason::Redirect);
        if let Some(target) = target {
            self.look_at_path(&target);
        }
    }
}
