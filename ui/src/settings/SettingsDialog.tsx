/** The settings dialog. It traps the focus and returns it when it closes. */
import { Dialog } from '@kobalte/core/dialog';
import { Tabs } from '@kobalte/core/tabs';
import Blocks from 'lucide-solid/icons/blocks';
import Bot from 'lucide-solid/icons/bot';
import Database from 'lucide-solid/icons/database';
import Keyboard from 'lucide-solid/icons/keyboard';
import Palette from 'lucide-solid/icons/palette';
import Plug from 'lucide-solid/icons/plug';
import ShieldCheck from 'lucide-solid/icons/shield-check';
import SquareTerminal from 'lucide-solid/icons/square-terminal';
import { createMemo, For, type Component } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { DialogClose, DialogFrame, focusLater, focusReturn } from '../kit/DialogFrame';
import type { Overlay, SettingsSection } from '../store/app';
import { useApp } from '../store/context';
import { Agents } from './Agents';
import { Appearance } from './Appearance';
import { Data } from './Data';
import { Mcp } from './mcp/Mcp';
import { Permissions } from './Permissions';
import { Providers } from './Providers';
import { Shortcuts } from './Shortcuts';
import { ToolSettings } from './ToolSettings';
import './settings.css';

type Place = Extract<Overlay, { name: 'settings' }>;

interface Section {
  readonly icon: Icon;
  readonly page: Component<{ place: Place }>;
}

/** In the order of the list at the left. */
const SECTIONS: Readonly<Record<SettingsSection, Section>> = {
  providers: { icon: Plug, page: Providers },
  permissions: { icon: ShieldCheck, page: Permissions },
  agents: { icon: Bot, page: Agents },
  mcp: { icon: Blocks, page: Mcp },
  appearance: { icon: Palette, page: Appearance },
  tools: { icon: SquareTerminal, page: ToolSettings },
  data: { icon: Database, page: Data },
  shortcuts: { icon: Keyboard, page: Shortcuts },
};
const NAMES = Object.keys(SECTIONS) as SettingsSection[];

export function SettingsDialog() {
  const app = useApp();
  const place = createMemo(() => {
    const overlay = app.overlay();
    return overlay?.name === 'settings' ? overlay : undefined;
  });
  return (
    <DialogFrame at={place()} scrim="settings-scrim" onClose={() => app.dismiss('settings')}>
      {(shown) => <Window place={shown()} />}
    </DialogFrame>
  );
}

function Window(props: { place: Place }) {
  const app = useApp();
  const giveBack = focusReturn('composer');
  let content!: HTMLElement;
  /** Focuses the requested provider, or the list of pages. */
  const begin = () => {
    const wanted = content.querySelector<HTMLElement>('[data-wanted] input, [data-wanted] button');
    (wanted ?? content.querySelector<HTMLElement>('[role="tab"][data-selected]'))?.focus();
    wanted?.scrollIntoView?.({ block: 'center' });
  };
  return (
    <Dialog.Content
      class="settings"
      ref={content}
      data-testid="settings"
      onOpenAutoFocus={focusLater(begin)}
      onCloseAutoFocus={giveBack}
    >
      <header class="settings-head">
        <Dialog.Title class="settings-title">{en.settings.title}</Dialog.Title>
        <span class="settings-version">{`${en.app} ${app.version()}`}</span>
        <DialogClose label={en.settings.close} />
      </header>
      <Tabs
        class="settings-body"
        orientation="vertical"
        value={props.place.section}
        onChange={(section) => app.show({ name: 'settings', section: section as SettingsSection })}
      >
        <Tabs.List class="settings-tabs" aria-label={en.settings.title}>
          <For each={NAMES}>
            {(name) => (
              <Tabs.Trigger class="settings-tab" value={name} data-testid={`settings-${name}`}>
                <Dynamic component={SECTIONS[name].icon} size={14} aria-hidden="true" />
                {en.settings.sections[name]}
              </Tabs.Trigger>
            )}
          </For>
        </Tabs.List>
        <For each={NAMES}>
          {(name) => (
            <Tabs.Content class="settings-page" value={name}>
              <Dynamic component={SECTIONS[name].page} place={props.place} />
            </Tabs.Content>
          )}
        </For>
      </Tabs>
    </Dialog.Content>
  );
}
