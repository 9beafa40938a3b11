import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { MusterError } from '../../../src/base/errors.ts';
import type { ProcessLimits } from '../../../src/engine/task/call-process.ts';
import { TaskProcess, type TaskProcessParts } from '../../../src/engine/process/task-process.ts';
import { NO_FILES } from '../../../src/engine/permissions/file-access.ts';
import type { ToolContext, ToolOutput } from '../../../src/protocol/tool.ts';
import type { Rights } from '../../../src/protocol/permission.ts';
import { createUnavailableSandbox } from '../../../src/sys/sandbox/sandbox.ts';
import type { Place } from '../../sys/sandbox/support.ts';
import { PROCESS_TOOLS } from '../../../src/tools/process-tools.ts';
import { FAULT_TOOLS } from './fault-tools.ts';

export const LIMITS: ProcessLimits = { heapMb: 512, memoryMb: 4_096, cpuSeconds: 1_800 };
const FAULT_PROGRAM = {
  path: fileURLToPath(new URL('fault-process.ts', import.meta.url)),
  tools: [...PROCESS_TOOLS, ...FAULT_TOOLS],
};

/** What a call without ports can use. */
export function bareContext(signal: AbortSignal): ToolContext {
  const refuse = (): never => {
    throw new Error('no test needs this port');
  };
  return {
    ...NO_FILES,
    taskId: 'task1234',
    callId: 'call_1',
    cwd: '/',
    signal,
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

export interface FaultRun {
  readonly output: ToolOutput;
  /** The error with which the task has to fail; null if it goes on. */
  readonly error: MusterError | null;
}

/** Where the process of a test runs: in a sandbox or in none. */
export type Surroundings = Pick<TaskProcessParts, 'sandbox' | 'home' | 'readRights'>;

export const UNCONFINED: Surroundings = {
  sandbox: createUnavailableSandbox('a test', 'nothing'),
  home: '/nonexistent',
  readRights: () => {
    throw new Error('without a sandbox nobody reads the rights');
  },
};

/** A sandbox that shows the task one directory. */
export function confineTo(at: Place): Surroundings {
  return { sandbox: at.sandbox(), home: at.home, readRights: () => rightsIn(at.root) };
}

export function rightsIn(root: string): Rights {
  return {
    mode: 'acceptEdits',
    rules: { allow: [], ask: [], deny: [] },
    disallowedTools: [],
    roots: [root],
    network: false,
    depth: 0,
    maxDepth: 2,
  };
}

interface FaultOptions {
  readonly abortAfter?: { readonly ms: number; readonly reason: unknown };
  /** Default: no sandbox. */
  readonly surroundings?: Surroundings;
}

/** Runs one call of a fault tool in a real process of its own, until the process has ended. */
export async function runFault(
  name: string,
  limits: Partial<ProcessLimits> = {},
  { abortAfter, surroundings = UNCONFINED }: FaultOptions = {},
): Promise<FaultRun> {
  const failed: MusterError[] = [];
  const process = new TaskProcess({
    taskId: 'task1234',
    limits: { ...LIMITS, ...limits },
    ...surroundings,
    deadlines: new Deadlines(systemClock),
    program: FAULT_PROGRAM,
    onFailure: (error) => void failed.push(error),
  });
  const tool = FAULT_TOOLS.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no fault ${name}`);
  const controller = new AbortController();
  if (abortAfter !== undefined) {
    setTimeout(() => controller.abort(abortAfter.reason), abortAfter.ms);
  }
  const context = bareContext(controller.signal);
  const describeStop = () => 'the limit tool_seconds = 1 was reached';
  const output = await process.run({ tool, input: {}, context, basis: null, describeStop });
  await process.end();
  return { output, error: failed[0] ?? null };
}
