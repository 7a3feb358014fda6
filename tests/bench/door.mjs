// Our server beside `opencode serve`: the same requests and the same streams, by turns.
// Arguments: lathectl, the fake model, opencode. Prints a row of JSON for each figure.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { PASSWORD, environment, models, newFolder, serve, start } from '../real_clients/server.mjs';

const [lathectl, fakeModel, opencode] = process.argv.slice(2);
const SESSIONS = 200;
const PROMPTS = 20;
const CLIENTS = 16;
const SECONDS = 4;
const ROUNDS = 3;
const SUBSCRIBERS = 100;
const DELTAS = 20_000;

const headers = {
  authorization: 'Basic ' + Buffer.from(`opencode:${PASSWORD}`).toString('base64'),
  'content-type': 'application/json',
  'user-agent': 'opencode/1.18.34',
};

function ask(server, method, url, body, agent) {
  return new Promise((resolve, reject) => {
    const request = http.request(server.url + url, { method, headers, agent, timeout: 600_000 }, answer => {
      const chunks = [];
      answer.on('data', chunk => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (answer.statusCode >= 300) reject(new Error(`${url}: ${answer.statusCode} ${text}`));
        else resolve(text);
      });
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`${url} took too long`)));
    request.end(body && JSON.stringify(body));
  });
}

async function newSession(server) {
  return JSON.parse(await ask(server, 'POST', '/session', {})).id;
}

function prompt(server, id, provider) {
  const model = { providerID: provider, modelID: 'm' };
  const body = { model, parts: [{ type: 'text', text: 'Go on' }] };
  return ask(server, 'POST', `/session/${id}/message`, body);
}

/** A folder, a config and fake models for each, so that neither waits for the other's. */
async function prepare(begin) {
  const folder = newFolder();
  await models(folder, fakeModel, {
    talk: [{ say: [{ text: 'Hello from the model.' }] }],
    long: [{ say: Array.from({ length: DELTAS }, (_, number) => ({ text: `word${number} ` })) }],
  });
  const { child, found: url } = await begin(folder);
  const server = { url, pid: child.pid };
  for (let made = 0; made < SESSIONS; made += 1) await newSession(server);
  server.session = await newSession(server);
  for (let sent = 0; sent < PROMPTS; sent += 1) await prompt(server, server.session, 'talk');
  return server;
}

/** Requests a second and the slowest hundredth, with so many clients at once. */
async function load(server, url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
  const times = [];
  const begun = performance.now();
  const end = begun + SECONDS * 1000;
  const client = async () => {
    while (performance.now() < end) {
      const sent = performance.now();
      await ask(server, 'GET', url, undefined, agent);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const seconds = (performance.now() - begun) / 1000;
  agent.destroy();
  times.sort((a, b) => a - b);
  return { rate: times.length / seconds, p99: times[Math.floor(times.length * 0.99)] };
}

/** The most memory that the process has had, in megabytes. */
function peak(server) {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(status.match(/VmHWM:\s+(\d+)/)[1]) / 1024;
}

function subscribe(server) {
  return new Promise((resolve, reject) => {
    const request = http.get(`${server.url}/event`, { headers, agent: false }, answer => {
      answer.resume();
      resolve(request);
    });
    request.on('error', reject);
  });
}

const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
function row(name, unit, ours, theirs, bar) {
  console.log(JSON.stringify({ name, ours, theirs, unit, ratio: ours / theirs, bar }));
}

const ours = await prepare(folder => serve(folder, lathectl));
const theirs = await prepare(folder => {
  const env = environment(folder, {
    OPENCODE_SERVER_PASSWORD: PASSWORD,
    OPENCODE_CONFIG: path.join(folder, 'config.json'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_SHARE: '1',
    NO_PROXY: '127.0.0.1,localhost',
  });
  const options = { cwd: path.join(folder, 'project'), env };
  return start(opencode, ['serve', '--port', '0'], options, /listening on (http:\S+)/);
});
for (const [name, url] of [
  ['list sessions', () => '/session'],
  ['read messages', server => `/session/${server.session}/message`],
]) {
  const figures = { ours: [], theirs: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    figures.ours.push(await load(ours, url(ours)));
    figures.theirs.push(await load(theirs, url(theirs)));
  }
  const of = (whose, what) => median(figures[whose].map(one => one[what]));
  row(name, 'requests/s', of('ours', 'rate'), of('theirs', 'rate'), 'ours >= 10');
  row(`${name}, p99`, 'ms', of('ours', 'p99'), of('theirs', 'p99'), null);
}
for (const server of [ours, theirs]) {
  const open = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => subscribe(server)));
  await prompt(server, await newSession(server), 'long');
  server.peak = peak(server);
  open.forEach(request => request.destroy());
}
row(`${SUBSCRIBERS} subscribers, ${DELTAS} deltas: peak memory`, 'MB', ours.peak, theirs.peak, 'ours <= 0.1');
process.exit(0);
