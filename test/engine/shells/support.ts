import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import { bashTool } from '../../../src/tools/bash/bash.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';
import type { ScriptedAnswer, ScriptedCall } from '../../scripted-model.ts';
import { testEngine, type EngineSetup, type TestEngine } from '../support.ts';
import { findProcesses } from '../../../src/sys/processes/process-table.ts';

/** One answer of the model: its text, its calls, or a function that reads the request and may wait. */
export type Move =
  | string
  | readonly ScriptedCall[]
  | ((request: ModelRequest) => Move | Promise<Move>);

/** Creates an engine whose model makes these moves, one for each request. */
export function shellEngine(moves: readonly Move[], setup: EngineSetup = {}): TestEngine {
  return scriptedEngine((_, index) => moves[index] ?? 'done', setup);
}

/** Creates an engine whose model makes the move that `choose` returns for a request. */
export function scriptedEngine(
  choose: (request: ModelRequest, index: number) => Move,
  setup: EngineSetup = {},
): TestEngine {
  const engine = testEngine(
    async (request, index) => await answer(choose(request, index), request),
    { tools: [bashTool], ...setup },
  );
  onTestFinished(() => engine.store.close());
  return engine;
}

async function answer(move: Move, request: ModelRequest): Promise<ScriptedAnswer> {
  if (typeof move === 'string') return { text: move };
  if (typeof move === 'function') return await answer(await move(request), request);
  return { calls: move };
}

export function inBackground(command: string): ScriptedCall {
  return { name: 'Bash', input: { command, run_in_background: true } };
}

export function taskOutput(id: string, input: object = {}): ScriptedCall {
  return { name: 'TaskOutput', input: { task_id: id, ...input } };
}

export function taskStop(id: string): ScriptedCall {
  return { name: 'TaskStop', input: { task_id: id } };
}

/** Returns the texts of the newest results in a request. */
export function results(request: ModelRequest | undefined): readonly string[] {
  const told = request?.messages.findLast(({ role }) => role === 'tool');
  return told?.role === 'tool' ? told.content.map(({ text }) => text) : [];
}

/** Returns the ids of the shells that have started according to a request, in order. */
export function shellIds(request: ModelRequest | undefined): readonly string[] {
  const texts = (request?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ text }) => text) : [],
  );
  return texts.flatMap((text) => /^Shell (\w+) runs in the background/.exec(text)?.[1] ?? []);
}

/** Returns the id of the first shell in a request. */
export function shellId(request: ModelRequest | undefined): string {
  const [id] = shellIds(request);
  if (id === undefined) throw new Error(`no shell was started: ${results(request).join('; ')}`);
  return id;
}

/** Returns all texts of the user messages in a request. */
export function notices(request: ModelRequest | undefined): readonly string[] {
  const said = (request?.messages ?? []).flatMap((message) =>
    message.role === 'user' ? message.content.map(({ text }) => text) : [],
  );
  return said.filter((text) => text.startsWith('<notice>'));
}

/** Returns the ends of shells in the events, with their commands. */
export function endsOf(
  events: readonly TaskEvent[],
): readonly (readonly [string, string, number | null])[] {
  const commands = new Map(
    events.flatMap((event) =>
      event.type === 'shell.started' ? [[event.shell, event.command] as const] : [],
    ),
  );
  return events.flatMap((event) =>
    event.type === 'shell.ended'
      ? [[commands.get(event.shell) ?? '?', event.end, event.exitCode] as const]
      : [],
  );
}

export function outputPath(state: TaskState): string {
  const [shell] = state.shells.values();
  if (shell === undefined) throw new Error('it has no shell');
  return shell.output;
}

/** Returns the pids of processes that a task's commands left running. Linux only: other systems find none. */
export function leftOf(taskId: string): readonly number[] {
  return findProcesses({ marks: new Set([`MUSTER_TASK=${taskId}`]) }) ?? [];
}

/** Creates a directory that is removed after the test. */
export function tempDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-shells-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function until(holds: () => boolean): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < 60_000) {
    if (holds()) return;
    await sleep(10);
  }
  throw new Error('it has not come true within a minute');
}
