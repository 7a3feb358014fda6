//! Where it cannot be seen what a command writes.

use std::time::SystemTime;

use tokio::process::Command;

use crate::written::WriteEvidence;

pub enum Waiting {}

pub fn prepare(_: &mut Command, _: &[&str], _: SystemTime) -> Option<Waiting> {
    None
}

impl Waiting {
    pub fn started(self) -> Box<dyn WriteEvidence> {
        match self {}
    }
}
