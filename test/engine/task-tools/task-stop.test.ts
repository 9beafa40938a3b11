import { describe, expect, it } from 'vitest';
import { background, call, calls, eventsOfType, play, toldTo, until, type Turn } from '../play.ts';
import { statesOf, testEngine, type TestEngine } from '../support.ts';

const LONG = { text: 'first finding', calls: [call('Bash', { ms: 60_000 })] };
const runsBash = (test: TestEngine, id: string) =>
  test.engine.task(id)?.state.activity.kind === 'tools';

function stop(id: string) {
  return calls(call('TaskStop', { task_id: id }));
}

function endOf(test: TestEngine, id: string) {
  return eventsOfType(test, 'task.ended', id).at(-1);
}

describe('TaskStop', () => {
  it('ends a running task, keeps its results so far, says who stopped it, and is reported once', async () => {
    let main = '';
    let child = '';
    let text = '';
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            child = turn.child(0);
            await until(() => runsBash(test, child));
            return stop(child.slice(0, 9));
          },
          ({ results }) => {
            text = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
        part: [LONG],
      }),
    );
    const run = test.start('main');
    main = run.spec.id;
    await run.end.written;
    const because = `task ${main} stopped it`;
    expect(endOf(test, child)).toMatchObject({
      end: {
        status: 'stopped',
        error: { code: 'CANCELLED', message: because, retryable: false },
        because,
        by: 'parent',
      },
      result: 'first finding',
    });
    expect(text.split('\n\n').slice(0, 3)).toEqual([
      `Task ${child} is stopped.`,
      `The task ended as stopped: CANCELLED: ${because}. What it had found so far:`,
      'first finding',
    ]);
    expect(toldTo(test, 'main').filter((each) => each.includes('first finding')).length).toBe(1);
    expect(test.model.requests.length).toBe(4);
  });

  it('removes a task that waits for a slot from the queue', async () => {
    let child = '';
    let text = '';
    // Each message has a command beside the call. Without it the main agent would release the only slot.
    const busy = call('Bash', { ms: 20 });
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part'), busy),
          (turn) => {
            child = turn.child(0);
            return calls(call('TaskStop', { task_id: child }), busy);
          },
          ({ results }) => {
            text = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
      }),
      { settings: { maxParallel: 1 } },
    );
    await test.start('main').end.written;
    expect(text).toContain(`Task ${child} is stopped.`);
    expect(endOf(test, child)?.end.status).toBe('stopped');
    expect(eventsOfType(test, 'turn.started', child)).toEqual([]);
  });

  it('reports a task that has ended with its result, which is not reported again', async () => {
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            await until(() => test.engine.task(turn.child(0)) === undefined);
            return stop(turn.child(0));
          },
        ],
        part: [{ text: 'the answer' }],
      }),
    );
    await test.start('main').end.written;
    const told = toldTo(test, 'main').filter((text) => text.includes('the answer'));
    expect(told).toEqual([expect.stringMatching(/^Task \w+ had ended before\.\n\nthe answer/)]);
  });

  it('stops all descendants', async () => {
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            await until(
              () =>
                [...statesOf(test.events)].filter(
                  ([, { activity }]) =>
                    activity.kind === 'tools' && activity.running.includes('Bash'),
                ).length === 2,
            );
            return stop(turn.child(0));
          },
        ],
        part: [calls(call('Task', { prompt: 'deep' }), background('deeper'))],
        deep: [LONG],
        deeper: [LONG],
      }),
    );
    const run = test.start('main');
    await run.end.written;
    const states = [...statesOf(test.events).values()];
    expect(states.map(({ spec, status }) => [spec.prompt, status]).toSorted()).toEqual([
      ['deep', 'stopped'],
      ['deeper', 'stopped'],
      ['main', 'completed'],
      ['part', 'stopped'],
    ]);
    expect(states.map(({ end }) => end?.by)).toContain('parent');
  });

  it('stops a visible foreground task of its parent, and the parent learns who did it', async () => {
    let part = '';
    let results: Turn['results'] = [];
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          (turn) => {
            part = /\[task (\w+)/.exec(turn.results[0]?.text ?? '')?.[1] ?? '';
            return calls(
              call('Task', { prompt: 'go on', resume: part }),
              call('Task', { prompt: `watch ${part}` }),
            );
          },
          (turn) => {
            ({ results } = turn);
            return { text: 'done' };
          },
        ],
        part: [{ text: 'first answer' }, LONG],
        watch: [
          async () => {
            await until(() => runsBash(test, part));
            return stop(part);
          },
          { text: 'stopped it' },
        ],
      }),
    );
    const run = test.start('main');
    await run.end.written;
    const [resumed, watched] = results;
    expect(resumed).toMatchObject({ isError: true });
    expect(resumed?.text).toMatch(/^The task ended as stopped: CANCELLED: task \w+ stopped it\. /);
    expect(resumed?.text).toContain('first finding');
    expect(watched?.text).toContain('stopped it');
    expect(run.state.status).toBe('completed');
  });

  it('of two tasks on each other at the same time ends both', async () => {
    const ids: string[] = [];
    let ready = 0;
    const both = Promise.withResolvers<void>();
    const stopsOther = (other: number) => async () => {
      const isHanded = (id: string) => test.engine.task(id)?.state.handed.size === 1;
      await until(() => ids.length === 2 && ids.every(isHanded));
      ready += 1;
      if (ready === 2) both.resolve();
      await both.promise;
      return stop(ids[other] ?? '');
    };
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('a'), background('b')),
          (turn) => {
            ids.push(turn.child(0), turn.child(1));
            const [a = '', b = ''] = ids;
            return calls(
              call('TaskSend', { to: a, message: `There is ${b}.` }),
              call('TaskSend', { to: b, message: `There is ${a}.` }),
            );
          },
          { text: 'waiting' },
        ],
        a: [stopsOther(1)],
        b: [stopsOther(0)],
      }),
    );
    const run = test.start('main');
    await run.end.written;
    const ends = eventsOfType(test, 'task.ended').map(({ task, end }) => [task, end.status]);
    // A task that was stopped before its own call began does not stop the other task, which then completes.
    expect([
      ['completed', 'completed', 'stopped'],
      ['completed', 'stopped', 'stopped'],
    ]).toContainEqual(ends.map(([, status]) => status).toSorted());
  });
});
