import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The behavior of the fake server. `mute`: it never reports a problem. `silent`: it does not answer after the first
 * change. `slow`: each report takes a while. `dies`: it ends at the first change. `floods`: it then sends large messages
 * without end. `chats`: it then sends small messages without end. `huge`: it then announces a message of 1 GB. `broken`:
 * it prints what is no message. `deaf`: it answers nothing at all. `encodes`: it writes URIs in another way than its
 * client. `asked`: it answers requests for problems, each at first with the error that the content was modified.
 * `registers`: so does this one, and says it only after the first document is open. `stuck`: it answers them once for each
 * file, and again only for `a.fake`.
 */
export type FakeBehavior =
  | 'good'
  | 'mute'
  | 'silent'
  | 'slow'
  | 'dies'
  | 'floods'
  | 'chats'
  | 'huge'
  | 'broken'
  | 'deaf'
  | 'encodes'
  | 'asked'
  | 'registers'
  | 'stuck';

/**
 * A language server that reports each line with the word `bad` as a problem, unless the text begins with `allowed`, and
 * each line with `needs` and the name of a file beside it that the server does not know. It reads the directory once and
 * then relies on its client. It appends a line to the file that its second argument names, whenever it starts. It answers a
 * rename with the content of `rename.json`.
 */
const PROGRAM = `
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
const [, , behavior, starts] = process.argv;
if (starts !== undefined) appendFileSync(starts, process.pid + '\\n');
const send = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return process.stdout.write('Content-Length: ' + body.length + '\\r\\n\\r\\n' + body);
};
const flood = (params) => {
  while (send({ method: 'window/logMessage', params }));
  process.stdout.once('drain', () => flood(params));
};
let root = '';
const known = new Set();
const documents = new Map();
const asked = new Set();
let modified = 0;
const exists = (directory, name) =>
  known.has(join(directory, name)) || [...documents.keys()].some((uri) => fileURLToPath(uri) === join(directory, name));
const find = (uri) => {
  const directory = dirname(fileURLToPath(uri));
  const { text } = documents.get(uri);
  return text.split('\\n').flatMap((line, index) => {
    const [, needed] = /needs (\\S+)/.exec(line) ?? [];
    const wrong = needed === undefined ? (text.startsWith('allowed') ? -1 : line.indexOf('bad')) : exists(directory, needed) ? -1 : 0;
    const message = 'this is ' + line.trim();
    return wrong < 0 ? [] : [{ range: { start: { line: index, character: wrong } }, severity: 1, message }];
  });
};
const encode = (uri) => uri.replace(/[()@]/g, (sign) => '%' + sign.charCodeAt(0).toString(16));
const report = (uri) => {
  if (['mute', 'asked', 'registers', 'stuck'].includes(behavior)) return;
  const { version } = documents.get(uri);
  const params = { uri: behavior === 'encodes' ? encode(uri) : uri, version, diagnostics: find(uri) };
  const act = () => send({ method: 'textDocument/publishDiagnostics', params });
  if (behavior === 'slow') setTimeout(act, 150);
  else act();
};
const reportAll = () => [...documents.keys()].forEach(report);
const open = ({ uri, version }, text) => {
  const before = documents.size;
  documents.set(uri, { version, text });
  if (documents.size > before) reportAll();
  else report(uri);
  if (behavior === 'registers' && documents.size === 1) {
    const registrations = [{ id: 'problems', method: 'textDocument/diagnostic' }];
    send({ id: 1, method: 'client/registerCapability', params: { registrations } });
  }
};
const capabilities = {
  textDocumentSync: 1,
  ...(behavior === 'asked' || behavior === 'stuck' ? { diagnosticProvider: {} } : {}),
};
const receive = ({ id, method, params }) => {
  if (method === undefined) return;
  if (behavior === 'deaf') return;
  if (method === 'initialize') {
    root = params.rootPath;
    for (const name of readdirSync(root)) known.add(join(root, name));
    send({ id, result: { capabilities } });
  } else if (method === 'textDocument/didOpen') open(params.textDocument, params.textDocument.text);
  else if (method === 'textDocument/didClose') documents.delete(params.textDocument.uri);
  else if (method === 'textDocument/didChange') {
    if (behavior === 'dies') { console.error('out of memory'); process.exit(3); }
    if (behavior === 'floods') return flood({ type: 3, message: 'x'.repeat(100_000) });
    if (behavior === 'chats') return flood({ type: 3, message: '' });
    if (behavior === 'huge') return process.stdout.write('Content-Length: 1000000000\\r\\n\\r\\n');
    if (behavior === 'broken') return process.stdout.write('Segmentation fault\\r\\n\\r\\n');
    if (behavior !== 'silent') open(params.textDocument, params.contentChanges[0].text);
  } else if (method === 'workspace/didChangeWatchedFiles') {
    for (const { uri, type } of params.changes) {
      if (type === 3) known.delete(fileURLToPath(uri));
      else known.add(fileURLToPath(uri));
    }
    reportAll();
  } else if (method === 'textDocument/diagnostic') {
    modified += 1;
    const { uri } = params.textDocument;
    if (behavior === 'stuck' && asked.has(uri) && basename(uri) !== 'a.fake') return;
    asked.add(uri);
    if (behavior !== 'stuck' && modified % 2 === 1) send({ id, error: { code: -32801, message: 'content modified' } });
    else send({ id, result: { kind: 'full', items: find(uri) } });
  } else if (method === 'textDocument/rename') send({ id, result: JSON.parse(readFileSync(join(root, 'rename.json'), 'utf8')) });
  else if (method === 'textDocument/definition') send({ id, result: { uri: params.textDocument.uri, range: { start: { line: 0, character: 0 } } } });
  else if (method === 'shutdown') send({ id, result: null });
  else if (method === 'exit') process.exit(0);
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no such method' } });
};
let input = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  input = Buffer.concat([input, chunk]);
  for (;;) {
    const end = input.indexOf('\\r\\n\\r\\n');
    if (end < 0) return;
    const length = Number(/content-length: (\\d+)/i.exec(input.toString('latin1', 0, end))[1]);
    if (input.length < end + 4 + length) return;
    const message = JSON.parse(input.toString('utf8', end + 4, end + 4 + length));
    input = input.subarray(end + 4 + length);
    receive(message);
  }
});
process.stdin.on('end', () => process.exit(0));
`;

/** Writes the fake server into a directory. Returns the command that starts it. */
export function writeFakeServer(directory: string): string {
  const file = join(directory, 'fake-server.mjs');
  writeFileSync(file, PROGRAM);
  return `${process.execPath} ${file}`;
}
