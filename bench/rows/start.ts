import type { Figure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import { exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { programPath, runProgram, type FinishedProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 15;

/** From the start of the process to the arrival of its first request at the server. */
export const start: Row = {
  name: 'start',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    await using server = await startModelServer(place, [{ answer: { text: 'ok' } }]);
    const warmHome = place.newHome();
    const run = (args: readonly string[], home: string) =>
      runProgram(args, {
        cwd: place.workspace,
        env: place.environment(home, server.env('anthropic')),
      });
    const muster = [bin, '-p', 'Hello.'];
    const runs = await interleave(ROUNDS, {
      floor: () => run([programPath('one-fetch.mjs'), server.url], warmHome),
      warm: () => run(muster, warmHome),
      cold: () => run(muster, place.newHome()),
    });
    const exchanges = await server.finish();
    const floor = { what: 'Node, one fetch', samples: delays(runs.floor, exchanges) };
    return [
      {
        what: 'start → first request, warm',
        unit: 'ms',
        samples: delays(runs.warm, exchanges),
        floor,
        bound: { kind: 'ratio', most: 1.5, goal: 1.25 },
      },
      {
        what: 'the same, nothing compiled yet',
        unit: 'ms',
        samples: delays(runs.cold, exchanges),
        floor,
      },
    ];
  },
};

function delays(
  runs: readonly FinishedProgram[],
  exchanges: readonly Exchange[],
): readonly number[] {
  return runs.map((run) => exchangesOf(run, exchanges)[0].receivedAt - run.startedAt);
}
