import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { AnyTool, TodoItem, ToolContext, ToolOutput } from '../../src/protocol/tool.ts';
import { createCommandSandbox } from '../../src/engine/calls/tool-context.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import { builtinTools } from '../../src/tools/index.ts';
import { appendNotes } from '../../src/tools/shared/output.ts';
import { tempDirectory } from '../sys/temp.ts';

export interface Workspace {
  readonly root: string;
  readonly context: ToolContext;
  readonly progress: string[];
  path(name: string): string;
  write(name: string, content: string | Buffer): string;
  /** Parses and runs a call like the engine. Issues are the text of a failed output. */
  call(tool: string, input: JsonObject, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

export function tool(name: string): AnyTool {
  const found = builtinTools().find((one) => one.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

export function makeWorkspace(): Workspace {
  const base = tempDirectory();
  const root = join(base, 'work');
  mkdirSync(root);
  const progress: string[] = [];
  const context = makeContext(root, progress);
  const path = (name: string): string => join(root, name);
  return {
    root,
    context,
    progress,
    path,
    write(name, content) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
      // The umask may have removed bits.
      chmodSync(path(name), 0o644);
      return path(name);
    },
    async call(name, input, overrides = {}) {
      const parsed = tool(name).parse(input);
      if (!parsed.ok) return { text: parsed.issues.join('\n'), error: 'INVALID_PARAM' };
      const output = await tool(name).run(parsed.input, { ...context, ...overrides });
      return { ...output, text: appendNotes(output.text, parsed.notes) };
    },
  };
}

function makeContext(root: string, progress: string[]): ToolContext {
  const hashes = new Map<string, string>();
  let todos: readonly TodoItem[] = [];
  return {
    taskId: 'task00000001',
    callId: 'call1',
    cwd: root,
    roots: [root],
    judged: new Map(),
    excludedPathsBelow: () => null,
    signal: new AbortController().signal,
    clock: systemClock,
    caps: { resultBytes: 30_000, readBytes: 262_144, spillBytes: 2_000_000, toolMs: 600_000 },
    files: {
      seen: (path) => hashes.get(path),
      remember: (path, hash) => void hashes.set(path, hash),
      willWrite: () => {},
      willRemove: () => {},
      changedBy: () => undefined,
      removedBy: () => undefined,
      acceptRemoval: () => false,
    },
    todos: {
      get: () => todos,
      set: (items) => {
        todos = items;
      },
    },
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
    variables: {
      seen: () => ({ LANG: 'C.UTF-8', PATH: '/usr/bin' }),
      own: () => new Set(),
      keeps: () => true,
    },
    sleep: () => Promise.resolve(),
    spillPath: () => join(dirname(root), 'spill.txt'),
    progress: (line) => void progress.push(line),
  };
}
