/** A server over stdio without dependencies that asks the user, logs, and reports progress. */
const schema = { type: 'object', properties: {} };
const FORM = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to book', minLength: 2 },
    nights: { type: 'integer', minimum: 1, maximum: 30, default: 2 },
    room: { type: 'string', enum: ['single', 'double'], default: 'single' },
    breakfast: { type: 'boolean' },
  },
  required: ['city', 'nights'],
};
const tools = [
  {
    name: 'book',
    title: 'Book a room',
    description: 'Books a room.',
    inputSchema: schema,
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  { name: 'confirm', description: 'Asks whether to go on.', inputSchema: schema },
  { name: 'sign-in', description: 'Asks to open a page.', inputSchema: schema },
  { name: 'ask', description: 'Asks what its arguments say.', inputSchema: schema },
  { name: 'log', description: 'Logs.', inputSchema: schema },
  { name: 'work', description: 'Reports progress.', inputSchema: schema },
];
let next = 0;
const waiting = new Map();
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) take(JSON.parse(line));
});
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
function ask(params) {
  const id = `ask-${(next += 1)}`;
  send({ id, method: 'elicitation/create', params });
  return new Promise((resolve) => waiting.set(id, resolve));
}
const notify = (method, params) => send({ method, params });
const log = (level, data) => notify('notifications/message', { level, data });
function take({ id, method, params, result, error }) {
  if (method === undefined) return waiting.get(id)?.(result ?? error);
  if (id === undefined) return;
  if (method === 'initialize') {
    const capabilities = { tools: {}, logging: {} };
    const serverInfo = { name: 'asker', version: '1' };
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities, serverInfo } });
  }
  if (method === 'logging/setLevel') return send({ id, result: {} });
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method !== 'tools/call')
    return send({ id, error: { code: -32601, message: 'unknown method' } });
  const { name, arguments: args = {}, _meta } = params;
  void call(name, args, _meta?.progressToken).then((value) =>
    send({ id, result: { content: [{ type: 'text', text: JSON.stringify(value) }] } }),
  );
}
async function call(name, args, progressToken) {
  switch (name) {
    case 'book':
      return await ask({ message: 'Which room do you want?', requestedSchema: FORM });
    case 'confirm': {
      const properties = { sure: { type: 'boolean' } };
      return await ask({
        message: 'Go on?',
        requestedSchema: { type: 'object', properties, required: ['sure'] },
      });
    }
    case 'sign-in':
      return await ask({
        mode: 'url',
        elicitationId: 'e1',
        message: 'Sign in to go on.',
        url: args.url ?? 'https://login.example.org/start?x=1',
      });
    case 'ask': {
      const params = { message: args.message ?? 'Well?', requestedSchema: args.schema ?? FORM };
      const count = args.count ?? 1;
      return await Promise.all(Array.from({ length: count }, () => ask(params)));
    }
    case 'log':
      for (let index = 0; index < (args.count ?? 1); index += 1) {
        log(args.level ?? 'warning', args.text ?? `disk is ${90 + index} % full`);
      }
      return 'logged';
    default:
      for (let progress = 1; progress <= (args.steps ?? 3); progress += 1) {
        notify('notifications/progress', { progressToken, progress, total: 3, message: 'packing' });
        await new Promise((resolve) => setTimeout(resolve, args.ms ?? 1));
      }
      return 'done';
  }
}
