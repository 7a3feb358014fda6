//! Joins packs into one, says later versions as changes of earlier ones, and leaves out what
//! nothing needs.
//!
//! Objects that already lie compressed are copied as they are. Only an object that lies whole
//! and has an earlier version under the same path is looked at again.

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
    error::{Doing, Result, damaged},
    tree::{self, Node, Oid},
};

/// A chain of this many changes from one hub, and this many hubs from one whole object: at
/// most 50 steps to read any object, as in git.
const CHAIN: u32 = 25;
/// Comparing larger objects takes more memory than it is worth.
const DELTA_LIMIT: u64 = 16 << 20;
/// A twentieth of the big pack is small beside it.
const SMALL: u64 = 20;
/// Every look for an object asks each pack, and every pack takes whole blocks.
const MANY_PACKS: usize = 50;
/// Bytes beside the big pack that are not worth the work yet.
const SPARE: u64 = 64 << 20;

pub(crate) fn is_due(objects: &Objects) -> bool {
    let packs = objects.packs();
    let total: u64 = packs.iter().map(|pack| pack.data_len()).sum();
    let big = packs.iter().map(|pack| pack.data_len()).max().unwrap_or(0);
    // What lies beside a pack that is worth keeping may stay there: see `worth_keeping`.
    packs.len() > MANY_PACKS || total - big > SPARE.max(big / SMALL)
}

pub(crate) fn run(objects: &Objects, roots: &[Oid]) -> Result<()> {
    objects.refresh().doing("looking for packs")?;
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
    let mut join = Join::new(objects, &joined)?;
    for ids in reachable.groups.values() {
        for id in ids.iter().filter(|id| !is_kept(**id)) {
            join.write(*id)?;
        }
        join.last = None;
    }
    let written = join.out.finish()?;
    for pack in &joined {
        if Some(pack.index_path()) != written.as_deref() {
            // The index first: without it the pack is nothing. What cannot be removed now
            // (a reader on Windows) goes next time.
            let _ = fs::remove_file(pack.index_path());
            let _ = fs::remove_file(pack.data_path());
        }
    }
    objects.refresh().doing("looking for packs")
}

/// A big pack with little waste stays as it is while the rest is small beside it.
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

/// Everything the roots lead to, grouped by path, oldest first.
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
    for (name, node) in tree::read(objects, id)? {
        let inner = crate::path::join(&path, &name);
        match node {
            Node::Tree(id) => walk(objects, id, inner, all, groups)?,
            Node::Leaf(leaf) => {
                if all.insert(leaf.id) {
                    groups.entry(inner).or_default().push(leaf.id);
                }
            }
        }
    }
    Ok(())
}

/// Where an object lies now: its pack, offset and length there.
type Place = (usize, u64, u64);

struct Join<'a> {
    objects: &'a Objects,
    packs: &'a [Arc<Pack>],
    places: HashMap<Oid, Place>,
    by_offset: HashMap<(usize, u64), Oid>,
    out: PackWriter,
    /// Steps to a whole object, for everything written.
    depth: HashMap<Oid, u32>,
    /// The version before in the group, and the hub it hangs on.
    last: Option<(Oid, Oid)>,
}

impl<'a> Join<'a> {
    fn new(objects: &'a Objects, packs: &'a [Arc<Pack>]) -> Result<Self> {
        let mut places = HashMap::new();
        let mut by_offset = HashMap::new();
        for (n, pack) in packs.iter().enumerate() {
            for (id, offset, len) in pack.entries() {
                places.entry(id).or_insert((n, offset, len));
                by_offset.insert((n, offset), id);
            }
        }
        Ok(Self {
            objects,
            packs,
            places,
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
        let place = self.places.get(&id).copied();
        let (pack, offset, len) =
            place.ok_or_else(|| damaged(format!("object {id} is missing")))?;
        let raw = self.packs[pack].raw(offset, len)?;
        match raw.header {
            Header::OfsDelta { base_distance } => {
                let base = self
                    .by_offset
                    .get(&(pack, raw.offset - base_distance))
                    .copied();
                match base {
                    // Its base may be garbage by now: then it is written anew.
                    Some(base) if self.out.contains(base) => {
                        self.change(id, base, raw.size, &raw.compressed)?;
                        self.follow(id, base);
                        Ok(())
                    }
                    _ => self.write_anew(id),
                }
            }
            _ if raw.size <= DELTA_LIMIT && self.last.is_some() => self.write_anew(id),
            kind => self.whole(id, kind, raw.size, &raw.compressed),
        }
    }

    fn write_anew(&mut self, id: Oid) -> Result<()> {
        let (kind, data) = self.objects.read(id)?;
        if let Some(base) = self.base()
            && let Some(changes) = self.changes(base, kind, &data)?
        {
            let compressed = deflate(&changes).doing("compressing")?;
            self.change(id, base, changes.len() as u64, &compressed)?;
            self.follow(id, base);
            return Ok(());
        }
        let compressed = deflate(&data).doing("compressing")?;
        self.whole(id, header(kind)?, data.len() as u64, &compressed)
    }

    /// The version before, or its hub once the chain is long.
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

    fn changes(&self, base: Oid, kind: Kind, data: &[u8]) -> Result<Option<Vec<u8>>> {
        let (base_kind, base_data) = self.objects.read(base)?;
        if base_kind != kind || base_data.len() as u64 > DELTA_LIMIT {
            return Ok(None);
        }
        Ok(delta::encode(&base_data, data, data.len() / 2))
    }

    fn follow(&mut self, id: Oid, base: Oid) {
        self.last = match self.last {
            Some((last, hub)) if base == last => Some((id, hub)),
            // Hung on the hub itself, it is the next hub.
            _ => Some((id, id)),
        };
    }

    fn change(&mut self, id: Oid, base: Oid, size: u64, compressed: &[u8]) -> Result<()> {
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

    fn whole(&mut self, id: Oid, header: Header, size: u64, compressed: &[u8]) -> Result<()> {
        self.depth.insert(id, 0);
        self.last = Some((id, id));
        self.out.append(id, header, size, compressed)
    }
}
