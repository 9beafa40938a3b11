import { afterEach, describe, expect, it } from 'vitest';
import type {
  HookEventName,
  HookOccasion,
  HookOutcome,
  HookPort,
  LateHookOutcome,
  HookSource,
} from '../../../src/protocol/hook.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import { call, calls, eventsOfType, play, toldTo, until, type Play } from '../play.ts';
import type { Rights } from '../../../src/protocol/permission.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { KillableStore } from '../killable-store.ts';
import { SETTINGS, testEngine, type EngineSetup, type TestEngine } from '../support.ts';

const USER: HookSource = { kind: 'user', where: '~/.claude/settings.json' };
const PROJECT: HookSource = { kind: 'project', where: '.claude/settings.json' };

type Said = Partial<HookOutcome> | undefined;
type Hooks = Partial<Record<HookEventName, (occasion: HookOccasion) => Said>>;

/** Hooks that are functions, and what they were told. */
function scriptedHooks(hooks: Hooks): HookPort & { readonly occasions: HookOccasion[] } {
  const occasions: HookOccasion[] = [];
  const begun = new Set<string>();
  return {
    occasions,
    has: (event) => hooks[event] !== undefined,
    beginSession: ({ id }) => begun.size < begun.add(id).size,
    run: async (occasion) => {
      occasions.push(occasion);
      return { context: [], records: [], ...hooks[occasion.event]?.(occasion) };
    },
  };
}

/** A tool that records what it is called with, and writes the file that its argument names. */
function noteTool(ran: JsonObject[]): AnyTool {
  return {
    name: 'Write',
    kind: 'edit',
    replay: 'opaque',
    description: 'write',
    inputSchema: { type: 'object' },
    parse: (input) => {
      const { path } = input as JsonObject;
      return typeof path === 'string'
        ? { ok: true, input }
        : { ok: false, issues: ['path must be a text'] };
    },
    describe: ({ path }: { path: string }) => ({
      reads: [],
      writes: [path],
      commands: [],
      hosts: [],
    }),
    run: async (input: JsonObject) => {
      ran.push(input);
      return { text: `wrote ${String(input['path'])}` };
    },
  };
}

const write = (path: string) => call('Write', { path });

function start(lines: Play, hooks: Hooks, setup: EngineSetup = {}) {
  const ran: JsonObject[] = [];
  const port = scriptedHooks(hooks);
  const test: TestEngine = testEngine(play(lines), {
    mode: 'default',
    root: '/work',
    tools: [noteTool(ran)],
    hooks: port,
    ...setup,
  });
  started.push(test);
  return { test, ran, hooks: port, main: test.start('main') };
}

const started: TestEngine[] = [];

// No hook runs in a rerun, which finds what they said in the logs.
afterEach(async () => {
  for (const { store, events } of started.splice(0)) {
    const parts = { store, settings: SETTINGS };
    const source = { ...parts, tools: mapToolsByName(parts, [noteTool([])]) };
    const { tasks } = await rerunTree(source, events[0]?.task ?? '');
    expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
  }
});

it('an ignored permission is reported once for each hook', async () => {
  const record = { what: './allow.sh', outcome: 'ok', code: 0, ms: 1, ignoredAllow: true } as const;
  const said = { context: [], records: [{ ...record, source: PROJECT }] };
  const { test, main } = start(
    { main: [calls(write('/work/a'), write('/work/b'))] },
    { PreToolUse: () => said },
    { mode: 'acceptEdits' },
  );
  await main.end.written;
  const warnings = eventsOfType(test, 'warning').map(({ message }) => message);
  expect(warnings).toEqual([
    expect.stringMatching(
      /^the hook \.\/allow\.sh \(\.claude\/settings\.json\) allowed a call, which has no effect/,
    ),
  ]);
});

describe('hooks before a call', () => {
  it.each<[string, HookSource, Said, EngineSetup, 'ran' | RegExp]>([
    ['say nothing', USER, undefined, { mode: 'acceptEdits' }, 'ran'],
    [
      'refuse',
      PROJECT,
      { verdict: { verdict: 'deny', reason: 'not on Fridays', source: PROJECT } },
      { mode: 'autonomous' },
      /^Refused, nothing was done\. A hook of \.claude\/settings\.json refuses this call: not on Fridays\./,
    ],
    [
      'want a question where a mode allows',
      PROJECT,
      { verdict: { verdict: 'ask', reason: 'look first', source: PROJECT } },
      { mode: 'autonomous' },
      /A hook of \.claude\/settings\.json wants this call to be asked about: look first\. Nobody is here/,
    ],
    [
      'allow what only the default of the tool asks about',
      USER,
      { verdict: { verdict: 'allow', reason: 'fine', source: USER } },
      {},
      'ran',
    ],
    [
      'allow what a mode allows anyway',
      USER,
      { verdict: { verdict: 'allow', reason: 'fine', source: USER } },
      { mode: 'autonomous' },
      'ran',
    ],
    [
      'allow what an ask rule asks about',
      USER,
      { verdict: { verdict: 'allow', reason: 'fine', source: USER } },
      { ask: ['Write'] },
      /The ask rule `Write`/,
    ],
  ])('that %s', async (_, _source, said, setup, result) => {
    const { test, ran, main } = start(
      { main: [calls(write('/work/a'))] },
      { PreToolUse: () => said },
      setup,
    );
    await main.end.written;
    const isGranted =
      said?.verdict?.verdict === 'allow' && setup.mode !== 'autonomous' && result === 'ran';
    expect(eventsOfType(test, 'call.granted')).toMatchObject(
      isGranted ? [{ tool: 'Write', by: 'user', hook: USER }] : [],
    );
    if (result === 'ran') expect(ran).toEqual([{ path: '/work/a' }]);
    else {
      expect(ran).toEqual([]);
      expect(eventsOfType(test, 'call.refused').map(({ text }) => text)).toEqual([
        expect.stringMatching(result),
      ]);
    }
  });

  it('change the arguments, which are then decided about', async () => {
    const { test, ran, main } = start(
      { main: [calls(write('/work/a'), write('/work/b'), write('/work/c'))] },
      {
        PreToolUse: ({ fields }) => {
          const { path } = fields['tool_input'] as JsonObject;
          if (path === '/work/a') return { updatedInput: { path: '/work/other' } };
          if (path === '/work/b') return { updatedInput: { path: '/etc/passwd' } };
          return path === '/work/c' ? { updatedInput: { path: 1 } } : undefined;
        },
      },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    expect(ran).toEqual([{ path: '/work/other' }]);
    expect(eventsOfType(test, 'call.started').map(({ input }) => input)).toEqual([
      { path: '/work/other' },
    ]);
    expect(
      eventsOfType(test, 'call.refused')
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual([
      'A hook has changed the arguments of this call. Write: path must be a text',
      expect.stringContaining('/etc/passwd'),
    ]);
  });

  it.each<[string, readonly Said[], 'ran' | RegExp]>([
    [
      'that another hook has changed, and refuse them',
      [
        { updatedInput: { path: '/work/b' } },
        { verdict: { verdict: 'deny', reason: 'b is closed', source: USER } },
      ],
      /^Refused, nothing was done\. A hook of ~\/\.claude\/settings\.json refuses this call: b is closed\./,
    ],
    [
      'that another hook has changed, and say nothing',
      [{ updatedInput: { path: '/work/b' } }],
      'ran',
    ],
    [
      'that another hook has changed to the same ones',
      [{ updatedInput: { path: '/work/b' } }, { updatedInput: { path: '/work/b' } }],
      'ran',
    ],
    [
      'that another hook has changed, and change them again, which refuses the call',
      [{ updatedInput: { path: '/work/b' } }, { updatedInput: { path: '/work/c' } }],
      /^A hook has changed the arguments of this call\. Several hooks change its arguments/,
    ],
  ])('see arguments %s', async (_, rounds, result) => {
    let round = 0;
    const changedBy = { source: PROJECT, what: './change.sh' };
    const { test, ran, hooks, main } = start(
      { main: [calls(write('/work/a'))] },
      {
        PreToolUse: () => {
          const said = rounds[round];
          round += 1;
          return said?.updatedInput === undefined ? said : { ...said, changedBy };
        },
      },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    expect(hooks.occasions.map(({ fields, without }) => [fields['tool_input'], without])).toEqual([
      [{ path: '/work/a' }, undefined],
      [{ path: '/work/b' }, changedBy],
    ]);
    expect(ran).toEqual(result === 'ran' ? [{ path: '/work/b' }] : []);
    expect(eventsOfType(test, 'call.refused').map(({ text }) => text)).toEqual(
      result === 'ran' ? [] : [expect.stringMatching(result)],
    );
  });

  it('see arguments that a hook before a question has changed', async () => {
    const { ran, hooks, main } = start(
      { main: [calls(write('/work/a'))] },
      {
        PreToolUse: ({ fields }) => {
          const { path } = fields['tool_input'] as JsonObject;
          const verdict = { verdict: 'deny', reason: 'closed', source: USER } as const;
          return path === '/work/other' ? { verdict } : undefined;
        },
        PermissionRequest: () => ({
          updatedInput: { path: '/work/other' },
          verdict: { verdict: 'allow', reason: 'fine', source: USER },
        }),
      },
    );
    await main.end.written;
    expect(ran).toEqual([]);
    expect(hooks.occasions.map(({ event }) => event)).toEqual([
      'PreToolUse',
      'PermissionRequest',
      'PreToolUse',
    ]);
  });

  it('are told of the call and its task', async () => {
    const { hooks, main, test } = start(
      {
        main: [calls(call('Task', { prompt: 'part', description: 'part' }))],
        part: [calls(write('/work/a'))],
      },
      { PreToolUse: () => undefined },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    const [child] = eventsOfType(test, 'child.created');
    expect(
      hooks.occasions.map(({ matched, task, fields }) => ({ matched, task, fields })),
    ).toMatchObject([
      { matched: 'Task', task: { id: main.spec.id, parentId: null, depth: 0 } },
      {
        matched: 'Write',
        task: {
          id: child?.child,
          rootId: main.spec.id,
          parentId: main.spec.id,
          agentType: 'general-purpose',
          depth: 1,
          mode: 'acceptEdits',
        },
        fields: { tool_name: 'Write', tool_input: { path: '/work/a' } },
      },
    ]);
  });
});

describe('hooks before a question', () => {
  const allow = { verdict: 'allow', reason: 'fine', source: USER } as const;
  const ask = { verdict: 'ask', reason: 'look first', source: PROJECT } as const;
  const other = { path: '/work/other' };

  it.each<[string, Partial<Record<HookEventName, Said>>, EngineSetup, 'ran' | RegExp]>([
    [
      'allow it with other arguments',
      { PermissionRequest: { verdict: allow, updatedInput: other } },
      {},
      'ran',
    ],
    [
      'change its arguments alone',
      { PermissionRequest: { updatedInput: other } },
      {},
      /Nobody is here/,
    ],
    [
      'allow it with arguments that an ask rule asks about',
      { PermissionRequest: { verdict: allow, updatedInput: other } },
      { ask: ['Write'] },
      /The ask rule `Write`/,
    ],
    [
      'allow it with arguments outside of the roots',
      { PermissionRequest: { verdict: allow, updatedInput: { path: '/etc/passwd' } } },
      {},
      /\/etc\/passwd/,
    ],
    [
      'change its arguments to wrong ones',
      { PermissionRequest: { verdict: allow, updatedInput: { path: 1 } } },
      {},
      /^A hook has changed the arguments of this call\. Write: path must be a text$/,
    ],
    [
      'allow it although another hook asks',
      { PreToolUse: { verdict: ask }, PermissionRequest: { verdict: allow, updatedInput: other } },
      { mode: 'acceptEdits' },
      /wants this call to be asked about: look first/,
    ],
    [
      'change its arguments after another hook has allowed the former ones',
      { PreToolUse: { verdict: allow }, PermissionRequest: { updatedInput: other } },
      { ask: ['Write'] },
      /The ask rule `Write`/,
    ],
  ])('%s', async (_, said, setup, result) => {
    const { test, ran, main } = start(
      { main: [calls(write('/work/a'))] },
      Object.fromEntries(Object.entries(said).map(([event, each]) => [event, () => each])),
      setup,
    );
    await main.end.written;
    expect(ran).toEqual(result === 'ran' ? [other] : []);
    expect(eventsOfType(test, 'call.started').map(({ input }) => input)).toEqual(ran);
    expect(eventsOfType(test, 'call.refused').map(({ text }) => text)).toEqual(
      result === 'ran' ? [] : [expect.stringMatching(result)],
    );
  });
});

describe('hooks after a call', () => {
  it('add to its result, and are told what failed', async () => {
    const { test, hooks, main } = start(
      { main: [calls(write('/work/a'), call('Write', { path: '/work/b' }))] },
      {
        PreToolUse: () => ({ context: ['before'] }),
        PostToolUse: () => ({ block: 'format it </notice>', context: ['more'] }),
      },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    expect(toldTo(test, 'main')[1]).toBe(
      'wrote /work/a\n[A hook says: before]\n[A hook says: format it </notice>]\n[A hook says: more]',
    );
    expect(hooks.occasions.at(-1)?.fields).toMatchObject({
      tool_name: 'Write',
      tool_response: { text: 'wrote /work/b' },
    });
    const [ended] = eventsOfType(test, 'call.ended');
    expect(ended?.nonce).toBeDefined();
  });
});

describe('hooks after all calls of an answer', () => {
  it('are told once of all of them, and add to the next request', async () => {
    const { test, hooks, main } = start(
      { main: [calls(write('/work/a'), call('Write', { path: 1 })), calls(write('/work/c'))] },
      {
        PreToolUse: ({ fields }) =>
          fields['tool_use_id'] === undefined ? {} : { updatedInput: { path: '/work/b' } },
        PostToolBatch: () => ({ context: ['run the tests'] }),
      },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    const batches = hooks.occasions.filter(({ event }) => event === 'PostToolBatch');
    const call1 = {
      tool_name: 'Write',
      tool_input: { path: '/work/b' },
      tool_response: 'wrote /work/b',
    };
    expect(batches.map(({ matched, fields }) => [matched, fields])).toMatchObject([
      [
        null,
        {
          tool_calls: [
            call1,
            {
              tool_name: 'Write',
              tool_input: { path: 1 },
              tool_response: 'Write: path must be a text',
            },
          ],
        },
      ],
      [null, { tool_calls: [call1] }],
    ]);
    expect(
      toldTo(test, 'main')
        .join('\n')
        .match(/A hook says: run the tests/g),
    ).toHaveLength(2);
  });

  it('end the task by a refusal', async () => {
    const { test, main } = start(
      { main: [calls(write('/work/a'))] },
      { PostToolBatch: () => ({ block: 'that is enough' }) },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    expect(test.model.requests).toHaveLength(1);
    expect(main.state.end).toMatchObject({
      status: 'stopped',
      because: expect.stringContaining('that is enough'),
    });
  });
});

describe('hooks that nobody waits for', () => {
  const late: LateHookOutcome = {
    event: 'PostToolUse',
    outcome: {
      context: ['3 tests fail'],
      records: [{ source: USER, what: './test.sh', outcome: 'ok', code: 0, ms: 9 }],
    },
  };
  /** Hooks that have said this when the task asks for it. */
  const lateHooks = (
    said: LateHookOutcome[],
  ): HookPort & { readonly occasions: HookOccasion[] } => ({
    ...scriptedHooks({ PostToolUse: () => undefined }),
    takeLate: () => said.splice(0),
  });

  it('add to the next request, and are recorded', async () => {
    const said: LateHookOutcome[] = [];
    const { test, main } = start(
      {
        main: [
          () => {
            said.push(late);
            return calls(write('/work/a'));
          },
        ],
      },
      {},
      { hooks: lateHooks(said), mode: 'acceptEdits' },
    );
    await main.end.written;
    expect(toldTo(test, 'main').join('\n')).toContain('A hook says: 3 tests fail');
    expect(eventsOfType(test, 'hook.ran')).toMatchObject([{ ...late, about: null }]);
  });

  it('wake a task that waits', async () => {
    const said: LateHookOutcome[] = [];
    const hooks = lateHooks(said);
    const { test, main } = start(
      {
        main: [
          calls(
            write('/work/a'),
            call('Task', { prompt: 'slow', description: 'slow', run_in_background: true }),
          ),
          { text: 'waiting' },
          () => {
            said.push(late);
            return { text: 'seen' };
          },
        ],
        slow: [() => until(() => said.length > 0).then(() => ({ text: 'done' }))],
      },
      {},
      { hooks, mode: 'acceptEdits' },
    );
    await until(() => eventsOfType(test, 'turn.ended', main.spec.id).length === 2);
    said.push(late);
    hooks.occasions.find(({ task }) => task.id === main.spec.id)?.wake?.();
    await main.end.written;
    const told = toldTo(test, 'main').join('\n');
    expect(told.indexOf('3 tests fail')).toBeLessThan(told.indexOf('Ended in the background'));
    expect(told).toContain('3 tests fail');
  });
});

describe('hooks of messages', () => {
  it('add context, and refuse a message, which ends the task', async () => {
    const { test, main } = start(
      {},
      { UserPromptSubmit: ({ fields }) => ({ context: [`seen ${String(fields['prompt'])}`] }) },
    );
    await main.end.written;
    expect(toldTo(test, 'main').join('\n')).toContain('<notice>A hook says: seen main</notice>');

    const refused = start({}, { UserPromptSubmit: () => ({ block: 'no secrets' }) });
    await refused.main.end.written;
    expect(refused.test.model.requests).toEqual([]);
    expect(eventsOfType(refused.test, 'task.ended')).toMatchObject([
      { end: { status: 'stopped', because: expect.stringContaining('no secrets') } },
    ]);
  });
});

describe('an interruption by the user', () => {
  it('ends hooks, and nothing is sent that they have not judged', async () => {
    const judged: string[] = [];
    const hooks: HookPort = {
      has: (event) => event === 'UserPromptSubmit',
      beginSession: () => false,
      run: ({ fields }, signal) => {
        judged.push(String(fields['prompt']));
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ context: [], records: [] }));
        });
      },
    };
    const { test, main } = start({}, {}, { hooks, isUserPresent: true, onAsk: 'wait' });
    await until(() => judged.length === 1);
    test.engine.interrupt(main.spec.id);
    await main.end.written;
    expect([judged, test.model.requests]).toEqual([['main'], []]);
    expect(main.state.status).toBe('stopped');
  });
});

describe('hooks of the end', () => {
  it('make a task go on, at most 25 times', async () => {
    const active: unknown[] = [];
    const { test, main } = start(
      {},
      {
        Stop: ({ fields }) => {
          active.push(fields['stop_hook_active']);
          return { block: 'not yet' };
        },
      },
    );
    await main.end.written;
    expect(active).toEqual([false, ...Array.from({ length: 25 }, () => true)]);
    expect(eventsOfType(test, 'turn.ended')).toHaveLength(26);
    expect(eventsOfType(test, 'warning')).toMatchObject([
      { message: expect.stringContaining('limit stop_hook_rounds = 25') },
    ]);
    expect(main.state.status).toBe('completed');
  });

  it('come once for each start of a subagent, whatever ended it', async () => {
    const { hooks, main, test } = start(
      {
        main: [
          calls(
            call('Task', { prompt: 'good', description: 'good' }),
            call('Task', { prompt: 'stuck', description: 'stuck' }),
          ),
        ],
        stuck: [{ text: 'late', delayMs: 60_000 }],
      },
      { SubagentStart: () => ({ context: ['hello'] }), SubagentStop: () => undefined },
    );
    await until(() => eventsOfType(test, 'task.ended').length === 1);
    const stuck = eventsOfType(test, 'child.created').at(-1)?.child ?? '';
    await until(() => eventsOfType(test, 'turn.started', stuck).length === 1);
    main.stop(stopOrder('user', 'enough'));
    await main.end.written;
    const ids = (name: HookEventName) =>
      hooks.occasions.flatMap(({ event, task }) => (event === name ? [task.id] : []));
    expect(ids('SubagentStop').toSorted()).toEqual(ids('SubagentStart').toSorted());
    expect(ids('SubagentStart')).toHaveLength(2);
    expect(toldTo(test, 'good').join('\n')).toContain('A hook says: hello');
  });

  it('that end a task stop it with their reason', async () => {
    const { main } = start(
      { main: [calls(write('/work/a')), calls(write('/work/b'))] },
      { PostToolUse: () => ({ stop: 'the budget of today is used up' }) },
      { mode: 'acceptEdits' },
    );
    await main.end.written;
    expect(main.state.end).toMatchObject({
      status: 'stopped',
      because: expect.stringContaining('the budget of today is used up'),
    });
  });
});

/** Runs a subagent in a process that dies at this batch of events, and resumes it. Returns what hooks were told; null if it did not die. */
async function surviveWithSubagent(batch: number) {
  const told: string[] = [];
  const tellUnless = (isOver: () => boolean) => {
    const note = ({ event, task: { id, depth } }: HookOccasion): Said => {
      if (!isOver()) told.push(`${depth} ${id} ${event}`);
      return undefined;
    };
    return scriptedHooks({ SubagentStart: note, SubagentStop: note });
  };
  const delegate = (prompt: string) => calls(call('Task', { prompt, description: prompt }));
  const script = play({ main: [delegate('upper')], upper: [delegate('lower')] });
  const disk = openMemoryStore({});
  const mortal = new KillableStore(disk, { batch, several: false, kept: 0 }, async () => {});
  const setup = { onFault: () => {} };
  const dying = { hooks: tellUnless(() => mortal.isDead), store: mortal.store };
  const main = testEngine(script, { ...setup, ...dying }).start('main');
  await Promise.race([main.end.written, until(() => mortal.isDead)]);
  if (!mortal.isDead) return null;
  const next = { hooks: tellUnless(() => false), store: disk };
  const terms = { prompt: null, maxRights: (rights: Rights) => rights };
  const resumed = await testEngine(script, { ...setup, ...next }).engine.resume(
    main.spec.id,
    terms,
  );
  await resumed.end.written;
  return told;
}

it('a subagent whose process was killed has one start and an end, at every depth', async () => {
  const depths = new Set<string>();
  for (let batch = 2; ; batch += 1) {
    const told = await surviveWithSubagent(batch);
    if (told === null) break;
    const byTask = Map.groupBy(told, (line) => line.split(' ').slice(0, 2).join(' '));
    for (const [task, lines] of byTask) {
      depths.add(task.slice(0, 1));
      const names = lines.map((line) => line.split(' ')[2]).join(' ');
      // The record of an end may be lost with the process, so that hooks are told of it once more.
      expect([batch, names]).toEqual([
        batch,
        expect.stringMatching(/^SubagentStart( SubagentStop){1,2}$/),
      ]);
    }
  }
  expect(depths).toEqual(new Set(['1', '2']));
});
