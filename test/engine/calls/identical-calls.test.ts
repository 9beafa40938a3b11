import { describe, expect, test } from 'vitest';
import { call, calls, eventsOfType, play, toldTo } from '../play.ts';
import { testEngine, waitTool } from '../support.ts';

const same = call('Bash', { ms: 0 });

describe('at most ten identical calls run', () => {
  test('in one answer', async () => {
    const engine = testEngine(play({ main: [calls(...Array.from({ length: 14 }, () => same))] }));
    await engine.start('main').end.written;
    expect(eventsOfType(engine, 'call.ended')).toHaveLength(10);
    expect(toldTo(engine, 'main').slice(11)).toEqual(
      Array.from(
        { length: 4 },
        () =>
          'Not run: this very call was made 10 times in a row (limit identical_calls = 10). Do something else, or give your final answer.',
      ),
    );
  });

  test('in answers with several calls each', async () => {
    const seven = calls(...Array.from({ length: 7 }, () => same));
    const engine = testEngine(play({ main: Array.from({ length: 20 }, () => seven) }));
    const run = engine.start('main');
    await run.end.written;
    expect(eventsOfType(engine, 'call.ended')).toHaveLength(10);
    expect(Object.fromEntries(run.state.faults)).toEqual({ repeated_call: expect.any(Number) });
    expect(run.state).toMatchObject({
      status: 'partial',
      end: { error: { code: 'LIMIT_EXCEEDED' } },
    });
  });

  test('even if each result differs', async () => {
    let count = 0;
    const engine = testEngine(() => (count < 50 ? { calls: [same] } : { text: 'enough' }), {
      tools: [{ ...ticking(), name: 'Bash' }],
    });
    const run = engine.start('main');
    await run.end.written;
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
