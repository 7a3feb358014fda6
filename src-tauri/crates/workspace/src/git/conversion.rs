//! How git changes a content on its way between the disk and its store: filters and line ends.

use std::collections::{BTreeMap, BTreeSet};

use lathe_records::{Failed, Result};

use super::{Git, os_string};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Conversion {
    /// As git has it set up here.
    Git,
    /// The path is to go through a filter that does not run here: it is not set up, or it is the
    /// repository's own and not trusted.
    Missing(String),
}

const ATTRIBUTES: [&str; 4] = ["filter", "eol", "working-tree-encoding", "ident"];

impl Git {
    /// The paths whose contents are changed; all others are stored as they are.
    pub(super) async fn conversions(
        &self,
        paths: &[&[u8]],
    ) -> Result<BTreeMap<Vec<u8>, Conversion>> {
        let mut found = BTreeMap::new();
        if paths.is_empty() {
            return Ok(found);
        }
        let (active, all) = self.active_filters().await?;
        let mut args = vec!["check-attr", "-z", "--stdin"];
        args.extend(ATTRIBUTES);
        let mut input = paths.join(&0);
        input.push(0);
        let listed = self.run_with(&args, input).await?;
        let fields: Vec<&[u8]> = listed.split(|byte| *byte == 0).collect();
        for field in fields.chunks_exact(3) {
            let [path, attribute, value] = field else {
                continue;
            };
            let is_set = !matches!(*value, b"unspecified" | b"unset" | b"lf");
            match *attribute {
                b"filter" if is_set && *value != b"set" => {
                    let conversion = match active.contains(*value) {
                        true => Conversion::Git,
                        false => Conversion::Missing(String::from_utf8_lossy(value).into_owned()),
                    };
                    found.insert(path.to_vec(), conversion);
                }
                _ if is_set || all => {
                    found.entry(path.to_vec()).or_insert(Conversion::Git);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The filters that run, and whether line ends of all texts are changed.
    async fn active_filters(&self) -> Result<(BTreeSet<Vec<u8>>, bool)> {
        const NAMES: &str = r"^(filter\..*\.(clean|process)|core\.(autocrlf|eol))$";
        let listed = self.run(&["config", "--null", "--get-regexp", NAMES]).await;
        let mut last: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        // Git fails if there is none.
        for setting in listed.unwrap_or_default().split(|byte| *byte == 0) {
            let mut parts = setting.splitn(2, |byte| *byte == b'\n');
            let key = parts.next().unwrap_or_default().to_vec();
            last.insert(key, parts.next().unwrap_or_default().to_vec());
        }
        let is = |key: &[u8], value: &[u8]| last.get(key).is_some_and(|now| now == value);
        let line_ends = is(b"core.autocrlf", b"true") || is(b"core.eol", b"crlf");
        let mut active = BTreeSet::new();
        for (key, command) in &last {
            let Some(name) = key.strip_prefix(b"filter.") else {
                continue;
            };
            // A process is preferred, and an empty one hides the command for single files.
            let (name, runs) = match (name.strip_suffix(b".process"), name.strip_suffix(b".clean"))
            {
                (Some(name), _) => (name, !command.is_empty()),
                (None, Some(name)) => {
                    let process = [&b"filter."[..], name, b".process"].concat();
                    (name, !command.is_empty() && !last.contains_key(&process))
                }
                (None, None) => continue,
            };
            if runs {
                active.insert(name.to_vec());
            }
        }
        Ok((active, line_ends))
    }

    /// A stored content as git would write it to the disk.
    pub(super) async fn on_disk(&self, blob: &str, path: &[u8]) -> Result<Vec<u8>> {
        let path = os_string(&[&b"--path="[..], path].concat())?;
        let args = ["cat-file".into(), "--filters".into(), path, blob.into()];
        self.run(&args).await
    }

    /// Refuses to store a path whose filter does not run: what it hides or leaves out elsewhere
    /// would be committed.
    pub(super) async fn ensure_filters(&self, paths: &[&[u8]]) -> Result<()> {
        let conversions = self.conversions(paths).await?;
        let missing = conversions.iter().find_map(|(path, one)| match one {
            Conversion::Missing(filter) => Some((path, filter)),
            Conversion::Git => None,
        });
        match missing {
            None => Ok(()),
            Some((path, filter)) => Err(Failed::refused(format!(
                "{} is stored through the git filter {filter}, which does not run here. Set it up, \
                 or trust the project first",
                String::from_utf8_lossy(path)
            ))),
        }
    }
}
