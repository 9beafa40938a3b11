import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { ModelRequest } from '../../src/protocol/model.ts';
import type { ScriptedAnswer } from '../scripted-model.ts';
import { tell, withBareResults, type Effect, type Told } from './acknowledged.ts';
import { readLogs } from './check-logs.ts';
import { wrongTree } from './check-tree.ts';
import { engineOver, startMain } from './engine-run.ts';
import { idsOn } from './inspect-disk.ts';
import { RecordedFiles, replayOn, type DiskStep } from './recorded-files.ts';
import { acknowledgedAt, openOver, type Moment } from './recorded-run.ts';
import { taskOf, thinksLonger, treeAnswer } from './tree-script.ts';
import type { EngineSettings } from '../../src/engine/limits/configured-limits.ts';

/** A run of the tree on a disk in memory, over all processes that had a part in it. */
export interface RecordedTree {
  readonly steps: readonly DiskStep[];
  readonly printed: readonly Moment<TaskEvent>[];
  readonly requests: readonly Moment<Told>[];
  readonly effects: readonly Moment<Effect>[];
  /** Processes that have died. */
  readonly deaths: number;
  readonly faults: readonly unknown[];
  readonly settings: Partial<EngineSettings>;
}

const NOTHING: RecordedTree = {
  steps: [],
  printed: [],
  requests: [],
  effects: [],
  deaths: 0,
  faults: [],
  settings: {},
};

/** A run that nobody disturbs. */
export function recordTree(settings: Partial<EngineSettings> = {}): Promise<RecordedTree> {
  return goOn({ ...NOTHING, settings });
}

/** The process dies after so many steps to the disk; the next one goes on from there to the end. */
export function killAndGoOn(run: RecordedTree, steps: number): Promise<RecordedTree> {
  const before = acknowledgedAt(run, steps);
  const at = <T>(moments: readonly Moment<T>[], kept: readonly T[]): readonly Moment<T>[] =>
    moments.slice(0, kept.length);
  return goOn({
    settings: run.settings,
    steps: run.steps.slice(0, steps),
    printed: at(run.printed, before.printed),
    requests: at(run.requests, before.requests),
    effects: at(run.effects, before.effects),
    deaths: run.deaths + 1,
    faults: run.faults,
  });
}

async function goOn(before: RecordedTree): Promise<RecordedTree> {
  const files = replayOn(new RecordedFiles(), before.steps);
  const printed = [...before.printed];
  const requests = [...before.requests];
  const effects = [...before.effects];
  const faults = [...before.faults];
  const moment = <T>(what: T): Moment<T> => ({ at: files.steps.length, what });
  const store = openOver(files, { owners: before.deaths });
  const engine = engineOver(store, {
    answer,
    faults,
    settings: before.settings,
    witness: {
      printed: (event) => void printed.push(moment(event)),
      sent: (request) => void requests.push(moment(request)),
      made: (effect) => void effects.push(moment(effect)),
    },
  });
  const root = store.list().find(({ parent }) => parent === null);
  if (before.deaths === 0) await startMain(engine).end.written;
  else if (root !== undefined && root.status === 'interrupted') {
    const run = await engine.resume(root.id, { prompt: null, maxRights: (recorded) => recorded });
    await run.end.written;
  }
  await store.close();
  const { deaths, settings } = before;
  return { steps: files.steps, printed, requests, effects, deaths, faults, settings };
}

/** Long enough for a child to end while the request is under way. */
const THINKING_MS = 30;

/** A call's id is the same when its request is sent again, as a provider's script has it. */
function answer({ prefix, messages }: ModelRequest): ScriptedAnswer {
  const seen = withBareResults(tell(prefix, messages));
  const { text, toolCalls = [] } = treeAnswer(seen);
  const place = `${taskOf(seen)}_${messages.length}`;
  const calls = toolCalls.map(({ name, input }, index) => ({
    name,
    input,
    id: `${place}_${index}`,
  }));
  return { text, calls, delayMs: thinksLonger(seen) ? THINKING_MS : 0 };
}

/** What is wrong with a run that came to its end, one sentence each. */
export async function inspectRecorded(run: RecordedTree): Promise<readonly string[]> {
  const files = replayOn(new RecordedFiles(), run.steps);
  const store = openOver(files, { owners: run.deaths + 1 });
  const acknowledged = acknowledgedAt(run, run.steps.length);
  const requests = acknowledged.requests.map((told) => ({
    messages: told.messages,
    rawBody: JSON.stringify(told),
  }));
  const logs = readLogs(store, idsOn(files));
  const getBlob = (hash: string): string => store.getBlob(hash);
  return [
    ...run.faults.map((fault) => `a fault: ${String(fault)}`),
    ...wrongTree({ logs, acknowledged, requests, getBlob }),
  ];
}
