//! Asking again when a provider fails in a way that may pass.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lathe_protocol::{
    AssistantMessage, Count, CreatedTime, Extra, MessageError, Millis, Part, RetryPart,
    SessionStatus,
};
use lathe_provider::retry::{self, Decision, Stop};
use lathe_provider::{ModelRequest, ProviderError};
use tokio_util::sync::CancellationToken;

use super::step::{Call, Step, StreamEnd};
use crate::core::Core;
use crate::failure::{api_error_data, message_error};
use lathe_records::Result;
use lathe_workspace::models::OpenModel;

pub struct Attempts<'a> {
    pub core: &'a Core,
    pub message: &'a AssistantMessage,
    pub cancel: &'a CancellationToken,
}

impl Attempts<'_> {
    /// The first attempt that does not fail in a passing way, or the last one.
    pub async fn run(
        &self,
        model: &OpenModel,
        request: ModelRequest,
    ) -> Result<(StreamEnd, Vec<Call>)> {
        let mut shown = Vec::new();
        let mut attempt = 1;
        loop {
            let stream = model.stream(&request, self.cancel.clone());
            let records = &self.core.records;
            let (session_id, id) = (self.message.session_id.clone(), self.message.id.clone());
            let mut step = Step::new(records, session_id, id, shown);
            let end = step.consume(stream, self.cancel).await?;
            let StreamEnd::Failed(error) = end else {
                return Ok((end, step.into_calls()));
            };
            shown = step.into_shown();
            let now = records.now();
            let wait = match retry::decide(&error, attempt, system_time(now), dice()) {
                Decision::Retry { after } => after,
                Decision::Stop(why) => {
                    return Ok((StreamEnd::Failed(explained(error, &why)), Vec::new()));
                }
            };
            self.note(attempt, &error).await?;
            let next = Millis(now.0 + wait.as_millis() as i64);
            let message = message_error(&self.message.provider_id, error).message();
            let status = SessionStatus::Retry {
                attempt: Count(attempt.into()),
                message,
                next,
            };
            self.core
                .running
                .set_status(&self.message.session_id, status);
            if !self
                .core
                .running
                .wait_for_retry(&self.message.session_id, wait, self.cancel)
                .await
            {
                return Ok((StreamEnd::Aborted, Vec::new()));
            }
            self.core
                .running
                .set_status(&self.message.session_id, SessionStatus::Busy);
            attempt += 1;
        }
    }

    async fn note(&self, attempt: u32, error: &ProviderError) -> Result<()> {
        let records = &self.core.records;
        let now = records.now();
        let part = Part::Retry(RetryPart {
            id: records.ids().part(now),
            session_id: self.message.session_id.clone(),
            message_id: self.message.id.clone(),
            attempt: Count(attempt.into()),
            error: lathe_protocol::ApiErrorValue(MessageError::Api(api_error_data(error))),
            time: CreatedTime {
                created: now,
                extra: Extra::default(),
            },
            extra: Extra::default(),
        });
        records.put_part(part).await
    }
}

fn system_time(now: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(now.0.max(0) as u64)
}

/// Spreads the retries of many sessions; nothing depends on its quality.
fn dice() -> f64 {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}

/// A person who waits must know that nobody will try again.
fn explained(error: ProviderError, why: &Stop) -> ProviderError {
    match (error, why) {
        (ProviderError::Api(mut failure), Stop::RetriesExhausted | Stop::WaitTooLong(_)) => {
            failure.message = format!("{} ({why})", failure.message);
            ProviderError::Api(failure)
        }
        (error, _) => error,
    }
}
