import { describe, expect, it } from 'vitest';
import { background, call, calls, eventsOfType, play, until } from '../play.ts';
import { statesOf, testEngine, waitTool, type TestEngine } from '../support.ts';
import { VirtualTime } from '../virtual-time.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import type { ScriptedAnswer } from '../../scripted-model.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';

const LONG = call('Bash', { ms: 60_000 });
const isAtTools = (test: TestEngine, id: string) =>
  test.engine.task(id)?.state.activity.kind === 'tools';

/** Starts a conversation that runs a long command and waits for a child, with another child in the background. */
async function busy(rest: readonly ScriptedAnswer[] = []) {
  const gate = Promise.withResolvers<void>();
  const test: TestEngine = testEngine(
    play({
      main: [
        calls(background('aside')),
        calls(LONG, call('Task', { description: 'part', prompt: 'waited' })),
        ...rest,
      ],
      waited: [calls(LONG)],
      aside: [
        async () => {
          await gate.promise;
          return { text: 'from aside' };
        },
      ],
    }),
  );
  const main = test.start('main');
  await until(() => [...main.state.children].length === 2);
  const [aside = '', waited = ''] = [...main.state.children.keys()];
  await until(() => isAtTools(test, waited));
  return { test, main, aside, waited, letGo: gate.resolve };
}

describe('interrupting a conversation', () => {
  it('ends its calls and the tasks that it waits for, but not those in the background', async () => {
    const { test, main, aside, waited, letGo } = await busy([{ text: 'heard of it' }]);
    test.engine.interrupt(main.spec.id);
    await until(() => statesOf(test.events).get(waited)?.end !== null);
    await until(() => main.state.conversation.results.size === 2);
    expect(statesOf(test.events).get(waited)?.end).toMatchObject({
      status: 'stopped',
      because: 'the user interrupted it',
      by: 'user',
    });
    expect(main.state).toMatchObject({
      status: 'running',
      activity: { kind: 'waiting_for_children' },
      end: null,
    });
    expect(test.engine.task(aside)?.state.end).toBe(null);
    // Now nothing runs that could be interrupted.
    test.engine.interrupt(main.spec.id);
    expect(eventsOfType(test, 'turn.interrupted', main.spec.id).length).toBe(1);
    letGo();
    await main.end.written;
    expect(main.state).toMatchObject({ status: 'completed', result: 'heard of it' });
    const asked = JSON.stringify(test.model.requests.at(-1)?.messages);
    expect(asked).toContain('The user interrupted you here');
    expect(asked).toContain('from aside');
  });

  it('sends a new request when the person writes, with everything from before the interruption', async () => {
    const { test, main, letGo } = await busy([{ text: 'as you say' }, { text: 'the end' }]);
    test.engine.send(main.spec.id, 'do it like this');
    test.engine.interrupt(main.spec.id);
    await until(() => main.state.result === 'as you say' || main.state.turns === 3);
    expect(JSON.stringify(test.model.requests.at(-1)?.messages)).toContain('do it like this');
    letGo();
    await main.end.written;
    expect(main.state).toMatchObject({ status: 'completed', result: 'the end' });
  });

  it('withdraws a waiting question', async () => {
    const gate = Promise.withResolvers<void>();
    const test: TestEngine = testEngine(
      play({
        main: [calls(background('aside')), calls(call('Bash', { ms: 1 }))],
        aside: [
          async () => {
            await gate.promise;
            return { text: 'done' };
          },
        ],
      }),
      { ask: ['Bash'], onAsk: 'wait' },
    );
    const main = test.start('main');
    await until(() => test.inbox.open().length === 1);
    test.engine.interrupt(main.spec.id);
    gate.resolve();
    await main.end.written;
    expect(test.inbox.open()).toEqual([]);
    expect(eventsOfType(test, 'call.refused', main.spec.id)).toMatchObject([
      { tool: 'Bash', text: 'Not run: the user interrupted it.', error: 'CANCELLED' },
    ]);
  });

  it('that had to kill a call does not count as a kill of a later stop', async () => {
    const time = new VirtualTime();
    const stubborn: AnyTool = {
      ...waitTool,
      run: async () => {
        await time.sleep(60_000);
        return { text: 'late' };
      },
    };
    const aside = Promise.withResolvers<{ readonly text: string }>();
    const test: TestEngine = testEngine(
      play({ main: [calls(background('aside')), calls(LONG)], aside: [() => aside.promise] }),
      { tools: [stubborn], time },
    );
    const main = test.start('main');
    await time.pass(() => isAtTools(test, main.spec.id) && main.state.runningCalls.size === 1);
    test.engine.interrupt(main.spec.id);
    await time.pass(() => main.state.runningCalls.size === 0);
    expect(eventsOfType(test, 'call.ended', main.spec.id).at(-1)?.text).toBe(
      'Stopped: the user interrupted it.',
    );
    const stopped = test.engine.stop(stopOrder('user', 'over'));
    aside.resolve({ text: 'done' });
    await stopped;
    expect(main.state.status).toBe('stopped');
  });

  it('stops the conversation if nothing runs in the background', async () => {
    const test: TestEngine = testEngine(play({ main: [calls(LONG)] }));
    const main = test.start('main');
    await until(() => isAtTools(test, main.spec.id));
    test.engine.interrupt(main.spec.id);
    await main.end.written;
    expect(main.state.end).toMatchObject({ status: 'stopped', because: 'the user stopped it' });
    expect(eventsOfType(test, 'turn.interrupted', main.spec.id)).toEqual([]);
  });

  it('is reported when the conversation is resumed after a stop before its next request', async () => {
    const { test, main, aside, letGo } = await busy([{ text: 'heard of it' }]);
    test.engine.interrupt(main.spec.id);
    await until(() => main.state.conversation.results.size === 2);
    main.stop(stopOrder('user', 'the user stopped it'));
    letGo();
    await main.end.written;
    expect(test.engine.task(aside)).toBe(undefined);
    const again = await test.engine.resume(main.spec.id, {
      prompt: 'go on',
      maxRights: (recorded) => recorded,
    });
    await again.end.written;
    const asked = JSON.stringify(test.model.requests.at(-1)?.messages);
    expect(asked).toContain('The user interrupted you here');
    expect(asked).toContain('go on');
  });

  it('is refused for a task that works for another one', async () => {
    const { test, main, waited, letGo } = await busy();
    letGo();
    expect(() => test.engine.interrupt(waited)).toThrow('stop it instead');
    await test.engine.stop(stopOrder('client', 'over'));
    await main.end.written;
  });
});
