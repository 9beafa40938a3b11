/**
 * A server over stdio without a library, which carries its calls out as tasks. `REVISION=old` speaks the revision
 * 2025-11-25, otherwise it is 2026-07-28. `TASK_FILE`: a file by which the next process of the server knows the tasks.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { LOG_FILE, REVISION, TASK_FILE } = process.env;
const isOld = REVISION === 'old';
const note = (text) => LOG_FILE && appendFileSync(LOG_FILE, `${text}\n`);
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const complete = (id, value) =>
  send({ id, result: isOld ? value : { resultType: 'complete', ...value } });
const content = (text) => ({ content: [{ type: 'text', text }] });

const tasks = new Map(
  TASK_FILE && existsSync(TASK_FILE) ? JSON.parse(readFileSync(TASK_FILE, 'utf8')) : [],
);
const save = () => TASK_FILE && writeFileSync(TASK_FILE, JSON.stringify([...tasks]));
/** The requests for results of tasks that have not ended. */
const waiting = new Map();
note(`start ${process.pid}`);

const schema = {
  type: 'object',
  properties: { ms: { type: 'number' }, until: { type: 'string' } },
};
const names = ['work', 'ask', 'fail', 'refuse', 'sample', 'quick', 'forget', 'cancel', 'image'];
const tools = names.map((name) => {
  const execution = { taskSupport: name === 'quick' ? 'forbidden' : 'optional' };
  return isOld ? { name, inputSchema: schema, execution } : { name, inputSchema: schema };
});

function statusOf(task) {
  if (task.cancelled || task.name === 'cancel') return 'cancelled';
  if ((task.name === 'ask' || task.name === 'sample') && task.answer === undefined) {
    return 'input_required';
  }
  const isWaiting = task.until !== undefined && !existsSync(task.until);
  if (isWaiting || Date.now() < task.endsAt) return 'working';
  return task.name === 'refuse' ? 'failed' : 'completed';
}

const QUESTION = {
  mode: 'form',
  message: 'Which color?',
  requestedSchema: { type: 'object', properties: { color: { type: 'string' } } },
};

/** The state of a task. The first one says nothing about the end, as the state in the answer to a call. */
function view(taskId, task) {
  const status = statusOf(task);
  const times = { createdAt: task.createdAt, lastUpdatedAt: task.createdAt };
  const statusMessage = `${task.name} is ${status}`;
  if (isOld) return { taskId, status, statusMessage, ...times, ttl: 60_000, pollInterval: 1 };
  return { taskId, status, statusMessage, ...times, ttlMs: 60_000, pollIntervalMs: 1 };
}

function resultOf(task) {
  const answer = task.answer === undefined ? '' : ` ${JSON.stringify(task.answer)}`;
  if (task.name === 'fail') return { ...content('it went wrong'), isError: true };
  if (task.name === 'image') {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    return { content: [{ type: 'image', data, mimeType: 'image/png' }] };
  }
  return content(`${task.name} is done${answer}`);
}

function detail(taskId, task) {
  const state = view(taskId, task);
  switch (state.status) {
    case 'completed':
      return { ...state, result: { resultType: 'complete', ...resultOf(task) } };
    case 'failed':
      return { ...state, error: { code: -32000, message: 'the disk is full' } };
    case 'input_required':
      return {
        ...state,
        inputRequests: {
          q:
            task.name === 'ask'
              ? { method: 'elicitation/create', params: QUESTION }
              : { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        },
      };
    default:
      return state;
  }
}

const methods = {
  'server/discover': (id) => {
    if (isOld) return send({ id, error: { code: -32601, message: 'unknown method' } });
    return complete(id, {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      serverInfo: { name: 'tasks', version: '1' },
    });
  },
  initialize: (id) =>
    complete(id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      serverInfo: { name: 'tasks', version: '1' },
    }),
  'tools/list': (id) => complete(id, { tools, ttlMs: 0, cacheScope: 'private' }),
  'tools/call': (id, { name, arguments: args = {}, task: asked, _meta = {} }) => {
    const client = _meta['io.modelcontextprotocol/clientCapabilities'] ?? {};
    const isWanted = isOld
      ? asked !== undefined
      : client.extensions?.['io.modelcontextprotocol/tasks'] !== undefined;
    if (name === 'quick' || !isWanted) return complete(id, content(`${name} without a task`));
    note(`${name} ${JSON.stringify(args)}${isOld ? ` ttl ${asked.ttl}` : ''}`);
    const taskId = `task-${tasks.size + 1}`;
    const createdAt = new Date().toISOString();
    // A task ends after a time, or when a file exists.
    const { ms = 0, until } = args;
    const task = { name, createdAt, endsAt: Date.now() + ms, until };
    tasks.set(taskId, task);
    save();
    const state = { ...view(taskId, task), status: 'working' };
    return send({ id, result: isOld ? { task: state } : { resultType: 'task', ...state } });
  },
  'tasks/get': (id, { taskId }, task) => {
    if (!task.isFollowed) note(`followed ${taskId}`);
    task.isFollowed = true;
    complete(id, (isOld ? view : detail)(taskId, task));
  },
  'tasks/result': (id, { taskId }, task) => {
    if (statusOf(task) !== 'input_required') return complete(id, resultOf(task));
    waiting.set(taskId, id);
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId } };
    return send({ id: taskId, method: 'elicitation/create', params: { ...QUESTION, _meta } });
  },
  'tasks/update': (id, { inputResponses }, task) => {
    task.answer = inputResponses.q;
    save();
    complete(id, {});
  },
  'tasks/cancel': (id, { taskId }, task) => {
    note(`cancelled ${taskId}`);
    task.cancelled = true;
    save();
    complete(id, isOld ? view(taskId, task) : {});
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {}, result } = JSON.parse(line);
  if (method === undefined) {
    // The answer to the question of a task.
    tasks.get(id).answer = result;
    save();
    return complete(waiting.get(id), resultOf(tasks.get(id)));
  }
  if (id === undefined) return undefined;
  const task = tasks.get(params.taskId);
  const isUnknown = method.startsWith('tasks/') && (task === undefined || task.name === 'forget');
  if (isUnknown) return send({ id, error: { code: -32602, message: 'no such task' } });
  const answer = methods[method];
  if (answer === undefined) return send({ id, error: { code: -32601, message: 'unknown method' } });
  return answer(id, params, task);
});
