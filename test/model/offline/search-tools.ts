import { realpathSync } from 'node:fs';
import type { JsonObject } from '../../../src/base/json.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { ToolSpec } from '../../../src/protocol/model.ts';
import type { AnyTool, ToolContext } from '../../../src/protocol/tool.ts';
import { codeSearchTool } from '../../../src/tools/code-search/code-search.ts';
import { createUnavailableSandbox } from '../../../src/sys/sandbox/sandbox.ts';
import { createCommandSandbox } from '../../../src/engine/calls/tool-context.ts';
import { globTool } from '../../../src/tools/glob/glob.ts';
import { grepTool } from '../../../src/tools/grep/grep.ts';
import { readTool } from '../../../src/tools/read/read.ts';

const TOOLS: readonly AnyTool[] = [readTool, globTool, grepTool, codeSearchTool];

/** The tools of the product, as a request offers them. */
export const SEARCH_TOOLS: readonly ToolSpec[] = TOOLS.map(
  ({ name, description, inputSchema }) => ({ name, description, inputSchema }),
);
/** The tools of an agent that may not use the code search. */
export const PLAIN_TOOLS = SEARCH_TOOLS.filter(({ name }) => name !== 'FindPlaces');

export const TASK_TOOL: ToolSpec = {
  name: 'Task',
  description: 'Delegate.',
  inputSchema: {
    type: 'object',
    properties: { description: {}, prompt: {}, subagent_type: {} },
  },
};

export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
}

/** Runs a call as the engine's loop would, rights aside. */
export async function runSearchTool(
  name: string,
  input: JsonObject,
  root: string,
): Promise<CallResult> {
  const tool = TOOLS.find((tool) => tool.name === name);
  if (tool === undefined) return { text: `there is no tool ${name}`, isError: true };
  const parsed = tool.parse(input);
  if (!parsed.ok) return { text: parsed.issues.join('\n'), isError: true };
  const output = await tool.run(parsed.input, contextIn(realpathSync(root)));
  return { text: output.text, isError: output.error !== undefined };
}

function contextIn(root: string): ToolContext {
  const seen = new Map<string, string>();
  return {
    taskId: 'task00000000',
    callId: 'call',
    cwd: root,
    roots: [root],
    judged: new Map(),
    excludedPathsBelow: () => null,
    signal: new AbortController().signal,
    clock: systemClock,
    caps: { resultBytes: 30_000, readBytes: 262_144, spillBytes: 52_428_800, toolMs: 600_000 },
    files: {
      seen: (path) => seen.get(path),
      remember: (path, hash) => void seen.set(path, hash),
      willWrite: () => {},
      willRemove: () => {},
      changedBy: () => undefined,
      removedBy: () => undefined,
      acceptRemoval: () => false,
    },
    todos: { get: () => [], set: () => {} },
    shells: { start: () => Promise.reject(new Error('no shells here')) },
    sandbox: createCommandSandbox({
      sandbox: createUnavailableSandbox('a test', 'none is needed'),
      variableNames: [],
      taskId: 'task00000001',
      rights: {
        mode: 'default',
        rules: { allow: [], ask: [], deny: [] },
        roots: [root],
        network: false,
      },
      home: root,
    }),
    variables: { seen: () => ({}), own: () => new Set(), keeps: () => true },
    sleep: () => Promise.resolve(),
    spillPath: () => `${root}/spill`,
    progress: () => {},
  };
}
