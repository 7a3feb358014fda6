//! Joins packs into one, stores later versions of a path as deltas of earlier ones, and drops
//! unreachable objects.
//!
//! Compressed objects are copied unchanged. Only an object that is stored in full and has an
//! earlier version under the same path is compressed again, as a delta.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    sync::Arc,
};

use gix_object::Kind;
use gix_pack::data::entry::Header;

use super::{
    Objects, Pack, delta,
    writer::{PackWriter, deflate, header},
};
use crate::{
    error::{Context, Result, damaged},
    tree::{self, Node, Oid},
};

/// A chain has at most this many deltas after its hub, and at most this many hubs follow each
/// other from a full object. So any object takes at most 50 deltas to read, as in git.
const CHAIN: u32 = 25;
/// Deltas of larger objects would take too much memory.
const DELTA_LIMIT: u64 = 16 << 20;
/// Less than a twentieth of the largest pack is small.
const SMALL: u64 = 20;
/// Every lookup searches each pack, and every pack takes whole disk blocks.
const MANY_PACKS: usize = 50;
/// Up to this many bytes outside the largest pack, joining is not worth the work.
const SPARE: u64 = 64 << 20;

pub(crate) fn is_due(objects: &Objects) -> bool {
    let packs = objects.packs();
    let total: u64 = packs.iter().map(|pack| pack.data_len()).sum();
    let big = packs.iter().map(|pack| pack.data_len()).max().unwrap_or(0);
    // `run` may keep the largest pack as it is: see `worth_keeping`.
    packs.len() > MANY_PACKS || total - big > SPARE.max(big / SMALL)
}

pub(crate) fn run(objects: &Objects, roots: &[Oid]) -> Result<()> {
    objects.refresh().context("looking for packs")?;
    let reachable = Reachable::from(objects, roots)?;
    let packs = objects.packs();
    let joined: Vec<Arc<Pack>> = match packs.iter().max_by_key(|pack| pack.data_len()) {
        Some(big) if worth_keeping(big, &packs, &reachable) => packs
            .iter()
            .filter(|pack| !Arc::ptr_eq(pack, big))
            .cloned()
            .collect(),
        _ => packs.clone(),
    };
    let kept: Vec<&Arc<Pack>> = packs
        .iter()
        .filter(|pack| !joined.iter().any(|other| Arc::ptr_eq(other, pack)))
        .collect();
    if joined.is_empty() {
        return Ok(());
    }
    let is_kept = |id: Oid| kept.iter().any(|pack| pack.find(id).is_some());
    let mut repacker = Repacker::new(objects, &joined)?;
    for ids in reachable.groups.values() {
        for id in ids.iter().filter(|id| !is_kept(**id)) {
            repacker.write(*id)?;
        }
        repacker.last = None;
    }
    let written = repacker.out.finish()?;
    for pack in &joined {
        if Some(pack.index_path()) != written.as_deref() {
            // The index first: a pack without an index is ignored. A file that cannot be
            // removed now (on Windows, while it is being read) is removed next time.
            let _ = fs::remove_file(pack.index_path());
            let _ = fs::remove_file(pack.data_path());
        }
    }
    objects.refresh().context("looking for packs")
}

/// The largest pack is kept unchanged if it has little waste and the other packs are small.
fn worth_keeping(big: &Pack, packs: &[Arc<Pack>], reachable: &Reachable) -> bool {
    let total: u64 = packs.iter().map(|pack| pack.data_len()).sum();
    let rest = total - big.data_len();
    let waste: u64 = big
        .entries()
        .iter()
        .filter(|(id, ..)| !reachable.all.contains(id))
        .map(|(.., len)| len)
        .sum();
    let small = |part: u64| part <= big.data_len() / SMALL;
    small(rest) && small(waste)
}

/// All objects that are reachable from the roots, grouped by path, oldest first.
struct Reachable {
    all: HashSet<Oid>,
    groups: BTreeMap<Vec<u8>, Vec<Oid>>,
}

impl Reachable {
    fn from(objects: &Objects, roots: &[Oid]) -> Result<Self> {
        let mut all = HashSet::new();
        let mut groups = BTreeMap::new();
        for root in roots {
            walk(objects, *root, Vec::new(), &mut all, &mut groups)?;
        }
        Ok(Self { all, groups })
    }
}

fn walk(
    objects: &Objects,
    id: Oid,
    path: Vec<u8>,
    all: &mut HashSet<Oid>,
    groups: &mut BTreeMap<Vec<u8>, Vec<Oid>>,
) -> Result<()> {
    if !all.insert(id) {
        return Ok(());
    }
    groups.entry(path.clone()).or_default().push(id);
    let folder = tree::read(objects, id)?;
    if let Some(list) = folder.list().filter(|list| all.insert(*list)) {
        let at = crate::path::join(&path, tree::permissions::ENTRY);
        groups.entry(at).or_default().push(list);
    }
    for (name, node) in folder.entries() {
        let inner = crate::path::join(&path, name);
        match *node {
            Node::Tree(id, _) => walk(objects, id, inner, all, groups)?,
            Node::Leaf(leaf) => {
                if all.insert(leaf.id) {
                    groups.entry(inner).or_default().push(leaf.id);
                }
            }
        }
    }
    Ok(())
}

/// The location of an object: index of the pack, offset and length.
type Location = (usize, u64, u64);

struct Repacker<'a> {
    objects: &'a Objects,
    packs: &'a [Arc<Pack>],
    locations: HashMap<Oid, Location>,
    by_offset: HashMap<(usize, u64), Oid>,
    out: PackWriter,
    /// The number of deltas to a full object, for every object written.
    depth: HashMap<Oid, u32>,
    /// The previous version in the group, and the hub of its chain.
    last: Option<(Oid, Oid)>,
}

impl<'a> Repacker<'a> {
    fn new(objects: &'a Objects, packs: &'a [Arc<Pack>]) -> Result<Self> {
        let mut locations = HashMap::new();
        let mut by_offset = HashMap::new();
        for (n, pack) in packs.iter().enumerate() {
            for (id, offset, len) in pack.entries() {
                locations.entry(id).or_insert((n, offset, len));
                by_offset.insert((n, offset), id);
            }
        }
        Ok(Self {
            objects,
            packs,
            locations,
            by_offset,
            out: PackWriter::new(objects.dir(), None),
            depth: HashMap::new(),
            last: None,
        })
    }

    fn write(&mut self, id: Oid) -> Result<()> {
        if self.out.contains(id) {
            return Ok(());
        }
        let location = self.locations.get(&id).copied();
        let (pack, offset, len) =
            location.ok_or_else(|| damaged(format!("object {id} is missing")))?;
        let raw = self.packs[pack].raw(offset, len)?;
        match raw.header {
            Header::OfsDelta { base_distance } => {
                let base = self
                    .by_offset
                    .get(&(pack, raw.offset - base_distance))
                    .copied();
                match base {
                    // A base that is garbage now was not written: then encode again.
                    Some(base) if self.out.contains(base) => {
                        self.write_delta(id, base, raw.size, &raw.compressed)?;
                        self.remember(id, base);
                        Ok(())
                    }
                    _ => self.encode_again(id),
                }
            }
            _ if raw.size <= DELTA_LIMIT && self.last.is_some() => self.encode_again(id),
            kind => self.write_full(id, kind, raw.size, &raw.compressed),
        }
    }

    fn encode_again(&mut self, id: Oid) -> Result<()> {
        let (kind, data) = self.objects.read(id)?;
        if let Some(base) = self.base()
            && let Some(delta) = self.delta(base, kind, &data)?
        {
            let compressed = deflate(&delta).context("compressing")?;
            self.write_delta(id, base, delta.len() as u64, &compressed)?;
            self.remember(id, base);
            return Ok(());
        }
        let compressed = deflate(&data).context("compressing")?;
        self.write_full(id, header(kind)?, data.len() as u64, &compressed)
    }

    /// The previous version, or its hub if the chain is long already.
    fn base(&self) -> Option<Oid> {
        let (last, hub) = self.last?;
        let depth = |id| self.depth.get(&id).copied().unwrap_or_default();
        if depth(last) - depth(hub).min(depth(last)) < CHAIN - 1 {
            Some(last)
        } else if depth(hub) < CHAIN {
            Some(hub)
        } else {
            None
        }
    }

    fn delta(&self, base: Oid, kind: Kind, data: &[u8]) -> Result<Option<Vec<u8>>> {
        let (base_kind, base_data) = self.objects.read(base)?;
        if base_kind != kind || base_data.len() as u64 > DELTA_LIMIT {
            return Ok(None);
        }
        Ok(delta::encode(&base_data, data, data.len() / 2))
    }

    fn remember(&mut self, id: Oid, base: Oid) {
        self.last = match self.last {
            Some((last, hub)) if base == last => Some((id, hub)),
            // A delta of the hub itself becomes the next hub.
            _ => Some((id, id)),
        };
    }

    fn write_delta(&mut self, id: Oid, base: Oid, size: u64, compressed: &[u8]) -> Result<()> {
        let at = self
            .out
            .offset(base)
            .ok_or_else(|| damaged("a change without its base"))?;
        let base_distance = self.out.position() - at;
        let depth = self.depth.get(&base).copied().unwrap_or_default() + 1;
        self.depth.insert(id, depth);
        self.out
            .append(id, Header::OfsDelta { base_distance }, size, compressed)
    }

    fn write_full(&mut self, id: Oid, header: Header, size: u64, compressed: &[u8]) -> Result<()> {
        self.depth.insert(id, 0);
        self.last = Some((id, id));
        self.out.append(id, header, size, compressed)
    }
}
