import { describe, expect, it } from 'vitest';
import { McpServerError } from '../../../src/mcp/server-error.ts';
import type {
  McpCallResult,
  McpStartedCall,
  McpTask,
  McpTool,
} from '../../../src/mcp/server-data.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { LEAVE_RUNNING, type RemoteWork } from '../../../src/protocol/tool.ts';
import { RunningCalls } from '../../../src/tools/mcp/running-calls.ts';
import { createMcpTool } from '../../../src/tools/mcp/mcp-tool.ts';
import { makeWorkspace } from '../workspace.ts';

const TASK: McpTask = { id: 'render-1', revision: '2026-07-28' };
const RESULT: McpCallResult = { content: [{ type: 'text', text: 'all of it' }], isError: false };

interface Answers {
  readonly started?: McpStartedCall;
  readonly follow?: (signal: AbortSignal) => Promise<McpCallResult>;
  readonly tool?: Partial<McpTool>;
}

/** Creates the tool of a server that answers as given, and collects what the server was asked for. */
function createTool({ started, follow, tool }: Answers = {}) {
  const called: JsonObject[] = [];
  const cancelled: McpTask[] = [];
  /** The tasks of Muster that have followed or cancelled tasks of the server. */
  const users = new Set<string | undefined>();
  const created = createMcpTool(
    {
      name: 'mcp__studio__render',
      tool: {
        name: 'render',
        description: 'Renders.',
        inputSchema: { type: 'object', properties: { scene: { type: 'string' } } },
        annotations: {},
        taskSupport: 'optional',
        ...tool,
      },
      call: async (args) => {
        called.push(args);
        return started ?? { kind: 'task', task: TASK };
      },
      follow: async (_, { signal, task, onStatus }) => {
        users.add(task?.id);
        onStatus('working', 'tracing rays');
        return (await follow?.(signal)) ?? RESULT;
      },
      cancel: async (task, { id }) => {
        users.add(id);
        cancelled.push(task);
      },
    },
    { confinement: null, calls: new RunningCalls() },
  );
  return { created, called, cancelled, users };
}

const propertiesOf = ({ inputSchema }: { inputSchema: JsonObject }) =>
  Object.keys(inputSchema['properties'] as object);

describe('a tool whose calls can run as tasks of the protocol', () => {
  it('has an argument for the background, which the server does not get', async () => {
    const { created, called } = createTool();
    const works: RemoteWork[] = [];
    const remote = {
      follow: async (work: RemoteWork) => {
        works.push(work);
        return { text: 'in the background' };
      },
    };
    expect(propertiesOf(created)).toEqual(['scene', 'run_in_background']);
    const input = { scene: 'forest', run_in_background: true };
    await created.run(input as never, { ...makeWorkspace().context, remote });
    expect(called).toEqual([{ scene: 'forest' }]);
    expect(works).toEqual([
      {
        title: 'mcp__studio__render {"scene":"forest"}',
        reference: { id: 'render-1', revision: '2026-07-28' },
        inBackground: true,
      },
    ]);
  });

  it.each<[string, Partial<McpTool>, readonly string[]]>([
    [
      'has an argument of that name itself',
      { inputSchema: { type: 'object', properties: { run_in_background: { type: 'string' } } } },
      ['run_in_background'],
    ],
    ['has no tasks', { taskSupport: undefined as never }, ['scene']],
  ])('keeps its arguments if it %s', async (_, tool, properties) => {
    const { created, called } = createTool({ started: { kind: 'result', result: RESULT }, tool });
    expect(propertiesOf(created)).toEqual(properties);
    await created.run({ run_in_background: 'x' } as never, makeWorkspace().context);
    expect(called).toEqual([{ run_in_background: 'x' }]);
  });

  it('waits for the task itself where no work may go on after its call', async () => {
    const { created, users } = createTool();
    const { context } = makeWorkspace();
    expect(await created.run({} as never, context)).toMatchObject({ text: 'all of it' });
    // The server may have a process of its own for the task.
    expect([...users]).toEqual([context.taskId]);
  });

  it.each([
    ['the task is stopped', 'silent', [TASK]],
    ['the work shall go on', LEAVE_RUNNING, []],
  ])('cancels the task in the server only if %s', async (_, reason, expected) => {
    const stop = new AbortController();
    const { created, cancelled, users } = createTool({
      follow: async (signal) => {
        stop.abort(reason);
        throw signal.reason;
      },
    });
    const context = {
      signal: stop.signal,
      taskId: 'task1',
      report: () => {},
      getAttachPort: () => undefined,
    };
    const followed = created.follow?.({ ...TASK }, context);
    await expect(followed).rejects.toBe(reason);
    expect([cancelled, [...users]]).toEqual([expected, ['task1']]);
  });

  it.each([
    ['a task that the server does not know', { ...TASK }, true, 'It is not known whether'],
    ['a damaged reference', { id: 1 }, true, 'the log names no valid task'],
  ])('says of %s that its outcome is unknown', async (_, reference, isLost, text) => {
    const { created } = createTool({
      follow: async () => {
        const details = { server: 'studio', kind: 'refused', isOutcomeUnknown: true } as const;
        throw new McpServerError('the server does not know the task any more', details);
      },
    });
    const context = {
      signal: new AbortController().signal,
      taskId: 'task1',
      report: () => {},
      getAttachPort: () => undefined,
    };
    const outcome = await created.follow?.(reference as JsonObject, context);
    expect(outcome).toMatchObject({ isLost, output: { text: expect.stringContaining(text) } });
  });
});
