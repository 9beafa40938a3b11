import { setTimeout as sleep } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { createMemoryPort } from '../../../src/engine/memory/memory-source.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { ToolContext, ToolOutput } from '../../../src/protocol/tool.ts';
import { createUnavailableSandbox } from '../../../src/sys/sandbox/sandbox.ts';
import { createCommandSandbox } from '../../../src/engine/calls/tool-context.ts';
import { builtinTools } from '../../../src/tools/index.ts';

export const AGENT: AgentDefinition = {
  name: 'Keeper',
  aliases: [],
  description: 'Keeps notes.',
  prompt: '',
  tools: { mode: 'all', names: [] },
  disallowedTools: [],
  permissionMode: null,
  mode: null,
  limits: {},
  origin: { scope: 'session', vendor: 'muster', path: 'session:keeper' },
  extra: {},
  problems: [],
};

export interface NoteTask {
  readonly context: ToolContext;
  call(tool: string, input: JsonObject): Promise<ToolOutput>;
}

interface NoteTaskOptions {
  /** The directories of the project and of the user, without links. */
  readonly project: string;
  readonly user: string;
  readonly agent?: AgentDefinition;
  /** The writer that is reported for a file. */
  readonly changedBy?: string;
  readonly secret?: string;
}

/** Makes a task with the tools, real files and the real lock. */
export function noteTask(options: NoteTaskOptions): NoteTask {
  const { project, user, agent = AGENT, changedBy, secret } = options;
  const known = new Map<string, string>();
  const context: ToolContext = {
    taskId: 'task00000001',
    callId: 'call1',
    cwd: project,
    roots: [project],
    judged: new Map(),
    excludedPathsBelow: () => null,
    signal: new AbortController().signal,
    clock: systemClock,
    caps: { resultBytes: 30_000, readBytes: 262_144, spillBytes: 2_000_000, toolMs: 600_000 },
    files: {
      seen: (path) => known.get(path),
      remember: (path, hash) => void known.set(path, hash),
      willWrite: () => {},
      willRemove: () => {},
      changedBy: () => changedBy,
      removedBy: () => undefined,
      acceptRemoval: () => false,
    },
    todos: { get: () => [], set: () => {} },
    memory: createMemoryPort({
      source: { userDirectory: user, trusts: () => true },
      spec: { agent, cwd: project },
      sleep: async (ms) => void (await sleep(ms)),
    }),
    shells: { start: () => Promise.reject(new Error('no shells here')) },
    sandbox: createCommandSandbox({
      sandbox: createUnavailableSandbox('a test', 'none is needed'),
      variableNames: [],
      taskId: 'task00000001',
      rights: {
        mode: 'default',
        rules: { allow: [], ask: [], deny: [] },
        roots: [project],
        network: false,
      },
      home: project,
    }),
    variables: {
      seen: () => ({}),
      own: () => new Set(),
      keeps: (value) => secret === undefined || !value.includes(secret),
    },
    sleep: async (ms) => void (await sleep(ms)),
    spillPath: () => join(user, 'spill.txt'),
    progress: () => {},
  };
  return {
    context,
    async call(name, input) {
      const tool = builtinTools().find((each) => each.name === name);
      const parsed = tool?.parse(input);
      if (tool === undefined || parsed === undefined) throw new Error(`no tool ${name}`);
      if (!parsed.ok) return { text: parsed.issues.join('; '), error: 'INVALID_PARAM' };
      return await tool.run(parsed.input, context);
    },
  };
}

/** The contents of the files in a directory by name, without hidden ones. */
export function notesIn(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory).filter((name) => !name.startsWith('.'));
  return Object.fromEntries(
    names.toSorted().map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );
}
