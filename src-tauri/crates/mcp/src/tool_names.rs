//! The names under which the tools of servers are offered to the model.

use sha2::{Digest, Sha256};

/// The longest name that every provider accepts.
const MAX_LENGTH: usize = 64;

/// `server_tool`, in characters that every provider accepts. A name that is too long or taken
/// gets a short hash, so that two tools never share one.
pub fn tool_name(server: &str, tool: &str, taken: impl Fn(&str) -> bool) -> String {
    let name = format!("{}_{}", sanitize(server), sanitize(tool));
    if name.len() <= MAX_LENGTH && !taken(&name) {
        return name;
    }
    let digest = Sha256::digest(format!("{server}\0{tool}"));
    let hash: String = digest[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let room = MAX_LENGTH - hash.len() - 1;
    format!("{}_{hash}", &name[..name.len().min(room)])
}

fn sanitize(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_server_and_tool_in_allowed_characters() {
        let free = |_: &str| false;
        assert_eq!(tool_name("files", "read", free), "files_read");
        assert_eq!(tool_name("my files", "read/all", free), "my_files_read_all");
        assert_eq!(tool_name("größe", "x", free), "gr__e_x");
    }

    #[test]
    fn a_long_or_taken_name_gets_a_hash_and_fits() {
        let long = tool_name("s", &"t".repeat(100), |_| false);
        assert_eq!(long.len(), 64);
        assert_ne!(long, tool_name("s", &"t".repeat(101), |_| false));
        let other = tool_name("apply", "patch", |name| name == "apply_patch");
        assert!(
            other.starts_with("apply_patch_") && other.len() == 20,
            "{other}"
        );
    }
}
