import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rule } from '../../src/testing/rules.ts';
import type { Figure } from '../harness/figure.ts';
import { startModelServer } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { endProcess, isAlive, processesNaming } from '../harness/processes.ts';
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
  /** One for each child, its processes named by `word`; each makes its files when it runs. */
  commands(word: string): readonly string[];
  readonly files: readonly string[];
  readonly mostMs: number;
}

const OBEYING: Case = {
  what: 'SIGINT → all dead, commands that obey',
  rounds: 7,
  commands: (word) => [1, 2, 3, 4].map((child) => `touch runs-${child}; exec -a ${word} sleep 300`),
  files: ['runs-1', 'runs-2', 'runs-3', 'runs-4'],
  mostMs: 300,
};

const DEFYING: Case = {
  what: 'the same, TERM trapped and a new session',
  rounds: 3,
  commands: (word) => [
    `: ${word}; trap '' TERM; touch runs-trap; while :; do sleep 1; done`,
    `setsid sh -c ': ${word}; trap "" TERM; touch runs-setsid; while :; do sleep 1; done' & wait`,
  ],
  files: ['runs-trap', 'runs-setsid'],
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
  const word = `stopped-${randomUUID()}`;
  const commands = tested.commands(word);
  await using server = await startModelServer(place, script(commands));
  const options: ProgramOptions = {
    cwd: place.workspace,
    env: place.environment(place.newHome(), server.env('anthropic')),
  };
  const ends: StopEnd[] = [];
  for (let round = 0; round < tested.rounds; round += 1) {
    ends.push(await stopOnce(tested, { bin, word, options }));
  }

  const survivors = ends.reduce((sum, end) => sum + end.survivors, 0);
  return {
    what: tested.what,
    unit: 'ms',
    samples: ends.map((end) => end.ms),
    bound: { kind: 'most', most: tested.mostMs, goal: tested.mostMs },
    notes: [
      `${commands.length} children, each in a Bash call`,
      ...(survivors === 0 ? [] : [`${survivors} processes alive after ${GIVE_UP_MS} ms`]),
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
  /** Processes that had to be killed here. */
  readonly survivors: number;
}

interface StopRun {
  readonly bin: string;
  readonly word: string;
  readonly options: ProgramOptions;
}

async function stopOnce(tested: Case, { bin, word, options }: StopRun): Promise<StopEnd> {
  const files = tested.files.map((name) => join(options.cwd, name));
  for (const file of files) rmSync(file, { force: true });
  const program = startProgram([bin, '-p', PROMPT, '--allow', 'Bash'], options);
  await allRun(files, program);
  const stoppedAt = now();
  process.kill(program.pid, 'SIGINT');
  const living = () => [...[program.pid].filter(isAlive), ...processesNaming(word)];
  while (living().length > 0 && now() - stoppedAt < GIVE_UP_MS) await sleep(POLL_MS);
  const ms = now() - stoppedAt;
  const survivors = living();
  for (const pid of survivors) endProcess(pid);
  await program.finished;
  return { ms, survivors: survivors.length };
}

async function allRun(
  files: readonly string[],
  program: ReturnType<typeof startProgram>,
): Promise<void> {
  const startedAt = now();
  while (!files.every((file) => existsSync(file))) {
    if (now() - startedAt > START_MS || !isAlive(program.pid)) {
      endProcess(program.pid);
      const { stdout, stderr } = await program.finished;
      throw new Error(`the commands did not start: ${stderr || stdout}`);
    }
    await sleep(10);
  }
}
