//! A folder for tests about the border of the sandbox.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A new folder that is neither in a project nor below a temporary folder: those can be written to
/// in the sandbox, and the folder that the tests are built in may itself be below one.
pub fn test_folder() -> io::Result<TempDir> {
    let temporary = [env::temp_dir(), "/tmp".into(), "/var/tmp".into()].map(real);
    let built_in = env::current_exe()?;
    let places = [built_in.parent().map(Path::to_owned), env::home_dir()];
    let mut places = places.into_iter().flatten().map(real);
    let is_temporary = |place: &Path| temporary.iter().any(|one| place.starts_with(one));
    let place = places.find(|place| !is_temporary(place));
    let place = place.ok_or_else(|| io::Error::other("the home is below a temporary folder"))?;
    let mut folder = tempfile::Builder::new();
    folder.prefix("lathe-test-").tempdir_in(place)
}

fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}
