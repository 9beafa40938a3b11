import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rule } from '../../src/testing/rules.ts';
import type { Figure } from '../harness/figure.ts';
import { startModelServer } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { endProcess, isAlive } from '../harness/processes.ts';
import { now, startProgram, type ProgramOptions } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Have some commands run.';
const CHILD_PROMPT = 'Run this command';
const START_MS = 15_000;
/** What lives longer than this is killed by the benchmark and told as having survived. */
const GIVE_UP_MS = 6000;
const POLL_MS = 2;

interface Case {
  readonly what: string;
  readonly rounds: number;
  /** One for each child; each writes the ids of its processes to files named `pid-*`. */
  readonly commands: readonly string[];
  readonly pidFiles: readonly string[];
  readonly mostMs: number;
}

const OBEYING: Case = {
  what: 'SIGINT → all dead, commands that obey',
  rounds: 7,
  commands: [1, 2, 3, 4].map((child) => `echo $$ > pid-${child}; exec sleep 300`),
  pidFiles: ['pid-1', 'pid-2', 'pid-3', 'pid-4'],
  mostMs: 300,
};

const DEFYING: Case = {
  what: 'the same, TERM trapped and a new session',
  rounds: 3,
  commands: [
    `trap '' TERM; echo $$ > pid-trap; while :; do sleep 1; done`,
    `setsid sh -c 'trap "" TERM; echo $$ > pid-setsid; while :; do sleep 1; done' & echo $$ > pid-shell; wait`,
  ],
  pidFiles: ['pid-trap', 'pid-setsid', 'pid-shell'],
  mostMs: 2300,
};

/** From one SIGINT to the death of Muster and of every process that its tasks had started. */
export const stop: Row = {
  name: 'stop',
  async measure({ bin }): Promise<readonly Figure[]> {
    return [await measureCase(OBEYING, bin), await measureCase(DEFYING, bin)];
  },
};

async function measureCase(tested: Case, bin: string): Promise<Figure> {
  using place = new Place();
  await using server = await startModelServer(place, script(tested.commands));
  const options: ProgramOptions = {
    cwd: place.workspace,
    env: place.environment(place.newHome(), server.env('anthropic')),
  };
  const ends: StopEnd[] = [];
  for (let round = 0; round < tested.rounds; round += 1) {
    ends.push(await stopOnce(tested, bin, options));
  }

  const survivors = ends.flatMap((end) => end.survivors);
  return {
    what: tested.what,
    unit: 'ms',
    samples: ends.map((end) => end.ms),
    bound: { kind: 'most', most: tested.mostMs, goal: tested.mostMs },
    notes: [
      `${tested.commands.length} children, each in a Bash call`,
      ...(survivors.length === 0
        ? []
        : [`still alive after ${GIVE_UP_MS} ms: ${[...new Set(survivors)].join(', ')}`]),
    ],
  };
}

function script(commands: readonly string[]): readonly Rule[] {
  const calls = commands.map((_, index) => ({
    name: 'Task',
    input: {
      description: `command ${index}`,
      prompt: `${CHILD_PROMPT}: ${index}.`,
      subagent_type: 'Bash',
    },
  }));
  return [
    { when: { promptIncludes: PROMPT }, answer: { toolCalls: calls } },
    ...commands.map((command, index): Rule => ({
      when: { promptIncludes: `${CHILD_PROMPT}: ${index}.` },
      answer: { toolCalls: [{ name: 'Bash', input: { command } }] },
    })),
  ];
}

interface StopEnd {
  readonly ms: number;
  /** Names of the pid files whose processes had to be killed here. */
  readonly survivors: readonly string[];
}

async function stopOnce(tested: Case, bin: string, options: ProgramOptions): Promise<StopEnd> {
  const files = tested.pidFiles.map((name) => join(options.cwd, name));
  for (const file of files) rmSync(file, { force: true });
  const program = startProgram([bin, '-p', PROMPT, '--allow', 'Bash'], options);
  const pids = await startedPids(files, program);
  const stoppedAt = now();
  process.kill(program.pid, 'SIGINT');
  const living = () => [program.pid, ...pids].filter(isAlive);
  while (living().length > 0 && now() - stoppedAt < GIVE_UP_MS) await sleep(POLL_MS);
  const ms = now() - stoppedAt;
  const survivors = living();
  for (const pid of survivors) endProcess(pid);
  await program.finished;
  return {
    ms,
    survivors: survivors.map((pid) => tested.pidFiles[pids.indexOf(pid)] ?? 'muster itself'),
  };
}

/** The processes that wrote their ids, once all have. */
async function startedPids(
  files: readonly string[],
  program: ReturnType<typeof startProgram>,
): Promise<readonly number[]> {
  const startedAt = now();
  while (!files.every((file) => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))) {
    if (now() - startedAt > START_MS || !isAlive(program.pid)) {
      endProcess(program.pid);
      const { stdout, stderr } = await program.finished;
      throw new Error(`the commands did not start: ${stderr || stdout}`);
    }
    await sleep(10);
  }
  return files.map((file) => Number(readFileSync(file, 'utf8')));
}
