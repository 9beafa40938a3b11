import { expect, it } from 'vitest';
import { runToolHook } from '../../src/hooks/run-tool-hook.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { CallHookTool, HookToolCall } from '../../src/protocol/hook.ts';
import { USER } from './samples.ts';

const FOREVER = new AbortController().signal;
const VALUES = {
  tool_name: 'Write',
  tool_input: {
    file_path: 'a b.txt',
    content: '${tool_name} $& \n',
    lines: [1, 2],
    deep: { x: null },
  },
};

function run(
  input: JsonObject,
  callTool: CallHookTool,
  { timeoutMs = 5_000, signal = FOREVER } = {},
) {
  const action = { kind: 'mcp_tool', server: 'scan', tool: 'check', input } as const;
  return runToolHook({ action, source: USER, input: VALUES, timeoutMs, signal, callTool });
}

it.each<[string, unknown]>([
  ['${tool_input.file_path}', 'a b.txt'],
  ['${tool_name}: ${tool_input.file_path}', 'Write: a b.txt'],
  // What stands in the place of a placeholder is not read again.
  ['${tool_input.content}', '${tool_name} $& \n'],
  ['${tool_input.lines}', '[1,2]'],
  ['${tool_input.deep}', '{"x":null}'],
  ['${tool_input.deep.x}${nope}${tool_input.nope.x}${constructor}', ''],
  ['$tool_name ${}', '$tool_name ${}'],
])('fills %j from the input of the hook', async (text, expected) => {
  const calls: HookToolCall[] = [];
  const answers: CallHookTool = async (call) => {
    calls.push(call);
    return { ok: true, text: '{"decision":"block"}' };
  };
  expect(await run({ a: text, b: [{ c: text }], n: 1 }, answers)).toEqual({
    kind: 'exited',
    code: 0,
    signal: null,
    stdout: '{"decision":"block"}',
    stderr: '',
  });
  const input = { a: expected, b: [{ c: expected }], n: 1 };
  expect(calls).toEqual([{ server: 'scan', tool: 'check', input, source: USER }]);
});

it('fails without a task, with the problem of the call, and after its time', async () => {
  const action = { kind: 'mcp_tool', server: 'scan', tool: 'check', input: {} } as const;
  const common = { action, source: USER, input: VALUES, timeoutMs: 20, signal: FOREVER };
  expect(await runToolHook(common)).toEqual({
    kind: 'failed',
    reason: 'it was not called: tools are called only in a task',
  });
  const fails: CallHookTool = async () => ({ ok: false, problem: 'it is not connected' });
  expect(await run({}, fails)).toEqual({ kind: 'failed', reason: 'it is not connected' });
  const hangs: CallHookTool = (_, ended) =>
    new Promise((_resolve, reject) => {
      ended.addEventListener('abort', () => reject(ended.reason));
    });
  expect(await run({}, hangs, { timeoutMs: 20 })).toEqual({ kind: 'timeout', limitMs: 20 });
  const stop = new AbortController();
  const stopped = run({}, hangs, { signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
});
