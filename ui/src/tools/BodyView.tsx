/** The result of a call, as Rust parsed it. Exhaustive over the kinds of bodies. */
import File from 'lucide-solid/icons/file';
import Folder from 'lucide-solid/icons/folder';
import { For, Match, Show, Switch } from 'solid-js';
import { Counts } from '../diff/Counts';
import { DiffView } from '../diff/DiffView';
import { en } from '../i18n/en';
import { CodeLines } from '../kit/CodeLines';
import { FileLink } from '../kit/FileLink';
import { Markdown } from '../kit/Markdown';
import { createNarrow } from '../kit/narrow';
import { RenderedTerminal } from '../kit/RenderedHtml';
import { Spans } from '../kit/Spans';
import { visible, visibleLine } from '../text/visible';
import type { AnsweredQuestion, ToolBody } from '../protocol';
import { useApp } from '../store/context';
import type { Details } from './details';
import './body.css';

type BodyOf<K extends ToolBody['kind']> = Extract<ToolBody, { kind: K }>;

export function BodyView(props: { body: ToolBody; details: Details }) {
  const as = <K extends ToolBody['kind']>(kind: K) =>
    props.body.kind === kind ? (props.body as BodyOf<K>) : undefined;
  return (
    <Switch>
      <Match when={as('code')}>
        {(body) => <CodeLines lines={body().lines} first={body().first} label={visibleLine(body().path)} />}
      </Match>
      <Match when={as('matches')}>{(body) => <Matches body={body()} />}</Match>
      <Match when={as('paths')}>{(body) => <Paths body={body()} />}</Match>
      <Match when={as('tree')}>{(body) => <Tree body={body()} />}</Match>
      <Match when={as('markdown')}>
        {(body) => (
          <div class="tool-markdown" tabindex="0" role="group" aria-label={en.tool.output}>
            <Markdown blocks={body().blocks} />
          </div>
        )}
      </Match>
      <Match when={as('terminal')}>
        {(body) => <RenderedTerminal html={body().html} label={en.tool.output} />}
      </Match>
      <Match when={as('answers')}>{(body) => <AnswerList pairs={body().questions} answered />}</Match>
      <Match when={as('diffs')}>{(body) => <Diffs body={body()} details={props.details} />}</Match>
    </Switch>
  );
}

/** A question and the person's answer. */
export function AnswerList(props: { pairs: readonly AnsweredQuestion[]; answered: boolean }) {
  const answer = (words: readonly string[]) => (words.length > 0 ? visible(words.join(', ')) : en.tool.noAnswer);
  return (
    <dl class="answer-list">
      <For each={props.pairs}>
        {(pair) => (
          <div class="answer-pair">
            <dt>{visible(pair.question)}</dt>
            <dd>{props.answered ? answer(pair.answers) : en.tool.noAnswerYet}</dd>
          </div>
        )}
      </For>
    </dl>
  );
}

function Matches(props: { body: BodyOf<'matches'> }) {
  const app = useApp();
  return (
    <div class="matches" tabindex="0" role="group" aria-label={en.tool.matches}>
      <For each={props.body.files}>
        {(file) => (
          <section class="match-file">
            <h4>
              <FileLink path={file.path} />
              <span class="match-count">{file.lines.length}</span>
            </h4>
            <For each={file.lines}>
              {(line) => (
                <button
                  type="button"
                  class="match-line"
                  title={en.part.openInEditor(visibleLine(file.path), line.number)}
                  onClick={() => void app.openFile(file.path, line.number)}
                >
                  <span class="line-number" data-number={line.number} />
                  <code>
                    <Spans spans={line.spans} />
                  </code>
                </button>
              )}
            </For>
          </section>
        )}
      </For>
    </div>
  );
}

function Paths(props: { body: BodyOf<'paths'> }) {
  return (
    <ul class="path-list" tabindex="0" aria-label={en.tool.files}>
      <For each={props.body.paths}>
        {(path) => (
          <li>
            <FileLink path={path} />
          </li>
        )}
      </For>
    </ul>
  );
}

function Tree(props: { body: BodyOf<'tree'> }) {
  const below = (path: string) => (props.body.root === '' ? path : `${props.body.root}/${path}`);
  return (
    <ul class="path-list" tabindex="0" aria-label={en.tool.files}>
      <For each={props.body.entries}>
        {(entry) => (
          <li class="tree-entry" ref={(item) => (item.style.paddingLeft = `${entry.depth * 16}px`)}>
            <Show
              when={entry.directory}
              fallback={
                <>
                  <File size={12} aria-hidden="true" />
                  <FileLink path={below(entry.path)} label={entry.name} />
                </>
              }
            >
              <Folder size={12} aria-hidden="true" />
              <span class="tree-folder">{visibleLine(entry.name)}/</span>
            </Show>
          </li>
        )}
      </For>
    </ul>
  );
}

function Diffs(props: { body: BodyOf<'diffs'>; details: Details }) {
  const app = useApp();
  const narrow = createNarrow();
  const single = () => props.body.files.length === 1;
  const sum = (key: 'additions' | 'deletions') => props.body.files.reduce((all, file) => all + file[key], 0);
  return (
    <>
      <Show when={!single()}>
        <p class="card-label">
          {en.part.patch(props.body.files.length)} <Counts additions={sum('additions')} deletions={sum('deletions')} />
        </p>
      </Show>
      <DiffView
        files={props.body.files}
        headers={!single()}
        sideBySide={app.settings.review.sideBySide && !narrow()}
        whole={(file) => props.details.whole(file)}
      />
    </>
  );
}
