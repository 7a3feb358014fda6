// Every method of the main flows, with one version of the SDK.
// Arguments: the SDK's folder, 1 or 2 for its client, the server's address, the password, a folder.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PATIENCE, counter } from './lib.mjs';

const [sdk, version, url, password, directory] = process.argv.slice(2);
const v1 = version === '1';
const entry = path.join(sdk, v1 ? 'dist/client.js' : 'dist/v2/client.js');
const { createOpencodeClient } = await import(pathToFileURL(entry));
const authorization = 'Basic ' + Buffer.from('opencode:' + password).toString('base64');
const client = createOpencodeClient({ baseUrl: url, directory, headers: { authorization } });
const { check, end } = counter();

// v1 takes { path, query, body }, v2 flat parameters.
const s = (id, body, query) => v1 ? { path: { id }, ...(body && { body }), ...(query && { query }) } : { sessionID: id, ...body, ...query };
const model = name => ({ providerID: name, modelID: 'm' });
const text = words => [{ type: 'text', text: words }];
const events = [];
const sub = await client.event.subscribe();
(async () => { try { for await (const e of sub.stream) events.push(e); } catch {} })();
const until = async (what, test) => { const end = Date.now() + PATIENCE; while (Date.now() < end) { const found = events.find(test); if (found) return found; await new Promise(r => setTimeout(r, 20)); } throw new Error('no event ' + what); };

const ses = await check('session.create', () => client.session.create(v1 ? { body: { title: 'T' } } : { title: 'T' }), x => x.title === 'T');
const id = ses.id;
await check('session.list', () => client.session.list(), x => x.some(one => one.id === id));
await check('session.get', () => client.session.get(s(id)), x => x.id === id);
await check('session.update', () => client.session.update(s(id, { title: 'U' })), x => x.title === 'U');
const answer = await check('session.prompt', () => client.session.prompt(s(id, { model: model('talk'), parts: text('Hi') })), x => x.parts.some(p => p.text === 'Hello from the model.'));
await check('session.promptAsync', () => client.session.promptAsync(s(id, { model: model('talk'), parts: text('Hi again') })));
const isIdle = e => e.type === 'session.idle' && e.properties.sessionID === id;
// The first one is the end of the turn before.
await check('event idle', () => until('idle', (e, at) => isIdle(e) && events.slice(0, at).some(isIdle)));
const msgs = await check('session.messages', () => client.session.messages(s(id)), x => x.length === 4);
const first = msgs[0].info.id;
await check('session.message', () => client.session.message(v1 ? { path: { id, messageID: first } } : { sessionID: id, messageID: first }), x => x.info.id === first);
const fork = await check('session.fork', () => client.session.fork(s(id, { messageID: msgs[2].info.id })), x => x.id !== id);
await check('forked messages', () => client.session.messages(s(fork.id)), x => x.length === 2);
const child = await check('create child', () => client.session.create(v1 ? { body: { parentID: id } } : { parentID: id }), x => x.parentID === id);
await check('session.children', () => client.session.children(s(id)), x => x.length === 1 && x[0].id === child.id);
await check('session.todo', () => client.session.todo(s(id)), Array.isArray);
await check('session.diff', () => client.session.diff(s(id, undefined, { messageID: first })), Array.isArray);
await check('session.revert', () => client.session.revert(s(id, { messageID: msgs[2].info.id })), x => x.revert.messageID === msgs[2].info.id);
await check('session.unrevert', () => client.session.unrevert(s(id)), x => !x.revert);
await check('session.status', () => client.session.status(), x => typeof x === 'object');
await check('session.summarize', () => client.session.summarize(s(id, model('talk'))), x => x === true);

// A turn that is stopped.
const slow = await check('create slow', () => client.session.create());
const waiting = client.session.prompt(s(slow.id, { model: model('slow'), parts: text('Wait') }));
await check('slow begins', () => until('delta', e => (e.type === 'message.part.delta' || e.type === 'message.part.updated') && JSON.stringify(e).includes('I begin')));
await check('session.abort', () => client.session.abort(s(slow.id)), x => x === true);
await check('aborted', () => waiting, x => x.info.error?.name === 'MessageAbortedError');

// A permission.
const tools = await check('create tools', () => client.session.create());
const running = client.session.prompt(s(tools.id, { model: model('tools'), parts: text('Make it') }));
const asked = await check('permission.asked', () => until('permission', e => e.type === 'permission.asked' && e.properties.sessionID === tools.id));
if (v1) await check('permission v1', () => client.postSessionIdPermissionsPermissionId({ path: { id: tools.id, permissionID: asked.properties.id }, body: { response: 'once' } }), x => x === true);
else { await check('permission.list', () => client.permission.list(), x => x.length === 1); await check('permission.reply', () => client.permission.reply({ requestID: asked.properties.id, reply: 'once' }), x => x === true); }
await check('permitted', () => running, x => x.parts.some(p => p.text === 'Made.'));

if (!v1) {
  const ask = await check('create asks', () => client.session.create());
  const run = client.session.prompt(s(ask.id, { model: model('asks'), parts: text('Ask') }));
  const q = await check('question.asked', () => until('question', e => e.type === 'question.asked'));
  await check('question.list', () => client.question.list(), x => x.length === 1);
  await check('question.reply', () => client.question.reply({ requestID: q.properties.id, answers: [['B']] }), x => x === true);
  await check('answered', () => run, x => x.parts.some(p => p.text === 'So be it.'));
}

await check('command.list', () => client.command.list(), x => x.some(one => one.name === 'review'));
await check('session.command', () => client.session.command(s(id, { command: 'review', arguments: 'a.txt', model: 'talk/m' })), x => x.parts.some(p => p.text === 'Hello from the model.'));

// Commands and terminals run only after a permission.
const allow = async (what, action, isGood) => {
  const before = events.length;
  const running = action();
  const asked = await check(`${what} asks`, () => until('permission', (e, at) => at >= before && e.type === 'permission.asked'));
  const { id: permissionID, sessionID } = asked.properties;
  await check(`${what} is allowed`, () => (v1
    ? client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID }, body: { response: 'once' } })
    : client.permission.reply({ requestID: permissionID, reply: 'once' })));
  return check(what, () => running, isGood);
};
await allow('session.shell', () => client.session.shell(s(id, { agent: 'build', command: 'touch shell-made; echo hi' })), x => x.role === 'assistant' || x.info.role === 'assistant');

// What is asked at the start, and the rest.
await check('config.get', () => client.config.get(), x => x.model === 'talk/m');
await check('config.providers', () => client.config.providers(), x => x.providers.length > 0 && x.default.talk === 'm');
await check('provider.list', () => client.provider.list(), x => x.connected.includes('talk'));
await check('provider.auth', () => client.provider.auth());
await check('app.agents', () => client.app.agents(), x => x[0].name === 'build');
await check('app.log', () => client.app.log(v1 ? { body: { service: 's', level: 'info', message: 'm' } } : { service: 's', level: 'info', message: 'm' }), x => x === true);
await check('file.list', () => client.file.list(v1 ? { query: { path: '.' } } : { path: '.' }), x => x.some(f => f.name === 'a.txt'));
await check('file.read', () => client.file.read(v1 ? { query: { path: 'a.txt' } } : { path: 'a.txt' }), x => x.content.includes('hello'));
await check('file.status', () => client.file.status(), Array.isArray);
await check('find.text', () => client.find.text(v1 ? { query: { pattern: 'hel+o' } } : { pattern: 'hel+o' }), x => x.some(found => found.path.text === 'a.txt' && found.submatches[0].match.text === 'hello'));
await check('find.files', () => client.find.files(v1 ? { query: { query: 'a.t' } } : { query: 'a.t' }), x => x.includes('a.txt'));
await check('find.symbols', () => client.find.symbols(v1 ? { query: { query: 'x' } } : { query: 'x' }), Array.isArray);
await check('project.list', () => client.project.list(), x => x.length > 0);
await check('project.current', () => client.project.current(), x => !!x.id);
await check('path.get', () => client.path.get(), x => x.directory === directory);
await check('vcs.get', () => client.vcs.get(), x => 'branch' in x);
await check('mcp.status', () => client.mcp.status(), x => 'idle' in x);
const named = v1 ? { path: { name: 'idle' } } : { name: 'idle' };
await check('mcp.connect', () => client.mcp.connect(named), x => x === true);
await check('mcp.disconnect', () => client.mcp.disconnect(named), x => x === true);
await check('lsp.status', () => client.lsp.status(), Array.isArray);
await check('formatter.status', () => client.formatter.status(), Array.isArray);
await check('tool.ids', () => client.tool.ids(), x => x.includes('bash'));
await check('tool.list', () => client.tool.list(v1 ? { query: { provider: 'talk', model: 'm' } } : { provider: 'talk', model: 'm' }), x => x.some(tool => tool.id === 'read' && tool.parameters.type === 'object'));
await check('pty.list', () => client.pty.list(), x => x.length === 0);
const pty = await allow('pty.create', () => client.pty.create(v1 ? { body: { command: 'sh', title: 'S' } } : { command: 'sh', title: 'S' }), x => x.status === 'running' && x.title === 'S');
const t = more => v1 ? { path: { id: pty.id, ptyID: pty.id }, ...(more && { body: more }) } : { ptyID: pty.id, ...more };
await check('pty.get', () => client.pty.get(t()), x => x.id === pty.id);
await check('pty.update', () => client.pty.update(t({ title: 'T', size: { rows: 30, cols: 90 } })), x => x.title === 'T');
await check('pty.connect', () => new Promise((resolve, reject) => {
  const token = Buffer.from('opencode:' + password).toString('base64');
  const socket = new WebSocket(`${url.replace('http', 'ws')}/pty/${pty.id}/connect?auth_token=${encodeURIComponent(token)}`);
  let seen = '';
  socket.onopen = () => socket.send('stty size; echo te""rminal\r');
  socket.onmessage = ({ data }) => {
    seen += data;
    if (seen.includes('30 90') && seen.includes('terminal')) resolve(socket.close());
  };
  socket.onerror = () => reject(new Error('no connection'));
}));
await check('pty.remove', () => client.pty.remove(t()), x => x === true);
await check('session.delete', () => client.session.delete(s(id)), x => x === true);
end();
