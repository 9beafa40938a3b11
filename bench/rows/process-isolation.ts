import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { Deadlines } from '../../src/base/deadlines.ts';
import { NO_FILES } from '../../src/engine/permissions/file-access.ts';
import { TaskProcess } from '../../src/engine/process/task-process.ts';
import type { ProcessProgram } from '../../src/engine/task/call-process.ts';
import type { AnyTool, ToolContext } from '../../src/protocol/tool.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import { readTool } from '../../src/tools/read/read.ts';
import { copyWithFaultyProcess, FAULTS, watchScreen, type Fault } from '../harness/faulty-child.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import type { Row, RowOptions } from '../harness/row.ts';

const ROUNDS = 9;
const SCREEN_ROUNDS = 3;
const CALLS = 50;
const LIMITS = { heapMb: 512, memoryMb: 600, cpuSeconds: 60 };

/**
 * The terminal UI and sibling tasks beside a task whose process spins, allocates or floods, and what a process costs a
 * call.
 */
export const processIsolation: Row = {
  name: 'process-isolation',
  async measure(options): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const path = join(fixture.workspace, 'a.txt');
    writeFileSync(path, 'one\n'.repeat(1_000));
    const beside = await measureBeside(fixture, options);
    const program = { path: join(dirname(options.bin), 'task-process.js'), tools: [readTool] };
    return [...beside, ...(await measureCalls(program, path, options.rounds ?? ROUNDS))];
  },
};

async function measureBeside(
  fixture: Fixture,
  { bin, rounds = null }: Pick<RowOptions, 'bin' | 'rounds'>,
): Promise<readonly Measurement[]> {
  const copied = copyWithFaultyProcess(fixture, bin);
  const watch = (fault: Fault | null) => () => watchScreen(fixture, copied, fault);
  const { alone, ...beside } = await interleave(rounds ?? SCREEN_ROUNDS, {
    alone: watch(null),
    spin: watch('spin'),
    allocate: watch('allocate'),
    flood: watch('flood'),
  });
  return FAULTS.flatMap((fault): readonly Measurement[] => [
    {
      title: `a key → drawn, beside a process that is to ${fault}, p95`,
      unit: 'ms',
      samples: beside[fault].map(({ keyMs }) => keyMs),
      reference: { title: 'without that task', samples: alone.map(({ keyMs }) => keyMs) },
      bound: { kind: 'difference', max: 30, goal: 10 },
      notes: ['two siblings are at work in both cases'],
    },
    {
      title: `a turn of a sibling, beside a process that is to ${fault}`,
      unit: 'ms',
      samples: beside[fault].map(({ turnMs }) => turnMs),
      reference: { title: 'without that task', samples: alone.map(({ turnMs }) => turnMs) },
      bound: { kind: 'difference', max: 15, goal: 5 },
      notes: ['from the last byte of an answer to the next request, with one call of Read'],
    },
  ]);
}

async function measureCalls(
  program: ProcessProgram,
  path: string,
  rounds: number,
): Promise<readonly Measurement[]> {
  const warm = startProcess(program);
  const read = () => createCall(readTool, { file_path: path });
  await warm.run(read());
  const { first, later, here } = await interleave(rounds, {
    first: async () => {
      const startedAt = performance.now();
      const process = startProcess(program);
      await process.run(read());
      const ms = performance.now() - startedAt;
      await process.end();
      return ms;
    },
    later: () => timed(() => warm.run(read())),
    here: () => timed(() => readTool.run({ file_path: path }, createContext())),
  });
  await warm.end();
  const reference = { title: 'the same call in Muster’s process', samples: here };
  return [
    {
      title: 'the first call of a task with a process, from its start',
      unit: 'ms',
      samples: first,
      reference,
      notes: ['a model that needs longer for its first answer hides it'],
    },
    {
      title: 'a later call of a task with a process',
      unit: 'ms',
      samples: later,
      reference,
      bound: { kind: 'difference', max: 10, goal: 3 },
    },
  ];
}

/** Measures the mean time of several calls in a row, since one takes only a few milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let done = 0; done < CALLS; done += 1) await work();
  return (performance.now() - startedAt) / CALLS;
}

function startProcess(program: ProcessProgram): TaskProcess {
  return new TaskProcess({
    taskId: 'benchmark',
    limits: LIMITS,
    program,
    sandbox: createUnavailableSandbox('', ''),
    home: '/',
    readRights: refuse,
    deadlines: new Deadlines(systemClock),
    onFailure: () => {},
  });
}

function createCall(tool: AnyTool, input: object): Parameters<TaskProcess['run']>[0] {
  return { tool, input, context: createContext(), basis: null, describeStop: () => 'it ended' };
}

function createContext(): ToolContext {
  return {
    ...NO_FILES,
    roots: ['/'],
    taskId: 'benchmark',
    callId: 'call',
    cwd: '/',
    signal: new AbortController().signal,
    clock: systemClock,
    caps: { resultBytes: 30_000, readBytes: 262_144, spillBytes: 1_000_000, toolMs: 600_000 },
    files: {
      seen: () => undefined,
      remember: () => {},
      willWrite: () => {},
      willRemove: () => {},
      changedBy: () => undefined,
      removedBy: () => undefined,
      acceptRemoval: () => false,
    },
    todos: { get: () => [], set: refuse },
    shells: { start: refuse },
    sandbox: { confine: refuse },
    variables: { seen: refuse, own: refuse, keeps: refuse },
    sleep: refuse,
    spillPath: refuse,
    progress: () => {},
  };
}

/** Nothing that is measured needs this. */
function refuse(): never {
  throw new Error('the benchmark does not need this');
}
