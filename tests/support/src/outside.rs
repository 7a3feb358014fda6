//! A folder for tests about the border of the sandbox.

use std::env;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A new folder that is neither in a project nor below a temporary folder: those can be written to
/// in the sandbox, and the folder that the tests are built in may itself be below one.
pub fn test_folder() -> TempDir {
    let temporary = [env::temp_dir(), "/tmp".into(), "/var/tmp".into()].map(real);
    let built_in = env::current_exe().ok();
    let built_in = built_in.as_deref().and_then(Path::parent);
    let places = [built_in.map(Path::to_owned), env::home_dir()];
    let mut places = places.into_iter().flatten().map(real);
    let place = places.find(|place| !temporary.iter().any(|one| place.starts_with(one)));
    let place = place.expect("the home is not below a temporary folder");
    let folder = tempfile::Builder::new()
        .prefix("lathe-test-")
        .tempdir_in(place);
    folder.expect("the folder can be written to")
}

fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}
