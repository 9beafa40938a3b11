import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rule } from '../../src/testing/rules.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { startModelServer } from '../harness/model-server.ts';
import { endProcess, findProcessesNaming, isAlive } from '../harness/processes.ts';
import { now, startProgram, type ProgramOptions } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Have some commands run.';
const CHILD_PROMPT = 'Run this command';
const START_MS = 15_000;
/** The benchmark kills and reports processes that live longer than this. */
const GIVE_UP_MS = 6000;
const POLL_MS = 2;

interface Case {
  readonly title: string;
  readonly rounds: number;
  /** A command for each child. Its processes have `tag` in their arguments and create `files` when they run. */
  commands(tag: string): readonly string[];
  readonly files: readonly string[];
  readonly maxMs: number;
}

const COMPLIANT: Case = {
  title: 'SIGINT → all processes dead, commands that obey',
  rounds: 7,
  commands: (tag) => [1, 2, 3, 4].map((child) => `touch runs-${child}; exec -a ${tag} sleep 300`),
  files: ['runs-1', 'runs-2', 'runs-3', 'runs-4'],
  maxMs: 300,
};

const DEFIANT: Case = {
  title: 'the same for commands that ignore TERM, one in a new session',
  rounds: 3,
  commands: (tag) => [
    `: ${tag}; trap '' TERM; touch runs-trap; while :; do sleep 1; done`,
    `setsid sh -c ': ${tag}; trap "" TERM; touch runs-setsid; while :; do sleep 1; done' & wait`,
  ],
  files: ['runs-trap', 'runs-setsid'],
  maxMs: 2300,
};

/** The time from one SIGINT to the end of Muster and of every process that its tasks have started. */
export const stop: Row = {
  name: 'stop',
  async measure({ bin }): Promise<readonly Measurement[]> {
    return [await measureCase(COMPLIANT, bin), await measureCase(DEFIANT, bin)];
  },
};

async function measureCase(tested: Case, bin: string): Promise<Measurement> {
  using fixture = new Fixture();
  const tag = `stopped-${randomUUID()}`;
  const commands = tested.commands(tag);
  await using server = await startModelServer(fixture, script(commands));
  const options: ProgramOptions = {
    cwd: fixture.workspace,
    env: fixture.environment(fixture.newHome(), server.env('anthropic')),
  };
  const ends: StopEnd[] = [];
  for (let round = 0; round < tested.rounds; round += 1) {
    ends.push(await stopOnce(tested, { bin, tag, options }));
  }

  const survivors = ends.reduce((sum, end) => sum + end.survivors, 0);
  return {
    title: tested.title,
    unit: 'ms',
    samples: ends.map((end) => end.ms),
    bound: { kind: 'max', max: tested.maxMs, goal: tested.maxMs },
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
  /** The number of processes that the benchmark had to kill. */
  readonly survivors: number;
}

interface StopRun {
  readonly bin: string;
  readonly tag: string;
  readonly options: ProgramOptions;
}

async function stopOnce(tested: Case, { bin, tag, options }: StopRun): Promise<StopEnd> {
  const files = tested.files.map((name) => join(options.cwd, name));
  for (const file of files) rmSync(file, { force: true });
  const program = startProgram([bin, '-p', PROMPT, '--allow', 'Bash'], options);
  await waitForFiles(files, program);
  const stoppedAt = now();
  process.kill(program.pid, 'SIGINT');
  const living = () => [...[program.pid].filter(isAlive), ...findProcessesNaming(tag)];
  while (living().length > 0 && now() - stoppedAt < GIVE_UP_MS) await sleep(POLL_MS);
  const ms = now() - stoppedAt;
  const survivors = living();
  for (const pid of survivors) endProcess(pid);
  await program.finished;
  return { ms, survivors: survivors.length };
}

async function waitForFiles(
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
