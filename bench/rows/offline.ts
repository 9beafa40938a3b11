import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Bound, Measurement } from '../harness/measurement.ts';
import { readExitReport, PROBE_ARGS } from '../harness/probe.ts';
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
  /** The minimum number of progress lines of a cold answer. */
  readonly progress: number;
}

/** A first answer about 5,000 files without any model, and the next one, which has an index of them. */
export const offline: Row = {
  name: 'offline',
  measure: ({ bin }) =>
    measure(bin, {
      files: 5_000,
      rounds: 5,
      cold: { kind: 'max', max: 3_000, goal: 2_000 },
      warm: { kind: 'max', max: 1_000, goal: 700 },
      memory: { kind: 'max', max: 300, goal: 250 },
      progress: 0,
    }),
};

/** The same for 50,000 files. */
export const offlineLarge: Row = {
  name: 'offline-large',
  isLong: true,
  measure: ({ bin }) =>
    measure(bin, {
      files: 50_000,
      rounds: 2,
      cold: { kind: 'max', max: 20_000, goal: 12_000 },
      progress: 4,
    }),
};

async function measure(bin: string, size: Size): Promise<readonly Measurement[]> {
  using fixture = new Fixture();
  writeSourceTree(fixture.workspace, size.files);
  const ask = async (home: string) => {
    const args = [bin, '--model', 'offline', '-p', ASKED_QUESTION];
    const env = fixture.environment(home);
    const program = startProgram(args, { cwd: fixture.workspace, env, nodeArgs: PROBE_ARGS });
    const run = succeeded(args, await program.finished);
    if (!run.stdout.includes(`1. \`${ASKED_FILE}:`)) throw new Error(`not found: ${run.stdout}`);
    const progress = run.stderr.split('code search:').length - 1;
    const { peakMb: mb, cpuMs: cpu } = readExitReport(program);
    return { ms: run.endedAt - run.startedAt, mb, cpu, progress };
  };
  let home = fixture.newHome();
  let bytes = 0;
  const runs = await interleave(size.rounds, {
    read: async () => {
      const args = [programPath('read-tree.mjs'), fixture.workspace];
      const env = fixture.environment(home);
      const run = succeeded(
        args,
        await startProgram(args, { cwd: fixture.workspace, env }).finished,
      );
      bytes = printedNumber(run, 'bytes');
      return { ms: run.endedAt - run.startedAt, mb: 0, cpu: 0, progress: 0 };
    },
    cold: () => ask((home = fixture.newHome())),
    warm: () => ask(home),
  });
  const shown = Math.min(...runs.cold.map(({ progress }) => progress));
  if (shown < size.progress) throw new Error(`${shown} lines of progress, not ${size.progress}`);
  const megabytes = Math.round(bytes / 1e6);
  const over = `over ${size.files.toLocaleString('en')} files, offline`;
  const reading = { title: 'reading them in Node', samples: runs.read.map(({ ms }) => ms) };
  return [
    {
      title: `first answer ${over}`,
      unit: 'ms',
      samples: runs.cold.map(({ ms }) => ms),
      reference: reading,
      bound: size.cold,
      notes: [`${megabytes} MB of sources`, cpuNote(runs.cold)],
    },
    {
      title: `next answer ${over}`,
      unit: 'ms',
      samples: runs.warm.map(({ ms }) => ms),
      reference: reading,
      ...(size.warm === undefined ? {} : { bound: size.warm }),
      notes: [cpuNote(runs.warm)],
    },
    {
      title: `peak memory of a first answer ${over}`,
      unit: 'MB',
      samples: runs.cold.map(({ mb }) => mb),
      ...(size.memory === undefined ? {} : { bound: size.memory }),
    },
  ];
}

/** Unlike elapsed time, CPU time hardly depends on other load on the machine. */
function cpuNote(runs: readonly { readonly cpu: number }[]): string {
  return `${Math.round(median(runs.map(({ cpu }) => cpu)))} ms of CPU time`;
}
