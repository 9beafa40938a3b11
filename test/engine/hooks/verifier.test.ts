import { expect, it } from 'vitest';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import type { Rights } from '../../../src/protocol/permission.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { KillableStore } from '../killable-store.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import type {
  HookAnswer,
  HookEventName,
  HookOccasion,
  HookPort,
} from '../../../src/protocol/hook.ts';
import type { ScriptedAnswer } from '../../scripted-model.ts';
import { SpanFold } from '../../../src/telemetry/span-fold.ts';
import { call, calls, eventsOfType, play, requestsOf, until } from '../play.ts';
import {
  SETTINGS,
  statesOf,
  testEngine,
  waitTool,
  type EngineSetup,
  type TestEngine,
} from '../support.ts';

const USER = { kind: 'user', where: '~/.claude/settings.json' } as const;

/** Hooks that have a subagent answer at some events, and the answers that they got. */
function askingHooks(
  events: readonly HookEventName[],
  { signal }: { readonly signal?: AbortSignal } = {},
): HookPort & { readonly answers: HookAnswer[]; readonly occasions: HookOccasion[] } {
  const answers: HookAnswer[] = [];
  const occasions: HookOccasion[] = [];
  return {
    answers,
    occasions,
    has: (event) => events.includes(event),
    beginSession: () => false,
    run: async (occasion, ended) => {
      occasions.push(occasion);
      if (occasion.task.isVerifier === true) return { context: [], records: [] };
      const signals = signal === undefined ? [ended] : [ended, signal];
      const answer = await occasion.askAgent?.({ prompt: 'check it' }, AbortSignal.any(signals));
      if (answer !== undefined) answers.push(answer);
      const objects = answer?.ok === true && answer.text.includes('"ok":false');
      if (!objects) return { context: [], records: [] };
      if (occasion.event === 'Stop') return { block: 'not yet', context: [], records: [] };
      const verdict = { verdict: 'deny', reason: 'no', source: USER } as const;
      return { verdict, context: [], records: [] };
    },
  };
}

const says = (value: object): ScriptedAnswer => ({ text: JSON.stringify(value) });
const wait = (ms: number) => call('Bash', { ms });

function start(parts: Parameters<typeof play>[0], hooks: HookPort, setup: EngineSetup = {}) {
  const test = testEngine(play(parts), { mode: 'autonomous', hooks, ...setup });
  return { test, main: test.start('main') };
}

async function expectSameRerun({ store }: TestEngine, id: string): Promise<void> {
  const parts = { store, settings: SETTINGS };
  const source = { ...parts, tools: mapToolsByName(parts, [waitTool]) };
  const { tasks } = await rerunTree(source, id);
  expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
}

it('answers as a child of the task, read-only, and its costs count there', async () => {
  const hooks = askingHooks(['PreToolUse']);
  const { test, main } = start(
    { main: [calls(wait(1), wait(2))], check: [calls(wait(3)), says({ ok: false, reason: 'no' })] },
    hooks,
  );
  await main.end.written;
  const refused = { ok: true, text: '{"ok":false,"reason":"no"}' };
  expect(hooks.answers).toEqual([refused, refused]);
  const children = eventsOfType(test, 'child.ended', main.spec.id);
  expect(children.map(({ status }) => status)).toEqual(['completed', 'completed']);
  const states = statesOf(test.events);
  const [child] = children.flatMap(({ child: id }) => states.get(id) ?? []);
  expect(child?.spec).toMatchObject({
    parent: main.spec.id,
    source: 'hook',
    agent: { name: 'verify-hook' },
    rights: { mode: 'plan', refusesQuestions: true },
    tools: ['Bash'],
    limits: { maxTurns: 50 },
  });
  // The command of the subagent would change something, so it was refused and nobody was asked.
  expect(eventsOfType(test, 'call.refused', child?.spec.id)).toHaveLength(1);
  expect(eventsOfType(test, 'question.asked')).toEqual([]);
  expect(eventsOfType(test, 'call.refused', main.spec.id)).toHaveLength(2);
  // It is told of its own calls like any task.
  expect(hooks.occasions.filter(({ task }) => task.isVerifier === true)).toHaveLength(2);
  await expectSameRerun(test, main.spec.id);
});

it('has a span below that of its task', async () => {
  const { test, main } = start({ check: [says({ ok: true })] }, askingHooks(['Stop']));
  await main.end.written;
  const fold = new SpanFold({ content: false });
  const spans = test.events.flatMap((event) => fold.apply(event));
  const [own, verifier] = ['invoke_agent main', 'invoke_agent verify-hook'].map((name) =>
    spans.filter((span) => span.name === name),
  );
  expect(verifier).toMatchObject([{ parentSpanId: own?.[0]?.spanId, traceId: own?.[0]?.traceId }]);
  expect(own).toHaveLength(1);
});

it('lets a task end or go on, and needs no slot that its task holds', async () => {
  const hooks = askingHooks(['PreToolUse', 'Stop']);
  let answers = 0;
  const { test, main } = start(
    {
      main: [calls(wait(1), wait(2), wait(3)), { text: 'one' }, { text: 'two' }],
      check: [() => says({ ok: (answers += 1) !== 4 })],
    },
    hooks,
    { settings: { maxParallel: 1 } },
  );
  await main.end.written;
  expect(main.state.end?.status).toBe('completed');
  expect(hooks.answers.map((answer) => answer.ok && answer.text)).toEqual([
    '{"ok":true}',
    '{"ok":true}',
    '{"ok":true}',
    '{"ok":false}',
    '{"ok":true}',
  ]);
  expect(requestsOf(test, 'main')).toHaveLength(3);
  await expectSameRerun(test, main.spec.id);
});

it('works at the greatest depth, and says which limit keeps it from working', async () => {
  const hooks = askingHooks(['Stop']);
  const { main } = start({ check: [says({ ok: true })] }, hooks, { settings: { maxDepth: 0 } });
  await main.end.written;
  expect(hooks.answers).toEqual([{ ok: true, text: '{"ok":true}' }]);

  const limited = askingHooks(['Stop']);
  const { main: other } = start({}, limited, { settings: { treeTurns: 1 } });
  await other.end.written;
  expect(limited.answers).toEqual([{ ok: false, problem: expect.stringContaining('= 1') }]);
  expect(other.state.end?.status).toBe('completed');
});

it('does not use up the tasks of the tree', async () => {
  const hooks = askingHooks(['PreToolUse']);
  const delegate = (prompt: string) => call('Task', { prompt, description: prompt });
  const { test, main } = start(
    {
      main: [calls(wait(1)), calls(delegate('one')), calls(delegate('two'))],
      one: [calls(wait(1))],
    },
    hooks,
    { settings: { maxTasks: 1 } },
  );
  await main.end.written;
  // A guard has looked at each of the four calls.
  expect(hooks.answers).toHaveLength(4);
  const ended = eventsOfType(test, 'call.ended', main.spec.id).map(({ error }) => error);
  expect(ended).toEqual([null, null, 'LIMIT_EXCEEDED']);

  const answered = Array.from({ length: 4 }, () => ({ text: 'before' }));
  const again = testEngine(play({ main: [...answered, calls(delegate('three'))] }), {
    mode: 'autonomous',
    settings: { maxTasks: 2 },
    store: test.store,
  });
  const terms = { prompt: 'go on', maxRights: (rights: Rights) => rights };
  const resumed = await again.engine.resume(main.spec.id, terms);
  await resumed.end.written;
  expect(eventsOfType(again, 'child.ended')).toMatchObject([{ status: 'completed' }]);
  await expectSameRerun(again, main.spec.id);
});

it('that gives no valid answer leaves the hook without one', async () => {
  const hooks = askingHooks(['Stop']);
  const { main } = start({ check: [{ text: 'maybe' }, { text: 'yes' }, { text: 'no' }] }, hooks);
  await main.end.written;
  expect(hooks.answers).toEqual([
    { ok: false, problem: expect.stringMatching(/^its task \w+ gave no answer: /) },
  ]);
});

it('ends with its hook', async () => {
  const stop = new AbortController();
  const hooks = askingHooks(['Stop'], stop);
  const { test, main } = start({ check: [{ text: 'late', delayMs: 60_000 }] }, hooks, {
    onFault: () => {},
  });
  await until(() => requestsOf(test, 'check').length === 1);
  stop.abort();
  await main.end.written;
  expect(eventsOfType(test, 'child.ended')).toMatchObject([{ status: 'stopped' }]);
});

/**
 * Runs a task whose hooks have a subagent answer, in a process that dies at this batch of events, and resumes it. Returns the
 * test that resumed it with the resumed task; null if the process did not die.
 */
async function survive(batch: number) {
  const script = { main: [calls(wait(1)), { text: 'done' }], check: [says({ ok: true })] };
  const disk = openMemoryStore({});
  const mortal = new KillableStore(disk, { batch, several: false, kept: 0 }, async () => {});
  const hooks = () => askingHooks(['PreToolUse', 'Stop']);
  const first = start(script, hooks(), { store: mortal.store, onFault: () => {} });
  await Promise.race([first.main.end.written, until(() => mortal.isDead)]);
  if (!mortal.isDead) return null;
  const second = testEngine(play(script), { mode: 'autonomous', hooks: hooks(), store: disk });
  const terms = { prompt: null, maxRights: (rights: Rights) => rights };
  const resumed = await second.engine.resume(first.main.spec.id, terms);
  await resumed.end.written;
  return { test: second, resumed };
}

it('whose process has ended is stopped, and the hook asks again', async () => {
  const seen = new Set<string>();
  for (let batch = 2; ; batch += 1) {
    const survived = await survive(batch);
    if (survived === null) break;
    const { test, resumed } = survived;
    expect([batch, resumed.state.status]).toEqual([batch, 'completed']);
    for (const [id, { status }] of resumed.state.children) {
      seen.add(String(status));
      const end = test.store.exists(id) ? foldLog(test.store, id).end?.status : 'failed';
      expect([batch, end]).toEqual([batch, status]);
    }
    await expectSameRerun(test, resumed.spec.id);
  }
  expect(seen).toEqual(new Set(['completed', 'stopped', 'failed']));
});
