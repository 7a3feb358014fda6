//! Encodes one object as a delta from another, in git's format.
//!
//! The base is always an earlier version of the same path, so an index of its blocks finds
//! nearly all matches. Unlike git, no other objects are tried as a base.

use std::collections::HashMap;

const BLOCK: usize = 16;
/// Only the first few positions of a block are tried: some blocks (spaces, zeros) repeat
/// thousands of times.
const MAX_CANDIDATES: usize = 8;

/// `None` if the delta would be longer than `limit`.
pub(super) fn encode(base: &[u8], target: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    put_size(&mut out, base.len());
    put_size(&mut out, target.len());
    let index = index(base);
    let (mut at, mut pending) = (0, 0);
    while at + BLOCK <= target.len() {
        match best_match(base, target, at, &index) {
            Some((from, len)) => {
                // The bytes before the block may match too.
                let back = common_suffix(&base[..from], &target[pending..at]);
                insert(&mut out, &target[pending..at - back]);
                copy(&mut out, from - back, len + back);
                at += len;
                pending = at;
            }
            None => at += 1,
        }
        if out.len() > limit {
            return None;
        }
    }
    insert(&mut out, &target[pending..]);
    (out.len() <= limit).then_some(out)
}

fn index(base: &[u8]) -> HashMap<&[u8], Vec<usize>> {
    let mut index: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (n, block) in base.chunks_exact(BLOCK).enumerate() {
        let places = index.entry(block).or_default();
        if places.len() < MAX_CANDIDATES {
            places.push(n * BLOCK);
        }
    }
    index
}

fn best_match(
    base: &[u8],
    target: &[u8],
    at: usize,
    index: &HashMap<&[u8], Vec<usize>>,
) -> Option<(usize, usize)> {
    let places = index.get(&target[at..at + BLOCK])?;
    let length = |from: usize| {
        let pairs = base[from..].iter().zip(&target[at..]);
        pairs.take_while(|(a, b)| a == b).count()
    };
    places
        .iter()
        .map(|from| (*from, length(*from)))
        .max_by_key(|(_, len)| *len)
}

fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let pairs = a.iter().rev().zip(b.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

fn put_size(out: &mut Vec<u8>, mut size: usize) {
    while size >= 0x80 {
        out.push(size as u8 | 0x80);
        size >>= 7;
    }
    out.push(size as u8);
}

fn insert(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.chunks(127) {
        out.push(chunk.len() as u8);
        out.extend_from_slice(chunk);
    }
}

fn copy(out: &mut Vec<u8>, mut from: usize, mut len: usize) {
    while len > 0 {
        // Every reader of version 2 packs accepts two size bytes; three are not certain.
        let piece = len.min(0xffff);
        let at = out.len();
        out.push(0x80);
        for shift in 0..4 {
            let byte = (from >> (8 * shift)) as u8;
            if byte != 0 {
                out.push(byte);
                out[at] |= 1 << shift;
            }
        }
        for shift in 0..2 {
            let byte = (piece >> (8 * shift)) as u8;
            if byte != 0 {
                out.push(byte);
                out[at] |= 0x10 << shift;
            }
        }
        from += piece;
        len -= piece;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn apply(base: &[u8], delta: &[u8]) -> Vec<u8> {
        let mut at = 0;
        let mut next = || {
            at += 1;
            delta[at - 1]
        };
        for _ in 0..2 {
            while next() & 0x80 != 0 {}
        }
        let mut out = Vec::new();
        while at < delta.len() {
            let op = delta[at];
            at += 1;
            if op & 0x80 == 0 {
                out.extend_from_slice(&delta[at..at + op as usize]);
                at += op as usize;
                continue;
            }
            let mut numbers = [0usize; 2];
            for bit in 0..6 {
                if op & (1 << bit) != 0 {
                    let (which, shift) = if bit < 4 { (0, bit) } else { (1, bit - 4) };
                    numbers[which] |= (delta[at] as usize) << (8 * shift);
                    at += 1;
                }
            }
            out.extend_from_slice(&base[numbers[0]..numbers[0] + numbers[1]]);
        }
        out
    }

    proptest! {
        #[test]
        fn applying_a_delta_to_its_base_gives_the_target(
            base in proptest::collection::vec(0u8..4, 0..600),
            middle in proptest::collection::vec(any::<u8>(), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let cut = cut.index(base.len() + 1);
            let target = [&base[..cut], &middle[..], &base[cut..]].concat();
            let delta = encode(&base, &target, usize::MAX).unwrap();
            prop_assert_eq!(apply(&base, &delta), target);
        }
    }

    #[test]
    fn copies_longer_than_one_instruction_are_split() {
        let base: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        let delta = encode(&base, &base, 200).unwrap();
        assert_eq!(apply(&base, &delta), base);
    }
}
