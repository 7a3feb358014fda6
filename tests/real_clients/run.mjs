// Real clients against our server. Arguments: the folder of what was installed, lathectl, the fake
// model, the folder of the .proto files. Every line but the last is one client.
// With LATHE_RECORD, what `run`, the TUI, the web UI and the Python package ask is recorded there.
import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadline } from './lib.mjs';
import { PASSWORD, environment, models, newFolder, serve, start } from './server.mjs';

const [installed, lathectl, fakeModel, protos] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const script = name => path.join(here, name);
const modules = version => path.join(installed, version, 'node_modules');
const opencode = version => path.join(modules(version), 'opencode-linux-x64/bin/opencode');
const python = path.join(installed, 'venv/bin/python');

const folder = newFolder();
const project = path.join(folder, 'project');
const bash = { command: 'touch made', description: 'Make a file' };
const option = label => ({ label, description: label });
const question = { question: 'Which?', header: 'Which', options: [option('A'), option('B')] };
await models(folder, fakeModel, {
  talk: [{ say: [{ text: 'Hello from the model.' }] }],
  tools: [
    { say: [{ text: 'I make it.' }, { call: { name: 'bash', input: bash } }] },
    { say: [{ text: 'Made.' }] },
  ],
  slow: [{ say: [{ text: 'I begin' }, 'stall'] }],
  asks: [
    { say: [{ call: { name: 'question', input: { questions: [question] } } }] },
    { say: [{ text: 'So be it.' }] },
  ],
}, { mcp: { idle: { type: 'local', command: ['cat'], enabled: false } } });
const { found: url } = await serve(folder, lathectl);
const recorded = process.env.LATHE_RECORD;
const proxied = async (name, pages) => {
  const args = [script('proxy.mjs'), url, PASSWORD];
  if (pages) args.push('--pages', pages);
  if (recorded) args.push('--record', path.join(recorded, `${name}.jsonl`), '--folder', project);
  return (await start(process.execPath, args, {}, /(http:\S+)/)).found;
};

/** Theirs, without the network. */
const theirs = version => ({
  ...environment(folder),
  HOME: path.join(folder, `home-${version}`),
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_SHARE: '1',
  OPENCODE_SERVER_PASSWORD: PASSWORD,
  NO_PROXY: '127.0.0.1,localhost',
});

let passed = 0;
let failed = 0;
async function client(name, action) {
  try {
    await deadline(action(), name, 180_000);
    passed += 1;
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.message.replaceAll('\n', '\n    ')}`);
  }
}

/** Runs a program to its end; what it says must have these words in it. */
function run(program, args, options = {}, words = ' 0 failed') {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let said = '';
    child.stdout.on('data', chunk => (said += chunk));
    child.stderr.on('data', chunk => (said += chunk));
    child.on('error', reject);
    child.on('exit', code => {
      if (code === 0 && said.includes(words)) resolve(said);
      else reject(new Error(`ended with ${code}\n${said}`));
    });
    setTimeout(() => child.kill(), 120_000).unref();
  });
}

async function terminal(version, address) {
  const socket = `lathe-${process.pid}-${version}`;
  const tmux = (...args) => execFileSync('tmux', ['-L', socket, ...args], { env: theirs(version) }).toString();
  const screen = () => tmux('capture-pane', '-p');
  const shows = async words => {
    for (let tries = 0; tries < 300; tries += 1) {
      if (screen().includes(words)) return;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    throw new Error(`no "${words}" on the screen:\n${screen()}`);
  };
  tmux('new-session', '-d', '-x', '120', '-y', '35', '-c', project, opencode(version), 'attach', address);
  try {
    await shows('Build');
    tmux('send-keys', '-l', 'Say hello please');
    await shows('Say hello please');
    tmux('send-keys', 'Enter');
    await shows('Hello from the model.');
  } finally {
    tmux('kill-server');
  }
}

async function session() {
  const authorization = 'Basic ' + Buffer.from(`opencode:${PASSWORD}`).toString('base64');
  const created = await fetch(`${url}/session`, { method: 'POST', headers: { authorization } });
  return (await created.json()).id;
}

for (const version of ['1.1.27', 'newest']) {
  for (const api of ['1', '2']) {
    const sdk = path.join(modules(version), '@opencode-ai/sdk');
    await client(`SDK ${version}, v${api}`, () =>
      // Before version 22 of Node it has to be asked for.
      run(process.execPath, ['--experimental-websocket', script('sdk.mjs'), sdk, api, url, PASSWORD, project]),
    );
  }
}
for (const version of ['1.1.27', 'newest']) {
  // 1.1.27 has no way to send a password.
  const needsProxy = recorded || version === '1.1.27';
  const address = async name => (needsProxy ? await proxied(`${name}-${version}`) : url);
  const args = ['run', '--attach', await address('run'), 'Say hello'];
  const options = { env: theirs(version) };
  await client(`run --attach, ${version}`, () => run(opencode(version), args, options, 'Hello from the model.'));
  const attached = await address('tui');
  await client(`TUI, ${version}`, () => terminal(version, attached));
}
await client('web UI, newest', async () => {
  const env = theirs('newest');
  delete env.OPENCODE_SERVER_PASSWORD;
  const options = { cwd: project, env };
  const pages = await start(opencode('newest'), ['serve', '--port', '0'], options, /listening on (http:\S+)/);
  const address = await proxied('web-newest', pages.found);
  const picture = path.join(installed, 'web.png');
  const args = [script('web.mjs'), path.join(installed, 'newest'), address, project, picture];
  await run(process.execPath, args);
});
const forPython = recorded ? await proxied('python') : url;
await client('Python package', () => run(python, [script('python_sdk.py'), forPython, PASSWORD]));
await client('grpcio', async () => {
  const address = new URL(url).host;
  await run(python, [script('grpc_client.py'), address, PASSWORD, protos, await session(), await session()]);
});
await client('ACP', async () => {
  const own = newFolder();
  const scripts = { tools: [
    { say: [{ text: 'I make it.' }, { call: { name: 'bash', input: bash } }] },
    { say: [{ text: 'Made.' }] },
  ] };
  await models(own, fakeModel, scripts);
  const args = [script('acp.mjs'), path.join(installed, 'newest'), lathectl, path.join(own, 'project')];
  await run(process.execPath, args, { env: environment(own) });
});

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
