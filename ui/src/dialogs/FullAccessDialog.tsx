/** The warning before a project gets full access; confirmed once in each project. */
import { For } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { baseName } from '../text/format';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { SmallDialog } from './SmallDialog';

export function FullAccessDialog() {
  return (
    <SmallDialog name="full-access" title={en.mode.warning.title}>
      {() => <Warning />}
    </SmallDialog>
  );
}

function Warning() {
  const app = useApp();
  const name = () => {
    const project = app.project();
    return project ? visibleLine(project.name ?? baseName(project.worktree)) : '';
  };
  const confirm = () => {
    app.dismiss('full-access');
    void app.mode.confirmFull();
  };
  return (
    <div class="dialog-form" data-danger="">
      <p>{en.mode.warning.body(name())}</p>
      <ul class="dialog-points">
        <For each={en.mode.warning.list}>{(line) => <li>{line}</li>}</For>
      </ul>
      <p class="dialog-note">{en.mode.warning.stays}</p>
      <div class="dialog-actions">
        <Button data-first onClick={() => app.dismiss('full-access')}>
          {en.mode.warning.cancel}
        </Button>
        <Button tone="danger" data-testid="confirm-full-access" onClick={confirm}>
          {en.mode.warning.confirm}
        </Button>
      </div>
    </div>
  );
}
