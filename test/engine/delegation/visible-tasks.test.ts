import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import {
  findVisibleTask,
  findVisibleTasksInText,
} from '../../../src/engine/delegation/visible-tasks.ts';
import { RunningTasks } from '../../../src/engine/task/running-tasks.ts';
import { background, call, calls, eventsOfType, play, textsOf, until, type Turn } from '../play.ts';
import { statesOf, testEngine, type TestEngine } from '../support.ts';

function idOf(test: TestEngine, name: string): string {
  const found = [...statesOf(test.events).values()].find(
    ({ spec }) => spec.prompt.split(' ')[0] === name,
  );
  return found?.spec.id ?? 'missing';
}

/** Creates a call that reads a task without waiting for it. */
function ask(id: string) {
  return calls(call('TaskOutput', { task_id: id, block: false }));
}

const UNREACHABLE = /^TaskOutput: task_id: no task or shell of yours begins with \w+$/;
const REACHED = /^Agent: general-purpose\nStatus: /;

describe('a task can read', () => {
  async function asked(words: (test: TestEngine) => string): Promise<string> {
    let answer = '';
    const other = testEngine(play({}));
    const stranger = other.start('stranger');
    await stranger.end.written;
    const test: TestEngine = testEngine(
      play({
        main: [calls(background('sibling'), call('Task', { prompt: 'part' }))],
        sibling: [calls(call('Bash', { ms: 100 }))],
        part: [
          calls(background('child')),
          async () => {
            await until(() => idOf(test, 'grandchild') !== 'missing');
            const reference = words(test);
            return ask(reference === 'stranger' ? stranger.spec.id : reference);
          },
          ({ results }) => {
            answer = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
        child: [calls(background('grandchild')), { text: 'waiting' }],
        grandchild: [calls(call('Bash', { ms: 60 }))],
      }),
    );
    await test.start('main').end.written;
    return answer;
  }

  it.each<[string, (test: TestEngine) => string, RegExp]>([
    ['its child', (test) => idOf(test, 'child'), REACHED],
    ['its child by the beginning of the id', (test) => idOf(test, 'child').slice(0, 8), REACHED],
    ['its grandchild', (test) => idOf(test, 'grandchild'), REACHED],
    ['not itself', (test) => idOf(test, 'part'), UNREACHABLE],
    ['not its parent', (test) => idOf(test, 'main'), UNREACHABLE],
    ['not its sibling', (test) => idOf(test, 'sibling'), UNREACHABLE],
    ['not a task of another tree', () => 'stranger', UNREACHABLE],
    ['not a task that does not exist', () => 'nobody000000', UNREACHABLE],
    [
      'no task by an id in capitals',
      (test) => `${idOf(test, 'child').toUpperCase()}A`,
      UNREACHABLE,
    ],
    ['no task by more than its id', (test) => `${idOf(test, 'child')}0`, UNREACHABLE],
  ])('%s', async (_, words, expected) => {
    expect(await asked(words)).toMatch(expected);
  });
});

describe('a task that was given an id', () => {
  /** Returns the answer that `worker` gets about the task `secret`, after the id was passed to it in one of these ways. */
  async function told(parts: {
    readonly prompt?: (secret: string) => string;
    readonly message?: (secret: string) => string;
    readonly child?: (turn: Turn, secret: string) => string;
  }): Promise<string> {
    let answer = '';
    let asks = false;
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('secret')),
          () => {
            const prompt = parts.prompt?.(idOf(test, 'secret')) ?? 'nothing';
            return calls(background(`worker ${prompt}`));
          },
          () => {
            asks = parts.message === undefined;
            const message = parts.message?.(idOf(test, 'secret')) ?? 'nothing';
            return calls(call('TaskSend', { to: idOf(test, 'worker'), message }));
          },
          () => {
            asks = true;
            return { text: 'waiting' };
          },
        ],
        secret: [{ text: 'done' }],
        worker: [
          calls(call('Task', { prompt: 'teller' })),
          async () => {
            await until(() => asks);
            return ask(idOf(test, 'secret'));
          },
          ({ results }) => {
            answer = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
        teller: [(turn) => ({ text: parts.child?.(turn, idOf(test, 'secret')) ?? 'nothing' })],
      }),
    );
    await test.start('main').end.written;
    return answer;
  }

  it.each<[string, Parameters<typeof told>[0], RegExp]>([
    ['can read that task because of its prompt', { prompt: (id) => `Look at (${id}).` }, REACHED],
    ['can read that task because of a message', { message: (id) => `see "${id}"` }, REACHED],
    [
      'cannot read that task because of the beginning of the id',
      { prompt: (id) => id.slice(0, 10) },
      UNREACHABLE,
    ],
    [
      'cannot read that task because of the result of a child',
      { child: (_, id) => `reach ${id}` },
      UNREACHABLE,
    ],
    ['cannot read that task if it was not given the id', {}, UNREACHABLE],
  ])('%s', async (_, parts, expected) => {
    expect(await told(parts)).toMatch(expected);
  });

  it('gets no access that the sender does not have itself', async () => {
    let handed: readonly string[] | undefined;
    const test: TestEngine = testEngine(
      play({
        main: [calls(background('secret')), () => calls(call('Task', { prompt: 'part' }))],
        part: [
          () => {
            const own = idOf(test, 'part');
            return calls(
              call('Task', { prompt: `deep ${idOf(test, 'secret')} ${idOf(test, 'main')} ${own}` }),
            );
          },
        ],
        deep: [
          ({ request }) => {
            expect(textsOf(request)[0]).toContain(idOf(test, 'secret'));
            handed = eventsOfType(test, 'task.created', idOf(test, 'deep'))[0]?.spec.handed;
            return { text: 'done' };
          },
        ],
      }),
    );
    await test.start('main').end.written;
    expect(handed).toEqual([]);
  });

  it('gets no access to itself when its parent names it', async () => {
    let answer = '';
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          (turn) =>
            calls(call('TaskSend', { to: turn.child(0), message: `You are ${turn.child(0)}.` })),
        ],
        part: [
          calls(call('Bash', { ms: 30 })),
          () => calls(call('TaskStop', { task_id: idOf(test, 'part') })),
          ({ results }) => {
            answer = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
      }),
    );
    await test.start('main').end.written;
    expect(answer).toMatch(/^TaskStop: task_id: no task or shell of yours begins with /);
  });
});

it('a text without ids makes no task visible, and no task is looked up for it', async () => {
  const run = testEngine(play({})).start('main');
  await run.end.written;
  const state = {
    ...run.state,
    get children(): never {
      throw new Error('all children were looked at');
    },
  };
  const words = 'implementation of everything, abcdefgh0123';
  expect(findVisibleTasksInText(words, { state, tree: run.tree }, new RunningTasks())).toEqual([]);
});

describe('the beginning of several ids', () => {
  const running = new RunningTasks();

  async function find(reference: string, ids: readonly string[]) {
    const run = testEngine(play({})).start('main');
    await run.end.written;
    const child = {
      callId: 'call',
      background: true,
      status: 'completed',
      below: [],
      receipt: null,
    } as const;
    for (const id of ids) run.state.children.set(id, { ...child });
    const found = findVisibleTask(run, running, { field: 'to', reference });
    return found instanceof MusterError ? found.toInfo() : found;
  }

  const SAME = ['same00000001', 'same00000002', 'same00000003', 'same00000004', 'same00000005'];

  it.each([
    [
      'same0000000',
      SAME.slice(0, 2),
      'to: same0000000 is the beginning of same00000001, same00000002; give more of the id',
    ],
    [
      's',
      [...SAME, 'same00000006', 'same00000007'],
      `to: s is the beginning of ${SAME.join(', ')} and 2 more; give more of the id`,
    ],
  ])('%s is an error that names them', async (reference, ids, message) => {
    expect(await find(reference, ids)).toEqual({
      code: 'INVALID_PARAM',
      message,
      retryable: false,
    });
  });

  it('is no problem if it is itself an id', async () => {
    expect(await find('same0000', ['same0000', 'same00000001'])).toEqual({
      kind: 'task',
      id: 'same0000',
    });
  });

  it('is repeated only in part if it is not an id at all', async () => {
    expect(await find('x'.repeat(10_000), SAME)).toEqual({
      code: 'NOT_FOUND',
      message: `to: no task or shell of yours begins with ${'x'.repeat(64)}`,
      retryable: false,
    });
  });
});
