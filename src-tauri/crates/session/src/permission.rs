//! May the agent do this? Rules decide; where they say "ask", a person does.

mod desk;
mod narrow;
mod rules;
#[cfg(test)]
mod table;

pub use desk::{Answer, Inquiry, PermissionDesk, unless_denied};
pub use narrow::narrow;
pub use rules::{Freedom, defaults, freed, hides_tool, looking, permission_of, rule};
