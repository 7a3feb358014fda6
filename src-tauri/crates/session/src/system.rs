//! What every request tells the model about itself and where it works.

use lathe_protocol::{Millis, Project, Session, UserMessage};

use lathe_workspace::agents::Agent;
use lathe_workspace::instructions::{Instruction, Instructions};
use lathe_workspace::project::branch;
use lathe_workspace::setup::Setup;

const GENERAL: &str = include_str!("system.txt");

/// Where the model works.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub instructions: &'a Instructions,
    pub now: Millis,
    pub setup: &'a Setup,
    pub session: &'a Session,
    pub project: &'a Project,
}

/// The most stable text first, so that providers can cache it.
pub async fn prompt(scene: Scene<'_>, agent: &Agent, user: &UserMessage) -> Vec<String> {
    let mut blocks = vec![GENERAL.trim_end().to_owned()];
    blocks.extend(agent.prompt.clone());
    blocks.push(scene.environment().await);
    let Setup {
        places,
        instructions,
        ..
    } = scene.setup;
    let instructions = scene.instructions.of(places.clone(), instructions.clone());
    blocks.extend(instructions.await.iter().map(block));
    blocks.extend(user.system.clone());
    blocks
}

fn block(instruction: &Instruction) -> String {
    format!(
        "Instructions from {}:\n{}",
        instruction.path,
        instruction.text.trim_end()
    )
}

impl Scene<'_> {
    /// Facts only, found out without running anything.
    async fn environment(&self) -> String {
        let git = match self.project.vcs.as_deref() {
            Some("git") => {
                let worktree = self.project.worktree.clone();
                let head = tokio::task::spawn_blocking(move || branch(worktree.as_ref()));
                match head.await.ok().flatten() {
                    Some(branch) => format!("yes, on {branch}"),
                    None => "yes".to_owned(),
                }
            }
            _ => "no".to_owned(),
        };
        format!(
            "Working directory: {}\nProject root: {}\nGit repository: {git}\nPlatform: {}\nToday: {}",
            self.session.directory,
            self.project.worktree,
            std::env::consts::OS,
            date(self.now.0),
        )
    }
}

/// The day in UTC as `2026-11-16` (Howard Hinnant's days-to-civil algorithm).
pub fn date(millis: i64) -> String {
    let days = millis.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_come_out_right() {
        let days = [0, 951_782_400_000, 1_786_706_395_136, 1_798_761_599_999, -1];
        assert_eq!(
            days.map(date),
            [
                "1970-01-01",
                "2000-02-29",
                "2026-08-14",
                "2026-12-31",
                "1969-12-31"
            ]
        );
    }
}
