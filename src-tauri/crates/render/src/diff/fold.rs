//! Decides which diffs are folded by default: those of generated and of very long files.

use lathe_protocol::view::FoldReason;

const MAX_CHANGED_LINES: usize = 3_000;

const LOCK_FILES: [&str; 16] = [
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "yarn.lock",
];

const GENERATED_ENDINGS: [&str; 8] = [
    ".map",
    ".pb.go",
    "_pb2.py",
    ".g.dart",
    ".generated.ts",
    ".designer.cs",
    ".snap",
    ".freezed.dart",
];

/// Why a file is folded, if it is. `changed` is the number of its changed lines.
pub fn reason(
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
    changed: usize,
) -> Option<FoldReason> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let text = after.or(before).unwrap_or_default();
    if LOCK_FILES.contains(&name) {
        Some(FoldReason::LockFile)
    } else if name.contains(".min.") || is_minified(text) {
        Some(FoldReason::Minified)
    } else if GENERATED_ENDINGS
        .iter()
        .any(|ending| name.ends_with(ending))
        || is_marked_generated(text)
    {
        Some(FoldReason::Generated)
    } else {
        (changed > MAX_CHANGED_LINES).then_some(FoldReason::TooLong)
    }
}

/// Whether the lines are much longer than in hand-written code.
fn is_minified(text: &str) -> bool {
    const MIN_BYTES: usize = 10_000;
    const MEAN_LINE_BYTES: usize = 500;
    text.len() > MIN_BYTES && text.len() / text.lines().count().max(1) > MEAN_LINE_BYTES
}

fn is_marked_generated(text: &str) -> bool {
    text.lines().take(5).any(|line| {
        line.len() < 300 && (line.contains("@generated") || line.contains("DO NOT EDIT"))
    })
}
