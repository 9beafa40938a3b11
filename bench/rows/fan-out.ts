import { PARALLEL_SETTINGS } from '../harness/delegation-runs.ts';
import { idealMs, raisedNote, turnCount, type FanOut } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { answeredAt } from '../harness/model-server.ts';
import type { Row } from '../harness/row.ts';
import { measureSilentChildren } from '../harness/silent-children.ts';
import { median } from '../harness/statistics.ts';

const ROUNDS = 7;
const SHAPE: FanOut = { children: 64, coordinators: 0, waves: 1, turnMs: 200 };
const IDEAL_MS = idealMs(SHAPE);

/** 64 children at the same time, compared with a client that sends the same requests and does nothing else. */
export const fanOut: Row = {
  name: 'fan-out',
  canCompare: true,
  async measure(options): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const setup = { fixture, shape: SHAPE, settings: PARALLEL_SETTINGS };
    const runs = await measureSilentChildren(setup, {
      ...options,
      rounds: options.rounds ?? ROUNDS,
    });
    const turns = runs.client.flatMap(({ children }) => children.flat());
    const turnMs = median(turns.map((turn) => answeredAt(turn) - turn.receivedAt));
    const title = `${SHAPE.children} children × ${turnCount(SHAPE)} turns of ${SHAPE.turnMs} ms`;
    return [
      {
        title,
        unit: 'ms',
        samples: runs.current.map((run) => run.elapsedMs),
        baseline: runs.baseline.map((run) => run.elapsedMs),
        reference: {
          title: 'keep-alive client',
          samples: runs.client.map((run) => run.elapsedMs),
        },
        bound: { kind: 'difference', max: 0.35 * IDEAL_MS, goal: 0.15 * IDEAL_MS },
        notes: [
          `ideal ${IDEAL_MS} ms; the server took ${turnMs.toFixed(0)} ms for a turn of the keep-alive client`,
          raisedNote(PARALLEL_SETTINGS),
        ],
      },
      {
        title: `${title}, CPU time of the process`,
        unit: 'ms',
        samples: runs.current.map((run) => run.cpuMs),
        baseline: runs.baseline.map((run) => run.cpuMs),
        reference: { title: 'keep-alive client', samples: runs.client.map((run) => run.cpuMs) },
      },
    ];
  },
};
