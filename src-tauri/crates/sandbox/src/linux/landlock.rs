//! The rules of Landlock, which only ever add: a right on a folder holds for all that is in it.
//!
//! So a folder that holds something protected gets no rights itself. Its entries get theirs one
//! by one, and no entry can be created in it. Listing and running are allowed everywhere, or no
//! folder above a secret could be listed.

#![allow(unsafe_code)] // Which version the kernel has is only to be had by a raw call.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};

use super::open_exactly;
use crate::confinement::Confinement;
use crate::plan::{Limit, SandboxError};
use crate::promise::Promise;
use crate::rules::{Access, Rules};

/// The first version that guards against truncating.
pub(super) const OLDEST: i32 = 3;
const NETWORK_SINCE: i32 = 4;
const DEVICES_SINCE: i32 = 5;
const SCOPES_SINCE: i32 = 6;

/// What is needed of `/dev`. The rest is disks, memory and other people's terminals.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// The version of Landlock that the kernel has; 0 for none.
pub(super) fn version() -> i32 {
    const VERSION_FLAG: libc::c_uint = 1;
    // SAFETY: with this flag the kernel reads no attributes.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION_FLAG,
        )
    };
    i32::try_from(version).unwrap_or(0).max(0)
}

pub(super) fn ruleset(rules: &Rules, confinement: &Confinement) -> Result<OwnedFd, SandboxError> {
    build(rules, confinement).map_err(|error| SandboxError::Rules(error.to_string()))
}

fn build(rules: &Rules, confinement: &Confinement) -> Result<OwnedFd, Box<dyn std::error::Error>> {
    let version = version();
    // From version 9 on, connecting to Unix sockets could be allowed by path; seccomp refuses it
    // altogether.
    let abi = ABI::from(version.min(8));
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if version >= NETWORK_SINCE && !confinement.network() {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if version >= SCOPES_SINCE {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    let mut builder = Builder {
        rules,
        abi,
        ruleset: Some(ruleset.create()?),
    };
    builder.add(Path::new("/"), AccessFs::ReadDir | AccessFs::Execute)?;
    builder.devices(version)?;
    builder.readable(Path::new("/"))?;
    for (path, rule) in rules.iter() {
        if rule.access == Access::Write {
            builder.writable(path)?;
        }
    }
    let ruleset = builder.ruleset.take().ok_or("the rules are incomplete")?;
    Option::<OwnedFd>::from(ruleset).ok_or_else(|| "the kernel has no Landlock".into())
}

struct Builder<'a> {
    rules: &'a Rules,
    abi: ABI,
    ruleset: Option<RulesetCreated>,
}

type Built = Result<(), Box<dyn std::error::Error>>;

impl Builder<'_> {
    /// What is gone meanwhile, or cannot be opened, gets no rights.
    fn add(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Built {
        let Ok(open) = open_exactly(path) else {
            return Ok(());
        };
        if let Some(ruleset) = self.ruleset.take() {
            self.ruleset = Some(ruleset.add_rule(PathBeneath::new(open, rights))?);
        }
        Ok(())
    }

    fn devices(&mut self, version: i32) -> Built {
        let mut rights = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        if version >= DEVICES_SINCE {
            rights |= AccessFs::IoctlDev;
        }
        DEVICES
            .iter()
            .try_for_each(|device| self.add(Path::new(device), rights))
    }

    /// Lets files be read below a path, but for what is hidden.
    fn readable(&mut self, path: &Path) -> Built {
        if path == Path::new("/dev") {
            return Ok(());
        }
        let hidden = self.rules.access(path) == Access::Hidden;
        let differs = |access: Access| (access == Access::Hidden) != hidden;
        let split =
            path == Path::new("/") || self.rules.below(path).any(|(_, rule)| differs(rule.access));
        if !split {
            return match hidden {
                true => Ok(()),
                false => self.add(path, AccessFs::ReadFile.into()),
            };
        }
        for (entry, _) in entries(path) {
            self.readable(&entry)?;
        }
        Ok(())
    }

    /// Lets everything be changed below a path, but for what has a rule of its own.
    fn writable(&mut self, path: &Path) -> Built {
        if is_split(self.rules, path) {
            for (entry, _) in entries(path) {
                if self.rules.get(&entry).is_none() {
                    self.writable(&entry)?;
                }
            }
            return Ok(());
        }
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
        let rights = AccessFs::from_write(self.abi) & !devices & !AccessFs::IoctlDev;
        match path.is_dir() {
            true => self.add(path, rights),
            false => self.add(path, rights & AccessFs::from_file(self.abi)),
        }
    }
}

/// Whether a writable folder holds something that is not.
fn is_split(rules: &Rules, folder: &Path) -> bool {
    rules
        .below(folder)
        .any(|(_, rule)| rule.access != Access::Write)
}

/// Entries of a folder, with whether they are folders. Links have no rights of their own: what
/// they lead to has.
fn entries(folder: &Path) -> Vec<(std::path::PathBuf, bool)> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            (!kind.is_symlink()).then(|| (entry.path(), kind.is_dir()))
        })
        .collect()
}

pub(super) fn shortcomings(rules: &Rules, confinement: &Confinement) -> (Vec<Promise>, Vec<Limit>) {
    let mut gaps = vec![
        Promise::Metadata,
        Promise::Processes,
        Promise::SecretNames,
        Promise::Terminals,
        Promise::Survivors,
    ];
    if version() < SCOPES_SINCE {
        gaps.push(Promise::Signals);
    }
    let mut limits = Vec::new();
    for (path, rule) in rules.iter() {
        if rule.access == Access::Write {
            split_folders(rules, path, &mut limits);
        }
    }
    limits.extend(rules.fixed.iter().cloned().map(Limit::FixedEntries));
    if !confinement.network() {
        limits.push(Limit::Loopback);
    }
    limits.push(Limit::SharedMemory);
    (gaps, limits)
}

fn split_folders(rules: &Rules, folder: &Path, limits: &mut Vec<Limit>) {
    if !is_split(rules, folder) {
        return;
    }
    limits.push(Limit::FixedEntries(folder.to_owned()));
    for (entry, is_folder) in entries(folder) {
        if is_folder && rules.get(&entry).is_none() {
            split_folders(rules, &entry, limits);
        }
    }
}
