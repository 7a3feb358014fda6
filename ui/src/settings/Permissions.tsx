/** What the agent may do without asking, and how to revoke that. */
import { createResource, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { baseName } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import type { Project, Rule } from '../protocol';
import { useApp } from '../store/context';
import { Limits } from './Limits';

export function Permissions() {
  const app = useApp();
  return (
    <>
      <h3 class="settings-heading">{en.permissions.approvedTitle}</h3>
      <p class="settings-note">{en.permissions.approvedNote}</p>
      <For each={app.sessions.projects()}>{(project) => <Approved project={project} />}</For>
      <Limits />
      <Sandbox />
    </>
  );
}

/** What confines commands in Auto, and what it does not cover. */
function Sandbox() {
  const app = useApp();
  return (
    <Show when={app.mode.view()?.sandbox}>
      {(sandbox) => (
        <section data-testid="sandbox">
          <h3 class="settings-heading settings-later">{en.mode.sandbox}</h3>
          <p class="settings-note">
            {sandbox().engine === undefined
              ? en.mode.unavailable(visible(sandbox().unavailable ?? en.mode.noSandbox))
              : en.mode.sandboxNote(visible(sandbox().engine ?? ''))}{' '}
            {en.mode.perProject}
          </p>
          <Show when={sandbox().notCovered.length > 0}>
            <p class="settings-note">{en.mode.notCovered}</p>
            <ul class="settings-points">
              <For each={sandbox().notCovered}>{(one) => <li>{visible(one)}</li>}</For>
            </ul>
          </Show>
        </section>
      )}
    </Show>
  );
}

function Approved(props: { project: Project }) {
  const app = useApp();
  const [rules, { mutate }] = createResource(
    () => props.project.id,
    (id) => app.attempt(() => app.host.approvedRules(id)),
  );
  const revoke = async (rule: Rule) => {
    const left = await app.attempt(() => app.host.revokeRule(props.project.id, rule));
    if (left) mutate(left);
  };
  const [edits, editing] = createResource(
    () => props.project.id,
    (id) => app.attempt(() => app.host.projectEdits(id)),
  );
  const allowEdits = async (allow: boolean) => {
    const { id } = props.project;
    await app.attempt(() => app.host.setProjectEdits(id, allow));
    editing.mutate(await app.attempt(() => app.host.projectEdits(id)));
  };
  return (
    <section class="settings-group" data-project-id={props.project.id}>
      <h4 title={visibleLine(props.project.worktree)}>
        {visibleLine(props.project.name ?? baseName(props.project.worktree))}
      </h4>
      <label class="settings-check">
        <input
          type="checkbox"
          data-testid={`edits-${props.project.id}`}
          checked={edits() === true}
          onChange={(event) => void allowEdits(event.currentTarget.checked)}
        />
        <span>
          {en.permissions.edits}
          <span class="settings-note">{en.permissions.editsNote}</span>
        </span>
      </label>
      <Show when={(rules()?.length ?? 0) > 0} fallback={<p class="settings-note">{en.permissions.none}</p>}>
        <ul class="settings-list">
          <For each={rules()}>
            {(rule) => (
              <li>
                <span class="rule">
                  <span class="rule-name">{visibleLine(rule.permission)}</span>
                  <code>{visibleLine(rule.pattern)}</code>
                </span>
                <Button
                  aria-label={en.permissions.revokeRule(visibleLine(rule.permission), visibleLine(rule.pattern))}
                  onClick={() => void revoke(rule)}
                >
                  {en.permissions.revoke}
                </Button>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </section>
  );
}
