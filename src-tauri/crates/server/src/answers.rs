//! Answers that are asked for again and again, kept until what they say changes.
//!
//! An answer belongs to a version, which is read before the data are: what is published later
//! makes a new version. What other processes write is published too, or nothing is kept.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use parking_lot::Mutex;

const MOST_BYTES: usize = 8 * 1024 * 1024;
/// A client can make a new request of any query, and each is looked for among all.
const MOST_ENTRIES: usize = 64;

/// The changes of one session, and of sessions as such.
pub type Version = (u64, u64);

#[derive(Clone)]
pub struct Kept {
    headers: HeaderMap,
    body: Bytes,
}

impl Kept {
    pub fn json(body: Vec<u8>, mut headers: HeaderMap) -> Self {
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json);
        Kept {
            headers,
            body: body.into(),
        }
    }

    pub fn response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.headers_mut() = self.headers;
        response
    }
}

#[derive(Default)]
pub struct Answers {
    /// The newest last.
    entries: Mutex<VecDeque<(String, Version, Kept)>>,
    keeps: AtomicBool,
}

impl Answers {
    /// Only where every change is published here.
    pub fn keep(&self) {
        self.keeps.store(true, Ordering::Release);
    }

    pub fn find(&self, request: &str, version: Version) -> Option<Kept> {
        let entries = self.entries.lock();
        let mut found = entries.iter();
        let (_, _, kept) = found.find(|(key, of, _)| key == request && *of == version)?;
        Some(kept.clone())
    }

    pub fn put(&self, request: String, version: Version, kept: &Kept) {
        if !self.keeps.load(Ordering::Acquire) || kept.body.len() > MOST_BYTES / 2 {
            return;
        }
        let mut entries = self.entries.lock();
        entries.retain(|(key, ..)| *key != request);
        entries.push_back((request, version, kept.clone()));
        let size = |(key, _, kept): &(String, Version, Kept)| key.len() + kept.body.len();
        let mut bytes: usize = entries.iter().map(size).sum();
        while (bytes > MOST_BYTES || entries.len() > MOST_ENTRIES)
            && let Some(oldest) = entries.pop_front()
        {
            bytes -= size(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: usize) -> Kept {
        Kept::json(vec![b' '; bytes], HeaderMap::new())
    }

    fn length(answers: &Answers, request: &str, version: Version) -> Option<usize> {
        let found = answers.find(request, version);
        found.map(|kept| kept.body.len())
    }

    #[test]
    fn an_answer_is_given_again_only_in_its_version() {
        let answers = Answers::default();
        answers.put("a".into(), (1, 0), &kept(1));
        assert_eq!(length(&answers, "a", (1, 0)), None);
        answers.keep();
        answers.put("a".into(), (1, 0), &kept(1));
        assert_eq!(length(&answers, "a", (1, 0)), Some(1));
        assert_eq!(length(&answers, "a", (2, 0)), None);
        assert_eq!(length(&answers, "b", (1, 0)), None);
    }

    #[test]
    fn a_client_that_always_asks_something_else_fills_no_memory() {
        let answers = Answers::default();
        answers.keep();
        for number in 0..1000 {
            answers.put(format!("/session?x={number}"), (0, 0), &kept(2));
        }
        assert_eq!(answers.entries.lock().len(), MOST_ENTRIES);
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let answers = Answers::default();
        answers.keep();
        for name in ["a", "b", "c"] {
            answers.put(name.into(), (0, 0), &kept(MOST_BYTES / 2 - 1));
        }
        let found = ["a", "b", "c"].map(|name| length(&answers, name, (0, 0)).is_some());
        assert_eq!(found, [false, true, true]);
        answers.put("d".into(), (0, 0), &kept(MOST_BYTES));
        assert_eq!(length(&answers, "d", (0, 0)), None);
    }
}
