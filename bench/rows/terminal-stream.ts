import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { startModelServer } from '../harness/model-server.ts';
import {
  CAN_MEASURE_CPU_TIME,
  cpuTimeOfEndedChildren,
  cpuTimeOfTree,
} from '../harness/processes.ts';
import { runProgram } from '../harness/program.ts';
import { PseudoTerminal } from '../harness/pseudo-terminal.ts';
import type { Row } from '../harness/row.ts';
import { median } from '../harness/statistics.ts';

const ROUNDS = 3;
const PIECES = 1_000;
const PIECE_MS = 10;
const STREAM_MS = PIECES * PIECE_MS;
const IDLE_MS = 5_000;
const KEY_MS = 211;
/** A character that nothing else draws, so that it is seen when the key is drawn. */
const KEY = '§';
const START_HINT = '/help';
const LEAVE = ['\u0003', '\u0003', '\u0003'];

/** The cost of drawing an answer while it arrives, with the built program. */
export const terminalStream: Row = {
  name: 'terminal-stream',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    if (!CAN_MEASURE_CPU_TIME) throw new Error('CPU time can be measured on Linux only');
    using fixture = new Fixture();
    const answer = { text: answerText(), chunks: PIECES, chunkMs: PIECE_MS };
    await using server = await startModelServer(fixture, [{ answer }]);
    const env = fixture.environment(fixture.newHome(), {
      ...server.env('anthropic'),
      TERM: 'xterm-256color',
    });
    const options = { cwd: fixture.workspace, env };
    const delays: number[] = [];
    const runs = await interleave(rounds ?? ROUNDS, {
      plain: () => shareOfCore(async () => void (await runProgram([bin, '-p', 'Go'], options))),
      screen: () =>
        shareOfCore(async () => {
          delays.push(...(await streamOnScreen(bin, options)));
        }),
    });
    return [
      {
        title: 'an answer of 100 pieces/s, drawn, share of a core',
        unit: '%',
        samples: runs.screen,
        reference: { title: 'the same run with -p', samples: runs.plain },
        bound: { kind: 'difference', max: 10, goal: 5 },
      },
      {
        title: 'a key → drawn, meanwhile',
        unit: 'ms',
        samples: delays,
        bound: { kind: 'max', max: 16, goal: 16 },
      },
      {
        title: `the UI idle for ${IDLE_MS / 1000} s, CPU time`,
        unit: 'ms',
        samples: [await idleCpuTime(bin, options)],
        bound: { kind: 'max', max: 10, goal: 0 },
      },
    ];
  },
};

type Options = ConstructorParameters<typeof PseudoTerminal>[1];

/** Words, code and lists, as in usual answers. */
function answerText(): string {
  const part =
    'The limit is in `src/retry.ts`, **three** times:\n\n1. in the loop\n2. in the test\n';
  const code = '\n```ts\nexport const RETRIES = 3;\nfor (const each of all) visit(each);\n```\n\n';
  return (part + code).repeat(60);
}

/** The CPU time of a run divided by the time in which the answer arrives, in percent. */
async function shareOfCore(run: () => Promise<void>): Promise<number> {
  const before = cpuTimeOfEndedChildren();
  await run();
  return ((cpuTimeOfEndedChildren() - before) / STREAM_MS) * 100;
}

/** Shows the answer in the UI. Resolves to the times from a key to its picture, in milliseconds. */
async function streamOnScreen(bin: string, options: Options): Promise<readonly number[]> {
  await using terminal = new PseudoTerminal([bin], options);
  await terminal.sees(START_HINT);
  terminal.type('Go\r');
  const delays: number[] = [];
  const endsAt = performance.now() + STREAM_MS - KEY_MS;
  while (performance.now() < endsAt) {
    await sleep(KEY_MS);
    const typedAt = performance.timeOrigin + performance.now();
    const seen = terminal.sees(KEY);
    terminal.type(KEY);
    delays.push((await seen) - typedAt);
  }
  await terminal.leave(LEAVE);
  return [median(delays)];
}

async function idleCpuTime(bin: string, options: Options): Promise<number> {
  await using terminal = new PseudoTerminal([bin], options);
  await terminal.sees(START_HINT);
  // The work of the start ends before the measurement begins.
  await sleep(2_000);
  const before = cpuTimeOfTree(terminal.pid);
  await sleep(IDLE_MS);
  const used = cpuTimeOfTree(terminal.pid) - before;
  await terminal.leave(LEAVE);
  return used;
}
