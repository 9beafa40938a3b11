import {
  createTaskSessionFromClient,
  type ApplicationInputHandler,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toProtocolStatus } from '../../../src/front/mcp-server/task-utilities.ts';
import { TASK_STATUSES } from '../../../src/protocol/result.ts';
import { ANY_RESULT } from '../../../src/mcp/task-messages.ts';
import { toolResultRounds } from '../../../src/testing/index.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { headers, open, serve, type Revision, type Script, type Served } from './http-support.ts';

const TASK = { prompt: 'Find it.', agent: 'Explore' };
const WRITING = { ...TASK, agent: 'general-purpose' };
const finds: Script = { script: () => ({ text: 'It is in a.ts.' }) };
const dawdles: Script = { script: () => ({ text: 'late', delayMs: 60_000 }) };
const writes: Script = {
  script: (request) =>
    toolResultRounds(request) === 0
      ? { toolCalls: [{ name: 'Write', input: { file_path: 'a', content: 'b' } }] }
      : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` },
};

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol';
const framing = {
  protocolVersion: VERSION,
  clientInfo: { name: 'test', version: '1' },
  clientCapabilities: { elicitation: { form: {} }, extensions: { [`${META}/tasks`]: {} } },
};

/** Sends a request of the newest revision, as a host does whose client of the SDK knows no tasks. */
async function dispatch({ url }: Served, request: JsonValue) {
  const { method, params } = request as { method: string; params: Record<string, JsonValue> };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      'mcp-name': String(params['taskId'] ?? params['name']),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  const message = JSON.parse(/^data: (.*"result".*|.*"error".*)$/m.exec(text)?.[1] ?? text);
  return message.error === undefined
    ? { kind: 'result' as const, result: message.result }
    : { kind: 'error' as const, error: message.error };
}

async function openTasks(
  served: Served,
  revision: Revision,
  onInputRequest?: ApplicationInputHandler['handle'],
): Promise<TaskEnabledSession> {
  const { client } = await open(served, revision, true);
  const { tools } = await client.listTools();
  const session = createTaskSessionFromClient(client, {
    endpointId: 'muster',
    tools: {
      currentTool: (name) => {
        const tool = tools.find((each) => each.name === name);
        if (tool === undefined) return undefined;
        return {
          name,
          inputSchema: tool.inputSchema as Record<string, JsonValue>,
          taskSupport: tool.execution?.taskSupport ?? 'forbidden',
        };
      },
    },
    ...(onInputRequest === undefined ? {} : { onInputRequest }),
    ...(revision === 'old'
      ? {}
      : {
          rawDispatch: async (request: JsonValue) => await dispatch(served, request),
          v2RequestFraming: framing,
        }),
  });
  onTestFinished(async () => await session.close());
  return session;
}

describe.each(['old', 'new'] as const)('a task of the protocol of the %s revision', (revision) => {
  const options = revision === 'old' ? { task: { preference: 'prefer' as const } } : {};

  test('has the id of a task of Muster, and its result', async () => {
    const served = await serve(finds);
    const session = await openTasks(served, revision);
    const execution = await session.callTool('Task', TASK, options);
    if (execution.kind !== 'task') throw new Error('the call has not become a task');
    const { outcome, lastTask } = await execution.settle();
    const id = execution.handle.taskId;
    expect(outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { task_id: id, result: 'It is in a.ts.' }, isError: false },
    });
    expect(lastTask).toMatchObject({
      taskId: id,
      status: 'completed',
      statusMessage: 'Explore: Find it.',
      retentionMs: null,
    });
    expect(served.session.readResult(id).data.status).toBe('completed');
  });

  test('is cancelled, and is then stopped', async () => {
    const served = await serve(dawdles);
    const session = await openTasks(served, revision);
    const execution = await session.callTool('Task', TASK, options);
    if (execution.kind !== 'task') throw new Error('the call has not become a task');
    await execution.cancel();
    expect((await execution.settle()).outcome.status).toBe('cancelled');
    expect(served.session.readResult(execution.handle.taskId).data.status).toBe('stopped');
  });

  test('that is not known is an error of the protocol', async () => {
    const session = await openTasks(await serve(finds), revision);
    const unknown = session.task('nobody00' as Parameters<typeof session.task>[0]);
    await expect(unknown.snapshot()).rejects.toThrow(/NOT_FOUND: no task "nobody00"/);
    await expect(unknown.cancel()).rejects.toThrow(/NOT_FOUND: no task "nobody00"/);
  });
});

test('a task of the newest revision asks the user with its state', async () => {
  const asked: unknown[] = [];
  const session = await openTasks(await serve(writes), 'new', async (request) => {
    asked.push(request.params?.['message']);
    return { action: 'decline' } as never;
  });
  const execution = await session.callTool('Task', WRITING);
  const { outcome } = await execution.settle();
  expect(outcome).toMatchObject({
    status: 'completed',
    result: { structuredContent: { result: expect.stringContaining('the user declined') } },
  });
  expect(asked).toEqual([expect.stringMatching(/asks whether this may run:\n[^]*\+ b/)]);
});

test('a task of the revision 2025-11-25 asks the user while the client waits for its result', async () => {
  const { client } = await open(await serve(writes), 'old', true);
  const result = (request: { method: string; params: Record<string, unknown> }) =>
    client.request(request, ANY_RESULT);
  const params = { name: 'Task', arguments: WRITING, task: {} };
  const { task } = (await result({ method: 'tools/call', params })) as unknown as {
    task: { taskId: string };
  };
  const { taskId } = task;
  await waitUntilPasses(async () => {
    const state = await result({ method: 'tasks/get', params: { taskId } });
    expect(state).toMatchObject({ taskId, status: 'input_required' });
  });
  // The client of the SDK says yes.
  expect(await result({ method: 'tasks/result', params: { taskId } })).toMatchObject({
    structuredContent: { task_id: taskId, result: expect.stringMatching(/^said: (?!.*declined)/) },
    _meta: { [`${META}/related-task`]: { taskId } },
  });
  const again = result({ method: 'tasks/cancel', params: { taskId } });
  await expect(again).rejects.toThrow(`task ${taskId} has already ended: completed`);
});

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  'a client of the newest revision that knows no tasks cannot use %s',
  async (method) => {
    const _meta = {
      [`${META}/protocolVersion`]: VERSION,
      [`${META}/clientInfo`]: framing.clientInfo,
      [`${META}/clientCapabilities`]: {},
    };
    const request = { method, params: { taskId: 'nobody00', _meta } };
    expect(await dispatch(await serve(finds), request)).toMatchObject({
      kind: 'error',
      error: { code: -32021 },
    });
  },
);

test('tasks of the revision 2025-11-25 are listed in pages, and those of others are not', async () => {
  const served = await serve(finds);
  const session = await openTasks(served, 'old');
  const ids: string[] = [];
  for (let count = 0; count < 101; count += 1) {
    const execution = await session.callTool('Task', TASK, { task: { preference: 'prefer' } });
    if (execution.kind === 'task') ids.push(execution.handle.taskId);
    await execution.detach();
  }
  const first = await session.listTasks();
  const second = await session.listTasks(first.nextCursor);
  const listed = [...first.tasks, ...second.tasks].map(({ taskId }) => taskId);
  expect({ listed, sizes: [first.tasks.length, second.tasks.length] }).toEqual({
    listed: ids,
    sizes: [100, 1],
  });
  expect(second.nextCursor).toBeUndefined();
  await expect(session.listTasks('x')).rejects.toThrow('the cursor is not one');
  expect((await (await openTasks(served, 'old')).listTasks()).tasks).toEqual([]);
});

test('each status has one in the protocol', () => {
  const of = (revision: '2025-11-25' | '2026-07-28') =>
    Object.fromEntries(
      TASK_STATUSES.map((status) => [
        status,
        toProtocolStatus({ status }, { asks: false, revision }),
      ]),
    );
  const old = {
    queued: 'working',
    running: 'working',
    completed: 'completed',
    partial: 'completed',
    stopped: 'cancelled',
    parked: 'failed',
    failed: 'failed',
    killed: 'failed',
    interrupted: 'failed',
  };
  expect(of('2025-11-25')).toEqual(old);
  const completed = {
    parked: 'completed',
    failed: 'completed',
    killed: 'completed',
    interrupted: 'completed',
  };
  expect(of('2026-07-28')).toEqual({ ...old, ...completed });
  const asking = { asks: true, revision: '2025-11-25' as const };
  expect(toProtocolStatus({ status: 'running' }, asking)).toBe('input_required');
  expect(toProtocolStatus({ status: 'completed' }, asking)).toBe('completed');
});
