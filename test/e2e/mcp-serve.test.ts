import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { ANY_RESULT, requestOfTask, translateTaskMessages } from '../../src/mcp/task-messages.ts';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { BIN, runMuster } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

type Elicit = (message: string) => {
  action: 'accept' | 'decline';
  content?: Record<string, string>;
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Connection {
  readonly client: Client;
  readonly pid: () => number | null;
  readonly stderr: () => string;
}

/** Starts the built program as an MCP server, and connects the client of the SDK with it. */
async function connect(
  world: World,
  args: readonly string[] = [],
  { elicit, revision }: { readonly elicit?: Elicit; readonly revision?: 'newest' } = {},
): Promise<Connection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', 'serve', ...args],
    cwd: world.sandbox.workspace,
    env: world.sandbox.environment(world.model.env('anthropic')),
    stderr: 'pipe',
  });
  let errors = '';
  transport.stderr?.on('data', (chunk) => (errors += String(chunk)));
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      ...(revision === undefined ? {} : { versionNegotiation: { mode: 'auto' as const } }),
    },
  );
  if (elicit !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => elicit(params.message));
  }
  await client.connect(transport);
  cleanups.push(async () => await client.close());
  return { client, pid: () => transport.pid, stderr: () => errors };
}

const call = async (
  { client }: Connection,
  name: string,
  input: Record<string, unknown>,
  options: Parameters<Client['callTool']>[1] = {},
) => await client.callTool({ name, arguments: input }, options);

interface TaskResult {
  readonly task_id: string;
  readonly status: string;
  readonly result?: string;
}

function resultOf(answer: { readonly structuredContent?: unknown }): TaskResult {
  return answer.structuredContent as TaskResult;
}

const finds = () => ({ text: 'It is in a.ts.' });
/** A subagent that runs one command and then says what came back. */
const touches = (request: RecordedRequest) =>
  toolResultRounds(request) === 0
    ? { toolCalls: [bash('touch made')] }
    : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };
const ASKING = ['--permission-mode', 'default', '--ask', 'Bash'];

describe('muster mcp serve', () => {
  it('lists its tools, with the agents, and runs a task of one', async () => {
    await using world = await openWorld({ script: finds });
    const served = await connect(world);
    const { tools } = await served.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'Task',
      'TaskOutput',
      'TaskSend',
      'TaskStop',
      'TaskList',
    ]);
    expect(tools[0]?.description).toContain('- Explore: ');
    const answer = await call(served, 'Task', { prompt: 'Find it.', agent: 'Explore' });
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('It is in a.ts.') }],
      structuredContent: { status: 'completed', agent: 'Explore', result: 'It is in a.ts.' },
      isError: false,
    });
    const stored = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
    expect(JSON.parse(stored.stdout)).toMatchObject([
      { id: resultOf(answer).task_id, source: 'mcp', status: 'completed' },
    ]);
  });

  it('offers each agent as a tool on request, and reports calls as progress', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [{ name: 'LS', input: { path: '.' } }] }
          : { text: 'Nothing here.' },
    });
    const served = await connect(world, ['--tool-per-agent']);
    const { tools } = await served.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('Task_Explore');
    const progress: unknown[] = [];
    const answer = await call(
      served,
      'Task_Explore',
      { prompt: 'Look.' },
      { onprogress: (each) => progress.push(each) },
    );
    expect(resultOf(answer).status).toBe('completed');
    expect(progress).toEqual([{ progress: 1, message: 'Explore: LS' }]);
  });

  it.each([
    ['of the revision before', {}],
    ['of the newest revision', { revision: 'newest' as const }],
  ])('has a client %s ask its user, and takes the answer', async (_name, options) => {
    await using world = await openWorld({ script: touches });
    const asked: string[] = [];
    const answers = ['accept', 'decline'] as const;
    const served = await connect(world, ASKING, {
      ...options,
      elicit: (message) => {
        const action = answers[asked.push(message) - 1] ?? 'decline';
        return action === 'accept' ? { action, content: { answer: 'yes' } } : { action };
      },
    });
    const input = { prompt: 'Touch it.', agent: 'general-purpose' };
    const first = await call(served, 'Task', input);
    expect(resultOf(first).status).toBe('completed');
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true);
    const second = await call(served, 'Task', input);
    expect(resultOf(second).result).toContain('the user declined');
    expect(asked).toEqual([
      expect.stringMatching(/asks whether this may run:\n[^]*touch made/),
      expect.stringContaining('touch made'),
    ]);
  });

  it('refuses a question at once for a client that cannot ask, also in the background', async () => {
    await using world = await openWorld({ script: touches });
    const served = await connect(world, ASKING);
    const input = { prompt: 'Touch it.', agent: 'general-purpose' };
    const answer = await call(served, 'Task', input);
    expect(resultOf(answer).result).toContain('shows no forms');
    const started = await call(served, 'Task', { ...input, run_in_background: true });
    const { task_id: id } = resultOf(started);
    const output = await call(served, 'TaskOutput', { task_id: id });
    expect(resultOf(output).result).toContain('shows no forms');
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
  });

  it('runs in the background: reads, sends, stops, lists, and pages of a long answer', async () => {
    const long = 'word '.repeat(10_000);
    await using world = await openWorld({
      script: (request) =>
        lastUserText(request)?.includes('Dawdle') === true
          ? { text: 'late', delayMs: 60_000 }
          : { text: lastUserText(request)?.includes('More') === true ? 'More of it.' : long },
    });
    const served = await connect(world);
    const background = { agent: 'Explore', run_in_background: true };
    const slow = resultOf(await call(served, 'Task', { prompt: 'Dawdle.', ...background }));
    const quick = resultOf(await call(served, 'Task', { prompt: 'Tell.', ...background }));
    expect([slow.status, quick.status]).toEqual(['running', 'running']);
    const still = await call(served, 'TaskOutput', { task_id: slow.task_id, wait_seconds: 0 });
    expect(resultOf(still).status).toBe('running');
    const page = await call(served, 'TaskOutput', { task_id: quick.task_id, offset: 40_000 });
    expect(resultOf(page).result?.trimEnd()).toBe(long.slice(40_000).trimEnd());
    await call(served, 'TaskSend', { task_id: quick.task_id, message: 'More.' });
    const more = await call(served, 'TaskOutput', { task_id: quick.task_id });
    expect(resultOf(more)).toMatchObject({ status: 'completed', result: 'More of it.' });
    const stopped = await call(served, 'TaskStop', { task_id: slow.task_id });
    expect(resultOf(stopped).status).toBe('stopped');
    const list = await call(served, 'TaskList', {});
    expect(list.structuredContent).toMatchObject({
      tasks: [
        { task_id: slow.task_id, status: 'stopped' },
        { task_id: quick.task_id, status: 'completed' },
      ],
    });
    const unknown = await call(served, 'TaskOutput', { task_id: 'nobody00' });
    expect(unknown).toMatchObject({
      content: [{ text: expect.stringContaining('was started through this server') }],
      isError: true,
    });
  });

  it('stops the task of a cancelled request, and all tasks when the client has gone', async () => {
    await using world = await openWorld({ script: () => ({ text: 'late', delayMs: 60_000 }) });
    const served = await connect(world);
    const abort = new AbortController();
    const input = { prompt: 'Dawdle.', agent: 'Explore' };
    const waiting = call(served, 'Task', input, { signal: abort.signal });
    await waitUntilPasses(() => expect(world.model.requests).toHaveLength(1));
    abort.abort();
    await expect(waiting).rejects.toThrow();
    await waitUntilPasses(async () => {
      const list = await call(served, 'TaskList', {});
      expect(list.structuredContent).toMatchObject({ tasks: [{ status: 'stopped' }] });
    });
    await call(served, 'Task', { ...input, run_in_background: true });
    const pid = served.pid();
    await served.client.close();
    await waitUntilPasses(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
    const stored = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
    expect(JSON.parse(stored.stdout)).toMatchObject([{ status: 'stopped' }, { status: 'stopped' }]);
  });

  it.each([
    ['2025-11-25', {}],
    ['2026-07-28', { revision: 'newest' as const }],
  ])('carries a call out as a task of the revision %s', async (_revision, options) => {
    await using world = await openWorld({ script: finds });
    const { client } = await connect(world, [], options);
    const isOld = client.getProtocolEra() === 'legacy';
    const transport = client.transport;
    if (transport === undefined) throw new Error('the client is not connected');
    translateTaskMessages(transport);
    const ask = (method: string, params: JsonObject) =>
      client.request(
        requestOfTask(isOld ? '2025-11-25' : '2026-07-28', method, params),
        ANY_RESULT,
      );
    const call = { name: 'Task', arguments: { prompt: 'Find it.', agent: 'Explore' } };
    const extensions = { 'io.modelcontextprotocol/tasks': {} };
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { extensions } };
    const made = await ask('tools/call', isOld ? { ...call, task: {} } : { ...call, _meta });
    const id = /"taskId":"(\w+)"/.exec(JSON.stringify(made))?.[1] ?? '';
    const about = { taskId: id, ...(isOld ? {} : { _meta }) };
    await waitUntilPasses(async () => {
      expect(await ask('tasks/get', about)).toMatchObject({ status: 'completed' });
    });
    const result = isOld ? await ask('tasks/result', { taskId: id }) : undefined;
    const detail = isOld ? undefined : (await ask('tasks/get', about))['result'];
    expect(result ?? detail).toMatchObject({
      structuredContent: { task_id: id, result: 'It is in a.ts.' },
    });
  });
});
