//! Plan mode: the agent reads and writes a plan, and changes nothing else.
//!
//! The plan is a file of the session. Rules deny changes to every other file, whatever the person
//! has allowed elsewhere ([`PlanFile::rules`]); the reminders here tell the model what it may do.

use lathe_policy::agents::PLANNER;
use lathe_protocol::MessageWithParts;
use lathe_workspace::plan_file::PlanFile;

use crate::convert::window::asks_for_summary;

/// The metadata key of a text part that is a reminder.
pub const REMINDER: &str = "reminder";

const APPROVED: &str = "The plan is approved: carry it out.";
const WANTED: &str = "Plan mode it is: look at what is there and write the plan.";

/// The reminder of the mode that belongs to this prompt, if any.
pub fn reminder(
    plan: &PlanFile,
    history: &[MessageWithParts],
    prompt: &MessageWithParts,
) -> Option<String> {
    let agent = agent_name(prompt);
    let before = history
        .iter()
        .rev()
        .skip_while(|message| message.info.id() != prompt.info.id())
        .skip(1)
        .filter(|message| message.info.as_user().is_some());
    let mut before = before.peekable();
    let summed_up = before
        .peek()
        .is_some_and(|message| asks_for_summary(message));
    let earlier = before
        .find(|message| !asks_for_summary(message))
        .map(agent_name);
    let exists = plan.path.exists();
    if agent == PLANNER {
        let entering = summed_up || earlier != Some(PLANNER);
        return Some(if entering {
            on_entering(plan, exists)
        } else {
            still_planning(plan)
        });
    }
    (earlier == Some(PLANNER)).then(|| on_leaving(plan, exists))
}

fn on_entering(plan: &PlanFile, exists: bool) -> String {
    let file = if exists {
        format!(
            "A plan is there already: {}. Read it and go on from it.",
            plan.shown
        )
    } else {
        format!("Write the plan to {} with the write tool.", plan.shown)
    };
    format!(
        "<system-reminder>\nPlan mode is on. You may look at everything, but change nothing: no \
         edits, no commands that change files, settings or history. The one exception is the \
         plan file.\n{file}\nFind out what the task touches, ask the user with the question \
         tool where their wish can be read in more than one way, and keep the plan short: \
         what will change and where, in which order, and how it will be checked. When it is \
         complete, call plan_exit; do not ask for approval in any other way.\n</system-reminder>"
    )
}

fn still_planning(plan: &PlanFile) -> String {
    format!(
        "<system-reminder>\nPlan mode is still on: change nothing but the plan file, {}.\n\
         </system-reminder>",
        plan.shown
    )
}

fn on_leaving(plan: &PlanFile, exists: bool) -> String {
    let file = if exists {
        format!(
            "\nThere is a plan: {}. Read it if you have not, and carry it out.",
            plan.shown
        )
    } else {
        String::new()
    };
    format!(
        "<system-reminder>\nPlan mode is over: you may change files and run commands again.\
         {file}\n</system-reminder>"
    )
}
/// The text of the user message after the person agreed to change modes.
pub fn switch_text(agent: &str) -> &'static str {
    if agent == PLANNER { WANTED } else { APPROVED }
}

fn agent_name(message: &MessageWithParts) -> &str {
    let user = message.info.as_user();
    user.and_then(|user| user.agent.as_deref())
        .unwrap_or(lathe_workspace::agents::DEFAULT)
}
