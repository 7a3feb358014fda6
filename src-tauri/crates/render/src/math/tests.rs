use super::render;

#[test]
fn a_formula_becomes_mathml() {
    let made = render(r"\frac{a}{b}", false).unwrap_or_default();
    assert!(made.starts_with("<math"), "{made}");
    assert!(made.contains("<mfrac>"), "{made}");
}

#[test]
fn what_is_not_understood_is_shown_as_its_source() {
    for source in ["", r"\nosuchcommand{x}", r"\frac{a"] {
        assert_eq!(render(source, true), None, "{source:?}");
    }
}

#[test]
fn a_formula_that_is_too_long_or_too_deep_is_not_drawn() {
    assert_eq!(render(&"x+".repeat(5_000), true), None);
    assert_eq!(
        render(&format!("{}x{}", "{".repeat(500), "}".repeat(500)), true),
        None
    );
}
