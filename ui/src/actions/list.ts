/** The actions, one per line. Their names are in i18n. */
import type { FocusName } from '../kit/focus';
import { edit, type EditCommand } from '../kit/edit';
import { isMac, modelKey } from '../kit/keys';
import type { MenuRole, Theme } from '../protocol';
import type { App, SettingsSection } from '../store/app';
import type { Action } from './actions';
import { copyDiagnostics } from './diagnostics';

/** What the frame of the window does for an action. */
export interface Frame {
  toggleSidebar(): void;
  showSidebar(): void;
  focus(name: FocusName): void;
  /** To the next pane (1) or the previous one (-1). */
  stepPane(step: 1 | -1): void;
}

export const ZOOMS: readonly number[] = [50, 67, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300];

export function actionList(app: App, frame: Frame): Action[] {
  const ready = () => app.phase().name === 'ready';
  const inSession = () => app.session() !== undefined;
  const atRest = () => inSession() && !app.busy();
  const inProject = () => app.project() !== undefined;
  const settings = (section: SettingsSection) => () => app.show({ name: 'settings', section });
  const current = (work: (sessionID: string) => void) => () => {
    const id = app.selected();
    if (id !== undefined) work(id);
  };
  const zoom = (step: number) => () => {
    const now = app.settings.zoom;
    const next = step > 0 ? ZOOMS.find((one) => one > now) : ZOOMS.findLast((one) => one < now);
    if (next !== undefined) app.save({ zoom: next });
  };
  const system = (role: MenuRole) => ({ role, always: true, run: () => void app.attempt(() => app.host.windowAction(role)) });
  const editing = (command: EditCommand) => ({ menu: 'edit', role: command, inMenuOnly: true, always: true, run: () => edit(command) }) as const;
  const theme = (name: Theme) => ({ menu: 'view', always: true, checked: () => app.settings.theme === name, run: () => app.setTheme(name) }) as const;
  /** Items that macOS has in the menu of the program. */
  const inApp = (elsewhere: 'file' | 'help') => (isMac ? 'app' : elsewhere);
  return [
    ...(isMac ? [{ id: 'about', menu: 'app', inMenuOnly: true, ...system('about') } as const] : []),
    { id: 'palette', keys: 'Mod+K', menu: 'view', enabled: ready, run: () => app.show({ name: 'palette' }) },
    { id: 'newSession', keys: 'Mod+N', menu: 'file', enabled: inProject, run: () => void app.create() },
    { id: 'newSessionApart', menu: 'file', enabled: () => app.project()?.vcs === 'git', run: () => void app.createApart() },
    { id: 'openFolder', keys: 'Mod+O', menu: 'file', enabled: ready, run: () => void app.pickProject() },
    { id: 'renameSession', menu: 'session', enabled: inSession, run: current((id) => (frame.showSidebar(), app.setRenaming(id))) },
    { id: 'archiveSession', menu: 'session', enabled: inSession, run: current((id) => void app.archive(id, app.session()?.time.archived === undefined)) },
    { id: 'deleteSession', menu: 'session', enabled: inSession, run: current((id) => void app.remove(id)) },
    { id: 'fork', menu: 'session', apart: true, enabled: inSession, run: () => void app.fork(null, false) },
    { id: 'forkWorktree', menu: 'session', enabled: () => inSession() && app.project()?.vcs === 'git', run: () => void app.fork(null, true) },
    { id: 'compact', menu: 'session', enabled: atRest, run: () => void app.compact() },
    { id: 'snapshot', menu: 'session', enabled: inSession, run: () => app.show({ name: 'snapshot' }) },
    { id: 'reverted', menu: 'session', enabled: inSession, run: current((sessionID) => app.show({ name: 'reverted', sessionID })) },
    { id: 'share', menu: 'session', apart: true, enabled: inSession, run: current((sessionID) => app.show({ name: 'share', sessionID })) },
    { id: 'unshare', menu: 'session', enabled: () => app.session()?.share !== undefined, run: current((id) => void app.transfer.unshare(id)) },
    { id: 'exportSession', menu: 'file', apart: true, enabled: inSession, run: current((id) => void app.transfer.exportSession(id)) },
    { id: 'importSession', menu: 'file', enabled: ready, run: () => void app.transfer.importSession() },
    { id: 'stop', menu: 'session', apart: true, enabled: () => app.busy(), run: () => void app.stop() },
    { id: 'nextSession', keys: 'Alt+ArrowDown', menu: 'go', enabled: inProject, run: () => app.step(1) },
    { id: 'previousSession', keys: 'Alt+ArrowUp', menu: 'go', enabled: inProject, run: () => app.step(-1) },
    { id: 'nextWaiting', keys: 'Mod+J', menu: 'go', enabled: () => app.activity.waiting().length > 0, run: () => app.goToWaiting() },
    { id: 'undo', ...editing('undo') },
    { id: 'redo', ...editing('redo') },
    { id: 'cut', apart: true, ...editing('cut') },
    { id: 'copy', ...editing('copy') },
    { id: 'paste', ...editing('paste') },
    { id: 'selectAll', ...editing('selectAll') },
    { id: 'find', keys: 'Mod+F', menu: 'edit', apart: true, enabled: () => app.timeline.open() !== undefined, run: () => app.finder.show() },
    { id: 'findNext', keys: 'Mod+G', menu: 'edit', enabled: () => app.finder.shown(), run: () => app.finder.step(1) },
    { id: 'findPrevious', keys: 'Mod+Shift+G', menu: 'edit', enabled: () => app.finder.shown(), run: () => app.finder.step(-1) },
    { id: 'previousPrompt', keys: 'Alt+PageUp', menu: 'go', apart: true, enabled: inSession, run: () => void app.promptSteps.step(-1) },
    { id: 'nextPrompt', keys: 'Alt+PageDown', menu: 'go', enabled: inSession, run: () => void app.promptSteps.step(1) },
    { id: 'searchAll', keys: 'Mod+Shift+F', menu: 'go', enabled: ready, run: () => (frame.showSidebar(), frame.focus('sessionFilter')) },
    { id: 'focusPrompt', keys: 'Mod+L', menu: 'go', apart: true, enabled: inProject, run: () => frame.focus('composer') },
    { id: 'focusTimeline', keys: 'Mod+Shift+L', menu: 'go', enabled: inSession, run: () => frame.focus('timeline') },
    { id: 'focusReview', keys: 'Mod+Shift+D', menu: 'go', enabled: inSession, run: () => (app.review.shown() || app.review.open(), frame.focus('review')) },
    { id: 'nextPane', keys: 'F6', menu: 'go', enabled: ready, run: () => frame.stepPane(1) },
    { id: 'previousPane', keys: 'Shift+F6', menu: 'go', enabled: ready, run: () => frame.stepPane(-1) },
    { id: 'models', keys: `Mod+${modelKey.toUpperCase()}`, menu: 'session', enabled: inProject, run: () => app.show({ name: 'models' }) },
    { id: 'nextAgent', keys: 'Mod+Shift+A', menu: 'session', enabled: () => app.agents.list().length > 1, run: () => app.agents.cycle(1) },
    { id: 'nextMode', keys: 'Mod+Shift+M', menu: 'session', enabled: inProject, run: () => app.mode.cycle() },
    { id: 'toggleSidebar', keys: 'Mod+B', menu: 'view', enabled: ready, run: frame.toggleSidebar },
    { id: 'toggleReview', keys: 'Mod+D', menu: 'view', enabled: inSession, run: () => app.review.toggle() },
    { id: 'zoomIn', keys: 'Mod+=', menu: 'view', apart: true, always: true, run: zoom(1) },
    { id: 'zoomOut', keys: 'Mod+-', menu: 'view', always: true, run: zoom(-1) },
    { id: 'zoomReset', keys: 'Mod+0', menu: 'view', always: true, run: () => app.save({ zoom: 100 }) },
    { id: 'themeSystem', apart: true, ...theme('system') },
    { id: 'themeLight', ...theme('light') },
    { id: 'themeDark', ...theme('dark') },
    { id: 'settings', keys: 'Mod+,', menu: inApp('file'), apart: true, enabled: ready, always: true, run: settings('providers') },
    { id: 'settingsPermissions', enabled: ready, run: settings('permissions') },
    { id: 'settingsAgents', enabled: ready, run: settings('agents') },
    { id: 'settingsMcp', enabled: ready, run: settings('mcp') },
    { id: 'settingsAppearance', enabled: ready, run: settings('appearance') },
    { id: 'settingsTools', enabled: ready, run: settings('tools') },
    { id: 'settingsData', enabled: ready, run: settings('data') },
    ...(isMac
      ? [
          { id: 'hide', menu: 'app', apart: true, inMenuOnly: true, ...system('hide') } as const,
          { id: 'hideOthers', menu: 'app', inMenuOnly: true, ...system('hideOthers') } as const,
        ]
      : []),
    { id: 'closeWindow', keys: 'Mod+W', menu: 'file', apart: true, ...system('closeWindow') },
    { id: 'quit', keys: 'Mod+Q', menu: inApp('file'), ...system('quit') },
    { id: 'minimize', menu: 'window', ...system('minimize') },
    { id: 'maximize', menu: 'window', ...system('maximize') },
    { id: 'fullScreen', keys: isMac ? 'Mod+Ctrl+F' : 'F11', menu: 'window', apart: true, ...system('fullScreen') },
    { id: 'shortcuts', keys: 'Mod+/', menu: 'help', enabled: ready, always: true, run: settings('shortcuts') },
    { id: 'showLog', menu: 'help', apart: true, always: true, run: () => void app.attempt(() => app.host.showLog()) },
    { id: 'copyDiagnostics', menu: 'help', always: true, run: () => void copyDiagnostics(app) },
    ...(isMac ? [] : [{ id: 'about', menu: 'help', apart: true, inMenuOnly: true, ...system('about') } as const]),
  ];
}
