//! Node: present, and new enough for the UI's build.

use std::process::Command;

use crate::{Outcome, tool};

/// The oldest Node that the UI's build tool runs on.
const OLDEST: (u32, u32) = (20, 19);

/// Says what to install when Node is missing or too old.
pub fn check() -> Outcome {
    let wanted = format!(
        "Node {}.{} or newer (https://nodejs.org)",
        OLDEST.0, OLDEST.1
    );
    let Some(found) = tool::output_of(Command::new("node").arg("--version")) else {
        return Err(format!("Node is missing: install {wanted}"));
    };
    if version(&found).is_none_or(|version| version < OLDEST) {
        return Err(format!(
            "Node {} is too old: install {wanted}",
            found.trim()
        ));
    }
    if tool::output_of(tool::npm().arg("--version")).is_none() {
        return Err("npm is missing: it comes with Node, or in a package of that name".into());
    }
    Ok(())
}

/// `v20.19.1` → (20, 19)
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text
        .trim()
        .trim_start_matches('v')
        .split('.')
        .map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(version("v20.19.1\n"), Some((20, 19)));
        assert!(version("v20.9.0") < Some(OLDEST));
        assert!(version("v22.0.0") > Some(OLDEST));
        assert_eq!(version("strange"), None);
    }
}
