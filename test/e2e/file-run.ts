import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import {
  toolResultRounds,
  type AnswerToolCall,
  type WireToolResult,
} from '../../src/testing/index.ts';
import { peakMemory } from './processes.ts';
import { lastResults, openWorld } from './world.ts';

export function read(path: string): AnswerToolCall {
  return { name: 'Read', input: { file_path: path } };
}

export function grep(input: Readonly<Record<string, string>>): AnswerToolCall {
  return { name: 'Grep', input };
}

export interface Handled {
  readonly results: readonly WireToolResult[];
  /** Bytes of the most memory that Muster's own process had. */
  readonly peak: number;
  /** Names in the workspace at the end. */
  readonly made: readonly string[];
}

/** Runs the calls of one message over the files that `prepare` makes, to the end of the run. */
export async function handle(
  prepare: (workspace: string) => void,
  calls: readonly AnswerToolCall[],
  args: readonly string[] = [],
): Promise<Handled> {
  let pid = 0;
  let peak = 0;
  await using world = await openWorld({
    script: (request) => {
      if (toolResultRounds(request) === 0) return { toolCalls: calls };
      peak = peakMemory(pid);
      return { text: 'done' };
    },
  });
  prepare(world.sandbox.workspace);
  const running = world.start(['-p', 'go', ...args]);
  pid = running.pid;
  const run = await running.finished;
  expect([run.code, run.stdout, run.stderr]).toEqual([0, 'done\n', '']);
  if (process.platform === 'linux') expect(peak).toBeGreaterThan(0);
  const made = readdirSync(world.sandbox.workspace);
  return { results: lastResults(world.model), peak, made };
}
