//! Which system this is, as far as installing packages goes.

/// Systems whose package names we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Debian,
    Fedora,
    Arch,
    OtherLinux,
    MacOs,
    Windows,
}

/// The system we run on.
pub fn detect() -> System {
    if cfg!(target_os = "macos") {
        return System::MacOs;
    }
    if cfg!(windows) {
        return System::Windows;
    }
    let release = ["/etc/os-release", "/usr/lib/os-release"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok());
    from_os_release(&release.unwrap_or_default())
}

/// `ID` names the distribution, `ID_LIKE` the ones it descends from.
fn from_os_release(text: &str) -> System {
    let values = |key: &str| {
        text.lines()
            .filter_map(|line| line.split_once('='))
            .filter(|(name, _)| *name == key)
            .flat_map(|(_, value)| value.trim_matches(['"', '\'']).split_whitespace())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let names = [values("ID"), values("ID_LIKE")].concat();
    names
        .iter()
        .find_map(|name| match name.as_str() {
            "debian" | "ubuntu" => Some(System::Debian),
            "fedora" | "rhel" => Some(System::Fedora),
            "arch" => Some(System::Arch),
            _ => None,
        })
        .unwrap_or(System::OtherLinux)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descendant_counts_as_its_ancestor() {
        assert_eq!(
            from_os_release("NAME=\"Debian\"\nID=debian\n"),
            System::Debian
        );
        assert_eq!(
            from_os_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"),
            System::Debian
        );
        assert_eq!(
            from_os_release("ID=fedora\nVERSION_ID=42\n"),
            System::Fedora
        );
        assert_eq!(from_os_release("ID=manjaro\nID_LIKE=arch\n"), System::Arch);
    }

    #[test]
    fn a_strange_or_missing_release_file_is_another_linux() {
        assert_eq!(from_os_release("ID=nixos\n"), System::OtherLinux);
        assert_eq!(from_os_release(""), System::OtherLinux);
    }
}
