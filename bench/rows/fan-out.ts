import {
  childrenOf,
  elapsed,
  FAN_OUT_PROMPT,
  fanOutScript,
  TURNS,
  writeConversations,
  type FanOut,
} from '../harness/fan-out.ts';
import type { Figure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import {
  answeredAt,
  exchangesOf,
  startModelServer,
  type Exchange,
} from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median } from '../harness/statistics.ts';

const ROUNDS = 7;
const SHAPE: FanOut = { children: 64, coordinators: 0, waves: 1, turnMs: 200 };
const IDEAL_MS = TURNS * SHAPE.turnMs;
const SETTINGS = {
  MUSTER_TASK_TOOL_MAX_PARALLEL: '64',
  MUSTER_PROVIDER_MAX_CONCURRENT: '128',
};

/** 64 children at once, beside a client that sends the same requests and does nothing else. */
export const fanOut: Row = {
  name: 'fan-out',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    const recorded = await record(place, bin);
    await using server = await startModelServer(place, fanOutScript(SHAPE));
    const env = environment(place, server.env('anthropic'));
    const requests = place.path('conversations.json');
    writeConversations(requests, server.url, recorded);
    const run = (args: readonly string[]) => runProgram(args, { cwd: place.workspace, env });
    const runs = await interleave(ROUNDS, {
      floor: () => run([programPath('keep-alive-client.mjs'), requests]),
      muster: () => run([bin, '-p', FAN_OUT_PROMPT]),
    });
    const exchanges = await server.finish();
    const conversations = {
      floor: runs.floor.map((one) => childrenOf(exchangesOf(one, exchanges), SHAPE)),
      muster: runs.muster.map((one) => childrenOf(exchangesOf(one, exchanges), SHAPE)),
    };
    const turns = conversations.floor.flat(2).map((one) => answeredAt(one) - one.receivedAt);
    return [
      {
        what: `${SHAPE.children} children × ${TURNS} turns of ${SHAPE.turnMs} ms`,
        unit: 'ms',
        samples: conversations.muster.map(elapsed),
        floor: { what: 'keep-alive client', samples: conversations.floor.map(elapsed) },
        bound: { kind: 'above', most: 0.35 * IDEAL_MS, goal: 0.15 * IDEAL_MS },
        notes: [
          `ideal ${IDEAL_MS} ms; a turn took the server ${median(turns).toFixed(0)} ms under the bare client`,
          `raised: ${Object.entries(SETTINGS)
            .map((setting) => setting.join('='))
            .join(' ')}`,
        ],
      },
    ];
  },
};

/** One run whose requests the bare client repeats. */
async function record(place: Place, bin: string): Promise<readonly (readonly Exchange[])[]> {
  await using server = await startModelServer(place, fanOutScript(SHAPE));
  const env = environment(place, server.env('anthropic'));
  const run = await runProgram([bin, '-p', FAN_OUT_PROMPT], { cwd: place.workspace, env });
  return childrenOf(exchangesOf(run, await server.finish()), SHAPE);
}

function environment(place: Place, server: Readonly<Record<string, string>>) {
  return place.environment(place.newHome(), { ...server, ...SETTINGS });
}
