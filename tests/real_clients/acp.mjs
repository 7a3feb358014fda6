// A whole turn with a permission, through the client of the official SDK.
// Arguments: the SDK's folder, lathectl, the project's folder.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { counter } from './lib.mjs';

const [modules, lathectl, directory] = process.argv.slice(2);
const entry = createRequire(path.join(modules, 'package.json')).resolve('@agentclientprotocol/sdk');
const acp = await import(pathToFileURL(entry));
const { check, end } = counter();
const agent = spawn(lathectl, ['acp'], { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const updates = [];
const asked = [];
const { methods } = acp;
const text = kind =>
  updates.filter(one => one.sessionUpdate === kind).map(one => one.content.text).join('');
const editor = acp
  .client({ name: 'test' })
  .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    asked.push(params);
    const once = params.options.find(option => option.kind === 'allow_once');
    return { outcome: { outcome: 'selected', optionId: once.optionId } };
  });
await editor.connectWith(stream, async ctx => {
  const clientCapabilities = {};
  await check(
    'initialize',
    () => ctx.request(methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities }),
    x => x.protocolVersion === 1 && x.agentCapabilities.loadSession,
  );
  const session = await check(
    'session/new',
    () => ctx.request(methods.agent.session.new, { cwd: directory, mcpServers: [] }),
    x => x.modes.availableModes.some(mode => mode.id === 'plan'),
  );
  const { sessionId } = session;
  await check(
    'session/prompt',
    () => ctx.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'Make it' }] }),
    x => x.stopReason === 'end_turn',
  );
  await check('one permission', () => asked.length, count => count === 1);
  await check('the command ran', () => existsSync(path.join(directory, 'made')), made => made);
  await check('text', () => text('agent_message_chunk'), said => said === 'I make it.Made.');
  const calls = updates.filter(one => one.sessionUpdate === 'tool_call');
  await check('a tool call', () => calls, found => found.length === 1 && found[0].kind === 'execute');
  updates.length = 0;
  await check(
    'session/list',
    () => ctx.request(methods.agent.session.list, { cwd: directory }),
    x => x.sessions.some(one => one.sessionId === sessionId),
  );
  await check('session/load', () =>
    ctx.request(methods.agent.session.load, { sessionId, cwd: directory, mcpServers: [] }),
  );
  await check('replayed', () => text('agent_message_chunk'), said => said === 'I make it.Made.');
});
agent.stdin.end();
end();
