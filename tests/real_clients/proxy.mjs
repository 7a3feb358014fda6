// A proxy for clients that cannot send a password, for web pages that another server has, and to
// record what a client asks.
// Arguments: the server's address, its password, and as options:
//   --pages ADDRESS   the server with the pages
//   --record FILE     where to write each request and what was answered, as lines of JSON
//   --folder PATH     the project's folder, which is recorded as `{folder}`
// Its own address is the first line that it prints.
import { appendFileSync } from 'node:fs';
import http from 'node:http';
import { parseArgs } from 'node:util';

const { positionals: [target, password], values: { pages, record, folder } } = parseArgs({
  allowPositionals: true,
  options: { pages: { type: 'string' }, record: { type: 'string' }, folder: { type: 'string' } },
});
const authorization = 'Basic ' + Buffer.from('opencode:' + password).toString('base64');
const isPage = url => pages && !/^\/(agent|auth|command|config|event|experimental|file|find|formatter|global|instance|log|lsp|mcp|path|permission|project|provider|pty|question|session|skill|sync|tui|vcs|api|doc)(\/|\?|$)/.test(url);
/** The headers that our server looks at. */
const HEADERS = ['accept', 'content-type', 'user-agent', 'x-opencode-directory'];

const collect = stream => {
  const chunks = [];
  stream.on('data', chunk => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
};
const parsed = text => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

function note(request, sent, answer, received) {
  const headers = HEADERS.filter(name => request.headers[name]);
  const line = JSON.stringify({
    method: request.method,
    path: request.url,
    headers: Object.fromEntries(headers.map(name => [name, request.headers[name]])),
    body: parsed(sent),
    status: answer.statusCode,
    // What later requests name.
    made: request.method === 'POST' ? parsed(received)?.id : undefined,
  });
  const named = line
    .replaceAll(folder, '{folder}')
    .replaceAll(encodeURIComponent(folder), '{encoded folder}');
  appendFileSync(record, named + '\n');
}

http.createServer((request, response) => {
  const toPage = isPage(request.url);
  const to = new URL(toPage ? pages : target);
  const headers = { ...request.headers, host: to.host, authorization };
  delete headers.origin;
  const sent = collect(request);
  const out = http.request({ host: to.hostname, port: to.port, method: request.method, path: request.url, headers }, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
    if (!record || toPage) return;
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream');
    if (isStream) note(request, sent(), answer, '');
    else {
      const received = collect(answer);
      answer.on('end', () => note(request, sent(), answer, received()));
    }
  });
  out.on('error', () => response.destroy());
  response.on('close', () => out.destroy());
  request.pipe(out);
}).listen(0, '127.0.0.1', function () { console.log(`http://127.0.0.1:${this.address().port}`); });
