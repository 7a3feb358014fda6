//! What commands run in: the user's home, shell and variables. Filled once an app.

use std::path::PathBuf;

#[derive(Debug, Default)]
pub struct Environment {
    pub home: Option<PathBuf>,
}
