import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { Deadlines } from '../../src/base/deadlines.ts';
import { NO_FILES } from '../../src/engine/permissions/file-access.ts';
import { TaskProcess } from '../../src/engine/process/task-process.ts';
import type { ProcessProgram } from '../../src/engine/task/call-process.ts';
import type { AnyTool, ToolContext } from '../../src/protocol/tool.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import { readTool } from '../../src/tools/read/read.ts';
import { createFaultTools } from '../harness/fault-tools.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 9;
/** The time for which a fault runs while the latency is measured. */
const WATCHED_MS = 1_500;
/** The interval at which something in Muster's process wants to run, such as a key press or a sibling. */
const TICK_MS = 10;
const CALLS = 50;
const LIMITS = { heapMb: 512, memoryMb: 600, cpuSeconds: 60 };
const FAULTS = createFaultTools({ Spin: refuse, Allocate: refuse, Flood: refuse });
const FAULTY_PROGRAM = {
  path: fileURLToPath(new URL('../programs/faulty-task-process.ts', import.meta.url)),
  tools: [readTool, ...FAULTS],
};

/** The tools run in the other process. */
function refuse(): never {
  throw new Error('no call of a fault runs in this process');
}

/**
 * The latency of Muster's own process while the process of an isolated task spins, allocates or floods, and what a
 * process costs a call.
 */
export const processIsolation: Row = {
  name: 'process-isolation',
  async measure(options): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    mkdirSync(fixture.workspace, { recursive: true });
    const path = join(fixture.workspace, 'a.txt');
    writeFileSync(path, 'one\n'.repeat(1_000));
    const rounds = options.rounds ?? ROUNDS;
    const latency: Measurement[] = [];
    for (const tool of FAULTS) latency.push(await measureLatency(tool, rounds));
    const program = { path: join(dirname(options.bin), 'task-process.js'), tools: [readTool] };
    return [...latency, ...(await measureCalls(program, path, rounds))];
  },
};

async function measureLatency(tool: AnyTool, rounds: number): Promise<Measurement> {
  const { beside, alone } = await interleave(rounds, {
    beside: () => measureBeside(tool),
    alone: () => measureLateness(WATCHED_MS),
  });
  return {
    title: `lateness of Muster’s process beside ${tool.name}`,
    unit: 'ms',
    samples: beside,
    reference: { title: 'the same without a task', samples: alone },
    bound: { kind: 'difference', max: 10, goal: 3 },
    notes: [
      `the 95th percentile of how late a timer of ${TICK_MS} ms fires: what a key press or a sibling waits; limits ${JSON.stringify(LIMITS)}`,
    ],
  };
}

/** Measures the lateness while a call runs that never ends. */
async function measureBeside(tool: AnyTool): Promise<number> {
  const process = startProcess(FAULTY_PROGRAM);
  await process.run(createCall(readTool, { file_path: '/nonexistent' }));
  const call = process.run(createCall(tool, {}));
  const lateness = await measureLateness(WATCHED_MS);
  await process.end();
  await call;
  return lateness;
}

async function measureLateness(ms: number): Promise<number> {
  const late: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) {
    const due = performance.now() + TICK_MS;
    await sleep(TICK_MS);
    late.push(performance.now() - due);
  }
  return late.toSorted((a, b) => a - b)[Math.floor(late.length * 0.95)] ?? 0;
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
