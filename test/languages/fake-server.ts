import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The behavior of the fake server. `silent`: it does not answer after the first change. `dies`: it ends at the first
 * change. `floods`: it then sends messages without end. `huge`: it then announces a message of 1 GB. `broken`: it prints
 * what is no message. `deaf`: it answers nothing at all.
 */
export type FakeBehavior = 'good' | 'silent' | 'dies' | 'floods' | 'huge' | 'broken' | 'deaf';

/**
 * A language server that reports each line with the word `bad` as a problem. It appends a line to the file that its
 * second argument names, whenever it starts.
 */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
const [, , behavior, starts] = process.argv;
if (starts !== undefined) appendFileSync(starts, process.pid + '\\n');
const send = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return process.stdout.write('Content-Length: ' + body.length + '\\r\\n\\r\\n' + body);
};
const flood = () => {
  const params = { type: 3, message: 'x'.repeat(100_000) };
  while (send({ method: 'window/logMessage', params }));
  process.stdout.once('drain', flood);
};
const report = ({ uri, version }, text) => {
  const diagnostics = text.split('\\n').flatMap((line, index) => line.includes('bad')
    ? [{ range: { start: { line: index, character: line.indexOf('bad') } }, severity: 1, message: 'this is ' + line.trim() }]
    : []);
  send({ method: 'textDocument/publishDiagnostics', params: { uri, version, diagnostics } });
};
const receive = ({ id, method, params }) => {
  if (behavior === 'deaf') return;
  if (method === 'initialize') send({ id, result: { capabilities: { textDocumentSync: 1 } } });
  else if (method === 'textDocument/didOpen') report(params.textDocument, params.textDocument.text);
  else if (method === 'textDocument/didChange') {
    if (behavior === 'dies') { console.error('out of memory'); process.exit(3); }
    if (behavior === 'floods') return flood();
    if (behavior === 'huge') return process.stdout.write('Content-Length: 1000000000\\r\\n\\r\\n');
    if (behavior === 'broken') return process.stdout.write('Segmentation fault\\r\\n\\r\\n');
    if (behavior !== 'silent') report(params.textDocument, params.contentChanges[0].text);
  } else if (method === 'shutdown') send({ id, result: null });
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
