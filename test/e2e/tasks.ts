import { expect } from 'vitest';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import type { TaskSummary } from '../../src/store/task-store.ts';
import { waitForMarked } from './processes.ts';
import { runMuster, type Finished, type RunOptions, type Running } from './muster.ts';
import type { World } from './world.ts';

/** `muster tasks …` in another terminal. */
export function tasks(world: World, ...args: readonly string[]): Promise<Finished> {
  return runMuster(world.sandbox, ['tasks', ...args]);
}

/** The output of a command that has nothing to complain of. */
export function clean(run: Finished): string {
  expect([run.code, run.stderr]).toEqual([0, '']);
  return run.stdout;
}

/** One clear line, nothing else, and that exit code. */
export function complaint(run: Finished, code = 1): string {
  expect([run.code, run.stdout]).toEqual([code, '']);
  expect(run.stderr).toMatch(/^muster: [^\n]+\n$/);
  return run.stderr.slice('muster: '.length, -1);
}

export async function listed(world: World): Promise<readonly TaskSummary[]> {
  return JSON.parse(clean(await tasks(world, 'list', '--json')));
}

export async function statuses(world: World): Promise<readonly string[]> {
  return (await listed(world)).map(({ status }) => status);
}

/** The main task and its children, oldest first. */
export async function family(
  world: World,
): Promise<{ readonly root: string; readonly children: readonly string[] }> {
  const all = await listed(world);
  const root = all.find(({ parent }) => parent === null)?.id ?? '';
  const children = all.filter(({ parent }) => parent === root).map(({ id }) => id);
  return { root, children: children.toReversed() };
}

/** A run in another process that has that many commands at work. */
export async function startAtWork(
  world: World,
  { commands, args = [], options = {} }: AtWork,
): Promise<Running> {
  const running = world.start(['-p', 'go', '--permission-mode', 'autonomous', ...args], options);
  await waitForMarked(world.mark, (pids) => pids.length > commands);
  return running;
}

interface AtWork {
  readonly commands: number;
  readonly args?: readonly string[];
  readonly options?: RunOptions;
}

/** Kills a run so that it can't say a word. */
export async function kill(running: Running): Promise<void> {
  running.process.kill('SIGKILL');
  await running.finished;
}

/** Whether a request is of a child, whose prompt begins so. */
export function isPart(request: RecordedRequest): boolean {
  return firstUserText(request).startsWith('part');
}

export function delegate(prompt: string, input: Record<string, boolean | string> = {}) {
  return { name: 'Task', input: { prompt, description: prompt, ...input } };
}

/** A main agent that delegates this once; what its children do. */
export function delegating(
  calls: Answer['toolCalls'],
  child: (request: RecordedRequest) => Answer,
): (request: RecordedRequest) => Answer {
  return (request) => {
    if (isPart(request)) return child(request);
    if (toolResultRounds(request) === 0 && calls !== undefined) return { toolCalls: calls };
    return { text: 'the root is done' };
  };
}

/** How often a text stands in a request. */
export function countIn(request: RecordedRequest | undefined, text: string): number {
  return JSON.stringify(request?.body ?? '').split(text).length - 1;
}
