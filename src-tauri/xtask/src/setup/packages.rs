//! The packages behind each need, by system.

use std::process::Command;

use super::Need;
use super::system::System;
use crate::tool;

/// What a need is called on a system, in its packages.
fn packages(system: System, need: Need) -> &'static [&'static str] {
    match (system, need) {
        (System::Debian, Need::Build) => &[
            "build-essential",
            "cmake",
            "curl",
            "libssl-dev",
            "pkg-config",
        ],
        (System::Debian, Need::Window) => &[
            "libayatana-appindicator3-dev",
            "librsvg2-dev",
            "libwebkit2gtk-4.1-dev",
            "libxdo-dev",
        ],
        (System::Debian, Need::VirtualDisplay) => &["dbus", "dbus-x11", "xvfb"],
        (System::Debian, Need::WindowDriver) => &["webkit2gtk-driver", "xdotool"],
        (System::Debian, Need::Tracer) => &["strace"],
        (System::Debian, Need::Sandbox) => &["bubblewrap"],

        (System::Fedora, Need::Build) => &[
            "gcc",
            "gcc-c++",
            "make",
            "cmake",
            "curl",
            "openssl-devel",
            "pkgconf-pkg-config",
        ],
        (System::Fedora, Need::Window) => &[
            "libappindicator-gtk3-devel",
            "librsvg2-devel",
            "libxdo-devel",
            "webkit2gtk4.1-devel",
        ],
        (System::Fedora, Need::VirtualDisplay) => &["dbus-daemon", "xorg-x11-server-Xvfb"],
        // dnf and rpm take a file's path for the package that holds it.
        (System::Fedora, Need::WindowDriver) => &["/usr/bin/WebKitWebDriver", "xdotool"],
        (System::Fedora, Need::Tracer) => &["strace"],
        (System::Fedora, Need::Sandbox) => &["bubblewrap"],

        (System::Arch, Need::Build) => &["base-devel", "cmake", "curl", "openssl"],
        (System::Arch, Need::Window) => &[
            "libayatana-appindicator",
            "librsvg",
            "webkit2gtk-4.1",
            "xdotool",
        ],
        (System::Arch, Need::VirtualDisplay) => &["dbus", "xorg-server-xvfb"],
        (System::Arch, Need::WindowDriver) => &["webkitgtk-6.0", "xdotool"],
        (System::Arch, Need::Tracer) => &["strace"],
        (System::Arch, Need::Sandbox) => &["bubblewrap"],

        (System::MacOs, Need::Build) => &["the Xcode command-line tools"],
        (System::Windows, Need::Build) => &["the Visual Studio Build Tools (C++ workload)"],
        (System::Windows, Need::Window) => &["the WebView2 runtime"],

        (System::OtherLinux, Need::Build) => &["a C and C++ compiler", "cmake", "pkg-config"],
        (System::OtherLinux, Need::Window) => &["the WebKitGTK 4.1 development files"],
        (System::OtherLinux, Need::VirtualDisplay) => &["Xvfb", "dbus-daemon"],
        (System::OtherLinux, Need::WindowDriver) => &["WebKitWebDriver", "xdotool"],
        (System::OtherLinux, Need::Tracer) => &["strace"],
        (System::OtherLinux, Need::Sandbox) => &["bwrap"],

        (_, Need::Ripgrep) => &["ripgrep"],

        // A virtual display, a driver and bubblewrap are Linux matters, and what WebKit needs is part of
        // macOS; Node and the lints are looked for by other means.
        (System::MacOs, Need::Window)
        | (
            System::MacOs | System::Windows,
            Need::VirtualDisplay | Need::WindowDriver | Need::Tracer | Need::Sandbox,
        )
        | (_, Need::Node | Need::Lints) => &[],
    }
}

/// The packages that are needed and not installed.
pub fn missing(system: System, needs: &[Need]) -> Vec<&'static str> {
    let mut missing: Vec<_> = needs
        .iter()
        .flat_map(|need| packages(system, *need))
        .filter(|package| !installed(system, package))
        .copied()
        .collect();
    missing.dedup();
    missing
}

fn installed(system: System, package: &str) -> bool {
    let succeeds = |program: &str, args: &[&str]| {
        tool::output_of(Command::new(program).args(args).arg(package)).is_some()
    };
    match system {
        System::Debian => {
            let args = ["--show", "--showformat=${db:Status-Status}", package];
            tool::output_of(Command::new("dpkg-query").args(args))
                .is_some_and(|status| status == "installed")
        }
        System::Fedora => succeeds("rpm", &["--query", "--whatprovides"]),
        // Answers for groups and for packages that another one provides, too.
        System::Arch => succeeds("pacman", &["--deptest"]),
        System::MacOs => {
            tool::output_of(Command::new("xcode-select").arg("--print-path")).is_some()
        }
        System::Windows => installed_on_windows(package),
        System::OtherLinux => present_on_linux(package),
    }
}

/// The registry knows of WebView2; the compiler is found by cargo itself, which has a good
/// message of its own when it is not there.
fn installed_on_windows(package: &str) -> bool {
    const CLIENT: &str = r"Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}";
    if !package.contains("WebView2") {
        return true;
    }
    [
        r"HKLM\SOFTWARE\WOW6432Node",
        r"HKLM\SOFTWARE",
        r"HKCU\Software",
    ]
    .iter()
    .any(|hive| {
        let key = format!(r"{hive}\{CLIENT}");
        tool::output_of(Command::new("reg").args(["query", &key, "/v", "pv"])).is_some()
    })
}

fn present_on_linux(package: &str) -> bool {
    match package {
        "a C and C++ compiler" => tool::on_path("cc") && tool::on_path("c++"),
        "the WebKitGTK 4.1 development files" => {
            tool::output_of(Command::new("pkg-config").args([
                "--exists",
                "webkit2gtk-4.1",
                "librsvg-2.0",
            ]))
            .is_some()
        }
        "ripgrep" => tool::on_path("rg"),
        program => tool::on_path(program),
    }
}

/// What to type, or to look for, where we do not install ourselves.
pub fn advice(system: System, missing: &[&str]) -> String {
    let list = missing.join(" ");
    match system {
        System::Debian => format!("install what is missing: sudo apt-get install {list}"),
        System::Fedora => format!("install what is missing: sudo dnf install {list}"),
        System::Arch => format!("install what is missing: sudo pacman -S --needed {list}"),
        System::MacOs => {
            format!("{list} are missing; install them with: xcode-select --install")
        }
        System::Windows => format!(
            "missing: {}. Install with: winget install Microsoft.EdgeWebView2Runtime",
            missing.join(", ")
        ),
        System::OtherLinux => {
            format!(
                "install with your system's package manager: {}",
                missing.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_a_command_to_copy() {
        assert_eq!(
            advice(System::Fedora, &["librsvg2-devel", "xdotool"]),
            "install what is missing: sudo dnf install librsvg2-devel xdotool"
        );
        assert_eq!(
            advice(System::Arch, &["librsvg"]),
            "install what is missing: sudo pacman -S --needed librsvg"
        );
    }

    #[test]
    fn every_linux_knows_what_the_window_and_its_tests_need() {
        let needs = [
            Need::Build,
            Need::Window,
            Need::VirtualDisplay,
            Need::WindowDriver,
        ];
        for system in [
            System::Debian,
            System::Fedora,
            System::Arch,
            System::OtherLinux,
        ] {
            for need in needs {
                assert!(!packages(system, need).is_empty(), "{need:?} on {system:?}");
            }
        }
    }
}
