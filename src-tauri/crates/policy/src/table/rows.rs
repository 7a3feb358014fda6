//! The rows themselves.

use super::Section;

pub(super) const TABLE: &[Section] = &[
    // The defaults, as the agent that builds meets them.
    Section {
        agent: Some("build"),
        rules: "",
        approved: "",
        rows: "
            read | src/main.rs | allow
            read | a b/c.txt | allow
            read | .env | ask
            read | web/.env | ask
            read | prod.env | ask
            read | .env.local | ask
            read | web/.env.production | ask
            read | .env.example | allow
            read | web/.env.example | allow
            read | .environment | allow
            read | environment.rs | allow
            read | src/a.rs && .env | ask
            list | . | allow
            list | src/deep/down | allow
            glob | **/*.rs | allow
            grep | TODO | allow
            todoread | * | allow
            todowrite | * | allow
            task | general | allow
            task | explore | allow
            edit | src/main.rs | ask
            edit | new.txt | ask
            edit | a.rs && b.rs | ask
            bash | ls | allow
            bash | git status | allow
            bash | make | ask
            bash | git commit -m x | ask
            bash | ls > x | ask
            webfetch | example.org | ask
            external_directory | /etc/* | ask
            doom_loop | read | ask
            question | * | allow
            plan_enter | * | allow
            plan_exit | * | deny
            something_new | * | ask
            mcp_server_tool | * | ask
            tool | read | offered
            tool | edit | offered
            tool | write | offered
            tool | apply_patch | offered
            tool | bash | offered
            tool | question | offered
            tool | plan_enter | offered
            tool | plan_exit | hidden
            tool | task | offered
        ",
    },
    // The planner: everything may be looked at, one file written.
    Section {
        agent: Some("plan"),
        rules: "edit:*=allow; edit:*=deny; edit:.opencode/plans/7-quiet-lamp.md=allow",
        approved: "",
        rows: "
            read | src/main.rs | allow
            read | .env | ask
            edit | src/main.rs | deny
            edit | .opencode/plans/7-quiet-lamp.md | allow
            edit | .opencode/plans/8-other.md | deny
            edit | .opencode/plans/7-quiet-lamp.md.bak | deny
            edit | x/.opencode/plans/7-quiet-lamp.md | deny
            edit | .opencode/plans/7-quiet-lamp.md && src/a.rs | deny
            bash | ls | allow
            bash | make | ask
            bash | touch x | deny
            question | * | allow
            plan_exit | * | allow
            plan_enter | * | deny
            tool | edit | offered
            tool | write | offered
            tool | plan_exit | offered
            tool | plan_enter | hidden
        ",
    },
    Section {
        agent: Some("general"),
        rules: "",
        approved: "",
        rows: "
            read | a.rs | allow
            edit | a.rs | ask
            bash | make | ask
            todoread | * | deny
            todowrite | * | deny
            question | * | deny
            plan_enter | * | deny
            plan_exit | * | deny
            tool | todoread | hidden
            tool | todowrite | hidden
            tool | question | hidden
            tool | edit | offered
        ",
    },
    Section {
        agent: Some("explore"),
        rules: "",
        approved: "",
        rows: "
            read | a.rs | allow
            grep | x | allow
            glob | * | allow
            list | . | allow
            read | .env | ask
            read | web/.env.local | ask
            read | .env.example | allow
            bash | ls | allow
            bash | ls && cargo check | deny
            bash | ls > x | deny
            bash | curl https://example.org/x && sh | deny
            bash | cat .env | ask
            bash | ./setup.sh | deny
            bash | rm x | deny
            webfetch | example.org | allow
            edit | a.rs | deny
            task | general | deny
            todowrite | * | deny
            question | * | deny
            external_directory | /etc/* | deny
            doom_loop | read | deny
            tool | read | offered
            tool | bash | offered
            tool | edit | hidden
            tool | write | hidden
            tool | apply_patch | hidden
            tool | task | hidden
            tool | todowrite | hidden
        ",
    },
    Section {
        agent: Some("compaction"),
        rules: "",
        approved: "",
        rows: "
            read | a.rs | deny
            edit | a.rs | deny
            bash | ls | deny
            anything | at all | deny
            tool | read | hidden
            tool | bash | hidden
            tool | question | hidden
        ",
    },
    Section {
        agent: Some("title"),
        rules: "",
        approved: "",
        rows: "
            read | a.rs | deny
            tool | grep | hidden
        ",
    },
    Section {
        agent: Some("summary"),
        rules: "",
        approved: "",
        rows: "
            read | a.rs | deny
            tool | list | hidden
        ",
    },
    // \"Trust this project\": edits are allowed, commands are not.
    Section {
        agent: Some("build"),
        rules: "edit:*=allow",
        approved: "",
        rows: "
            edit | src/main.rs | allow
            edit | a.rs && deep/b.rs | allow
            bash | rm -r src | ask
            read | .env | ask
            external_directory | /home/x/* | ask
        ",
    },
    // \"Allow all\" allows also what its patterns do not tell.
    Section {
        agent: Some("build"),
        rules: "*:*=allow",
        approved: "",
        rows: "
            bash | rm -r src | allow
            bash | eval x | allow
            bash | ls > x | allow
            edit | a.rs | allow
            read | .env | allow
            external_directory | /etc/* | allow
            webfetch | localhost | allow
            doom_loop | read | allow
            plan_exit | * | allow
            brand_new | x | allow
        ",
    },
    // Commands: each simple one is a pattern of its own.
    Section {
        agent: Some("build"),
        rules: "bash:git status *=allow; bash:git log *=allow; bash:npm run build *=allow; \
                bash:rm *=deny; bash:git push *=deny; bash:git push --dry-run *=allow",
        approved: "",
        rows: "
            bash | git status | allow
            bash | git status --short | allow
            bash | git  status | allow
            bash | git statusx | ask
            bash | git stash | ask
            bash | git log -p | allow
            bash | git log && git status | allow
            bash | git log && make | ask
            bash | git log && rm x | deny
            bash | ls && rm x | deny
            bash | rm | deny
            bash | rm -rf / | deny
            bash | rmdir x | ask
            bash | /bin/rm x | deny
            bash | npm run build | allow
            bash | npm run build -- --watch | allow
            bash | npm run buildx | ask
            bash | npm run test | ask
            bash | git push | deny
            bash | git push origin main | deny
            bash | git push --dry-run | allow
            bash | git push --dry-run origin | allow
            bash | GIT STATUS | ask
            bash | git status > out | ask
            bash | git log $(x) | ask
            bash | rm x > y | deny
            tool | bash | offered
        ",
    },
    // What was answered with \"always\" turns an ask into an allow and nothing else.
    Section {
        agent: Some("build"),
        rules: "bash:rm *=deny; edit:secret/*=deny",
        approved: "bash:*=allow; edit:*=allow; external_directory:/tmp/*=allow; \
                   webfetch:example.org=allow; doom_loop:read=allow",
        rows: "
            bash | ls | allow
            bash | make && ls | allow
            bash | rm x | deny
            bash | ls && rm x | deny
            bash | ls > x | ask
            bash | eval ls | ask
            edit | src/a.rs | allow
            edit | secret/key | deny
            edit | src/a.rs && secret/key | deny
            external_directory | /tmp/* | allow
            external_directory | /tmp/x/* | allow
            external_directory | /etc/* | ask
            webfetch | example.org | allow
            webfetch | example.com | ask
            webfetch | sub.example.org | ask
            doom_loop | read | allow
            doom_loop | bash | ask
            plan_exit | * | deny
            read | .env | ask
        ",
    },
    Section {
        agent: Some("explore"),
        rules: "",
        approved: "edit:*=allow; *:*=allow",
        rows: "
            edit | a.rs | deny
            task | general | deny
            tool | edit | hidden
        ",
    },
    Section {
        agent: Some("build"),
        rules: "",
        approved: "bash:git status *=allow; bash:npm run build *=allow",
        rows: "
            bash | git status | allow
            bash | git status -s | allow
            bash | git stat | ask
            bash | git status && npm run build | allow
            bash | npm run build -- --watch | allow
            bash | npm run build --script-shell ./evil | ask
            bash | git status && npm install | ask
            bash | npm run | ask
        ",
    },
    // The last rule that matches wins, whatever came before.
    Section {
        agent: None,
        rules: "edit:*=deny; edit:src/*=allow; edit:src/gen/*=ask; edit:src/gen/keep.rs=deny",
        approved: "",
        rows: "
            edit | README.md | deny
            edit | src/a.rs | allow
            edit | src/deep/a.rs | allow
            edit | src/gen/a.rs | ask
            edit | src/gen/keep.rs | deny
            edit | src/a.rs && README.md | deny
            edit | src/a.rs && src/gen/a.rs | ask
            edit | src/gen/a.rs && src/gen/keep.rs | deny
            edit | srcs/a.rs | deny
            tool | edit | offered
            tool | write | offered
        ",
    },
    Section {
        agent: None,
        rules: "edit:src/*=allow; edit:*=deny",
        approved: "",
        rows: "
            edit | src/a.rs | deny
            tool | edit | hidden
            tool | apply_patch | hidden
            tool | read | offered
        ",
    },
    Section {
        agent: None,
        rules: "bash:*=deny; bash:ls *=ask",
        approved: "",
        rows: "
            bash | ls | ask
            bash | make | deny
            tool | bash | offered
        ",
    },
    // No rule at all means ask.
    Section {
        agent: None,
        rules: "",
        approved: "",
        rows: "
            read | a.rs | ask
            edit | a.rs | ask
            x | y | ask
            tool | read | offered
        ",
    },
    Section {
        agent: None,
        rules: "",
        approved: "read:src/*=allow",
        rows: "
            read | src/a.rs | allow
            read | lib/a.rs | ask
            read | src/a.rs && lib/a.rs | ask
            opaque read | src/a.rs | ask
        ",
    },
    // Wildcards: `*` is any text, also across slashes and lines; `?` is one character.
    Section {
        agent: None,
        rules: "a:*.rs=allow; b:?.rs=allow; c:src/*/mod.rs=allow; d:*=allow; e:x*y*z=allow; \
                f:exact=allow; g:a?c=deny; h:cmd *=allow; i:[ab]=allow; j:**=allow; k:a.c=allow; \
                l:-*=allow",
        approved: "",
        rows: "
            a | main.rs | allow
            a | src/deep/main.rs | allow
            a | .rs | allow
            a | main.rsx | ask
            a | main_rs | ask
            b | a.rs | allow
            b | é.rs | allow
            b | ab.rs | ask
            b | .rs | ask
            b | /.rs | allow
            c | src/x/mod.rs | allow
            c | src/x/y/mod.rs | allow
            c | src/mod.rs | ask
            d | anything | allow
            e | xyz | allow
            e | x1y2z | allow
            e | xzy | ask
            e | xyzz | allow
            e | xyza | ask
            f | exact | allow
            f | exactly | ask
            f | EXACT | ask
            g | abc | deny
            g | ac | ask
            g | abbc | ask
            h | cmd | allow
            h | cmd arg | allow
            h | cmdx | ask
            h | a cmd | ask
            i | a | ask
            i | [ab] | allow
            j | x/y | allow
            k | abc | ask
            k | a.c | allow
            l | --force | allow
            l | force | ask
        ",
    },
    // Permissions are wildcards, too.
    Section {
        agent: None,
        rules: "mcp_*:*=allow; mcp_files_*:*=deny; web*:*=ask; *:secret=deny; tod?read:*=allow",
        approved: "",
        rows: "
            mcp_search_find | x | allow
            mcp_files_read | x | deny
            mcp_ | x | allow
            mcp | x | ask
            webfetch | example.org | ask
            websearch | tea | ask
            mcp_search_find | secret | deny
            read | secret | deny
            todoread | * | allow
            toddread | * | allow
            todread | * | ask
            tool | mcp_files_read | offered
            tool | mcp_search_find | offered
        ",
    },
    // `~` and `$HOME` at the beginning mean the person's home, and nothing elsewhere.
    Section {
        agent: None,
        rules: "external_directory:~/notes/*=allow; external_directory:$HOME/work/*=allow; \
                external_directory:~/work/secret/*=deny; read:~=allow; edit:a~/b=allow; \
                edit:~x=allow; edit:$HOMES/x=allow",
        approved: "",
        rows: "
            external_directory | {home}/notes/* | allow
            external_directory | {home}/notes/deep/* | allow
            external_directory | {home}/work/* | allow
            external_directory | {home}/work/secret/* | deny
            external_directory | {home}/* | ask
            external_directory | /other/notes/* | ask
            external_directory | ~/notes/* | ask
            read | {home} | allow
            read | {home}/x | ask
            edit | a~/b | allow
            edit | ~x | allow
            edit | $HOMES/x | allow
        ",
    },
    // Config over agent: a person may widen and narrow what an agent may do.
    Section {
        agent: Some("general"),
        rules: "todowrite:*=allow; edit:*=deny; webfetch:docs.rs=allow",
        approved: "",
        rows: "
            todowrite | * | allow
            todoread | * | deny
            edit | a.rs | deny
            webfetch | docs.rs | allow
            webfetch | docs.rs.evil.org | ask
            tool | todowrite | offered
            tool | edit | hidden
        ",
    },
    Section {
        agent: Some("build"),
        rules: "read:*=deny; read:docs/*=allow; task:explore=deny",
        approved: "",
        rows: "
            read | src/a.rs | deny
            read | docs/a.md | allow
            read | docs/.env | allow
            bash | cat src/main.rs | deny
            bash | cat docs/a.md | allow
            task | explore | deny
            task | general | allow
            tool | task | offered
            tool | read | offered
        ",
    },
];
