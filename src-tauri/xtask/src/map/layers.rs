//! The crates in layers: each one above all that it depends on.
//!
//! A dependency that already follows from two others is left out: `session` needs `protocol`,
//! but a line would say nothing that the lines through `store` do not say.

use std::collections::BTreeMap;
use std::path::Path;

use super::manifest::Package;

/// The window is no crate; it calls the shell.
const WINDOW: &str = "ui";
/// Enough rounds for the order and the positions to settle.
const ROUNDS: usize = 24;
/// The room that a crate takes in its row, and that a passing line takes.
const CRATE_WIDTH: f64 = 112.0;
const LINE_WIDTH: f64 = 28.0;

/// A crate, or a point where a line passes a layer.
#[derive(Debug)]
pub struct Node {
    /// None for a line that passes.
    pub label: Option<String>,
    /// The layer, 0 at the bottom.
    pub layer: usize,
    /// The middle, from an arbitrary origin.
    pub x: f64,
}

#[derive(Debug, Default)]
pub struct Layers {
    pub nodes: Vec<Node>,
    /// The nodes of each layer from left to right, the bottom layer first.
    pub rows: Vec<Vec<usize>>,
    /// One line per dependency: the nodes that it passes, from the upper to the lower crate.
    pub lines: Vec<Vec<usize>>,
}

/// The crates that the product consists of, with the window above them.
pub fn of_product(packages: &[Package]) -> Layers {
    let mut graph: BTreeMap<String, Vec<String>> = packages
        .iter()
        .filter(|package| is_product(&package.folder))
        .map(|package| (package.label.clone(), package.dependencies.clone()))
        .collect();
    graph.insert(WINDOW.into(), vec!["shell".into()]);
    arrange(&graph)
}

/// The app itself, whose package is the root, and the core crates.
fn is_product(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || folder.starts_with("src-tauri/crates")
}

fn arrange(graph: &BTreeMap<String, Vec<String>>) -> Layers {
    let mut layers = Layers::default();
    let mut ids = BTreeMap::new();
    for label in graph.keys() {
        ids.insert(label.as_str(), layers.nodes.len());
        layers.push(Some(label.clone()), layer(graph, label));
    }
    for (label, below) in graph {
        for lower in below.iter().filter(|lower| graph.contains_key(*lower)) {
            let mut between = below.iter().filter(|other| *other != lower);
            if !between.any(|other| reaches(graph, other, lower)) {
                layers.connect(ids[label.as_str()], ids[lower.as_str()]);
            }
        }
    }
    layers.order();
    layers.place();
    layers
}

/// Above all that the crate depends on. A crate that depends on nothing is beside the others of
/// the second layer, unless one of those needs it.
fn layer(graph: &BTreeMap<String, Vec<String>>, label: &str) -> usize {
    let above = graph
        .iter()
        .filter(|(_, below)| below.iter().any(|lower| lower == label));
    let lowest = above.map(|(upper, _)| depth(graph, upper)).min();
    match depth(graph, label) {
        0 if lowest.is_none_or(|lowest| lowest > 1) => 1,
        depth => depth,
    }
}

/// How many crates there are on the longest way down.
fn depth(graph: &BTreeMap<String, Vec<String>>, label: &str) -> usize {
    let below = graph.get(label).into_iter().flatten();
    below
        .filter(|lower| graph.contains_key(*lower))
        .map(|lower| 1 + depth(graph, lower))
        .max()
        .unwrap_or(0)
}

fn reaches(graph: &BTreeMap<String, Vec<String>>, from: &str, to: &str) -> bool {
    let mut below = graph.get(from).into_iter().flatten();
    below.any(|lower| lower == to || reaches(graph, lower, to))
}

impl Layers {
    fn push(&mut self, label: Option<String>, layer: usize) -> usize {
        let id = self.nodes.len();
        if self.rows.len() <= layer {
            self.rows.resize(layer + 1, Vec::new());
        }
        self.rows[layer].push(id);
        self.nodes.push(Node {
            label,
            layer,
            x: 0.0,
        });
        id
    }

    fn connect(&mut self, upper: usize, lower: usize) {
        let mut line = vec![upper];
        for layer in (self.nodes[lower].layer + 1..self.nodes[upper].layer).rev() {
            line.push(self.push(None, layer));
        }
        line.push(lower);
        self.lines.push(line);
    }

    /// The neighbours of a node in the layer above or below it.
    fn neighbours(&self, id: usize, above: bool) -> Vec<usize> {
        let pairs = self.lines.iter().flat_map(|line| line.windows(2));
        pairs
            .filter_map(|pair| match (pair, above) {
                ([upper, lower], true) if *lower == id => Some(*upper),
                ([upper, lower], false) if *upper == id => Some(*lower),
                _ => None,
            })
            .collect()
    }

    /// Orders each row by the average place of the neighbours, which removes most crossings.
    fn order(&mut self) {
        for round in 0..ROUNDS {
            let above = round % 2 == 1;
            for row in 0..self.rows.len() {
                let row = if above {
                    self.rows.len() - 1 - row
                } else {
                    row
                };
                let place = |id: usize| {
                    let layer = &self.rows[self.nodes[id].layer];
                    let index = layer.iter().position(|other| *other == id).unwrap_or(0);
                    (index as f64 + 0.5) / layer.len() as f64
                };
                let mut keyed: Vec<(f64, usize)> = self.rows[row]
                    .iter()
                    .map(|id| {
                        let places = self.neighbours(*id, above).into_iter().map(place);
                        (average(places).unwrap_or_else(|| place(*id)), *id)
                    })
                    .collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.rows[row] = keyed.into_iter().map(|(_, id)| id).collect();
            }
        }
        while self.swap_two() {}
    }

    /// Swaps two nodes of a row if fewer lines cross then.
    fn swap_two(&mut self) -> bool {
        let before = self.crossings();
        for row in 0..self.rows.len() {
            for left in 0..self.rows[row].len() {
                for right in left + 1..self.rows[row].len() {
                    self.rows[row].swap(left, right);
                    if self.crossings() < before {
                        return true;
                    }
                    self.rows[row].swap(left, right);
                }
            }
        }
        false
    }

    fn crossings(&self) -> usize {
        let index = |id: usize| {
            let row = &self.rows[self.nodes[id].layer];
            row.iter().position(|other| *other == id).unwrap_or(0)
        };
        let pairs = self.lines.iter().flat_map(|line| line.windows(2));
        let segments: Vec<_> = pairs
            .map(|pair| (self.nodes[pair[0]].layer, index(pair[0]), index(pair[1])))
            .collect();
        let mut crossings = 0;
        for (at, (layer, upper, lower)) in segments.iter().enumerate() {
            for (other_layer, other_upper, other_lower) in &segments[at + 1..] {
                let sides = (upper.cmp(other_upper), lower.cmp(other_lower));
                let crossed = sides.0 == sides.1.reverse() && sides.0.is_ne();
                crossings += usize::from(layer == other_layer && crossed);
            }
        }
        crossings
    }

    /// Moves each node towards its neighbours as far as the row has room.
    fn place(&mut self) {
        for round in 0..ROUNDS {
            for row in self.rows.clone() {
                let wanted: Vec<f64> = row
                    .iter()
                    .map(|id| {
                        let mut near = self.neighbours(*id, true);
                        near.extend(self.neighbours(*id, false));
                        let near = near.into_iter().map(|other| self.nodes[other].x);
                        average(near).filter(|_| round > 0).unwrap_or(0.0)
                    })
                    .collect();
                let gaps: Vec<f64> = row
                    .windows(2)
                    .map(|pair| (self.width(pair[0]) + self.width(pair[1])) / 2.0)
                    .collect();
                for (id, x) in row.iter().zip(spread(&wanted, &gaps)) {
                    self.nodes[*id].x = x;
                }
            }
        }
    }

    fn width(&self, id: usize) -> f64 {
        match self.nodes[id].label {
            Some(_) => CRATE_WIDTH,
            None => LINE_WIDTH,
        }
    }
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Positions near the wanted ones, in the same order and at least the gaps apart: the middle
/// between pushing everything to the right and pushing everything to the left.
fn spread(wanted: &[f64], gaps: &[f64]) -> Vec<f64> {
    let mut right = wanted.to_vec();
    for at in 1..right.len() {
        right[at] = right[at].max(right[at - 1] + gaps[at - 1]);
    }
    let mut left = wanted.to_vec();
    for at in (1..left.len()).rev() {
        left[at - 1] = left[at - 1].min(left[at] - gaps[at - 1]);
    }
    let pairs = left.iter().zip(&right);
    pairs.map(|(left, right)| (left + right) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let edges = edges.iter();
        edges
            .map(|(label, below)| {
                let below = below.iter().map(ToString::to_string).collect();
                (label.to_string(), below)
            })
            .collect()
    }

    fn labels(layers: &Layers, line: &[usize]) -> Vec<String> {
        let labels = line.iter().map(|id| layers.nodes[*id].label.clone());
        labels.map(|label| label.unwrap_or_default()).collect()
    }

    #[test]
    fn a_crate_is_above_all_that_it_depends_on() {
        let layers = arrange(&graph(&[
            ("protocol", &[]),
            ("store", &["protocol"]),
            ("session", &["protocol", "store"]),
            ("shell", &["session"]),
        ]));
        let rows = layers.rows.iter().map(|row| labels(&layers, row));
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows, [["protocol"], ["store"], ["session"], ["shell"]]);
    }

    #[test]
    fn what_follows_from_other_dependencies_has_no_line_of_its_own() {
        let layers = arrange(&graph(&[
            ("protocol", &[]),
            ("store", &["protocol"]),
            ("session", &["protocol", "store"]),
        ]));
        let lines = layers.lines.iter().map(|line| labels(&layers, line));
        let lines: Vec<_> = lines.collect();
        assert_eq!(lines, [["session", "store"], ["store", "protocol"]]);
    }

    #[test]
    fn a_long_line_has_a_place_in_every_layer_that_it_passes() {
        let layers = arrange(&graph(&[
            ("protocol", &[]),
            ("render", &["protocol"]),
            ("store", &["protocol"]),
            ("session", &["store"]),
            ("shell", &["render", "session"]),
        ]));
        let long = layers.lines.iter().find(|line| line.len() == 3).unwrap();
        assert_eq!(labels(&layers, long), ["shell", "", "render"]);
        assert_eq!(layers.rows[2].len(), 2);
    }

    #[test]
    fn a_crate_without_dependencies_is_not_below_all_others() {
        let layers = arrange(&graph(&[
            ("mcp", &[]),
            ("protocol", &[]),
            ("store", &["protocol"]),
            ("session", &["mcp", "store"]),
        ]));
        assert_eq!(labels(&layers, &layers.rows[0]), ["protocol"]);
        assert_eq!(layers.rows[1].len(), 2);
    }

    #[test]
    fn rows_are_ordered_so_that_lines_do_not_cross() {
        let layers = arrange(&graph(&[
            ("a", &[]),
            ("b", &[]),
            ("c", &[]),
            ("x", &["a", "c"]),
            ("y", &["b"]),
        ]));
        assert_eq!(layers.crossings(), 0);
    }

    #[test]
    fn nodes_of_a_row_do_not_overlap() {
        assert_eq!(spread(&[0.0, 0.0, 0.0], &[10.0, 10.0]), [-10.0, 0.0, 10.0]);
        assert_eq!(spread(&[0.0, 50.0], &[10.0]), [0.0, 50.0]);
    }
}
