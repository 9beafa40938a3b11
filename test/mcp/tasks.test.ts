import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { McpServer } from '../../src/mcp/server-use.ts';
import type { McpElicitation } from '../../src/mcp/server-data.ts';
import { findMarked } from '../e2e/processes.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { readTextIfPresent } from '../../src/sys/files/path-lookup.ts';
import { startTaskServer } from './servers/http.ts';
import { createHost, FOREVER, readEntry, tempDirectory } from './support.ts';

const TASKS = join(import.meta.dirname, 'servers/tasks.mjs');
const options = { signal: FOREVER };
const text = (value: string) => ({ content: [{ type: 'text', text: value }], isError: false });

/** Opens the server with tasks, and reads its tools, which a call as a task requires. */
async function open(
  revision: string,
  { host = createHost(), env = {}, fields = {} } = {},
): Promise<{ readonly host: typeof host; readonly server: McpServer }> {
  const server = host.open(host.stdio(TASKS, { REVISION: revision, ...env }, fields));
  await server.listTools(FOREVER);
  return { host, server };
}

/** Starts a call of which the server makes a task, and returns the task. */
async function startTask(server: McpServer, tool: string, args = {}) {
  const started = await server.startCall(tool, args, options);
  if (started.kind !== 'task') throw new Error(`${tool} did not become a task`);
  return started.task;
}

describe.each(['old', 'new'])('tasks of a server of the %s revision', (revision) => {
  test('give the result of a call, and report each new status once', async () => {
    const { server } = await open(revision);
    const until = join(tempDirectory(), 'end');
    const task = await startTask(server, 'work', { until });
    expect(task).toEqual({
      id: 'task-1',
      revision: revision === 'old' ? '2025-11-25' : '2026-07-28',
    });
    const statuses: string[] = [];
    const onStatus = (status: string, message: string) => {
      statuses.push(`${status}: ${message}`);
      writeFileSync(until, '');
    };
    expect(await server.followTask(task, { ...options, onStatus })).toEqual(text('work is done'));
    expect(statuses).toEqual(['working: work is working', 'completed: work is completed']);
  });

  test('exist only for tools for which the server has them', async () => {
    const { server } = await open(revision);
    const { items } = await server.listTools(FOREVER);
    const support = (name: string) => items.find((tool) => tool.name === name)?.taskSupport;
    expect([support('work'), support('quick')]).toEqual([
      'optional',
      revision === 'old' ? undefined : 'optional',
    ]);
    expect(await server.startCall('quick', {}, options)).toEqual({
      kind: 'result',
      result: text('quick without a task'),
    });
  });

  test('ask the user, and go on with the answer', async () => {
    const questions: McpElicitation[] = [];
    const host = createHost({
      ask: (question) => {
        questions.push(question);
        return Promise.resolve({ action: 'accept', content: { color: 'red' } });
      },
    });
    const { server } = await open(revision, { host });
    const result = await server.callTool('ask', {}, { ...options, callId: 'call-1' });
    const answer = '{"action":"accept","content":{"color":"red"}}';
    expect(result).toEqual(text(`ask is done ${answer}`));
    expect(questions).toMatchObject([
      { server: 's', mode: 'form', message: 'Which color?', callIds: ['call-1'] },
    ]);
  });

  test('that fail are errors, and the outcome is unknown only where it is', async () => {
    const { server } = await open(revision);
    const failed = { ...text('it went wrong'), isError: true };
    expect(await server.callTool('fail', {}, options)).toEqual(failed);
    const reason = revision === 'old' ? 'refuse is failed' : 'the disk is full';
    await expect(server.callTool('refuse', {}, options)).rejects.toMatchObject({
      message: `MCP server s: the task failed: ${reason}`,
      isOutcomeUnknown: false,
    });
    await expect(server.callTool('cancel', {}, options)).rejects.toMatchObject({
      message: 'MCP server s: the server has cancelled the task',
      isOutcomeUnknown: true,
    });
    await expect(server.callTool('forget', {}, options)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^MCP server s: the server does not know the task any more \(error -32602: .*no such task\)/,
      ),
      isOutcomeUnknown: true,
    });
  });

  test('are cancelled with their call, and go on if only the wait ends', async () => {
    const { host, server } = await open(revision);
    const stop = new AbortController();
    const task = await startTask(server, 'work', { ms: 60_000 });
    const wait = server.followTask(task, { signal: stop.signal, onStatus: () => stop.abort() });
    await expect(wait).rejects.toMatchObject({ kind: 'cancelled' });
    expect(host.notes().filter((line) => line.startsWith('cancelled'))).toEqual([]);
    const end = new AbortController();
    const call = server.callTool('work', { ms: 60_000 }, { signal: end.signal });
    // A call that ends before its client knows the task cannot cancel the task.
    await waitUntilPasses(() => expect(host.notes().at(-1)).toBe('followed task-2'));
    end.abort();
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' });
    expect(host.notes().at(-1)).toBe('cancelled task-2');
  });

  test('are found again by a server that is killed and started again', async () => {
    const file = join(tempDirectory(), 'tasks.json');
    const { host, server } = await open(revision, { env: { TASK_FILE: file } });
    const until = `${file}-end`;
    const task = await startTask(server, 'work', { until });
    const statuses: string[] = [];
    const onStatus = (status: string) => {
      statuses.push(status);
      if (status === 'reconnecting') writeFileSync(until, '');
      if (statuses.length > 1) return;
      for (const pid of findMarked(host.mark)) process.kill(pid, 'SIGKILL');
    };
    expect(await server.followTask(task, { ...options, onStatus })).toEqual(text('work is done'));
    expect(statuses.slice(0, 2)).toEqual(['working', 'reconnecting']);
  });

  test('that a server has lost with its process have an unknown outcome', async () => {
    const { host, server } = await open(revision);
    const task = await startTask(server, 'work', { ms: 60_000 });
    for (const pid of findMarked(host.mark)) process.kill(pid, 'SIGKILL');
    const wait = server.followTask(task, { ...options, onStatus: () => {} });
    await expect(wait).rejects.toMatchObject({
      message: expect.stringContaining('the server does not know the task any more'),
      isOutcomeUnknown: true,
    });
  });

  test('end after the limit, which is named', async () => {
    const { host, server } = await open(revision, { fields: { max_task_seconds: 0.3 } });
    const call = server.callTool('work', { ms: 60_000 }, options);
    await expect(call).rejects.toThrow('the request took more than 300 ms and was cancelled');
    await waitUntilPasses(() => expect(host.notes().at(-1)).toBe('cancelled task-1'));
  });

  test('are limited in number, which is named before the call', async () => {
    const { host, server } = await open(revision);
    const stop = new AbortController();
    const first = await startTask(server, 'work', { ms: 60_000 });
    const waits = Array.from({ length: 32 }, async () =>
      server.followTask(first, { signal: stop.signal, onStatus: () => {} }),
    );
    await expect(server.callTool('work', {}, options)).rejects.toThrow(
      'it already carries out 32 calls as tasks',
    );
    stop.abort();
    await Promise.allSettled(waits);
    expect(host.notes().filter((line) => line.startsWith('work')).length).toBe(1);
  });
});

test('a task that asks for sampling is given up, since its question would stay open', async () => {
  const { host, server } = await open('new');
  await expect(server.callTool('sample', {}, options)).rejects.toThrow(
    'MCP server s: the task asks for sampling, which is not supported',
  );
  await waitUntilPasses(() => expect(host.notes().at(-1)).toBe('cancelled task-1'));
});

test('a call after a restart of the server runs as a task as well', async () => {
  const { host, server } = await open('old');
  for (const pid of findMarked(host.mark)) process.kill(pid, 'SIGKILL');
  await waitUntilPasses(() => expect(host.events.some(({ type }) => type === 'lost')).toBe(true));
  expect((await startTask(server, 'work')).id).toBe('task-1');
});

describe.each(['old', 'new'])('tasks of a server of the %s revision over HTTP', (revision) => {
  async function openHttp(env: Readonly<Record<string, string>> = {}, host = createHost()) {
    const log = join(tempDirectory(), 'log');
    const http = await startTaskServer({ REVISION: revision, LOG_FILE: log, ...env });
    const server = host.open(readEntry({ url: `${http.url}/mcp`, call_seconds: 10 }));
    await server.listTools(FOREVER);
    const notes = () => readTextIfPresent(log)?.trim().split('\n').slice(1) ?? [];
    return { http, server, notes, host };
  }

  test('give the result of a call, and ask the user', async () => {
    const questions: string[] = [];
    const host = createHost({
      ask: ({ message, callIds }) => {
        questions.push(`${message} ${callIds.join()}`);
        return Promise.resolve({ action: 'accept', content: { color: 'red' } });
      },
    });
    const { server } = await openHttp({}, host);
    const until = join(tempDirectory(), 'end');
    const task = await startTask(server, 'work', { until });
    const statuses: string[] = [];
    const onStatus = (status: string) => {
      statuses.push(status);
      writeFileSync(until, '');
    };
    expect(await server.followTask(task, { ...options, onStatus })).toEqual(text('work is done'));
    expect(statuses).toEqual(['working', 'completed']);
    const answer = '{"action":"accept","content":{"color":"red"}}';
    expect(await server.callTool('ask', {}, { ...options, callId: 'call-1' })).toEqual(
      text(`ask is done ${answer}`),
    );
    expect(questions).toEqual(['Which color? call-1']);
  });

  test('are cancelled with their call', async () => {
    const { server, notes } = await openHttp();
    const end = new AbortController();
    const call = server.callTool('work', { ms: 60_000 }, { signal: end.signal });
    await waitUntilPasses(() => expect(notes().at(-1)).toBe('followed task-1'));
    end.abort();
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' });
    await waitUntilPasses(() => expect(notes().at(-1)).toBe('cancelled task-1'));
  });

  test.each([true, false])('survive the end of the server if it keeps them: %s', async (isKept) => {
    const directory = tempDirectory();
    const until = join(directory, 'end');
    const { http, server, notes } = await openHttp(
      isKept ? { TASK_FILE: join(directory, 'tasks.json') } : {},
    );
    const task = await startTask(server, 'work', { until });
    let isRestarted = false;
    const onStatus = (): void => {
      if (isRestarted) return;
      isRestarted = true;
      http.restart();
      writeFileSync(until, '');
    };
    const result = server.followTask(task, { ...options, onStatus });
    if (isKept) expect(await result).toEqual(text('work is done'));
    else {
      await expect(result).rejects.toMatchObject({
        message: expect.stringContaining('the server does not know the task any more'),
        isOutcomeUnknown: true,
      });
    }
    expect(notes().filter((line) => line.startsWith('work')).length).toBe(1);
  });
});
