//! Where the tests run as root, the same again as an ordinary user: root passes checks that
//! others do not, and the other way round.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const UNPRIVILEGED_ID: &str = "65534";
/// Set for the inner run, so that it does not start another one.
const INNER: &str = "LATHE_ORDINARY_USER";

#[test]
fn everything_holds_for_an_ordinary_user_too() {
    if !rustix::process::geteuid().is_root() || std::env::var_os(INNER).is_some() {
        return;
    }
    // The build's folder may be closed to others.
    let scratch = tempfile::tempdir().unwrap();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = scratch.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new("setpriv")
        .args([
            "--reuid",
            UNPRIVILEGED_ID,
            "--regid",
            UNPRIVILEGED_ID,
            "--clear-groups",
            "--",
        ])
        .arg(&program)
        .env(INNER, "1")
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}
