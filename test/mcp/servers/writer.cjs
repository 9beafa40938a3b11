// A server without a dependency whose tool `write` writes a file in its directory, and returns what the server knows of its
// place. It speaks the revisions before 2026-07-28, in which a server may ask for the roots.
const { randomUUID } = require('node:crypto');
const { writeFileSync } = require('node:fs');

const inputSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, text: { type: 'string' } },
};
const description = process.env.DESCRIPTION ?? 'Writes a file.';
const tools = [
  { name: 'write', description, inputSchema },
  { name: 'wait', description: 'Never answers.', inputSchema: { type: 'object' } },
];
const waiting = new Map();
let count = 0;
let calls = 0;
// Process ids are equal in different sandboxes.
const instance = randomUUID();
let rest = '';

if (process.env.BROKEN_IN !== undefined && process.cwd().includes(process.env.BROKEN_IN)) {
  process.stderr.write('no server runs here');
  process.exit(3);
}
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) receive(JSON.parse(line));
});

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function ask(method) {
  count += 1;
  const id = `ask-${count}`;
  send({ id, method, params: {} });
  return new Promise((resolve) => {
    waiting.set(id, resolve);
  });
}

async function receive({ id, method, params, result }) {
  if (method === undefined) return waiting.get(id)?.(result);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'writer', version: '1' };
    const { protocolVersion } = params;
    return send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method !== 'tools/call')
    return send({ id, error: { code: -32601, message: 'unknown method' } });
  if (params.name === 'wait') return;
  const { roots } = await ask('roots/list');
  calls += 1;
  const { name, text } = params.arguments;
  const facts = {
    cwd: process.cwd(),
    pid: process.pid,
    instance,
    calls,
    roots: roots.map(({ uri }) => uri),
  };
  let failed = null;
  try {
    writeFileSync(name, text);
  } catch (error) {
    failed = error.code;
  }
  const answer = {
    ...facts,
    args: process.argv.slice(2),
    given: process.env.GIVEN ?? null,
    failed,
  };
  send({ id, result: { content: [{ type: 'text', text: JSON.stringify(answer) }] } });
}
