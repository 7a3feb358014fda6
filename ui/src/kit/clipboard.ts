/** Copies text to the clipboard; false if the webview refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Without the clipboard API, or without the focus that it needs, a webview can still copy a selection. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  area.setAttribute('aria-hidden', 'true');
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand?.('copy') ?? false;
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
