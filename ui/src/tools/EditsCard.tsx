import FilePen from 'lucide-solid/icons/file-pen';
import { createMemo, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import { relativePath } from '../text/format';
import { CallsCard, isRunning, RunningWord } from './CallsCard';
import { changeOf } from './outcome';
import type { RunCall } from './runs';

/** Several edits of one file in one line that expands. */
export function EditsCard(props: { file: string; calls: readonly RunCall[] }) {
  const app = useApp();
  const lines = createMemo(() => {
    const changes = props.calls.map(({ part }) => changeOf(part));
    const sum = (key: 'additions' | 'deletions') => changes.reduce((all, change) => all + (change?.[key] ?? 0), 0);
    return { additions: sum('additions'), deletions: sum('deletions') };
  });
  return (
    <CallsCard
      calls={props.calls}
      icon={FilePen}
      title={en.tool.names.edit}
      subtitle={relativePath(props.file, app.session()?.directory)}
      aside={
        <>
          <span>{en.tool.edits(props.calls.length)}</span>
          <Counts additions={lines().additions} deletions={lines().deletions} />
          <Show when={isRunning(props.calls)}>
            <RunningWord calls={props.calls} word={en.tool.running} />
          </Show>
        </>
      }
    />
  );
}
