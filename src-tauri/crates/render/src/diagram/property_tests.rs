//! Whatever a model writes as a diagram, the window gets a picture or an error. What ends the process
//! ends this test.

use lathe_fuzz::fuzz;
use proptest::prelude::*;

use super::{MAX_SVG_BYTES, draw};

const KINDS: [&str; 20] = [
    "graph TD",
    "flowchart LR",
    "sequenceDiagram",
    "classDiagram",
    "stateDiagram-v2",
    "erDiagram",
    "pie",
    "mindmap",
    "journey",
    "timeline",
    "gantt\ndateFormat YYYY-MM-DD",
    "gitGraph",
    "C4Context",
    "sankey-beta",
    "quadrantChart",
    "block-beta",
    "packet-beta",
    "radar-beta",
    "treemap-beta",
    "xychart-beta",
];

const LINES: [&str; 24] = [
    "columns N",
    "a:N b c:N",
    "block:g:N",
    "space:N",
    "end",
    "A --> B",
    "A ----------> C",
    "A->>B: N",
    "autonumber N",
    "linkStyle N stroke-width:Npx",
    "style A font-size:Npx,stroke-width:N",
    "\"one\" : N",
    "0-N: \"bits\"",
    "N: \"bits\"",
    "axis a, b, c",
    "curve x{N, 2, N}",
    "ticks N",
    "max N",
    "x-axis 0 --> N",
    "y-axis N --> -N",
    "bar [N, 1, N]",
    "one,two,N",
    "task :a1, 2024-01-01, Nd",
    "UpdateLayoutConfig($c4ShapeInRow=\"N\", $c4BoundaryInRow=\"N\")",
];

const NUMBERS: [&str; 9] = [
    "0",
    "1",
    "64",
    "10000",
    "2000000000",
    "4294967296",
    "1000000000000",
    "18446744073709551615",
    "1e38",
];

fn source() -> impl Strategy<Value = String> {
    let line = (0..LINES.len(), 0..NUMBERS.len())
        .prop_map(|(line, number)| LINES[line].replace('N', NUMBERS[number]));
    let lines = proptest::collection::vec(line, 1..12);
    (0..KINDS.len(), lines)
        .prop_map(|(kind, lines)| format!("{}\n{}\n", KINDS[kind], lines.join("\n")))
}

#[test]
fn every_diagram_becomes_a_bounded_picture_or_an_error() {
    fuzz(64, source(), |source| {
        if let Ok(svg) = draw(&source, false) {
            assert!(svg.len() <= MAX_SVG_BYTES, "{source}");
        }
    });
}
