import { dirname, join } from 'node:path';
import { V8_FLAGS } from '../../src/front/cli/tune-compilers.ts';
import {
  childrenOf,
  FAN_OUT_PROMPT,
  fanOutScript,
  MANY_CHILDREN_SETTINGS,
  raisedNote,
  type FanOut,
} from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { exchangesOf, startModelServer } from '../harness/model-server.ts';
import { PROBE_ARGS, readExitReport } from '../harness/probe.ts';
import { programPath, startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 5;
/** Each child answers at once and calls no tool. */
const SHAPE: FanOut = {
  children: 1000,
  coordinators: 0,
  waves: 1,
  turnMs: 100,
  jobs: [{ keyword: 'notes.txt', turns: [] }],
};

/** 1,000 children of one turn through the library, compared with the command line: both use the same code. */
export const library: Row = {
  name: 'library',
  isLong: true,
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const measure = async (args: readonly string[], nodeArgs: readonly string[] = []) => {
      await using server = await startModelServer(fixture, fanOutScript(SHAPE));
      const variables = { ...server.env('anthropic'), ...MANY_CHILDREN_SETTINGS };
      const program = startProgram(args, {
        cwd: fixture.workspace,
        env: fixture.environment(fixture.newHome(), variables),
        nodeArgs: [...PROBE_ARGS, ...nodeArgs],
      });
      const run = succeeded(args, await program.finished);
      // Throws if a child is missing.
      childrenOf(exchangesOf(run, await server.finish()), SHAPE);
      return { wallMs: run.endedAt - run.startedAt, cpuMs: readExitReport(program).cpuMs };
    };
    const index = join(dirname(bin), 'index.js');
    const program = [programPath('library-fan-out.mjs'), index, FAN_OUT_PROMPT];
    const runs = await interleave(rounds ?? ROUNDS, {
      library: () => measure(program),
      // The command line tunes the compilers of V8 (docs/decisions/0018). A library leaves its process as it is.
      tuned: () => measure(program, V8_FLAGS),
      commandLine: () => measure([bin, '-p', FAN_OUT_PROMPT]),
    });
    type Run = (typeof runs.library)[number];
    const compare = (what: string, samples: readonly Run[], valueOf: (run: Run) => number) => ({
      title: `${SHAPE.children} children × 1 turn through the library, ${what}`,
      unit: 'ms' as const,
      samples: samples.map(valueOf),
      reference: { title: 'command line', samples: runs.commandLine.map(valueOf) },
      bound: { kind: 'ratio' as const, max: 1.1, goal: 1 },
      notes: [
        'the full process, in a home in which nothing has run',
        raisedNote(MANY_CHILDREN_SETTINGS),
      ],
    });
    return [
      compare('CPU time', runs.library, ({ cpuMs }) => cpuMs),
      compare('CPU time with the V8 flags of the command line', runs.tuned, ({ cpuMs }) => cpuMs),
      compare('wall time', runs.library, ({ wallMs }) => wallMs),
    ];
  },
};
