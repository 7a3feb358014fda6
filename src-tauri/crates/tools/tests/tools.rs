//! The tools on real files and processes, with a fake host.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod tools {
    mod contract;
    mod edit;
    mod edit_table;
    mod files;
    mod odd_files;
    mod patch;
    mod patch_table;
    mod read;
    mod search;
    mod support;
    mod truncate;
    mod webfetch;
    mod webfetch_addresses;

    #[cfg(unix)]
    mod bash;
    #[cfg(target_os = "linux")]
    mod death;
    #[cfg(unix)]
    mod paths;
    #[cfg(target_os = "linux")]
    mod witness;
}
