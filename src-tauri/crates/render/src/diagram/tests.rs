use super::{DiagramError, draw};

#[test]
fn a_diagram_becomes_a_picture() {
    let svg = draw("graph TD\n A[Start] --> B{Done?}\n B -->|no| A\n", false).unwrap_or_default();
    assert!(svg.starts_with("<svg"), "{svg}");
    for words in ["Start", "Done?", "no"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
}

#[test]
fn it_is_another_one_in_the_dark() {
    let source = "sequenceDiagram\n Ada->>Lamp: on\n";
    assert_ne!(draw(source, false), draw(source, true));
}

#[test]
fn what_could_run_or_load_something_is_not_drawn() {
    for source in [
        "graph TD\n A[\"<script>alert(1)</script>\"] --> B\n",
        "graph TD\n A --> B\n click A \"javascript:alert(1)\"\n",
        "graph TD\n A[\"<img src=x onerror=alert(1)>\"] --> B\n",
    ] {
        let svg = draw(source, false).unwrap_or_default().to_lowercase();
        for active in ["<script", "javascript:", "<img", "<foreignobject"] {
            assert!(!svg.contains(active), "{active}: {svg}");
        }
    }
}

#[test]
fn a_diagram_that_is_too_large_is_not_drawn() {
    let many = (0..50)
        .map(|at| format!("n{at}"))
        .collect::<Vec<_>>()
        .join(" & ");
    for source in [
        format!("graph TD\n{}", " A --> B\n".repeat(1_000)),
        format!("graph TD\n {many} --> {many}\n"),
        format!(
            "graph TD\n {}\n",
            (0..180).map(|at| format!("n{at} --> ")).collect::<String>() + "end1"
        ),
    ] {
        assert_eq!(
            draw(&source, false),
            Err(DiagramError::TooLarge),
            "{source}"
        );
    }
}

/// Each of these once ended the process, or took all of the memory.
#[test]
fn a_block_diagram_of_endless_columns_is_not_drawn() {
    for columns in ["65", "2000000000", "1000000000000", "18446744073709551615"] {
        let source = format!("block-beta\ncolumns {columns}\na\n");
        assert_eq!(
            draw(&source, false),
            Err(DiagramError::TooLarge),
            "{columns}"
        );
    }
}

#[test]
fn a_block_may_be_wider_than_the_diagram() {
    let svg = draw("block-beta\ncolumns 3\na:18446744073709551615 b c\n", false);
    assert!(svg.is_ok_and(|svg| svg.contains("<svg")));
}
