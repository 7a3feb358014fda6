//! LaTeX math as MathML, which a browser draws without fonts or scripts of ours.
//!
//! Pure. What comes out is sanitised with the block that it is in.

use std::sync::LazyLock;

use math_core::{LatexToMathML, MathDisplay};

/// A longer formula is shown as its source.
const MAX_BYTES: usize = 8 * 1024;
/// The parser follows nested groups by recursion.
const MAX_DEPTH: usize = 60;

static CONVERTER: LazyLock<LatexToMathML> = LazyLock::new(LatexToMathML::default);

/// `None` if it is not understood: then the source is shown.
pub fn render(latex: &str, display: bool) -> Option<String> {
    if latex.trim().is_empty() || latex.len() > MAX_BYTES || depth(latex) > MAX_DEPTH {
        return None;
    }
    let display = if display {
        MathDisplay::Block
    } else {
        MathDisplay::Inline
    };
    let converted = CONVERTER.convert_with_local_state(latex, display);
    converted.ok().map(|made| made.mathml)
}

/// How deep groups and environments may be nested, at most.
fn depth(latex: &str) -> usize {
    let opened = latex.matches('{').count() + latex.matches("\\left").count();
    if opened <= MAX_DEPTH {
        return opened;
    }
    let (mut now, mut most) = (0_usize, 0);
    for at in latex.char_indices() {
        match at.1 {
            '{' => now += 1,
            '}' => now = now.saturating_sub(1),
            '\\' if latex[at.0..].starts_with("\\left") => now += 1,
            '\\' if latex[at.0..].starts_with("\\right") => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

#[cfg(test)]
mod tests;
