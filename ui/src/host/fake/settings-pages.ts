/** What the settings pages and the menu bar need, for the scripted host. */
import type { DataView, Rule, Session } from '../../protocol';
import type { Host } from '../host';

type Needs =
  | 'approvedRules'
  | 'revokeRule'
  | 'dataUse'
  | 'cleanData'
  | 'listTrash'
  | 'checkData'
  | 'showData'
  | 'showLog'
  | 'copyDiagnostics'
  | 'reportError'
  | 'onFault'
  | 'setMenu'
  | 'onMenuChosen'
  | 'windowAction'
  | 'setBadge'
  | 'onSessionWanted';

interface FrameDoors {
  chooseMenu(tell: (id: string) => void): void;
  wantSession(tell: (sessionID: string) => void): void;
  /** Removed sessions, by id. */
  readonly deleted: Map<string, Session>;
}

export function createFakeSettingsPages(doors: FrameDoors): Pick<Host, Needs> {
  let rules: Rule[] = [
    { permission: 'bash', pattern: 'cargo test *', action: 'allow' },
    { permission: 'webfetch', pattern: 'docs.rs', action: 'allow' },
  ];
  let repaired = false;
  const data: DataView = {
    path: '/home/ada/.local/share/lathe',
    uses: [
      { kind: 'sessions', bytes: 48_200_000, files: 21_400 },
      { kind: 'snapshots', bytes: 310_000_000, files: 212 },
      { kind: 'output', bytes: 1_900_000, files: 14 },
      { kind: 'index', bytes: 22_000_000, files: 3 },
      { kind: 'trash', bytes: 880_000, files: 120 },
      { kind: 'other', bytes: 2_100, files: 4 },
    ],
  };
  return {
    approvedRules: async (projectID) => (projectID === 'prj_lantern' ? rules : []),
    revokeRule: async (_projectID, gone) => {
      rules = rules.filter((rule) => rule.permission !== gone.permission || rule.pattern !== gone.pattern);
      return rules;
    },
    dataUse: async () => data,
    cleanData: async (kind) => {
      if (kind === 'trash') doors.deleted.clear();
      data.uses = data.uses.map((use) => (use.kind === kind ? { ...use, bytes: 0, files: 0 } : use));
      return { ...data };
    },
    listTrash: async () =>
      [...doors.deleted.values()].map(({ id, title, directory }) => ({ id, title, directory, removed: Date.now() })),
    checkData: async (repair) => {
      const damaged = repaired ? [] : [{ key: 'part/msg_1/prt_1', reason: 'the file is empty' }];
      repaired ||= repair;
      return { records: 21_399, damaged, orphans: 2, strays: [] };
    },
    showData: async () => {},
    showLog: async () => {},
    copyDiagnostics: async () => {},
    reportError: async () => {},
    onFault: async () => {},
    setMenu: async () => {},
    windowAction: async () => {},
    setBadge: async () => {},
    onMenuChosen: async (tell) => doors.chooseMenu(tell),
    onSessionWanted: async (tell) => doors.wantSession(tell),
  };
}
