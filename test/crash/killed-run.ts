import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/base/ids.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { findProcesses } from '../../src/sys/processes/process-table.ts';
import type { FakeModelProcess } from '../../src/testing/fake-model-process.ts';
import { Sandbox, startMuster, type Finished, type Running } from '../e2e/muster.ts';
import type { Acknowledged, Effect } from './acknowledged.ts';
import type { Moment } from './moments.ts';
import type { RequestLog } from './request-log.ts';
import {
  COUNTER,
  finalText,
  MAIN,
  promptOf,
  SESSION_AGENTS,
  WORKSPACE,
  type Scenario,
} from './scenario.ts';

/** What runs are made with. */
export interface Range {
  readonly scenario: Scenario;
  readonly model: FakeModelProcess;
  readonly log: RequestLog;
}

export interface KilledRun {
  readonly sandbox: Sandbox;
  readonly finished: Finished;
  readonly ms: number;
  readonly acknowledged: Acknowledged;
}

const POLL_MS = 2;
/** Until the server has written down what it received before. */
const SETTLE_MS = 20;

/** Runs the scenario in the built program and kills it with -9 at that moment; null: not at all. */
export async function runAndKill(range: Range, moment: Moment | null): Promise<KilledRun> {
  const sandbox = new Sandbox(WORKSPACE);
  const key = `crash-${newId()}`;
  const startedAt = performance.now();
  const args = ['-p', promptOf(MAIN), '--output-format', 'stream-json'];
  const running = startMuster(
    sandbox,
    [...args, '--permission-mode', 'autonomous', '--agents', SESSION_AGENTS],
    { env: { ...range.model.env('anthropic'), ANTHROPIC_API_KEY: key } },
  );
  const forget = killAt(moment, running, () => range.log.of(key).length);
  const finished = await running.finished;
  forget();
  const ms = performance.now() - startedAt;
  await endLeftovers(sandbox);
  await range.model.stats();
  await sleep(SETTLE_MS);
  const effects = effectsIn(sandbox, range.scenario.keys());
  const acknowledged = { printed: printedIn(finished), requests: range.log.of(key), effects };
  return { sandbox, finished, ms, acknowledged };
}

/** Returns what takes the order back. */
function killAt(moment: Moment | null, running: Running, requests: () => number): () => void {
  const kill = () => void running.process.kill('SIGKILL');
  switch (moment?.kind) {
    case undefined:
      return () => {};
    case 'time': {
      const timer = setTimeout(kill, moment.ms);
      return () => clearTimeout(timer);
    }
    case 'line': {
      const { count } = moment;
      const look = () => running.output().split('\n').length > count && kill();
      running.process.stdout?.on('data', look);
      return () => running.process.stdout?.off('data', look);
    }
    case 'request': {
      const { count } = moment;
      const timer = setInterval(() => requests() >= count && kill(), POLL_MS);
      return () => clearInterval(timer);
    }
  }
}

/** The processes of a run: its home is nobody else's. */
export function processesOf(sandbox: Sandbox): readonly number[] {
  return findProcesses({ marks: new Set([`HOME=${sandbox.home}`]) }) ?? [];
}

/** Ends what a killed run left behind, until nothing has come for a while. */
async function endLeftovers(sandbox: Sandbox): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    const pids = processesOf(sandbox);
    quiet = pids.length === 0 ? quiet + 1 : 0;
    for (const pid of pids) endProcess(pid);
    await sleep(SETTLE_MS);
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself since it was seen.
  }
}

/** The whole lines: the last one may have been cut off by the kill. */
export function printedIn({ stdout }: Finished): readonly TaskEvent[] {
  return stdout
    .slice(0, stdout.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => line.type !== 'result');
}

/** What the commands and the files of these tasks show to have been done. */
export function effectsIn({ workspace }: Sandbox, tasks: Iterable<string>): readonly Effect[] {
  const tokens = readFileSync(join(workspace, COUNTER), 'utf8').trimEnd().split('\n');
  const effects = tokens
    .filter((token) => token !== '')
    .map((token): Effect => ({ tool: 'Bash', token }));
  for (const task of tasks) {
    const path = join(workspace, `${task}.txt`);
    if (!existsSync(path)) continue;
    effects.push({ tool: 'Write', token: `${task}.txt` });
    if (readFileSync(path, 'utf8') === finalText(task)) {
      effects.push({ tool: 'Edit', token: `${task}.txt` });
    }
  }
  return effects;
}
