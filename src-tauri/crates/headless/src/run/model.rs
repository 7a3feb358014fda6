//! Chooses the model and variant of a prompt.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::ipc::AgentView;
use lathe_protocol::{ModelRef, Project, UserMessage};
use lathe_session::models::{DEMO, Model, Models};
use lathe_session::{Sessions, parse_model_ref};

use crate::{Outcome, texts};

pub struct ModelChoice {
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
}

/// Chooses among the models that are available in a folder of a project.
pub struct ModelSelector<'a> {
    pub sessions: &'a Sessions,
    pub project: &'a Project,
    pub folder: &'a Path,
}

impl ModelSelector<'_> {
    /// The requested model and variant; what was not requested is taken from the newest prompt.
    /// Fails on unknown names, before anything is stored.
    pub async fn choose(
        &self,
        wanted: ModelChoice,
        agent: Option<&str>,
        last: Option<UserMessage>,
    ) -> Outcome<ModelChoice> {
        if let Some(model) = &wanted.model {
            self.find(model).await?;
        }
        let named = wanted.variant.clone();
        let used = self.fill_from_last(wanted, last).await;
        if let Some(variant) = named {
            let model = self.resolve(used.model.as_ref(), agent).await?;
            self.check_variant(&model, &variant).await?;
        }
        Ok(used)
    }

    /// Fills in what was not requested from the newest prompt. Its variant is only used with the
    /// same model.
    async fn fill_from_last(&self, wanted: ModelChoice, last: Option<UserMessage>) -> ModelChoice {
        let (before, variant) = last.map_or((None, None), |last| (last.model, last.variant));
        if wanted.model.is_some() {
            let variant = variant.filter(|_| wanted.model == before);
            return ModelChoice {
                variant: wanted.variant.or(variant),
                ..wanted
            };
        }
        let is_demo = |model: &ModelRef| model.provider_id == DEMO;
        // The demo model was only used because there was no real one; do not stick to it.
        if before.as_ref().is_none_or(is_demo) && self.has_real_model().await {
            return ModelChoice {
                model: None,
                variant: wanted.variant,
            };
        }
        ModelChoice {
            model: before,
            variant: wanted.variant.or(variant),
        }
    }

    async fn models(&self) -> Arc<Models> {
        self.sessions.models_in(self.project, self.folder).await
    }

    /// Local servers are discovered only if there is no other model, because that takes time.
    async fn has_real_model(&self) -> bool {
        let is_real = async || self.models().await.default().await.provider_id != DEMO;
        if is_real().await {
            return true;
        }
        self.sessions.models().discover_local_servers().await;
        is_real().await
    }

    /// Local servers are discovered only if the model is not known otherwise.
    async fn find(&self, wanted: &ModelRef) -> Outcome<Model> {
        if let Ok((_, model)) = self.models().await.catalog().find(wanted) {
            return Ok(model);
        }
        self.sessions.models().discover_local_servers().await;
        let catalog = self.models().await.catalog();
        let (_, model) = catalog.find(wanted)?;
        Ok(model)
    }

    /// The same choice as for a prompt: the chosen model, else the agent's, else the default.
    async fn resolve(&self, chosen: Option<&ModelRef>, agent: Option<&str>) -> Outcome<ModelRef> {
        if let Some(model) = chosen {
            return Ok(model.clone());
        }
        let agents = self.sessions.agents(self.project).await?;
        let answers = |one: &AgentView| agent.map_or(one.default, |name| one.name == name);
        let agent = agents.into_iter().find(answers);
        match agent.and_then(|agent| agent.model) {
            Some(model) => Ok(model),
            None => Ok(self.models().await.default().await),
        }
    }

    async fn check_variant(&self, model: &ModelRef, wanted: &str) -> Outcome<()> {
        let variants = self.find(model).await?.info.variants;
        if variants.iter().any(|variant| variant == wanted) {
            return Ok(());
        }
        let there = match variants.as_slice() {
            [] => "none".to_owned(),
            variants => variants.join(", "),
        };
        let model = format!("{}/{}", model.provider_id, model.model_id);
        Err(texts::no_variant(&model, wanted, &there).into())
    }
}

pub fn parse_model(text: &str) -> Outcome<ModelRef> {
    let parsed = parse_model_ref(text);
    Ok(parsed.ok_or_else(|| texts::not_a_model(text))?)
}
