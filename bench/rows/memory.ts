import type { Figure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import { startModelServer } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { exitReport, PROBED } from '../harness/probe.ts';
import { programPath, startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median } from '../harness/statistics.ts';

const ROUNDS = 7;

/** The most memory that a run of one turn ever holds: the process's maximum resident set. */
export const memory: Row = {
  name: 'memory',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    await using server = await startModelServer(place, [{ answer: { text: 'ok' } }]);
    const env = place.environment(place.newHome(), server.env('anthropic'));
    const peak = async (args: readonly string[]): Promise<number> => {
      const program = startProgram(args, { cwd: place.workspace, env, nodeArgs: PROBED });
      succeeded(args, await program.finished);
      return exitReport(program).peakMb;
    };
    const peaks = await interleave(ROUNDS, {
      floor: () => peak([programPath('nothing.mjs')]),
      fetch: () => peak([programPath('one-fetch.mjs'), server.url]),
      muster: () => peak([bin, '-p', 'Hello.']),
    });
    await server.close();
    return [
      {
        what: 'peak memory of a one-turn run',
        unit: 'MB',
        samples: peaks.muster,
        floor: { what: 'Node, doing nothing', samples: peaks.floor },
        bound: { kind: 'above', most: 80, goal: 50 },
        notes: [`Node with one fetch: ${median(peaks.fetch).toFixed(1)} MB`],
      },
    ];
  },
};
