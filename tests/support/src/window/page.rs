//! Reading the page and acting on it.
//!
//! Waiting happens inside the page, frame by frame, so there is no polling interval to choose.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::process::{TIMEOUT, next_check};
use super::{Window, WindowError, keys, target_dir, webdriver};

/// Checks in every frame whether the expression is true. `arguments[0]` is its input.
const WAIT_UNTIL: &str = "\
const done = arguments[arguments.length - 1], limit = performance.now() + arguments[1];
const given = arguments[0];
(function look() {
  if (EXPRESSION) done(true);
  else if (performance.now() > limit) done(false);
  else requestAnimationFrame(look);
})();";

const TWO_FRAMES: &str = "\
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";

/// The first element that says some words, or null.
const FIRST_WITH_TEXT: &str = "\
const [css, words, done] = arguments;
done([...document.querySelectorAll(css)].find((one) => one.textContent.includes(words)) ?? null);";

/// Errors of the driver for an element that cannot be acted on now, but soon may be.
const TEMPORARY: [&str; 3] = [
    "element click intercepted",
    "element not interactable",
    "stale element reference",
];

impl Window {
    /// Waits until a JavaScript expression is true. `what` names it in a failure.
    pub async fn wait_until(&self, what: &str, expression: &str) -> Result<(), WindowError> {
        self.wait_until_with(what, expression, Value::Null).await
    }

    /// As [`Window::wait_until`], with a value that the expression knows as `given`.
    pub async fn wait_until_with(
        &self,
        what: &str,
        expression: &str,
        given: Value,
    ) -> Result<(), WindowError> {
        let script = WAIT_UNTIL.replace("EXPRESSION", expression);
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let rest = deadline
                .saturating_duration_since(Instant::now())
                .as_millis();
            match self.session.run(&script, json!([given, rest])).await {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(_) => return Err(self.timed_out(what).await),
                // A page that is just being loaded cannot answer.
                Err(WindowError::Driver { what: why }) => {
                    if next_check(deadline, &why).await.is_err() {
                        return Err(self.timed_out(&format!("{what} ({why})")).await);
                    }
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Waits until an element is there.
    pub async fn wait_for(&self, css: &str) -> Result<(), WindowError> {
        self.wait_until_with(css, "document.querySelector(given) !== null", json!(css))
            .await
    }

    /// Waits until no such element is there any more.
    pub async fn wait_gone(&self, css: &str) -> Result<(), WindowError> {
        let what = format!("the end of {css}");
        self.wait_until_with(&what, "document.querySelector(given) === null", json!(css))
            .await
    }

    /// Waits until an element's text contains some words.
    pub async fn wait_for_text(&self, css: &str, words: &str) -> Result<(), WindowError> {
        let expression = "[...document.querySelectorAll(given[0])].some((element) => \
                          element.textContent.includes(given[1]))";
        let what = format!("{words:?} in {css}");
        self.wait_until_with(&what, expression, json!([css, words]))
            .await
    }

    /// The text of the first such element, once it is there.
    pub async fn text(&self, css: &str) -> Result<String, WindowError> {
        self.wait_for(css).await?;
        Ok(self
            .texts(css)
            .await?
            .into_iter()
            .next()
            .unwrap_or_default())
    }

    /// The texts of all such elements, as they are now.
    pub async fn texts(&self, css: &str) -> Result<Vec<String>, WindowError> {
        let expression =
            "[...document.querySelectorAll(given)].map((element) => element.textContent)";
        let texts = self.value_of(expression, json!(css)).await?;
        let texts = texts.as_array().cloned().unwrap_or_default();
        Ok(texts
            .iter()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect())
    }

    /// How many such elements there are now.
    pub async fn count(&self, css: &str) -> Result<usize, WindowError> {
        Ok(self.texts(css).await?.len())
    }

    /// The value of a JavaScript expression, which knows a value as `given`.
    pub async fn value_of(&self, expression: &str, given: Value) -> Result<Value, WindowError> {
        let script =
            format!("const given = arguments[0]; arguments[arguments.length - 1]({expression});");
        self.session.run(&script, json!([given])).await
    }

    /// Runs a function's body in the page; its last argument is the callback for the answer.
    pub async fn run(&self, body: &str, args: Value) -> Result<Value, WindowError> {
        self.session.run(body, args).await
    }

    /// Loads the page again, and waits until it is loaded.
    pub async fn reload(&self) -> Result<(), WindowError> {
        self.session.post("refresh", json!({})).await.map(drop)
    }

    /// Clicks on an element, once it is there.
    pub async fn click(&self, css: &str) -> Result<(), WindowError> {
        self.click_text(css, "").await
    }

    /// Clicks on the first such element that contains some words, once it is there.
    pub async fn click_text(&self, css: &str, words: &str) -> Result<(), WindowError> {
        let click = |element: String| async move {
            let path = format!("element/{element}/click");
            self.session.post(&path, json!({})).await
        };
        self.act_on(css, words, click).await
    }

    /// Moves the mouse over an element, once it is there.
    pub async fn hover(&self, css: &str) -> Result<(), WindowError> {
        let hover = |element: String| async move {
            let actions = keys::hover(&element);
            self.session.post("actions", actions).await
        };
        self.act_on(css, "", hover).await
    }

    /// Types into an element.
    pub async fn type_text(&self, css: &str, text: &str) -> Result<(), WindowError> {
        let text = json!({ "text": text });
        let write = |element: String| {
            let text = text.clone();
            async move {
                let path = format!("element/{element}/value");
                self.session.post(&path, text).await
            }
        };
        self.act_on(css, "", write).await
    }

    /// Acts on the first such element that contains some words. If the page replaces the element
    /// in between, or something covers it, it is looked up again: a person would wait, too.
    async fn act_on<F>(
        &self,
        css: &str,
        words: &str,
        act: impl Fn(String) -> F,
    ) -> Result<(), WindowError>
    where
        F: Future<Output = Result<Value, WindowError>>,
    {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            self.wait_for_text(css, words).await?;
            let found = self
                .session
                .run(FIRST_WITH_TEXT, json!([css, words]))
                .await?;
            // It has been removed since we waited for it.
            let Some(element) = webdriver::element_name(&found) else {
                next_check(deadline, css).await?;
                continue;
            };
            let done = act(element).await;
            match done {
                Err(WindowError::Driver { what })
                    if TEMPORARY.iter().any(|it| what.contains(it)) =>
                {
                    let what = format!("{css} that can be acted on ({what})");
                    if next_check(deadline, &what).await.is_err() {
                        return Err(self.timed_out(&what).await);
                    }
                }
                done => return done.map(drop),
            }
        }
    }

    /// Presses a chord such as `Control+k`, `Shift+Enter` or `Escape` where the focus is.
    pub async fn press(&self, chord: &str) -> Result<(), WindowError> {
        self.session.post("actions", keys::actions(chord)).await?;
        Ok(())
    }

    /// Waits until what the page has changed is on the screen.
    pub async fn two_frames(&self) -> Result<(), WindowError> {
        self.session.run(TWO_FRAMES, json!([])).await?;
        Ok(())
    }

    /// Writes `target/screenshots/NAME.png`, two frames later: until then the screen may show the
    /// state before a change.
    pub async fn screenshot(&self, name: &str) -> Result<PathBuf, WindowError> {
        self.two_frames().await?;
        let picture = self.session.get("screenshot").await?;
        let bytes = BASE64_STANDARD
            .decode(picture.as_str().unwrap_or_default())
            .map_err(|error| WindowError::Driver {
                what: format!("no picture: {error}"),
            })?;
        let folder = target_dir().join("screenshots");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.png"));
        fs::write(&path, bytes)?;
        Ok(path)
    }

    /// An error with the text of the page, a screenshot and the app's log.
    async fn timed_out(&self, what: &str) -> WindowError {
        let text = self
            .value_of("document.body.innerText.slice(0, 2000)", Value::Null)
            .await;
        let text = text.ok().and_then(|text| text.as_str().map(str::to_owned));
        let name: String = what
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .take(60)
            .collect();
        let picture = self.screenshot(&format!("failed-{name}")).await;
        let picture =
            picture.map_or_else(|error| error.to_string(), |path| path.display().to_string());
        let page = format!(
            "The page reads:\n{}\nA picture of it: {picture}\nThe app said:\n{}",
            text.unwrap_or_else(|| "(nothing: it does not answer)".into()),
            self.log()
        );
        WindowError::TimedOut {
            what: what.to_owned(),
            page,
        }
    }
}
