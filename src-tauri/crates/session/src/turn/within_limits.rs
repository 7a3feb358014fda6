//! Pauses a turn where a limit of the person is reached.

use lathe_policy::names::LIMIT;
use lathe_protocol::{Extra, PermissionRequest, SessionId};
use lathe_records::Result;

use super::Turn;
use lathe_permission::{Reached, WaitForPerson};

impl Turn {
    /// Whether the next step may start. Where a limit is reached, the person decides.
    pub(super) async fn may_continue(&mut self) -> Result<bool> {
        let (core, root) = (self.core.clone(), self.root().clone());
        let limits = &core.permissions.limits;
        if self.ancestors.is_empty() && self.steps == 0 {
            limits.forget_session(&root);
        }
        if self.reached(&root).await?.is_none() {
            return Ok(true);
        }
        let limited = self.limited.clone();
        let _asking = tokio::select! {
            asking = limited.asking.lock() => asking,
            () = self.cancel.cancelled() => return Ok(true),
        };
        while let Some(reached) = self.reached(&root).await? {
            let asked = core
                .permissions
                .broker
                .ask_person(self.limit_request(&reached));
            let waits = WaitForPerson::begin(&limited, &core.records);
            let answer = tokio::select! {
                answer = asked => answer,
                () = self.cancel.cancelled() => return Ok(true),
            };
            drop(waits);
            if answer.is_err() {
                return Ok(false);
            }
            let now = core.records.now();
            limits.raise(&reached, &root, &mut limited.used(), now);
        }
        Ok(true)
    }

    async fn reached(&self, root: &SessionId) -> Result<Option<Reached>> {
        let (limits, used) = (&self.core.permissions.limits, *self.limited.used());
        limits.reached(&self.core.records, root, used).await
    }

    /// Counts an answer as soon as it is there: its tool calls may start tasks that cost more.
    pub(super) fn note_cost(&self, cost: f64) {
        let limits = &self.core.permissions.limits;
        limits.add(self.root(), cost, self.core.records.now());
    }

    /// The session that a person started; its tasks count with it.
    fn root(&self) -> &SessionId {
        let first = self.ancestors.last();
        first.map_or(&self.session.id, |ancestor| ancestor.id())
    }

    fn limit_request(&self, reached: &Reached) -> PermissionRequest {
        let records = &self.core.records;
        PermissionRequest {
            id: records.ids().permission(records.now()),
            session_id: self.session.id.clone(),
            permission: LIMIT.to_owned(),
            patterns: vec![reached.kind.name().to_owned()],
            metadata: reached.metadata(),
            always: Vec::new(),
            tool: None,
            needs: Vec::new(),
            dangers: Vec::new(),
            extra: Extra::default(),
        }
    }
}
