import { expect, it } from 'vitest';
import type { HookOccasion, HookPort } from '../../src/protocol/hook.ts';
import { listHookOccasions } from '../../src/report/hook-occasions.ts';
import { call, calls, play, type Play } from '../engine/play.ts';
import { readTool } from '../engine/compaction/support.ts';
import { testEngine, waitTool, type EngineSetup, type TestEngine } from '../engine/support.ts';

/** Hooks that say nothing, and what they are told. */
function listeningHooks(): HookPort & { readonly occasions: HookOccasion[] } {
  const occasions: HookOccasion[] = [];
  const begun = new Set<string>();
  return {
    occasions,
    has: () => true,
    beginSession: ({ id }) => begun.size < begun.add(id).size,
    run: async (occasion) => {
      occasions.push(occasion);
      return { context: [], records: [] };
    },
  };
}

/** Runs tasks one after the other. Returns what hooks were told of each task, by the task, and the engine. */
async function record(lines: Play, setup: EngineSetup) {
  const hooks = listeningHooks();
  const test = testEngine(play(lines), { tools: [waitTool, readTool], hooks, ...setup });
  await test.start('main').end.written;
  return { test, told: Map.groupBy(hooks.occasions, ({ task }) => task.id) };
}

function listFromLog({ events, store }: TestEngine, id: string) {
  const own = events.filter(({ task }) => task === id);
  const [created] = own;
  if (created?.type !== 'task.created') throw new Error('the log has no beginning');
  const { root, parent, agent, rights, cwd } = created.spec;
  const task = {
    id,
    rootId: root,
    parentId: parent,
    agentType: agent.name,
    depth: rights.depth,
    cwd,
    logFile: store.logPath(id) ?? '',
    rootLogFile: store.logPath(root) ?? '',
  };
  return listHookOccasions(task, own);
}

const NO_SLEEP = {
  text: 'Bash(sleep *)',
  tool: 'Bash',
  specifier: 'sleep *',
  source: { kind: 'flag', where: '--deny' },
} as const;
const wait = (ms: number) => call('Bash', { ms });
const read = (part: number) => call('Read', { part, size: 10 });

it.each<[string, Play, EngineSetup, readonly string[]]>([
  ['an answer', {}, {}, ['SessionStart startup', 'UserPromptSubmit', 'Stop']],
  [
    'calls that run, fail and are refused',
    { main: [calls(read(1)), calls(wait(1)), calls(call('Nope', {}))] },
    { deny: [NO_SLEEP] },
    [
      'SessionStart startup',
      'UserPromptSubmit',
      'PreToolUse Read',
      'PostToolUse Read',
      'PostToolBatch',
      'PreToolUse Bash',
      'PermissionDenied Bash',
      'PostToolBatch',
      'PostToolBatch',
      'Stop',
    ],
  ],
  [
    'a subagent',
    { main: [calls(call('Task', { prompt: 'part', description: 'p' }))], part: [calls(read(2))] },
    {},
    [
      'SessionStart startup',
      'UserPromptSubmit',
      'PreToolUse Task',
      'PostToolUse Task',
      'PostToolBatch',
      'Stop',
      'SubagentStart general-purpose',
      'PreToolUse Read',
      'PostToolUse Read',
      'PostToolBatch',
      'SubagentStop general-purpose',
    ],
  ],
  [
    'a failure of the model',
    { main: [{ failure: { kind: 'auth', message: 'no key', retryable: false } }] },
    {},
    ['SessionStart startup', 'UserPromptSubmit', 'StopFailure PROVIDER_ERROR'],
  ],
])(
  'the log of %s has the occasions of which hooks were told',
  async (_, lines, setup, expected) => {
    const { test, told } = await record(lines, { mode: 'autonomous', ...setup });
    const recorded = [...told.keys()].flatMap((id) => listFromLog(test, id));
    const name = ({ event, matched }: HookOccasion) => `${event} ${matched ?? ''}`.trim();
    expect(recorded.map(name)).toEqual(expected);
    const live = [...told.values()].flat();
    expect(live.map(name)).toEqual(expected);
    for (const [index, { task, fields }] of recorded.entries()) {
      const { logFile: _own, rootLogFile: _root, ...place } = task;
      expect(live[index]?.task).toMatchObject(place);
      expect(live[index]?.fields).toMatchObject(fields);
    }
  },
);
