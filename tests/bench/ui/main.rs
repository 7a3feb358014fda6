//! Benchmarks of the real window: every number is compared with another one of the same run.
//!
//! Prints one JSON object a line: `{"name", "ours", "baseline", "ratio", "unit", "bar"}`.
//! `LATHE_BENCH_PARTS` makes the long session shorter. Needs the optimised app (`LATHE_APP`)
//! and, for the start, a bare window (`LATHE_BARE`); `cargo xtask bench ui` builds both.

#![cfg_attr(not(target_os = "linux"), allow(unused))]
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on has nothing better to do than to say so"
)]

#[cfg(target_os = "linux")]
mod data;
#[cfg(target_os = "linux")]
mod measure;

#[cfg(target_os = "linux")]
fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(measure::all()).expect("the window runs");
}

/// The window is driven through WebKit's driver, which exists on Linux only.
#[cfg(not(target_os = "linux"))]
fn main() {
    println!(
        r#"{{"name":"the window is measured on Linux only","ours":0,"baseline":0,"ratio":0}}"#
    );
}
