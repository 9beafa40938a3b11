import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { readBoard } from '../../../src/engine/task/tree-board.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { BoardFinding } from '../../../src/protocol/board.ts';
import { createBranch } from '../../../src/replay/create-branch.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import type { ScriptedCall } from '../../scripted-model.ts';
import { KillableStore, type Death } from '../killable-store.ts';
import { calls, eventsOfType, play, until } from '../play.ts';
import { randomRuns } from '../random-runs.ts';
import { eventsOf, rewound } from '../rewind/world.ts';
import { SETTINGS, testEngine, WORKER, type TestEngine } from '../support.ts';

const FINDER: AgentDefinition = {
  ...WORKER,
  name: 'finder',
  tools: { mode: 'allow', names: ['Board', 'Task'] },
};
const SETUP = { agent: FINDER, agents: [FINDER] } as const;

/** Calls have the same ids in each process, as with a real model that continues a conversation. */
function post(title: string): ScriptedCall {
  const input = { action: 'post', title, text: `about ${title}` };
  return { name: 'Board', id: `post-${title.replaceAll(/\W/g, '-')}`, input };
}

function spawn(prompt: string): ScriptedCall {
  return { name: 'Task', id: `task-${prompt}`, input: { prompt, subagent_type: 'finder' } };
}

/** The number of findings that each child posts, in each of two rounds of the main agent. */
interface Plan {
  readonly first: readonly number[];
  readonly second: readonly number[];
}

const counts = fc.array(fc.nat({ max: 3 }), { maxLength: 4 });
const plans = fc.record<Plan>({ first: counts, second: counts });

function scriptOf({ first, second }: Plan) {
  const children = (round: string, posts: readonly number[]) =>
    posts.map((count, at) => [`${round}${at}`, titlesOf(`${round}${at}`, count)] as const);
  const both = [...children('a', first), ...children('b', second)];
  return play({
    main: [
      calls(...first.map((_, at) => spawn(`a${at}`)), post('main a')),
      calls(...second.map((_, at) => spawn(`b${at}`)), post('main b')),
      { text: 'ended' },
      calls(post('main c')),
    ],
    ...Object.fromEntries(
      both.map(([name, titles]) => [name, titles.map((title) => calls(post(title)))]),
    ),
  });
}

function titlesOf(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${name}.${at}`);
}

function expectedTitles({ first, second }: Plan): readonly string[] {
  const of = (round: string, posts: readonly number[]) =>
    posts.flatMap((count, at) => titlesOf(`${round}${at}`, count));
  return ['main a', 'main b', ...of('a', first), ...of('b', second)].toSorted();
}

async function resume(store: TaskStore, id: string, plan: Plan, prompt: string | null) {
  const test = testEngine(scriptOf(plan), { ...SETUP, store });
  const maxRights = <T>(rights: T): T => rights;
  const run = await test.engine.resume(id, { prompt, maxRights });
  await run.end.written;
  return run.tree.board.list();
}

function sortedTitles(board: readonly BoardFinding[]): readonly string[] {
  return board.map(({ title }) => title).toSorted();
}

/** Plays a plan in a process that dies as given. Returns the id of the main task. */
async function playUntilDeath(store: TaskStore, plan: Plan, death: Death): Promise<string> {
  const killable = new KillableStore(store, death, async () => {});
  const test = testEngine(scriptOf(plan), {
    ...SETUP,
    store: killable.store,
    onFault: (thrown) => {
      if (!killable.isDead) throw thrown;
    },
  });
  const run = test.start('main');
  let hasEnded = false;
  void run.end.written.then(() => (hasEnded = true));
  await until(() => hasEnded || killable.isDead);
  return run.spec.id;
}

const RUNS = randomRuns(25);

it(
  'has every post once and in a stable order, wherever the process is killed',
  RUNS.test,
  async () => {
    const deaths = fc.record({
      batch: fc.integer({ min: 2, max: 60 }),
      several: fc.constant(false),
      kept: fc.nat({ max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(plans, deaths, async (plan, death) => {
        const store = openMemoryStore();
        const id = await playUntilDeath(store, plan, death);
        const left = readBoard(store, [id]);
        const hasEnded = eventsOf(store, id).some(({ type }) => type === 'task.ended');
        const board = hasEnded ? left : await resume(store, id, plan, null);
        expect(sortedTitles(board)).toEqual(expectedTitles(plan));
        expect(board.map(({ number }) => number)).toEqual(board.map((_, at) => at + 1));
        expect(board.slice(0, left.length)).toEqual(left);
        expect(readBoard(store, [id])).toEqual(board);
        const later = await resume(store, id, plan, 'go on');
        expect(later.slice(0, -1)).toEqual(board);
        expect(later.at(-1)).toMatchObject({ title: 'main c', number: board.length + 1 });
        await store.close();
      }),
      RUNS.runs,
    );
  },
);

const PLAN: Plan = { first: [1, 0], second: [2] };

async function played(): Promise<{ readonly test: TestEngine; readonly id: string }> {
  let last = 0;
  // A branch decides by time, so no two events may have the same time.
  const now = () => (last = Math.max(last + 1, systemClock.now()));
  const store = openMemoryStore({ clock: { ...systemClock, now } });
  const test = testEngine(scriptOf(PLAN), { ...SETUP, store });
  const run = test.start('main');
  await run.end.written;
  return { test, id: run.spec.id };
}

/** Returns the number of the event after which the main task sends its second request. */
function endOfFirstRound(store: TaskStore, id: string): number {
  const second = eventsOf(store, id).find(
    (event) => event.type === 'turn.started' && event.turn === 2,
  );
  return (second?.seq ?? 0) - 1;
}

it('loses with a rewind what was posted after it, also by the tasks that it cuts off', async () => {
  const { test, id } = await played();
  const { store } = test;
  const before = readBoard(store, [id]);
  await rewound(store, id, { to: endOfFirstRound(store, id) });
  const after = readBoard(store, [id]);
  expect(sortedTitles(before)).toEqual(['a0.0', 'b0.0', 'b0.1', 'main a', 'main b']);
  expect(after).toEqual(before.filter(({ title }) => ['a0.0', 'main a'].includes(title)));
});

it('copies for a branch what was on the board then, with the ids and authors', async () => {
  const { test, id } = await played();
  const { store } = test;
  const before = readBoard(store, [id]);
  const at = endOfFirstRound(store, id);
  const branch = await createBranch(store, { id, at, hasPrompt: true });
  const kept = before.filter(({ title }) => ['a0.0', 'main a'].includes(title));
  expect(readBoard(store, [branch.id])).toEqual(kept);
  const again = await createBranch(store, {
    id: branch.id,
    at: eventsOf(store, branch.id).length - 1,
    hasPrompt: true,
  });
  expect(readBoard(store, [again.id])).toEqual(kept);
  expect(readBoard(store, [id])).toEqual(before);
});

it('is the same in a rerun, which writes what the log has', async () => {
  const { test, id } = await played();
  const { store } = test;
  const tools = mapToolsByName({ store, settings: SETTINGS }, []);
  const { tasks, lost } = await rerunTree({ store, settings: SETTINGS, tools }, id);
  expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
  expect(lost).toEqual([]);
  expect(tasks).toHaveLength(4);
});

it('gets what a task posted in another process when the task is resumed here', async () => {
  const store = openMemoryStore();
  const posting = play({ child: [{ text: 'ended' }, calls(post('posted elsewhere'))] });
  let child = '';
  const test = testEngine(
    play({
      main: [
        calls(post('first'), spawn('child')),
        async () => {
          child = eventsOfType(test, 'child.created')[0]?.child ?? '';
          const other = testEngine(posting, { ...SETUP, store });
          const maxRights = <T>(rights: T): T => rights;
          await (
            await other.engine.resume(child, { prompt: 'go on', maxRights })
          ).end.written;
          return calls(post('second'));
        },
        () => calls({ name: 'Task', id: 'again', input: { prompt: 'and now', resume: child } }),
        calls(post('third')),
      ],
    }),
    { ...SETUP, store },
  );
  const run = test.start('main');
  await run.end.written;
  const board = run.tree.board.list();
  expect(sortedTitles(board)).toEqual(['first', 'posted elsewhere', 'second', 'third']);
  expect(board.map(({ number }) => number)).toEqual([1, 2, 2, 3]);
  expect(readBoard(store, [run.spec.id])).toEqual(board);
});

it('leaves out a log that is lost', async () => {
  const { test, id } = await played();
  const { store } = test;
  const [child] = eventsOfType(test, 'child.created').map((event) => event.child);
  await store.delete([child ?? '']);
  expect(sortedTitles(readBoard(store, [id]))).toEqual(['b0.0', 'b0.1', 'main a', 'main b']);
});
