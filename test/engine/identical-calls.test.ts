import { describe, expect, test } from 'vitest';
import { timesInARow } from '../../src/engine/identical-calls.ts';
import { userMessage, type Message } from '../../src/protocol/message.ts';
import { call, calls, eventsOfType, play, toldTo } from './play.ts';
import { testEngine, waitTool } from './support.ts';

/** One answer a word, one call a letter. */
function conversation(...answers: readonly string[]): readonly Message[] {
  return answers.flatMap((letters, round): readonly Message[] => {
    if (letters === '|') return [userMessage('by the way')];
    if (letters === '!') return [userMessage('<notice>Ended in the background</notice>')];
    const parts = [...letters].map((letter, at) => ({ id: `${round}.${at}`, letter }));
    return [
      {
        role: 'assistant',
        content: parts.map(({ id, letter }) => ({
          type: 'tool_call',
          id,
          name: 'Bash',
          input: { command: letter },
        })),
      },
      {
        role: 'tool',
        content: parts.map(({ id }) => ({
          type: 'tool_result',
          callId: id,
          name: 'Bash',
          text: `result ${id}`,
          isError: false,
        })),
      },
    ];
  });
}

test.each([
  [['a'], [1]],
  [['aaa'], [1, 2, 3]],
  [['a', 'a', 'a'], [3]],
  [
    ['aa', 'aa'],
    [3, 4],
  ],
  [
    ['aa', 'ba'],
    [1, 1],
  ],
  [
    ['ab', 'ba'],
    [2, 1],
  ],
  [['a', 'b', 'a'], [1]],
  [['a', 'a', '|', 'a'], [1]],
  [['a', 'a', '!', 'a', '!', 'a'], [4]],
  [[], []],
])('%j: %j', (answers, times) => {
  const all = [...timesInARow(conversation(...answers), 10).values()];
  expect(all.slice(all.length - times.length)).toEqual(times);
});

const same = call('Bash', { ms: 0 });

describe('ten identical calls are never exceeded', () => {
  test('by one answer', async () => {
    const engine = testEngine(play({ main: [calls(...Array.from({ length: 14 }, () => same))] }));
    await engine.start('main').ended;
    expect(eventsOfType(engine, 'call.ended')).toHaveLength(10);
    expect(toldTo(engine, 'main').slice(11)).toEqual(
      Array.from(
        { length: 4 },
        () =>
          'Not run: this very call was made 10 times in a row (limit identical_calls = 10). Do something else, or give your final answer.',
      ),
    );
  });

  test('by answers of several', async () => {
    const seven = calls(...Array.from({ length: 7 }, () => same));
    const engine = testEngine(play({ main: Array.from({ length: 20 }, () => seven) }));
    const run = engine.start('main');
    await run.ended;
    expect(eventsOfType(engine, 'call.ended')).toHaveLength(10);
    expect(Object.fromEntries(run.state.faults)).toEqual({ repeated_call: expect.any(Number) });
    expect(run.state).toMatchObject({
      status: 'partial',
      end: { error: { code: 'LIMIT_EXCEEDED' } },
    });
  });

  test('where each gives something else', async () => {
    let count = 0;
    const engine = testEngine(() => (count < 50 ? { calls: [same] } : { text: 'enough' }), {
      tools: [{ ...ticking(), name: 'Bash' }],
    });
    const run = engine.start('main');
    await run.ended;
    expect(count).toBe(10);
    expect(run.state.status).toBe('partial');

    function ticking(): typeof waitTool {
      return {
        ...waitTool,
        run: async () => {
          count += 1;
          return { text: `tick ${count}` };
        },
      };
    }
  });
});
