/** Projects and sessions that a scripted window starts with. */
import type { MessageView, PermissionRequest, Project, QuestionRequest, Session, UiUpdate } from '../../protocol';
import type { Clock } from './ids';
import { createWriter } from './parts';

const HOUR = 3_600_000;
const now = Date.now();

export const projects: readonly Project[] = [
  { id: 'prj_lantern', worktree: '/home/ada/projects/lantern', vcs: 'git', time: { created: now - 900 * HOUR } },
  { id: 'prj_orrery', worktree: '/home/ada/projects/orrery', vcs: 'git', time: { created: now - 2000 * HOUR } },
];

export const sampleSessions: readonly Session[] = [
  session('ses_gallery', 'prj_lantern', 'Fix the flicker of overlapping timers', 0.1),
  session('ses_long', 'prj_lantern', 'A long session about a very long title that will not fit into the sidebar', 3),
  session('ses_empty', 'prj_lantern', 'New session', 26),
  session('ses_docs', 'prj_lantern', 'Write the driver manual', 50),
  session('ses_old', 'prj_lantern', 'Port the dimmer to no_std', 400, now - 300 * HOUR),
  session('ses_moons', 'prj_orrery', 'Place the moons of Saturn', 30),
];

function session(id: string, projectID: string, title: string, hoursAgo: number, archived?: number): Session {
  const updated = now - hoursAgo * HOUR;
  const directory = projects.find((project) => project.id === projectID)?.worktree ?? '/';
  const time = { created: updated - HOUR, updated };
  return { id, projectID, directory, title, version: '0.1.0', time: archived ? { ...time, archived } : time };
}

/** A permission and a question, as they wait for a person. */
export function sampleRequests(sessionID: string): UiUpdate[] {
  const permission: PermissionRequest = {
    id: 'per_sample',
    sessionID,
    permission: 'bash',
    patterns: ['cargo test -p lamp', 'rm -r target/\u202Egpj.exe'],
    always: ['cargo test *'],
    metadata: {},
  };
  const question: QuestionRequest = {
    id: 'que_sample',
    sessionID,
    questions: [
      {
        question: 'Which lamp comes first?',
        header: 'Lamp',
        options: [
          { label: 'The study', description: 'It flickers most' },
          { label: 'The hall', description: 'It is the simplest' },
        ],
      },
    ],
  };
  return [
    { kind: 'event', event: { type: 'permission.asked', properties: permission } },
    { kind: 'event', event: { type: 'question.asked', properties: question } },
  ];
}

/** Many turns, for scrolling and for loading older messages. */
export function longSession(sessionID: string, clock: Clock): MessageView[] {
  const write = createWriter(sessionID, clock);
  return Array.from({ length: 120 }, (_, index) => {
    const asked = write.user(`Question ${index + 1}: what does module ${index + 1} do?`);
    const time = { created: clock.now(), completed: clock.now() };
    const text = Array.from(
      { length: 1 + (index % 4) },
      (_, line) =>
        `Paragraph ${line + 1} of answer ${index + 1}. It turns the lamp's requests into one level a tick, and keeps a short history of them.`,
    ).join('\n\n');
    const said = write.answer(asked.info.id, { time, finish: 'stop' }, (id) =>
      write.part(id, 'text', { text, time: { start: 0, end: 1 } }),
    );
    return [asked, said];
  }).flat();
}
