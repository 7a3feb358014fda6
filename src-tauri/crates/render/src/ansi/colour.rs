//! Colours and weights of terminal text, as class names.

use std::sync::LazyLock;

/// Every class a terminal span may carry.
pub(crate) static CLASSES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let colours = (0..=255).flat_map(|n| [format!("ansi-fg-{n}"), format!("ansi-bg-{n}")]);
    let weights = Weight::ALL.iter().map(|(_, class)| (*class).to_owned());
    colours.chain(weights).collect()
});

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    front: Option<u8>,
    back: Option<u8>,
    /// A bit for each weight.
    weights: u8,
}

struct Weight;

impl Weight {
    const BOLD: u8 = 1;
    const DIM: u8 = 2;
    const ITALIC: u8 = 4;
    const UNDERLINE: u8 = 8;
    const INVERSE: u8 = 16;
    const STRIKE: u8 = 32;
    const ALL: [(u8, &'static str); 6] = [
        (Self::BOLD, "ansi-bold"),
        (Self::DIM, "ansi-dim"),
        (Self::ITALIC, "ansi-italic"),
        (Self::UNDERLINE, "ansi-underline"),
        (Self::INVERSE, "ansi-inverse"),
        (Self::STRIKE, "ansi-strike"),
    ];
}

impl Style {
    /// Applies the numbers of one `ESC [ … m`. Text that asks to be concealed stays visible.
    pub fn apply(&mut self, codes: &[u16]) {
        let mut codes = codes.iter().copied();
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.weights |= Weight::BOLD,
                2 => self.weights |= Weight::DIM,
                3 => self.weights |= Weight::ITALIC,
                4 | 21 => self.weights |= Weight::UNDERLINE,
                7 => self.weights |= Weight::INVERSE,
                9 => self.weights |= Weight::STRIKE,
                22 => self.weights &= !(Weight::BOLD | Weight::DIM),
                23 => self.weights &= !Weight::ITALIC,
                24 => self.weights &= !Weight::UNDERLINE,
                27 => self.weights &= !Weight::INVERSE,
                29 => self.weights &= !Weight::STRIKE,
                30..=37 => self.front = Some((code - 30) as u8),
                38 => self.front = extended(&mut codes).or(self.front),
                39 => self.front = None,
                40..=47 => self.back = Some((code - 40) as u8),
                48 => self.back = extended(&mut codes).or(self.back),
                49 => self.back = None,
                58 => {
                    extended(&mut codes);
                }
                90..=97 => self.front = Some((code - 90 + 8) as u8),
                100..=107 => self.back = Some((code - 100 + 8) as u8),
                _ => {}
            }
        }
    }

    pub fn classes(&self) -> String {
        let front = self.front.map(|n| format!("ansi-fg-{n}"));
        let back = self.back.map(|n| format!("ansi-bg-{n}"));
        let weights = Weight::ALL
            .iter()
            .filter(|(bit, _)| self.weights & bit != 0)
            .map(|(_, class)| (*class).to_owned());
        front
            .into_iter()
            .chain(back)
            .chain(weights)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// The colour after a 38 or 48: `5;n` or `2;r;g;b`.
fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match codes.next()? {
        5 => u8::try_from(codes.next()?).ok(),
        2 => {
            let [red, green, blue] = [codes.next()?, codes.next()?, codes.next()?];
            Some(nearest(red.min(255), green.min(255), blue.min(255)))
        }
        _ => None,
    }
}

const LEVELS: [u16; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of the 256 colours, so that no style attribute is ever needed.
fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    let level = |value: u16| {
        (0..LEVELS.len())
            .min_by_key(|n| LEVELS[*n].abs_diff(value))
            .unwrap_or_default()
    };
    let distance = |r: u16, g: u16, b: u16| -> u32 {
        [(r, red), (g, green), (b, blue)]
            .iter()
            .map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2))
            .sum()
    };
    let [r, g, b] = [level(red), level(green), level(blue)];
    let cube = distance(LEVELS[r], LEVELS[g], LEVELS[b]);
    let step = ((red + green + blue) / 3).saturating_sub(3) / 10;
    let step = step.min(23);
    let grey = 8 + step * 10;
    if distance(grey, grey, grey) < cube {
        232 + step as u8
    } else {
        (16 + 36 * r + 6 * g + b) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_colours_fall_to_the_nearest_of_the_palette() {
        for (colour, index) in [
            ((0, 0, 0), 16),
            ((255, 255, 255), 231),
            ((255, 0, 0), 196),
            ((96, 134, 176), 67),
            ((128, 128, 128), 244),
            ((9, 9, 9), 232),
        ] {
            assert_eq!(nearest(colour.0, colour.1, colour.2), index, "{colour:?}");
        }
    }
}
