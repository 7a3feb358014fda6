//! The map as text: a table of sizes, what each crate is for, and who depends on whom.

use super::manifest::Package;
use super::measure::Measured;

/// How many of the largest functions are named for each crate.
const FUNCTIONS: usize = 3;

pub fn text(packages: &[(Package, Measured)]) -> String {
    let mut out = String::new();
    out += &table(&sizes(packages));
    out += "\nWhat each crate is for, and its largest functions\n";
    for (package, measured) in packages {
        out += &format!("\n{}: {}\n", package.label, measured.purpose);
        let functions = measured.functions.iter().take(FUNCTIONS);
        out += &functions
            .map(|(name, file, lines)| format!("    {lines:>4}  {name}  {}\n", file.display()))
            .collect::<String>();
    }
    out += "\nDependencies\n\n";
    out += &table(&dependencies(packages));
    out
}

fn sizes(packages: &[(Package, Measured)]) -> Vec<Vec<String>> {
    let header = [
        "crate",
        "source",
        "in tests",
        "tests",
        "files",
        "median",
        "largest",
        "largest file",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut total = [0; 4];
    for (package, measured) in packages {
        let counts = [
            measured.source_lines,
            measured.test_lines,
            measured.tests,
            measured.files.len(),
        ];
        for (sum, count) in total.iter_mut().zip(counts) {
            *sum += count;
        }
        let largest = measured.files.first();
        let mut row = vec![package.label.clone()];
        row.extend(counts.map(|count| count.to_string()));
        row.push(measured.median_file().to_string());
        row.push(largest.map_or(0, |(_, lines)| *lines).to_string());
        row.push(largest.map_or_else(String::new, |(path, _)| path.display().to_string()));
        rows.push(row);
    }
    let mut last = vec!["all".to_owned()];
    last.extend(total.map(|count| count.to_string()));
    last.resize(header.len(), String::new());
    rows.push(last);
    rows
}

fn dependencies(packages: &[(Package, Measured)]) -> Vec<Vec<String>> {
    let header = ["crate", "depends on", "in tests also"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (package, _) in packages {
        rows.push(vec![
            package.label.clone(),
            package.dependencies.join(" "),
            package.dev_dependencies.join(" "),
        ]);
    }
    rows
}

/// Columns side by side; numbers are aligned to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    let numeric: Vec<bool> = (0..columns)
        .map(|column| {
            let mut cells = rows.iter().skip(1).map(|row| &row[column]);
            cells.all(|cell| cell.chars().all(|c| c.is_ascii_digit()))
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = widths[column];
            match numeric[column] {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out += line.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_to_the_right_and_names_to_the_left() {
        let rows = [["crate", "lines"], ["a", "1200"], ["render", "7"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            table(&rows),
            "crate   lines\na        1200\nrender      7\n"
        );
    }

    #[test]
    fn the_report_has_sizes_purposes_functions_and_dependencies() {
        let package = Package {
            name: "lathe-store".into(),
            label: "store".into(),
            folder: "crates/store".into(),
            entry: "crates/store/src/lib.rs".into(),
            test_targets: Vec::new(),
            dependencies: vec!["protocol".into()],
            dev_dependencies: vec!["support".into()],
        };
        let functions = [("a", 9), ("b", 8), ("c", 7), ("d", 6)];
        let measured = Measured {
            purpose: "Keys to files.".into(),
            source_lines: 30,
            test_lines: 12,
            tests: 3,
            files: vec![("src/lib.rs".into(), 30)],
            functions: functions
                .map(|(name, lines)| (name.to_owned(), "src/lib.rs".into(), lines))
                .to_vec(),
        };
        let text = text(&[(package, measured)]);
        assert!(
            text.contains("store: Keys to files.\n       9  a  src/lib.rs\n       8  b"),
            "{text}"
        );
        assert!(!text.contains("6  d"), "{text}");
        assert!(text.contains("store  protocol    support\n"), "{text}");
        assert!(
            text.contains("all        30        12      3      1\n"),
            "{text}"
        );
    }
}
