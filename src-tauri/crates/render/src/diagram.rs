//! Mermaid diagrams as SVG.
//!
//! Pure. The window shows the SVG as a picture, in which a browser neither runs nor loads anything;
//! what could do so is refused here all the same.

use std::panic::AssertUnwindSafe;

use mermaid_rs_renderer::{LayoutConfig, Theme, compute_layout, parse_mermaid, render_svg};
use thiserror::Error;

/// Layout takes longer than linear time, so the source is bounded, and what it says.
const MAX_BYTES: usize = 8 * 1024;
const MAX_LINES: usize = 200;
const MAX_NODES: usize = 120;
const MAX_EDGES: usize = 160;
/// `a & b --> c & d` is four edges in one line.
const MAX_JOINS: usize = 24;
/// The renderer makes room for all columns that a block diagram names, used or not. So much room ends
/// the process, which no caller can catch.
const MAX_COLUMNS: usize = 64;
/// A smaller picture has nothing in it.
const MIN_SIDE: f32 = 24.0;
/// A larger picture would slow the window down.
const MAX_SVG_BYTES: usize = 1024 * 1024;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum DiagramError {
    #[error("the diagram is too large")]
    TooLarge,
    #[error("the diagram is not understood")]
    NotUnderstood,
}

/// Draws a diagram for a light or a dark window.
pub fn draw(source: &str, dark: bool) -> Result<String, DiagramError> {
    let joins = source.matches('&').count();
    if source.len() > MAX_BYTES || source.lines().count() > MAX_LINES || joins > MAX_JOINS {
        return Err(DiagramError::TooLarge);
    }
    // A fault of the renderer is a diagram that is not drawn.
    let drawn = std::panic::catch_unwind(AssertUnwindSafe(|| draw_small(source, dark)));
    let svg = drawn.unwrap_or(Err(DiagramError::NotUnderstood))?;
    if svg.len() > MAX_SVG_BYTES {
        return Err(DiagramError::TooLarge);
    }
    if !is_inert(&svg) {
        return Err(DiagramError::NotUnderstood);
    }
    Ok(svg)
}

fn draw_small(source: &str, dark: bool) -> Result<String, DiagramError> {
    let parsed = parse_mermaid(source).map_err(|_| DiagramError::NotUnderstood)?;
    if parsed.graph.nodes.len() > MAX_NODES || parsed.graph.edges.len() > MAX_EDGES {
        return Err(DiagramError::TooLarge);
    }
    let columns = parsed.graph.block.as_ref().and_then(|block| block.columns);
    if columns.is_some_and(|columns| columns > MAX_COLUMNS) {
        return Err(DiagramError::TooLarge);
    }
    let theme = Theme {
        // That of the window shows through.
        background: "none".to_owned(),
        ..if dark { Theme::dark() } else { Theme::modern() }
    };
    let config = LayoutConfig::default();
    let layout = compute_layout(&parsed.graph, &theme, &config);
    if layout.width < MIN_SIDE || layout.height < MIN_SIDE {
        return Err(DiagramError::NotUnderstood);
    }
    Ok(render_svg(&layout, &theme, &config))
}

/// Without scripts, other documents and links.
fn is_inert(svg: &str) -> bool {
    let lower = svg.to_ascii_lowercase();
    let active = [
        "<script",
        "<foreignobject",
        "<iframe",
        "<image",
        "<a ",
        "javascript:",
        "@import",
    ];
    !active.iter().any(|one| lower.contains(one))
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
