//! Folders whose files are a person's own, and not those of one project.

use std::path::{Path, PathBuf};

/// Whether a folder is a home folder, lies above it, or is one of the hidden folders in it, where
/// programs keep settings and keys.
pub fn is_personal(folder: &Path) -> bool {
    let home = std::env::home_dir();
    is_personal_to(&real(folder), home.as_deref().map(real).as_deref())
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn is_personal_to(folder: &Path, home: Option<&Path>) -> bool {
    let Some(home) = home else {
        return folder.parent().is_none();
    };
    let hidden = |below: &Path| {
        let first = below.iter().next();
        first.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let above = folder.parent().is_none() || home.starts_with(folder);
    above || folder.strip_prefix(home).is_ok_and(hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_what_is_above_them_and_their_hidden_folders_are_personal() {
        let is = |folder: &str| is_personal_to(Path::new(folder), Some(Path::new("/home/ada")));
        for folder in [
            "/",
            "/home",
            "/home/ada",
            "/home/ada/.ssh",
            "/home/ada/.config/x",
        ] {
            assert!(is(folder), "{folder}");
        }
        for folder in [
            "/home/ada/work",
            "/home/ada/work/.config",
            "/srv/app",
            "/home/bob",
        ] {
            assert!(!is(folder), "{folder}");
        }
    }
}
