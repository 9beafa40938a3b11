import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { startModelServer } from '../harness/model-server.ts';
import { programPath, runProgram } from '../harness/program.ts';
import { PseudoTerminal } from '../harness/pseudo-terminal.ts';
import type { Row } from '../harness/row.ts';
import { quantile } from '../harness/statistics.ts';

const PAINTS = 15;
const ROUNDS = 3;
const CTRL_C = '\u0003';
/** The text at the end of the first picture. */
const HELP = '/help';

/** The terminal UI: the time until it appears, and its cost under load. */
export const terminal: Row = {
  name: 'terminal',
  async measure({ bin }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    return [
      await paintMeasurement(bin, fixture),
      ...(await loadMeasurements(fixture)),
      ...(await scrollMeasurements(fixture)),
      await heapMeasurement(fixture),
    ];
  },
};

async function paintMeasurement(bin: string, fixture: Fixture): Promise<Measurement> {
  await using server = await startModelServer(fixture, [{ answer: { text: 'ok' } }]);
  const env = fixture.environment(fixture.newHome(), {
    ...server.env('anthropic'),
    TERM: 'xterm-256color',
  });
  const paint = async (args: readonly string[], keys: readonly string[]): Promise<number> => {
    await using terminal = new PseudoTerminal(args, { cwd: fixture.workspace, env });
    const drawnAt = await terminal.sees(HELP);
    await terminal.leave(keys);
    return drawnAt - terminal.startedAt;
  };
  const runs = await interleave(PAINTS, {
    reference: () => paint([programPath('one-line.mjs')], []),
    muster: () => paint([bin], [CTRL_C, CTRL_C]),
  });
  return {
    title: 'start → first picture, in a terminal',
    unit: 'ms',
    samples: runs.muster,
    reference: { title: 'Node, one line', samples: runs.reference },
    bound: { kind: 'difference', max: 150, goal: 100 },
  };
}

async function loadMeasurements(fixture: Fixture): Promise<readonly Measurement[]> {
  const runs = await interleave(ROUNDS, {
    reference: () => runLoad('idle', fixture),
    busy: () => runLoad('busy', fixture),
  });
  const keys = runs.busy.map((run) => numbersIn(run, 'keys'));
  const late = runs.reference.map((run) => numbersIn(run, 'late'));
  const load = '20 children × 200 events/s';
  return [
    {
      title: `the UI under ${load}, share of a core`,
      unit: '%',
      samples: runs.busy.map((run) => numberIn(run, 'percent')),
      reference: {
        title: 'the events without a UI',
        samples: runs.reference.map((run) => numberIn(run, 'percent')),
      },
      bound: { kind: 'difference', max: 15, goal: 10 },
    },
    {
      title: `a key → drawn, under ${load}, p95`,
      unit: 'ms',
      samples: keys.map((each) => quantile(each, 0.95)),
      reference: {
        title: 'delay of a timer, without a UI',
        samples: late.map((each) => quantile(each, 0.95)),
      },
      bound: { kind: 'max', max: 50, goal: 20 },
    },
    {
      title: `a key → drawn, under ${load}, slowest`,
      unit: 'ms',
      samples: keys.map((each) => Math.max(...each)),
      reference: {
        title: 'delay of a timer, without a UI',
        samples: late.map((each) => Math.max(...each)),
      },
      bound: { kind: 'max', max: 50, goal: 50 },
    },
  ];
}

async function scrollMeasurements(fixture: Fixture): Promise<readonly Measurement[]> {
  const { scrolled } = await interleave(ROUNDS, { scrolled: () => runLoad('scroll', fixture) });
  const steps = scrolled.map((run) => numbersIn(run, 'steps'));
  return [
    {
      title: 'a page of 10,000 lines → drawn, p95',
      unit: 'ms',
      samples: steps.map((each) => quantile(each, 0.95)),
      bound: { kind: 'max', max: 33, goal: 17 },
      notes: ['the library draws every 16 ms at most'],
    },
    {
      title: 'CPU time per page',
      unit: 'ms',
      samples: scrolled.map((run) => numberIn(run, 'cpuMs')),
      bound: { kind: 'max', max: 5, goal: 2 },
    },
  ];
}

async function heapMeasurement(fixture: Fixture): Promise<Measurement> {
  const run = await runLoad('heap', fixture, ['--expose-gc']);
  const megabytes = (name: string) => [numberIn(run, name) / 1024 / 1024];
  return {
    title: 'heap after 720,000 events at full speed',
    unit: 'MB',
    samples: megabytes('many'),
    reference: { title: 'after 72,000', samples: megabytes('few') },
    bound: { kind: 'ratio', max: 1.1, goal: 1.1 },
  };
}

async function runLoad(
  mode: string,
  fixture: Fixture,
  nodeArgs: readonly string[] = [],
): Promise<unknown> {
  const env = fixture.environment(fixture.newHome());
  const args = [programPath('terminal-load.ts'), mode];
  const { stdout } = await runProgram(args, { cwd: fixture.workspace, env, nodeArgs });
  return JSON.parse(stdout);
}

function numberIn(run: unknown, name: string): number {
  const value = valueIn(run, name);
  if (typeof value === 'number') return value;
  throw new Error(`no number ${name}`);
}

function numbersIn(run: unknown, name: string): readonly number[] {
  const value = valueIn(run, name);
  if (Array.isArray(value) && value.every((each) => typeof each === 'number')) return value;
  throw new Error(`no numbers ${name}`);
}

function valueIn(run: unknown, name: string): unknown {
  const isObject = typeof run === 'object' && run !== null;
  return isObject ? Object.entries(run).find(([key]) => key === name)?.[1] : undefined;
}
