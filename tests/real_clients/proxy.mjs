// A proxy for clients that cannot send a password, and for web pages that another server has.
// Arguments: the server's address, its password, and the address of the server with the pages.
// Its own address is the first line that it prints.
import http from 'node:http';
const [target, password, pages] = process.argv.slice(2);
const authorization = 'Basic ' + Buffer.from('opencode:' + password).toString('base64');
const isPage = url => pages && !/^\/(agent|auth|command|config|event|experimental|file|find|formatter|global|instance|log|lsp|mcp|path|permission|project|provider|pty|question|session|skill|sync|tui|vcs|api|doc)(\/|\?|$)/.test(url);
http.createServer((request, response) => {
  const to = new URL(isPage(request.url) ? pages : target);
  const headers = { ...request.headers, host: to.host, authorization };
  delete headers.origin;
  const out = http.request({ host: to.hostname, port: to.port, method: request.method, path: request.url, headers }, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  out.on('error', () => response.destroy());
  response.on('close', () => out.destroy());
  request.pipe(out);
}).listen(0, '127.0.0.1', function () { console.log(`http://127.0.0.1:${this.address().port}`); });
