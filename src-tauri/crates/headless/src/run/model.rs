//! Which model answers, and how hard it thinks.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::ipc::AgentView;
use lathe_protocol::{ModelRef, Project, UserMessage};
use lathe_session::models::{DEMO, Model, Models};
use lathe_session::{Sessions, parse_model_ref};

use crate::Outcome;

pub struct Use {
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
}

/// Where a turn runs: which models there are depends on it.
pub struct Site<'a> {
    pub sessions: &'a Sessions,
    pub project: &'a Project,
    pub folder: &'a Path,
}

impl Site<'_> {
    /// What was asked for, and the rest as the newest prompt had it. Looked up before anything
    /// is stored: a person who names what is not there made a mistake.
    pub async fn choose(
        &self,
        wanted: Use,
        agent: Option<&str>,
        last: Option<UserMessage>,
    ) -> Outcome<Use> {
        if let Some(model) = &wanted.model {
            self.find(model).await?;
        }
        let named = wanted.variant.clone();
        let used = self.as_before(wanted, last).await;
        if let Some(variant) = named {
            let model = self.answering(used.model.as_ref(), agent).await?;
            self.check_variant(&model, &variant).await?;
        }
        Ok(used)
    }

    /// What nobody asked for is as the newest prompt had it. A variant goes with its model.
    async fn as_before(&self, wanted: Use, last: Option<UserMessage>) -> Use {
        let (before, variant) = last.map_or((None, None), |last| (last.model, last.variant));
        if wanted.model.is_some() {
            let variant = variant.filter(|_| wanted.model == before);
            return Use {
                variant: wanted.variant.or(variant),
                ..wanted
            };
        }
        let is_demo = |model: &ModelRef| model.provider_id == DEMO;
        // Nobody picks the demo model over a real one: it answers because there is none.
        if before.as_ref().is_none_or(is_demo) && self.has_real_model().await {
            return Use {
                model: None,
                variant: wanted.variant,
            };
        }
        Use {
            model: before,
            variant: wanted.variant.or(variant),
        }
    }

    async fn models(&self) -> Arc<Models> {
        self.sessions.models_in(self.project, self.folder).await
    }

    /// Servers on this machine are looked for only where nothing else would answer: that takes
    /// a moment.
    async fn has_real_model(&self) -> bool {
        let is_real = async || self.models().await.default().await.provider_id != DEMO;
        if is_real().await {
            return true;
        }
        self.sessions.models().discover_local_servers().await;
        is_real().await
    }

    /// The same for a model that nothing else knows.
    async fn find(&self, wanted: &ModelRef) -> Outcome<Model> {
        if let Ok((_, model)) = self.models().await.catalog().find(wanted) {
            return Ok(model);
        }
        self.sessions.models().discover_local_servers().await;
        let catalog = self.models().await.catalog();
        let (_, model) = catalog.find(wanted)?;
        Ok(model)
    }

    /// As a prompt does it: the model that was chosen, else the agent's, else the default.
    async fn answering(&self, chosen: Option<&ModelRef>, agent: Option<&str>) -> Outcome<ModelRef> {
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
        Err(format!("{model} has no variant \"{wanted}\"; there are: {there}").into())
    }
}

pub fn model_named(text: &str) -> Outcome<ModelRef> {
    let parsed = parse_model_ref(text);
    Ok(parsed.ok_or_else(|| format!("\"{text}\" is not of the form provider/model"))?)
}
