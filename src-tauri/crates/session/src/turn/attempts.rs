//! Sends a request again when the provider failed temporarily.

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
    /// The first attempt that does not fail temporarily, or the last one.
    pub async fn run(
        &self,
        model: &OpenModel,
        request: ModelRequest,
    ) -> Result<(StreamEnd, Vec<Call>)> {
        let mut parts = Vec::new();
        let mut attempt = 1;
        loop {
            let stream = model.stream(&request, self.cancel.clone());
            let records = &self.core.records;
            let (session_id, id) = (self.message.session_id.clone(), self.message.id.clone());
            let mut step = Step::new(records, session_id, id, parts);
            let end = step.consume(stream, self.cancel).await?;
            let StreamEnd::Failed(error) = end else {
                return Ok((end, step.into_calls()));
            };
            parts = step.into_parts();
            let now = records.now();
            let wait = match retry::decide(&error, attempt, system_time(now), jitter()) {
                Decision::Retry { after } => after,
                Decision::Stop(why) => {
                    return Ok((StreamEnd::Failed(with_reason(error, &why)), Vec::new()));
                }
            };
            self.put_retry_part(attempt, &error).await?;
            let next = Millis(now.0 + wait.as_millis() as i64);
            let message = message_error(&self.message.provider_id, error).message();
            let status = SessionStatus::Retry {
                attempt: Count(attempt.into()),
                message,
                next,
            };
            self.core
                .active
                .set_status(&self.message.session_id, status);
            if !self
                .core
                .active
                .wait_for_retry(&self.message.session_id, wait, self.cancel)
                .await
            {
                return Ok((StreamEnd::Aborted, Vec::new()));
            }
            self.core
                .active
                .set_status(&self.message.session_id, SessionStatus::Busy);
            attempt += 1;
        }
    }

    async fn put_retry_part(&self, attempt: u32, error: &ProviderError) -> Result<()> {
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

/// Spreads the retries of many sessions; a weak random number is enough.
fn jitter() -> f64 {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}

/// Adds to the message why there is no further attempt.
fn with_reason(error: ProviderError, why: &Stop) -> ProviderError {
    match (error, why) {
        (ProviderError::Api(mut failure), Stop::RetriesExhausted | Stop::WaitTooLong(_)) => {
            failure.message = format!("{} ({why})", failure.message);
            ProviderError::Api(failure)
        }
        (error, _) => error,
    }
}
