//! The layers as an SVG picture.

use super::layers::{Layers, Node};

const BOX_WIDTH: f64 = 100.0;
const BOX_HEIGHT: f64 = 34.0;
const ROW: f64 = 84.0;
const MARGIN: f64 = 24.0;
/// Room for the sentence below the crates.
const FOOT: f64 = 30.0;
/// Lines end this far above a box, where the arrow's point touches it.
const POINT: f64 = 7.0;

const STYLE: &str = "\
text { font: 14px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1c2733; text-anchor: middle }
.crate { fill: #e8f0fa; stroke: #3d6591; stroke-width: 1.2 }
.window { fill: #f7efe0; stroke: #94702c; stroke-width: 1.2 }
.line { fill: none; stroke: #6b7a8c; stroke-width: 1.3 }
.note { font-size: 12px; fill: #4a5868 }";

pub fn draw(layers: &Layers) -> String {
    let left = layers.nodes.iter().map(|node| node.x);
    let left = left.fold(f64::MAX, f64::min) - BOX_WIDTH / 2.0 - MARGIN;
    let right = layers.nodes.iter().map(|node| node.x);
    let right = right.fold(f64::MIN, f64::max) + BOX_WIDTH / 2.0 + MARGIN;
    let top = layers.rows.len().saturating_sub(1);
    let place = |node: &Node| {
        let y = MARGIN + BOX_HEIGHT / 2.0 + (top - node.layer) as f64 * ROW;
        (node.x - left, y)
    };
    let width = right - left;
    let height = 2.0 * MARGIN + BOX_HEIGHT + top as f64 * ROW + FOOT;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>The crates in layers; an arrow points to what a crate depends on</title>\n\
         <style>\n{STYLE}\n</style>\n\
         <defs><marker id=\"point\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#6b7a8c\"/></marker></defs>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" rx=\"8\" fill=\"#ffffff\"/>\n"
    );
    for line in &layers.lines {
        let mut points: Vec<_> = line.iter().map(|id| place(&layers.nodes[*id])).collect();
        if let [first, .., last] = points.as_mut_slice() {
            first.0 += shift(layers, line, false);
            last.0 += shift(layers, line, true);
        }
        out += &format!(
            "<path class=\"line\" marker-end=\"url(#point)\" d=\"{}\"/>\n",
            curve(&points)
        );
    }
    for node in &layers.nodes {
        let Some(label) = &node.label else { continue };
        let (x, y) = place(node);
        let class = if node.layer == top { "window" } else { "crate" };
        out += &format!(
            "<rect class=\"{class}\" x=\"{:.0}\" y=\"{:.0}\" width=\"{BOX_WIDTH}\" \
             height=\"{BOX_HEIGHT}\" rx=\"5\"/><text x=\"{x:.0}\" y=\"{:.0}\">{label}</text>\n",
            x - BOX_WIDTH / 2.0,
            y - BOX_HEIGHT / 2.0,
            y + 5.0
        );
    }
    out += &format!(
        "<text class=\"note\" x=\"{:.0}\" y=\"{:.0}\">An arrow points to what a crate depends on. \
         Dependencies that follow from others are not drawn.</text>\n</svg>\n",
        width / 2.0,
        height - MARGIN / 2.0 - 6.0
    );
    out
}

/// How far from the middle of a box a line begins or ends: the lines of one box lie side by
/// side, in the order of where they go.
fn shift(layers: &Layers, line: &[usize], at_end: bool) -> f64 {
    let end = |line: &[usize]| if at_end { line.len() - 1 } else { 0 };
    let next = |line: &[usize]| if at_end { line.len() - 2 } else { 1 };
    let x = |line: &[usize]| layers.nodes[line[next(line)]].x;
    let same = layers
        .lines
        .iter()
        .filter(|other| other[end(other)] == line[end(line)]);
    let lefts = same.clone().filter(|other| x(other) < x(line)).count();
    let count = same.count();
    let step = (BOX_WIDTH * 0.7 / count as f64).min(16.0);
    (lefts as f64 - (count as f64 - 1.0) / 2.0) * step
}

/// A line from the bottom of the first box to the top of the last, upright where it passes a
/// layer.
fn curve(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let last = points.len().saturating_sub(2);
    for (at, pair) in points.windows(2).enumerate() {
        let [(from_x, from_y), (to_x, to_y)] = pair else {
            continue;
        };
        let from_y = from_y + BOX_HEIGHT / 2.0;
        let to_y = to_y - BOX_HEIGHT / 2.0 - if at == last { POINT } else { 0.0 };
        path += &match at {
            0 => format!("M{from_x:.0} {from_y:.0}"),
            // Straight past the boxes of the layer.
            _ => format!(" L{from_x:.0} {from_y:.0}"),
        };
        let middle = (from_y + to_y) / 2.0;
        path += &format!(" C{from_x:.0} {middle:.0} {to_x:.0} {middle:.0} {to_x:.0} {to_y:.0}");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{layers, manifest};

    #[test]
    fn every_crate_of_the_product_has_a_box_with_its_name() {
        let packages = manifest::packages(&crate::tool::root()).unwrap();
        let svg = draw(&layers::of_product(&packages));
        for package in packages {
            let drawn = svg.contains(&format!(">{}</text>", package.label));
            let helper = ["xtask", "support", "fuzz"].contains(&package.label.as_str());
            assert_eq!(drawn, !helper, "{}", package.label);
        }
        assert!(svg.contains(">ui</text>"));
    }

    #[test]
    fn a_line_goes_from_the_bottom_of_a_box_to_the_top_of_another() {
        assert_eq!(curve(&[(0.0, 0.0), (0.0, 100.0)]), "M0 17 C0 46 0 46 0 76");
    }
}
