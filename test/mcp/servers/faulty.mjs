/**
 * A server over stdio without a library, which does wrong things. `FAULT` says which. It speaks only the revision
 * 2025-11-25 and answers unknown requests with an error.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { FAULT, LOG_FILE } = process.env;
const note = (text) => LOG_FILE && appendFileSync(LOG_FILE, `${text}\n`);
const print = (text) => process.stdout.write(text);
const send = (message) => print(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const result = (id, value) => send({ id, result: value });
const text = (value) => ({ content: [{ type: 'text', text: value }] });

let isLoggedIn = false;
note(`start ${process.pid}`);
if (FAULT === 'exit-at-start') {
  process.stderr.write('cannot find the database\n');
  process.exit(3);
}
if (FAULT === 'ignore-term') process.on('SIGTERM', () => note('term'));
if (FAULT === 'forks') {
  // One child stays in the group, the other leaves it. Neither notices that stdin is closed.
  spawn('sleep', ['1000'], { stdio: 'ignore' });
  spawn('sleep', ['1000'], { stdio: 'ignore', detached: true }).unref();
}
if (FAULT === 'flood-stderr') setInterval(() => process.stderr.write('noise '.repeat(20_000)), 1);
if (FAULT === 'garbage-start') print('Server is listening!\n\n{"not": "a message"}\n{broken\n');
if (FAULT === 'garbage-forever') setInterval(() => print('Server is busy\n'.repeat(500)), 1);
if (FAULT === 'one-long-line') setInterval(() => print('x'.repeat(1_000_000)), 1);
if (FAULT === 'ignore-term' || FAULT === 'keep-running') setInterval(() => {}, 1000);

const input = createInterface({ input: process.stdin });
if (FAULT === 'close-stdin') process.stdin.destroy();

input.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (FAULT === 'silent') return;
  note(`${method}${method === 'notifications/cancelled' ? ` ${params.reason}` : ''}`);
  if (method === 'server/discover' && FAULT === 'exit-when-asked') process.exit(1);
  if (method === 'initialize') {
    result(id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'faulty', version: '1' },
    });
    return;
  }
  if (method === 'tools/list') {
    listTools(id, params);
    return;
  }
  if (method === 'tools/call') {
    callTool(id, params);
    return;
  }
  if (id !== undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
});

function listTools(id, params) {
  const tool = (name) => ({ name, inputSchema: { type: 'object' } });
  if (FAULT === 'endless-pages') {
    const page = Number(params?.cursor ?? 0);
    result(id, { tools: [tool(`t${page}`)], nextCursor: String(page + 1) });
  } else if (FAULT === 'same-cursor') {
    result(id, { tools: [tool('t')], nextCursor: 'again' });
  } else {
    result(id, { tools: [tool('call')] });
  }
}

function callTool(id, { name, arguments: args, _meta }) {
  switch (name) {
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'exit':
      process.stderr.write('out of memory\n');
      process.exit(137);
      break;
    case 'hang':
      break;
    case 'wrong-id':
      result(id + 1000, text('for nobody'));
      result('another', text('for nobody'));
      setTimeout(() => result(id, text('right')), 50);
      break;
    case 'progress-forever':
      setInterval(() => {
        const progressToken = _meta.progressToken;
        send({ method: 'notifications/progress', params: { progressToken, progress: Date.now() } });
      }, 10);
      break;
    case 'storm':
      for (let count = 0; count < 5000; count += 1) {
        send({ method: 'notifications/tools/list_changed' });
      }
      result(id, text('calm'));
      break;
    case 'wrong-result':
      result(id, { content: 'no list' });
      break;
    case 'sample':
      send({ id: 'q', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
      send({ id: 'r', method: 'roots/list' });
      createAnswer(id);
      break;
    case 'elicit':
      send({
        id: 'q',
        method: 'elicitation/create',
        params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
      });
      input.on('line', (line) => {
        const answer = JSON.parse(line);
        if (answer.id === 'q') result(id, text(JSON.stringify(answer.result ?? answer.error.code)));
      });
      break;
    case 'needs-login':
      if (isLoggedIn) {
        result(id, text('welcome'));
        break;
      }
      isLoggedIn = true;
      send({
        id,
        error: {
          code: -32042,
          message: 'Log in first',
          data: {
            elicitations: [
              { mode: 'url', message: 'Log in.', url: 'https://x.dev/in', elicitationId: 'e1' },
            ],
          },
        },
      });
      break;
    case 'garbage':
      print('a line of text\n'.repeat(args.lines));
      result(id, text('after garbage'));
      break;
    case 'close-stdout':
      closeSync(1);
      break;
    default:
      result(id, text(`called ${name}`));
  }
}

/** Answers a call with the client's answers to the questions `q` and `r`. */
function createAnswer(id) {
  const answers = [];
  input.on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id !== 'q' && message.id !== 'r') return;
    answers.push(message.error?.code ?? message.result);
    if (answers.length === 2) result(id, text(JSON.stringify(answers)));
  });
}
