use super::*;

fn function(name: &str, lines: usize) -> Function {
    Function {
        name: name.into(),
        lines,
    }
}

#[test]
fn functions_are_measured_from_their_first_line_to_their_closing_brace() {
    let source = read(
        "/// Documentation is not counted.\n\
         pub async fn first<'a>(\n    x: &'a [u8; 4],\n) -> usize\nwhere\n    u8: Copy,\n{\n    x.len()\n}\n\n\
         impl A {\n    fn second(&self) { fn inside() {} }\n}\n",
    );
    assert_eq!(
        source.functions,
        [function("first", 8), function("second", 1)]
    );
    assert_eq!(source.lines, 13);
    assert_eq!(source.test_lines, 0);
}

#[test]
fn declarations_without_a_body_and_function_types_are_no_functions() {
    let source = read("trait T {\n    fn a(&self, f: fn(u8) -> u8);\n    fn b(&self) {}\n}\n");
    assert_eq!(source.functions, [function("b", 1)]);
}

#[test]
fn braces_in_strings_characters_and_comments_do_not_count() {
    let source = read(
        "fn a() {\n    let _ = (\"{\", '{', '\\'', b'{', r#\"{\"}\"#, \"\\\"{\");\n    // {\n    /* { /* { */ */\n    let r#gen = 'a: loop { break 'a };\n}\nfn b() {}\n",
    );
    assert_eq!(source.functions, [function("a", 6), function("b", 1)]);
}

#[test]
fn a_test_module_counts_as_tests_with_its_attributes() {
    let source = read(
        "fn a() {}\n\n#[cfg(test)]\n#[allow(clippy::unwrap_used)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn one() {}\n\n    #[tokio::test(flavor = \"multi_thread\")]\n    async fn two() {}\n}\n\nfn b() {}\n",
    );
    assert_eq!(source.functions, [function("a", 1), function("b", 1)]);
    assert_eq!((source.lines, source.test_lines), (15, 11));
    assert_eq!(source.tests, 2);
}

#[test]
fn a_condition_with_more_than_test_is_a_test_module_and_not_test_is_none() {
    let source = read("#[cfg(all(test, unix))]\npub(crate) mod tests {\n}\n");
    assert_eq!(source.test_lines, 3);
    let source = read("#[cfg(not(test))]\nmod real {\n}\n");
    assert_eq!(source.test_lines, 0);
    let source = read("#[cfg(test)]\nuse a::b;\nmod real {\n}\n");
    assert_eq!(source.test_lines, 0);
}

#[test]
fn test_modules_in_files_of_their_own_are_named() {
    let source = read(
        "#[cfg(test)]\nmod samples;\n\n#[cfg(test)]\n#[path = \"id_tests.rs\"]\nmod tests;\n\nmod other;\n",
    );
    let module = |name: &str, path: Option<&str>| TestModule {
        name: name.into(),
        path: path.map(str::to_owned),
    };
    assert_eq!(
        source.test_modules,
        [
            module("samples", None),
            module("tests", Some("id_tests.rs"))
        ]
    );
    assert_eq!(source.test_lines, 0);
}

#[test]
fn tests_in_a_file_of_tests_are_counted_also_in_macros() {
    let source = read(
        "#[test]\nfn one() {}\n\nproptest! {\n    #[test]\n    fn two(x in 0..3) {}\n}\n\nfn test() {}\n",
    );
    assert_eq!(source.tests, 2);
}
