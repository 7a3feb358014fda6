/**
 * Just enough Markdown for the scripted host. The app's Markdown is made and sanitised in Rust;
 * this escapes everything and knows a handful of blocks.
 */
export function blocksOf(source: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence = false;
  const flush = () => {
    if (lines.length > 0) blocks.push(fence ? code(lines) : block(lines));
    lines = [];
  };
  for (const line of source.split('\n')) {
    if (line.startsWith('```')) {
      flush();
      if (!fence) lines = [line];
      fence = !fence;
    } else if (line.trim() === '' && !fence) {
      flush();
    } else {
      lines.push(line);
    }
  }
  flush();
  return blocks;
}

function code(lines: readonly string[]): string {
  const [opening = '', ...body] = lines;
  return `<pre class="code" data-lang="${escape(opening.slice(3))}"><code>${body.map(colour).join('\n')}</code></pre>`;
}

function colour(line: string): string {
  return escape(line)
    .replace(/(\/\/.*)$/, '<span class="hl-comment">$1</span>')
    .replace(/\b(fn|let|pub|struct|return|if|else|for|in|match|impl|use)\b/g, '<span class="hl-keyword">$1</span>')
    .replace(/\b(\d+)\b/g, '<span class="hl-number">$1</span>');
}

function block(lines: readonly string[]): string {
  const first = lines[0] ?? '';
  const heading = /^(#{1,3}) (.*)$/.exec(first);
  if (heading) return `<h${heading[1]?.length}>${inline(heading[2] ?? '')}</h${heading[1]?.length}>`;
  if (first.startsWith('|')) return table(lines);
  if (/^[-*] /.test(first)) return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('')}</ul>`;
  if (/^\d+\. /.test(first)) {
    return `<ol>${lines.map((line) => `<li>${inline(line.replace(/^\d+\. /, ''))}</li>`).join('')}</ol>`;
  }
  if (first.startsWith('> ')) {
    return `<blockquote><p>${inline(lines.map((line) => line.slice(2)).join(' '))}</p></blockquote>`;
  }
  return `<p>${inline(lines.join('\n'))}</p>`;
}

function table(lines: readonly string[]): string {
  const cells = (line: string) => line.split('|').slice(1, -1);
  const row = (line: string, tag: string) =>
    `<tr>${cells(line)
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join('')}</tr>`;
  const [head = '', , ...body] = lines;
  return `<table><thead>${row(head, 'th')}</thead><tbody>${body.map((line) => row(line, 'td')).join('')}</tbody></table>`;
}

function inline(text: string): string {
  return escape(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(
      /!\[([^\]]*)\]\((https:\/\/([^/)]+)[^)]*)\)/g,
      '<button type="button" class="remote-image" data-src="$2" data-host="$3">$1 · $3</button>',
    )
    .replace(/\[([^\]]+)\]\((https:[^)]+)\)/g, '<a href="$2" rel="noopener noreferrer">$1</a>');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
