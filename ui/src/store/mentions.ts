/** How a prompt names files, agents and symbols, and what is sent for a symbol. Pure. */
import type { DraftSymbol, PromptFile } from '../protocol';
import { fileURL } from '../text/file-url';

/** The text of a mention, quoted if it has spaces. */
export function mentionOf(name: string): string {
  return /\s/.test(name) ? `@"${name}"` : `@${name}`;
}

/** Sends a symbol with its position, so that the core does not have to guess which one is meant. */
export function symbolFiles(text: string, symbols: readonly DraftSymbol[], root: string): PromptFile[] {
  return symbols.flatMap((symbol) => {
    const value = mentionOf(symbol.name);
    // Without a lookbehind, which not every webview supports.
    const found = new RegExp(`(^|[^\\w\`])${escape(value)}(?!\\w)`).exec(text);
    if (!found) return [];
    const start = found.index + (found[1]?.length ?? 0);
    const path = joined(root, symbol.path);
    const line = (at: number, character: number) => ({ line: at - 1, character });
    return [
      {
        url: `${fileURL(path)}?start=${symbol.line}&end=${symbol.endLine}`,
        mime: 'text/plain',
        filename: symbol.path,
        source: {
          type: 'symbol' as const,
          path,
          name: symbol.name,
          kind: symbol.lspKind,
          range: { start: line(symbol.line, 0), end: line(symbol.endLine, 0) },
          text: { value, start, end: start + value.length },
        },
      },
    ];
  });
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function joined(root: string, path: string): string {
  const separator = root.includes('\\') && !root.includes('/') ? '\\' : '/';
  return root.replace(/[/\\]+$/, '') + separator + path.replaceAll('/', separator);
}
