/** Takes a named snapshot of the files. */
import { createSignal } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { useApp } from '../store/context';
import { SmallDialog } from './SmallDialog';

export function SnapshotDialog() {
  return (
    <SmallDialog name="snapshot" title={en.snapshot.title}>
      {() => <Naming />}
    </SmallDialog>
  );
}

function Naming() {
  const app = useApp();
  const [name, setName] = createSignal('');
  const [keeping, setKeeping] = createSignal(false);
  const ready = () => name().trim() !== '' && !keeping();
  const keep = async () => {
    if (!ready()) return;
    setKeeping(true);
    const kept = await app.keepSnapshot(name().trim());
    setKeeping(false);
    if (kept) app.dismiss('snapshot');
  };
  return (
    <form
      class="dialog-form"
      onSubmit={(event) => {
        event.preventDefault();
        void keep();
      }}
    >
      <label class="dialog-label">
        {en.snapshot.name}
        <input
          class="field"
          data-first
          data-testid="snapshot-name"
          type="text"
          autocomplete="off"
          placeholder={en.snapshot.placeholder}
          value={name()}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <p class="dialog-note">{en.snapshot.note}</p>
      <div class="dialog-actions">
        <Button onClick={() => app.dismiss('snapshot')}>{en.snapshot.cancel}</Button>
        <Button tone="primary" type="submit" data-testid="keep-snapshot" disabled={!ready()}>
          {en.snapshot.keep}
        </Button>
      </div>
    </form>
  );
}
