import { WIRE_PROTOCOLS, type WireProtocol } from '../../src/testing/wire-request.ts';
import { childrenOf, FAN_OUT_PROMPT, fanOutScript, type FanOut } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { byTask, exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { sharedByNextTurn, sharedBySiblings } from '../harness/prefix-share.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const SHAPE: FanOut = { children: 4, coordinators: 0, waves: 2, turnMs: 0 };

/** The share of a request that a provider's prompt cache can serve, because it was sent before byte for byte. */
export const prefix: Row = {
  name: 'prefix',
  async measure({ bin }): Promise<readonly Measurement[]> {
    const turns: number[] = [];
    const siblings: number[] = [];
    for (const protocol of WIRE_PROTOCOLS) {
      const exchanges = await exchangesWith(protocol, bin);
      for (const task of byTask(exchanges)) turns.push(...turnShares(task));
      siblings.push(...siblingShares(childrenOf(exchanges, SHAPE)));
    }
    const over = `over ${WIRE_PROTOCOLS.join(', ')}`;
    return [
      measurement('request prefix kept between turns', turns, over),
      measurement('the same between siblings, to the last system line', siblings, over),
    ];
  },
};

async function exchangesWith(protocol: WireProtocol, bin: string): Promise<readonly Exchange[]> {
  using fixture = new Fixture();
  await using server = await startModelServer(fixture, fanOutScript(SHAPE));
  const run = await runProgram([bin, '-p', FAN_OUT_PROMPT], {
    cwd: fixture.workspace,
    env: fixture.environment(fixture.newHome(), server.env(protocol)),
  });
  return exchangesOf(run, await server.finish());
}

function turnShares(task: readonly Exchange[]): readonly number[] {
  return task.slice(1).map((later, index) => sharedByNextTurn(task[index] ?? later, later));
}

function siblingShares(tasks: readonly (readonly Exchange[])[]): readonly number[] {
  const [first, ...others] = tasks.flatMap((task) => task.slice(0, 1));
  return first === undefined ? [] : others.map((other) => sharedBySiblings(first, other));
}

/** The sample is the worst pair, not the median. */
function measurement(title: string, shares: readonly number[], over: string): Measurement {
  return {
    title,
    unit: '%',
    samples: [Math.min(...shares)],
    bound: { kind: 'min', min: 100 },
    notes: [`the worst of ${shares.length} pairs ${over}`],
  };
}
