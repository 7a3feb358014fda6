//! Colours and attributes of terminal text, as class names.

use std::sync::LazyLock;

/// Every class that a terminal span may have.
pub(crate) static CLASSES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let colours = (0..=255).flat_map(|n| [format!("ansi-fg-{n}"), format!("ansi-bg-{n}")]);
    let attributes = Attribute::ALL.iter().map(|(_, class)| (*class).to_owned());
    colours.chain(attributes).collect()
});

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    foreground: Option<u8>,
    background: Option<u8>,
    /// A bit for each attribute.
    attributes: u8,
}

struct Attribute;

impl Attribute {
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
    /// Applies the numbers of one `ESC [ … m`. "Conceal" is ignored: all text stays visible.
    pub fn apply(&mut self, codes: &[u16]) {
        let mut codes = codes.iter().copied();
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.attributes |= Attribute::BOLD,
                2 => self.attributes |= Attribute::DIM,
                3 => self.attributes |= Attribute::ITALIC,
                4 | 21 => self.attributes |= Attribute::UNDERLINE,
                7 => self.attributes |= Attribute::INVERSE,
                9 => self.attributes |= Attribute::STRIKE,
                22 => self.attributes &= !(Attribute::BOLD | Attribute::DIM),
                23 => self.attributes &= !Attribute::ITALIC,
                24 => self.attributes &= !Attribute::UNDERLINE,
                27 => self.attributes &= !Attribute::INVERSE,
                29 => self.attributes &= !Attribute::STRIKE,
                30..=37 => self.foreground = Some((code - 30) as u8),
                38 => self.foreground = extended(&mut codes).or(self.foreground),
                39 => self.foreground = None,
                40..=47 => self.background = Some((code - 40) as u8),
                48 => self.background = extended(&mut codes).or(self.background),
                49 => self.background = None,
                58 => {
                    extended(&mut codes);
                }
                90..=97 => self.foreground = Some((code - 90 + 8) as u8),
                100..=107 => self.background = Some((code - 100 + 8) as u8),
                _ => {}
            }
        }
    }

    pub fn classes(&self) -> String {
        let foreground = self.foreground.map(|n| format!("ansi-fg-{n}"));
        let background = self.background.map(|n| format!("ansi-bg-{n}"));
        let attributes = Attribute::ALL
            .iter()
            .filter(|(bit, _)| self.attributes & bit != 0)
            .map(|(_, class)| (*class).to_owned());
        foreground
            .into_iter()
            .chain(background)
            .chain(attributes)
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

/// The nearest of the 256 colours, because a class can express those without a style attribute.
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
    fn a_true_colour_becomes_the_nearest_of_the_palette() {
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
