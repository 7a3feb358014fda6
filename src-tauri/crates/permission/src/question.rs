//! The agent's questions that wait for a person.

use std::collections::HashMap;

use lathe_protocol::{Event, QuestionId, QuestionRequest};
use lathe_tools::ToolFailure;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use lathe_records::Records;
use lathe_records::{Failed, Result};

type Answers = Vec<Vec<String>>;

struct Waiting {
    request: QuestionRequest,
    /// `None` when the person closed the question.
    answer: oneshot::Sender<Option<Answers>>,
}

pub struct QuestionBroker {
    records: Records,
    waiting: Mutex<HashMap<QuestionId, Waiting>>,
}

impl QuestionBroker {
    pub fn new(records: Records) -> Self {
        QuestionBroker {
            records,
            waiting: Mutex::default(),
        }
    }

    /// Returns one list of chosen labels per question. If the caller stops waiting, the question
    /// is withdrawn.
    pub async fn ask(&self, request: QuestionRequest) -> Result<Answers, ToolFailure> {
        let (answer, answered) = oneshot::channel();
        let _withdraw = Withdraw {
            broker: self,
            id: request.id.clone(),
        };
        let waiting = Waiting {
            request: request.clone(),
            answer,
        };
        self.waiting.lock().insert(request.id.clone(), waiting);
        self.records.publish(Event::QuestionAsked(request));
        match answered.await {
            Ok(Some(answers)) => Ok(answers),
            Ok(None) => Err(ToolFailure::dismissed()),
            Err(_) => Err(ToolFailure::aborted()),
        }
    }

    pub fn reply(&self, id: &QuestionId, answers: Answers) -> Result<()> {
        let mut waiting = self.waiting.lock();
        let asked = waiting
            .get(id)
            .ok_or_else(|| Failed::missing("question", id.as_str()))?;
        let expected = asked.request.questions.len();
        if answers.len() != expected {
            return Err(Failed::refused(format!(
                "{} answers were given to {expected} questions",
                answers.len()
            )));
        }
        if let Some(one) = waiting.remove(id) {
            drop(waiting);
            self.records.publish(Event::QuestionReplied {
                session_id: one.request.session_id,
                request_id: one.request.id,
                answers: answers.clone(),
            });
            // The call may have ended by now; the answer then has no reader.
            let _ = one.answer.send(Some(answers));
        }
        Ok(())
    }

    pub fn dismiss(&self, id: &QuestionId) -> Result<()> {
        let one = self.waiting.lock().remove(id);
        let one = one.ok_or_else(|| Failed::missing("question", id.as_str()))?;
        self.close(one);
        Ok(())
    }

    pub fn pending(&self) -> Vec<QuestionRequest> {
        let waiting = self.waiting.lock();
        let mut requests: Vec<_> = waiting.values().map(|one| one.request.clone()).collect();
        requests.sort_by(|a, b| lathe_protocol::serial_cmp(a.id.as_str(), b.id.as_str()));
        requests
    }

    fn close(&self, one: Waiting) {
        self.records.publish(Event::QuestionRejected {
            session_id: one.request.session_id,
            request_id: one.request.id,
        });
        let _ = one.answer.send(None);
    }
}

/// Removes a question whose call was dropped (an abort) before it was answered.
struct Withdraw<'a> {
    broker: &'a QuestionBroker,
    id: QuestionId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let one = self.broker.waiting.lock().remove(&self.id);
        if let Some(one) = one {
            self.broker.close(one);
        }
    }
}
