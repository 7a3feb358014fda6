/** Puts text on the clipboard; false when the webview will not let us. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Webviews without the clipboard API, or without the focus it wants, still copy a selection. */
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
