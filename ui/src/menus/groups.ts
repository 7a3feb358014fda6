/**
 * What the menu of a place has: the commands of a field or a selection, what a rendered text offers at
 * this place, and what the components around it offer.
 */
import { chordName } from '../actions/chords';
import { en } from '../i18n/en';
import { copyText } from '../kit/clipboard';
import { edit, fieldOf, type EditCommand, type Field } from '../kit/edit';
import { moveFocus } from '../kit/focus';
import { keyName } from '../kit/keys';
import { isOpenable } from '../kit/links';
import type { MenuItem } from '../kit/Menu';
import { offersAt } from '../kit/offers';
import { fileItems, imageItems } from '../kit/places';
import { addressOf, nameOf, REMOTE } from '../kit/remote-image';
import type { App } from '../store/app';

type Groups = (readonly MenuItem[])[];

export function groupsAt(app: App, at: Element): Groups {
  const field = fieldOf(at);
  // In a field, nothing but what edits it.
  if (field) return fieldGroups(field);
  const inText = [selectionItems(app, at), linkItems(app, at), codeItems(at), pictureItems(app, at)];
  // What is offered here is also meant where something around offers the same.
  const seen = new Set<string>();
  const fresh = ({ label }: MenuItem) => !seen.has(label) && seen.add(label);
  return [...inText, ...offersAt(at)].map((items) => items.filter(fresh)).filter((items) => items.length > 0);
}

function fieldGroups(field: Field): Groups {
  const hasSelection = field.selectionStart !== field.selectionEnd;
  const fixed = field.readOnly || field.disabled;
  const secret = field.type === 'password';
  const item = (command: EditCommand, keys: string, disabled: boolean): MenuItem => ({
    label: en.actions.names[command],
    keys,
    disabled,
    run: () => {
      field.focus();
      edit(command);
    },
  });
  return [
    [item('undo', keyName('Z'), fixed), item('redo', chordName('Mod+Shift+Z'), fixed)],
    [
      item('cut', keyName('X'), fixed || secret || !hasSelection),
      item('copy', keyName('C'), secret || !hasSelection),
      item('paste', keyName('V'), fixed),
    ],
    [item('selectAll', keyName('A'), field.value === '')],
  ];
}

/** For the selected text, if it is what was clicked. */
function selectionItems(app: App, at: Element): MenuItem[] {
  const selection = document.getSelection();
  const text = selection?.toString() ?? '';
  if (!selection || text.trim() === '') return [];
  const ranges = Array.from({ length: selection.rangeCount }, (_, index) => selection.getRangeAt(index));
  if (!ranges.some((range) => range.intersectsNode(at))) return [];
  const quote = () => {
    const place = app.place();
    const written = app.drafts.get(place).text;
    const quoted = text.trim().replace(/^/gm, '> ');
    app.drafts.change(place, { text: `${written === '' ? '' : `${written.trimEnd()}\n\n`}${quoted}\n\n` });
    setTimeout(() => moveFocus('composer'));
  };
  const copy = () => {
    // The menu had the focus, which some webviews answer with an empty selection.
    selection.removeAllRanges();
    for (const range of ranges) selection.addRange(range);
    edit('copy');
  };
  return [
    { label: en.actions.names.copy, keys: keyName('C'), run: copy },
    ...(app.session() ? [{ label: en.menu.quote, run: quote }] : []),
  ];
}

/** A link in a text, to the web or to a file. */
function linkItems(app: App, at: Element): MenuItem[] {
  const link = at.closest('a');
  if (!link) return [];
  const { path, line } = link.dataset;
  if (path !== undefined) return fileItems(app, path, line === undefined ? undefined : Number(line));
  const address = link.getAttribute('href') ?? '';
  if (!isOpenable(address)) return [];
  return [
    { label: en.menu.openLink, run: () => void app.attempt(() => app.host.openExternal(address)) },
    { label: en.menu.copyLink, run: () => void copyText(address) },
  ];
}

/** A block of code. Its button copies all of it, also what is drawn in further blocks. */
function codeItems(at: Element): MenuItem[] {
  const button = at.closest('pre')?.querySelector<HTMLElement>('.copy-code');
  return button ? [{ label: en.part.copyCode, run: () => button.click() }] : [];
}

/** An image of the web in a text. */
function pictureItems(app: App, at: Element): MenuItem[] {
  const button = at.closest<HTMLElement>(REMOTE);
  const address = button ? addressOf(button) : undefined;
  if (!button || address === undefined) return [];
  const state = app.pictures.stateOf(address);
  const own = state.name === 'loaded' ? imageItems(app, state.url) : [];
  const label = state.name === 'loaded' ? en.lightbox.open(nameOf(button)) : en.part.loadPicture;
  return [
    { label, run: () => button.click() },
    ...own,
    { label: en.menu.copyLink, run: () => void copyText(address) },
  ];
}
