//! May the agent do this? Rules decide; where they say "ask", a person does.

mod desk;
mod rules;

pub use desk::{Answer, Inquiry, PermissionDesk};
pub use rules::{defaults, hides_tool, rule};
