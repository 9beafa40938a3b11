import { describe, expect, it } from 'vitest';
import { stopOrder } from '../../src/engine/task/stop-order.ts';
import { call, calls, eventsOfType, play, requestsOf, until } from './play.ts';
import { testEngine, type TestEngine } from './support.ts';

const ALL = { maxRights: <T>(rights: T) => rights };

function childId(test: TestEngine, index = 0): string {
  return eventsOfType(test, 'child.created')[index]?.child ?? '';
}

/** Returns the texts of the newest request of a task. */
function lastAsked(test: TestEngine, name: string): string {
  return JSON.stringify(requestsOf(test, name).at(-1)?.messages);
}

describe('a task below an idle conversation that a person resumes', () => {
  it('and that conversation has answered: it waits without a request, gets a notice of the end, and answers', async () => {
    const test = testEngine(
      play({
        main: [calls(call('Task', { prompt: 'part' })), { text: 'all done' }, { text: 'heard' }],
        part: [{ text: 'one' }, { text: 'two' }],
      }),
    );
    await test.start('main').end.written;
    const child = childId(test);
    const asked = requestsOf(test, 'main').length;
    const [root] = test.events;
    const again = await test.engine.resume(root?.task ?? '', {
      ...ALL,
      prompt: null,
      below: { id: child, prompt: 'and the rest?' },
    });
    await again.end.written;
    expect(again.state).toMatchObject({ status: 'completed', result: 'heard' });
    expect(requestsOf(test, 'main').length).toBe(asked + 1);
    expect(lastAsked(test, 'part')).toContain('and the rest?');
    expect(lastAsked(test, 'main')).toContain(`Result: two`);
    expect(lastAsked(test, 'main')).not.toContain('Go on with the task.');
    expect(eventsOfType(test, 'turn.interrupted')).toEqual([]);
  });

  it('and that conversation was stopped: its interrupted calls are not run again', async () => {
    const test = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          calls(call('Bash', { ms: 60_000 })),
          { text: 'heard' },
        ],
        part: [{ text: 'one' }, { text: 'two' }],
      }),
    );
    const run = test.start('main');
    await until(() => run.state.activity.kind === 'tools' && run.state.turns === 2);
    run.stop(stopOrder('user', 'enough'));
    await run.end.written;
    const below = { id: childId(test) };
    const again = await test.engine.resume(run.spec.id, { ...ALL, prompt: null, below });
    await again.end.written;
    expect(again.state).toMatchObject({ status: 'completed', result: 'heard' });
    expect(lastAsked(test, 'part')).toContain('Go on with the task.');
    expect(lastAsked(test, 'main')).toContain('Result: two');
  });

  it('is refused if it is not below the conversation, which changes nothing', async () => {
    const test = testEngine(play({ main: [{ text: 'done' }] }));
    const run = test.start('main');
    await run.end.written;
    const other = test.start('other');
    await other.end.written;
    const before = test.events.length;
    const below = { id: other.spec.id };
    await expect(
      test.engine.resume(run.spec.id, { ...ALL, prompt: null, below }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(test.events.slice(before).map(({ type }) => type)).toEqual(['task.claimed']);
  });
});
