// A server of ours with fake models behind it, in a folder of its own. Also for the benchmark.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deadline } from './lib.mjs';

export const PASSWORD = 'open sesame';

const children = new Set();
process.on('exit', () => children.forEach(child => child.kill()));

/** Starts a program and waits for the first line that this finds something in. */
export async function start(program, args, options, wanted) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  children.add(child);
  let said = '';
  const found = new Promise((resolve, reject) => {
    const read = chunk => {
      said += chunk;
      const match = said.match(wanted);
      if (match) resolve(match[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', () => {
      children.delete(child);
      reject(new Error(`${program} ended: ${said}`));
    });
  });
  // Nobody waits for it any more once it runs.
  found.catch(() => {});
  return { child, found: await deadline(found, `the start of ${path.basename(program)}`, 60_000) };
}

export function newFolder() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lathe-clients-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['project', 'home', 'data']) mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, 'project/a.txt'), 'hello\n');
  return folder;
}

/** Starts a fake model for each script, and writes a config that names them. */
export async function models(folder, fakeModel, scripts, more = {}) {
  const provider = {};
  for (const [name, replies] of Object.entries(scripts)) {
    const file = path.join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify({ replies, repeat: true, forget: true, title: 'A title' }));
    const { found } = await start(fakeModel, [file], {}, /(http:\/\/[^\s/]+)/);
    provider[name] = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${found}/v1`, apiKey: 'k' },
      models: { m: { limit: { context: 200000, output: 8000 } } },
    };
  }
  const first = `${Object.keys(scripts)[0]}/m`;
  const config = { provider, model: first, small_model: first, ...more };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  return config;
}

/** The environment of a program that has only this folder. */
export function environment(folder, more = {}) {
  return {
    PATH: process.env.PATH,
    HOME: path.join(folder, 'home'),
    TERM: 'xterm-256color',
    LATHE_DATA_DIR: path.join(folder, 'data'),
    LATHE_CONFIG: path.join(folder, 'config.json'),
    LATHE_SERVER_PASSWORD: PASSWORD,
    ...more,
  };
}

export async function serve(folder, lathectl) {
  const options = { cwd: path.join(folder, 'project'), env: environment(folder) };
  return start(lathectl, ['serve', '--port', '0'], options, /listening on (http:\S+)/);
}
