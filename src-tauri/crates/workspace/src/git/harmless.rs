//! Which settings of a repository start no program in what we do with git, and make it read no file
//! outside of the repository: one that never ends would hold it for ever. Pure.

/// Sections of which no setting does: git's own that only format or tune, those of commands that
/// we never run, and those of widespread tools around git.
const SECTIONS: &[&str] = &[
    "advice",
    "alias",
    "am",
    "apply",
    "archive",
    "attr",
    "author",
    "blame",
    "branch",
    "browser",
    "bundle",
    "checkout",
    "clean",
    "color",
    "column",
    "commitgraph",
    "committer",
    "difftool",
    "extensions",
    "feature",
    "fetch",
    "format",
    "fsck",
    "gc",
    "gitbutler",
    "gitflow",
    "github",
    "gitk",
    "grep",
    "gui",
    "guitool",
    "help",
    "http",
    "hub",
    "i18n",
    "imap",
    "include",
    "includeif",
    "index",
    "init",
    "instaweb",
    "interactive",
    "log",
    "magit",
    "maintenance",
    "mergetool",
    "notes",
    "pack",
    "pager",
    "protocol",
    "pull",
    "push",
    "rebase",
    "receive",
    "remotes",
    "repack",
    "rerere",
    "safe",
    "sendemail",
    "splitindex",
    "stash",
    "status",
    "tag",
    "transfer",
    "uploadpack",
    "url",
    "user",
    "worktree",
];
const CORE: &[&str] = &[
    "abbrev",
    "autocrlf",
    "bare",
    "bigfilethreshold",
    "checkstat",
    "commentchar",
    "commentstring",
    "commitgraph",
    "compression",
    "createobject",
    "deltabasecachelimit",
    "eol",
    "filemode",
    "fscache",
    "fsmonitor",
    "fsync",
    "hidedotfiles",
    "ignorecase",
    "logallrefupdates",
    "longpaths",
    "loosecompression",
    "multipackindex",
    "packedgitlimit",
    "precomposeunicode",
    "preloadindex",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "repositoryformatversion",
    "safecrlf",
    "sharedrepository",
    "sparsecheckout",
    "sparsecheckoutcone",
    "symlinks",
    "untrackedcache",
    "worktree",
];
/// Of `diff` and `merge` themselves.
const COMPARING: &[&str] = &[
    "algorithm",
    "autorefreshindex",
    "autostash",
    "branchdesc",
    "colormoved",
    "colormovedws",
    "conflictstyle",
    "context",
    "defaulttoupstream",
    "directoryrenames",
    "ff",
    "guitool",
    "ignoresubmodules",
    "indentheuristic",
    "log",
    "mnemonicprefix",
    "noprefix",
    "renamelimit",
    "renames",
    "renormalize",
    "stat",
    "statgraphwidth",
    "submodule",
    "suppressblankempty",
    "tool",
    "wserrorhighlight",
];
/// Of one driver of `diff` or `merge`.
const DRIVER: &[&str] = &[
    "algorithm",
    "binary",
    "cachetextconv",
    "name",
    "recursive",
    "wordregex",
    "xfuncname",
];
const REMOTE: &[&str] = &[
    "fetch",
    "followremotehead",
    "gh-resolved",
    "mirror",
    "partialclonefilter",
    "promisor",
    "prune",
    "prunetags",
    "push",
    "pushurl",
    "skipdefaultupdate",
    "skipfetchall",
    "tagopt",
    "url",
];
const SUBMODULE: &[&str] = &[
    "active",
    "branch",
    "fetchrecursesubmodules",
    "ignore",
    "path",
    "recurse",
    "shallow",
    "url",
];

/// `key` is as git lists it: its section and its last part in lower case.
pub(super) fn is_harmless(key: &str) -> bool {
    let Some((section, rest)) = key.split_once('.') else {
        return false;
    };
    let (inner, name) = match rest.rsplit_once('.') {
        Some((inner, name)) => (Some(inner), name),
        None => (None, rest),
    };
    match (section, inner) {
        ("core", None) => CORE.contains(&name),
        ("diff" | "merge", None) => COMPARING.contains(&name),
        ("diff" | "merge", Some(_)) => DRIVER.contains(&name),
        ("mailmap", None) => name == "blob",
        ("commit", None) => ["cleanup", "status", "template", "verbose"].contains(&name),
        ("lfs", _) => ["repositoryformatversion", "access", "locksverify"].contains(&name),
        ("remote", _) => REMOTE.contains(&name),
        ("submodule", _) => SUBMODULE.contains(&name),
        (section, _) => SECTIONS.contains(&section),
    }
}

/// A value with which a setting starts nothing, as far as there is one.
pub(super) fn default_of(key: &str) -> &'static str {
    match key {
        "gpg.program" | "gpg.openpgp.program" => "gpg",
        "gpg.x509.program" => "gpgsm",
        "gpg.ssh.program" => "ssh-keygen",
        "gpg.format" => "openpgp",
        "gpg.mintrustlevel" => "undefined",
        "commit.gpgsign" | "merge.verifysignatures" => "false",
        // Where git looks if nothing is set.
        "core.attributesfile" => "~/.config/git/attributes",
        "core.excludesfile" => "~/.config/git/ignore",
        _ => match key.rsplit('.').next() {
            // A merge driver that fails leaves a conflict.
            Some("required" | "driver") => "false",
            _ => "",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_are_known_to_start_nothing_are_harmless() {
        let harmless = [
            "core.bare",
            "branch.a.b.merge",
            "remote.origin.fetch",
            "diff.lua.xfuncname",
            "lfs.https://example.org/info/lfs.access",
        ];
        let others = [
            "core.sshcommand",
            "core.hookspath",
            "core.editor",
            "core.attributesfile",
            "core.excludesfile",
            "mailmap.file",
            "filter.a=b.clean",
            "filter.x.y.process",
            "diff.external",
            "diff.x.command",
            "merge.x.driver",
            "merge.verifysignatures",
            "commit.gpgsign",
            "gpg.ssh.defaultkeycommand",
            "credential.helper",
            "lfs.standalonetransferagent",
            "hook.x.command",
            "remote.origin.vcs",
            "submodule.a.update",
            "invented.key",
        ];
        assert_eq!(harmless.map(is_harmless), [true; 5]);
        assert_eq!(others.map(is_harmless), [false; 20]);
    }
}
