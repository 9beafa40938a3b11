import type { Bound, Figure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import { Place } from '../harness/place.ts';
import { exitReport, PROBED } from '../harness/probe.ts';
import { printedNumber, programPath, startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { ASKED_FILE, ASKED_QUESTION, writeSourceTree } from '../harness/source-tree.ts';
import { median } from '../harness/statistics.ts';

interface Size {
  readonly files: number;
  readonly rounds: number;
  readonly cold: Bound;
  readonly warm?: Bound;
  readonly memory?: Bound;
  /** Lines of progress that a cold answer is to show. */
  readonly progress: number;
}

/** A first answer over 5,000 files without any model, and the next one, which knows them. */
export const offline: Row = {
  name: 'offline',
  measure: ({ bin }) =>
    measure(bin, {
      files: 5_000,
      rounds: 5,
      cold: { kind: 'most', most: 3_000, goal: 2_000 },
      warm: { kind: 'most', most: 1_000, goal: 700 },
      memory: { kind: 'most', most: 300, goal: 250 },
      progress: 0,
    }),
};

/** The same over 50,000. */
export const offlineLarge: Row = {
  name: 'offline-large',
  long: true,
  measure: ({ bin }) =>
    measure(bin, {
      files: 50_000,
      rounds: 2,
      cold: { kind: 'most', most: 20_000, goal: 12_000 },
      progress: 4,
    }),
};

async function measure(bin: string, size: Size): Promise<readonly Figure[]> {
  using place = new Place();
  writeSourceTree(place.workspace, size.files);
  const ask = async (home: string) => {
    const args = [bin, '--model', 'offline', '-p', ASKED_QUESTION];
    const env = place.environment(home);
    const program = startProgram(args, { cwd: place.workspace, env, nodeArgs: PROBED });
    const run = succeeded(args, await program.finished);
    if (!run.stdout.includes(`1. \`${ASKED_FILE}:`)) throw new Error(`not found: ${run.stdout}`);
    const progress = run.stderr.split('code search:').length - 1;
    const { peakMb: mb, cpuMs: cpu } = exitReport(program);
    return { ms: run.endedAt - run.startedAt, mb, cpu, progress };
  };
  let home = place.newHome();
  let bytes = 0;
  const runs = await interleave(size.rounds, {
    read: async () => {
      const args = [programPath('read-tree.mjs'), place.workspace];
      const env = place.environment(home);
      const run = succeeded(args, await startProgram(args, { cwd: place.workspace, env }).finished);
      bytes = printedNumber(run, 'bytes');
      return { ms: run.endedAt - run.startedAt, mb: 0, cpu: 0, progress: 0 };
    },
    cold: () => ask((home = place.newHome())),
    warm: () => ask(home),
  });
  const shown = Math.min(...runs.cold.map(({ progress }) => progress));
  if (shown < size.progress) throw new Error(`${shown} lines of progress, not ${size.progress}`);
  const megabytes = Math.round(bytes / 1e6);
  const over = `over ${size.files.toLocaleString('en')} files, offline`;
  const reading = { what: 'reading them in Node', samples: runs.read.map(({ ms }) => ms) };
  return [
    {
      what: `first answer ${over}`,
      unit: 'ms',
      samples: runs.cold.map(({ ms }) => ms),
      floor: reading,
      bound: size.cold,
      notes: [`${megabytes} MB of sources`, cpuNote(runs.cold)],
    },
    {
      what: `next answer ${over}`,
      unit: 'ms',
      samples: runs.warm.map(({ ms }) => ms),
      floor: reading,
      ...(size.warm === undefined ? {} : { bound: size.warm }),
      notes: [cpuNote(runs.warm)],
    },
    {
      what: `peak memory of a first answer ${over}`,
      unit: 'MB',
      samples: runs.cold.map(({ mb }) => mb),
      ...(size.memory === undefined ? {} : { bound: size.memory }),
    },
  ];
}

/** Unlike the time it hardly depends on what else the machine does. */
function cpuNote(runs: readonly { readonly cpu: number }[]): string {
  return `${Math.round(median(runs.map(({ cpu }) => cpu)))} ms of CPU time`;
}
