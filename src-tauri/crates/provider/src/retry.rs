//! Whether to retry after a failure, and when.
//!
//! Pure: the caller supplies the time and the random number, and does the waiting.

use std::time::{Duration, SystemTime};

use crate::error::{ProviderError, ResponseHeaders};

/// How often a step is retried after its first failure.
const MAX_RETRIES: u32 = 5;

/// If a provider demands a longer wait, the user decides.
const MAX_DEMANDED_WAIT: Duration = Duration::from_secs(10 * 60);

const FIRST_DELAY: Duration = Duration::from_secs(2);
const MAX_DELAY: Duration = Duration::from_secs(30);
const JITTER: f64 = 0.25;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Retry { after: Duration },
    Stop(Stop),
}

/// Why there is no retry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("a retry would not help")]
    NotRetryable,
    #[error("it failed {MAX_RETRIES} more times")]
    RetriesExhausted,
    #[error("the provider asks to wait {} minutes", .0.as_secs().div_ceil(60))]
    WaitTooLong(Duration),
}

/// `retry` is 1 for the first retry; `random` is between 0 and 1.
pub fn decide(error: &ProviderError, retry: u32, now: SystemTime, random: f64) -> Decision {
    let ProviderError::Api(failure) = error else {
        return Decision::Stop(Stop::NotRetryable);
    };
    if !failure.is_retryable {
        return Decision::Stop(Stop::NotRetryable);
    }
    if retry > MAX_RETRIES {
        return Decision::Stop(Stop::RetriesExhausted);
    }
    match demanded_wait(&failure.headers, now) {
        Some(wait) if wait > MAX_DEMANDED_WAIT => Decision::Stop(Stop::WaitTooLong(wait)),
        Some(wait) => Decision::Retry { after: wait },
        None => Decision::Retry {
            after: backoff(retry, random),
        },
    }
}

/// The wait that the response demands, if any.
fn demanded_wait(headers: &ResponseHeaders, now: SystemTime) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.trim().parse::<f64>().ok();
    let milliseconds = number("retry-after-ms").map(|ms| ms / 1000.0);
    let seconds = || number("retry-after");
    let date = || {
        let date = httpdate::parse_http_date(headers.get("retry-after")?.trim()).ok()?;
        date.duration_since(now).ok().filter(|wait| !wait.is_zero())
    };
    milliseconds
        .and_then(positive)
        .or_else(|| seconds().and_then(positive))
        .or_else(date)
}

fn positive(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// 2, 4, 8, 16, 30 seconds, each up to a quarter longer.
fn backoff(retry: u32, random: f64) -> Duration {
    let doubled = 2_u32.saturating_pow(retry.saturating_sub(1).min(16));
    let base = FIRST_DELAY.saturating_mul(doubled).min(MAX_DELAY);
    base.mul_f64(1.0 + JITTER * random.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ApiFailure;

    fn failing(status: u16, headers: &[(&str, &str)]) -> ProviderError {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        ProviderError::Api(ApiFailure::refused(status, "no").with_headers(headers))
    }

    fn wait(headers: &[(&str, &str)]) -> Decision {
        // Mon, 16 Nov 2026 08:00:00 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_816_000);
        decide(&failing(429, headers), 1, now, 0.0)
    }

    fn retry(milliseconds: u64) -> Decision {
        Decision::Retry {
            after: Duration::from_millis(milliseconds),
        }
    }

    #[test]
    fn the_wait_follows_the_headers_in_order_of_precedence() {
        assert_eq!(
            wait(&[("retry-after-ms", "1500"), ("retry-after", "9")]),
            retry(1500)
        );
        assert_eq!(
            wait(&[("retry-after-ms", "soon"), ("retry-after", "9")]),
            retry(9000)
        );
        assert_eq!(wait(&[("retry-after", "0.25")]), retry(250));
        assert_eq!(
            wait(&[("retry-after", "Mon, 16 Nov 2026 08:00:30 GMT")]),
            retry(30_000)
        );
        for invalid in ["Mon, 16 Nov 2026 07:59:00 GMT", "-3", "NaN", "tomorrow"] {
            assert_eq!(wait(&[("retry-after", invalid)]), retry(2000), "{invalid}");
        }
    }

    #[test]
    fn without_headers_the_wait_doubles_up_to_thirty_seconds_plus_a_quarter() {
        let waits = |random| -> Vec<Decision> {
            (1..=6)
                .map(|n| decide(&failing(500, &[]), n, SystemTime::UNIX_EPOCH, random))
                .collect()
        };
        let stop = Decision::Stop(Stop::RetriesExhausted);
        let plain = [2000, 4000, 8000, 16_000, 30_000].map(retry);
        assert_eq!(
            waits(0.0),
            [plain.as_slice(), std::slice::from_ref(&stop)].concat()
        );
        let jittered = [2500, 5000, 10_000, 20_000, 37_500].map(retry);
        assert_eq!(waits(1.0), [jittered.as_slice(), &[stop]].concat());
    }

    #[test]
    fn a_demanded_wait_of_more_than_ten_minutes_is_left_to_the_user() {
        assert_eq!(wait(&[("retry-after", "600")]), retry(600_000));
        assert_eq!(
            wait(&[("retry-after", "601")]),
            Decision::Stop(Stop::WaitTooLong(Duration::from_secs(601)))
        );
    }

    #[test]
    fn errors_that_cannot_improve_are_not_retried() {
        let not_retryable = [
            failing(400, &[("retry-after", "1")]),
            ProviderError::Auth {
                message: "no".to_owned(),
            },
            ProviderError::ContextOverflow(ApiFailure::refused(500, "too long")),
            ProviderError::Api(ApiFailure::timeout("silence")),
            ProviderError::Aborted,
        ];
        for error in not_retryable {
            let decision = decide(&error, 1, SystemTime::UNIX_EPOCH, 0.5);
            assert_eq!(decision, Decision::Stop(Stop::NotRetryable), "{error:?}");
        }
        for error in [ApiFailure::connection("reset"), ApiFailure::truncated()] {
            let decision = decide(&ProviderError::Api(error), 1, SystemTime::UNIX_EPOCH, 0.0);
            assert_eq!(decision, retry(2000));
        }
    }
}
