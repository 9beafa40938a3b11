import type { Figure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import { startModelServer } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { programPath, runProgram } from '../harness/program.ts';
import { firstPaint } from '../harness/pseudo-terminal.ts';
import type { Row } from '../harness/row.ts';
import { quantile } from '../harness/statistics.ts';

const PAINTS = 15;
const ROUNDS = 3;
const CTRL_C = '\u0003';
/** Stands at the end of the first picture. */
const HELP = '/help';

/** The terminal UI: how soon it is there, and what it costs while much happens. */
export const terminal: Row = {
  name: 'terminal',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    return [
      await paintFigure(bin, place),
      ...(await loadFigures(place)),
      ...(await scrollFigures(place)),
      await heapFigure(place),
    ];
  },
};

async function paintFigure(bin: string, place: Place): Promise<Figure> {
  await using server = await startModelServer(place, [{ answer: { text: 'ok' } }]);
  const env = place.environment(place.newHome(), {
    ...server.env('anthropic'),
    TERM: 'xterm-256color',
  });
  const paint = (args: readonly string[], keys: readonly string[]) =>
    firstPaint(args, { cwd: place.workspace, env, until: HELP, keys });
  const runs = await interleave(PAINTS, {
    floor: () => paint([programPath('one-line.mjs')], []),
    muster: () => paint([bin], [CTRL_C, CTRL_C]),
  });
  return {
    what: 'start → first picture, in a terminal',
    unit: 'ms',
    samples: runs.muster,
    floor: { what: 'Node, one line', samples: runs.floor },
    bound: { kind: 'above', most: 150, goal: 100 },
  };
}

async function loadFigures(place: Place): Promise<readonly Figure[]> {
  const runs = await interleave(ROUNDS, {
    floor: () => load('idle', place),
    busy: () => load('busy', place),
  });
  const keys = runs.busy.map((run) => numbersIn(run, 'keys'));
  const late = runs.floor.map((run) => numbersIn(run, 'late'));
  const of = '20 children × 200 events/s';
  return [
    {
      what: `the UI at ${of}, of a core`,
      unit: '%',
      samples: runs.busy.map((run) => numberIn(run, 'percent')),
      floor: {
        what: 'the events alone',
        samples: runs.floor.map((run) => numberIn(run, 'percent')),
      },
      bound: { kind: 'above', most: 15, goal: 10 },
    },
    {
      what: `a key → drawn, at ${of}, 95th of 100`,
      unit: 'ms',
      samples: keys.map((each) => quantile(each, 0.95)),
      floor: {
        what: 'a timer, with the events alone',
        samples: late.map((each) => quantile(each, 0.95)),
      },
      bound: { kind: 'most', most: 50, goal: 20 },
    },
    {
      what: 'the same, the slowest',
      unit: 'ms',
      samples: keys.map((each) => Math.max(...each)),
      floor: { what: 'the same', samples: late.map((each) => Math.max(...each)) },
      bound: { kind: 'most', most: 50, goal: 50 },
    },
  ];
}

async function scrollFigures(place: Place): Promise<readonly Figure[]> {
  const { scrolled } = await interleave(ROUNDS, { scrolled: () => load('scroll', place) });
  const steps = scrolled.map((run) => numbersIn(run, 'steps'));
  return [
    {
      what: 'a page of 10,000 lines → drawn, 95th of 100',
      unit: 'ms',
      samples: steps.map((each) => quantile(each, 0.95)),
      bound: { kind: 'most', most: 33, goal: 17 },
      notes: ['the library draws at most every 16 ms'],
    },
    {
      what: 'CPU a page',
      unit: 'ms',
      samples: scrolled.map((run) => numberIn(run, 'cpuMs')),
      bound: { kind: 'most', most: 5, goal: 2 },
    },
  ];
}

async function heapFigure(place: Place): Promise<Figure> {
  const run = await load('heap', place, ['--expose-gc']);
  const megabytes = (name: string) => [numberIn(run, name) / 1024 / 1024];
  return {
    what: 'heap after 720,000 events at full speed',
    unit: 'MB',
    samples: megabytes('many'),
    floor: { what: 'after 72,000', samples: megabytes('few') },
    bound: { kind: 'ratio', most: 1.1, goal: 1.1 },
  };
}

async function load(
  mode: string,
  place: Place,
  nodeArgs: readonly string[] = [],
): Promise<unknown> {
  const env = place.environment(place.newHome());
  const args = [programPath('terminal-load.ts'), mode];
  const { stdout } = await runProgram(args, { cwd: place.workspace, env, nodeArgs });
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
