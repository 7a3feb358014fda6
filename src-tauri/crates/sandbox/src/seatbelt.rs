//! The profile that `sandbox-exec` of macOS is given.
//!
//! Everything is denied that is not allowed, and of two rules that match the later one counts. So
//! rules for paths come with the outer ones first. Pure, so that it is tested on every system.

use std::fmt::Write;
use std::path::Path;

use crate::confinement::Confinement;
use crate::plan::SandboxError;
use crate::rules::{Access, Rules};

/// What every program needs to run at all. Of the system's services only those are reached that
/// answer questions about users and files; none that starts something on a program's behalf.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read*)
(allow file-map-executable)
(allow file-ioctl (subpath "/dev"))
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))
(allow file-read* file-write* (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow ipc-posix-shm*)
(allow user-preference-read)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.logd")
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.PowerManagement.control"))
(deny file-write-setugid)
"#;

const NETWORK: &str = r#"(allow network-outbound (remote ip "*:*"))
(allow network-inbound (local ip "*:*"))
(allow network-bind (local ip "*:*"))
(allow system-socket)
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.networkd")
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.ocspd"))
"#;

/// A command may talk to itself.
const LOOPBACK: &str = r#"(allow network-outbound (remote ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))
(allow network-bind (local ip "localhost:*"))
"#;

/// The profile for a confinement, as it is on this machine now.
pub fn seatbelt_profile(confinement: &Confinement) -> Result<String, SandboxError> {
    Ok(profile(&Rules::resolve(confinement)?, confinement))
}

pub(crate) fn profile(rules: &Rules, confinement: &Confinement) -> String {
    let mut text = BASE.to_owned();
    for (path, rule) in rules.iter() {
        let place = format!("(subpath {})", quoted(path));
        // Writing to a string does not fail.
        let _ = match rule.access {
            Access::Write => writeln!(text, "(allow file-read* file-write* {place})"),
            Access::Read => writeln!(
                text,
                "(deny file-write* {place})\n(allow file-read* {place})"
            ),
            Access::Hidden => writeln!(text, "(deny file-read* file-write* {place})"),
        };
        if rule.missing.is_some() {
            let pattern = any_case(path);
            let _ = writeln!(text, "(deny file-write* (regex #\"{pattern}\"))");
        }
        if rule.access != Access::Write {
            pin(&mut text, rules, path);
        }
    }
    text.push_str(match confinement.network() {
        true => NETWORK,
        false => LOOPBACK,
    });
    if confinement.local_sockets() {
        text.push_str("(allow network-outbound (subpath \"/\"))\n");
    }
    text
}

/// Folders above a protected or hidden path may not be renamed, or others could take their place,
/// and what is hidden would have another name.
fn pin(text: &mut String, rules: &Rules, path: &Path) {
    for folder in path.ancestors().skip(1) {
        if rules.access(folder) != Access::Write {
            break;
        }
        let _ = writeln!(
            text,
            "(deny file-write-unlink (literal {}))",
            quoted(folder)
        );
    }
}

/// Matches a path and all below it, with its name in any case: most disks of Macs would find it
/// by any. A path that exists is matched by its real name.
fn any_case(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(path).to_string_lossy();
    let mut pattern = String::from("^");
    folder
        .chars()
        .for_each(|letter| escape(letter, &mut pattern));
    pattern.push('/');
    for letter in name.chars() {
        if letter.is_ascii_alphabetic() {
            let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            pattern.extend(['[', lower, upper, ']']);
        } else {
            escape(letter, &mut pattern);
        }
    }
    pattern.push_str("(/.*)?$");
    pattern
}

/// A letter of a regular expression that means itself. Quotes would end the string; a class of
/// any letter is wider, and denies more.
fn escape(letter: char, pattern: &mut String) {
    match letter {
        '"' => pattern.push('.'),
        letter if letter.is_alphanumeric() || "/_- ".contains(letter) => pattern.push(letter),
        letter => pattern.extend(['\\', letter]),
    }
}

/// A string of the profile's language.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for letter in path.to_string_lossy().chars() {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
    text
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::confinement::Grant;
    use std::fs;

    fn position(text: &str, line: &str) -> usize {
        text.find(line)
            .unwrap_or_else(|| panic!("{line} is not in {text}"))
    }

    #[test]
    fn inner_rules_come_after_outer_ones_so_that_they_count() {
        let scratch = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(scratch.path()).unwrap();
        fs::create_dir_all(root.join("sub/.vscode")).unwrap();
        fs::create_dir(root.join("keys")).unwrap();
        let mut confinement = Confinement::new(&root);
        confinement.protected = vec![root.join("sub/.vscode"), root.join(".lathe")];
        confinement.unreadable = vec![root.join("keys")];
        let text = seatbelt_profile(&confinement).unwrap();
        let shown = root.display();
        let outer = format!("(allow file-read* file-write* (subpath \"{shown}\"))");
        let outer = position(&text, &outer);
        for inner in [
            format!("(deny file-write* (subpath \"{shown}/sub/.vscode\"))"),
            format!("(deny file-write* (subpath \"{shown}/.lathe\"))"),
            format!("(deny file-read* file-write* (subpath \"{shown}/keys\"))"),
            format!("(deny file-write-unlink (literal \"{shown}/sub\"))"),
        ] {
            assert!(position(&text, &inner) > outer, "{inner}");
        }
    }

    #[test]
    fn other_hosts_are_reached_only_with_a_grant() {
        let scratch = tempfile::tempdir().unwrap();
        let mut confinement = Confinement::new(scratch.path());
        let text = seatbelt_profile(&confinement).unwrap();
        assert!(!text.contains("*:*") && text.contains("localhost:*"));
        confinement.grants.push(Grant::Network);
        let text = seatbelt_profile(&confinement).unwrap();
        assert!(text.contains("(allow network-outbound (remote ip \"*:*\"))"));
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let path = Path::new(r#"/a") (allow default) (b "\c"#);
        assert_eq!(quoted(path), r#""/a\") (allow default) (b \"\\c""#);
    }

    #[test]
    fn a_missing_path_is_denied_in_any_case() {
        let pattern = any_case(Path::new("/Users/a.b/c\"d/.ab-c"));
        assert_eq!(pattern, r"^/Users/a\.b/c.d/\.[aA][bB]-[cC](/.*)?$");
    }

    #[test]
    fn everything_is_denied_that_is_not_allowed() {
        let scratch = tempfile::tempdir().unwrap();
        let text = seatbelt_profile(&Confinement::new(scratch.path())).unwrap();
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        assert!(!text.contains("(allow default)") && !text.contains("mach-lookup)"));
    }
}
