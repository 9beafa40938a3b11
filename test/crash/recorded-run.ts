import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { fakeProcesses } from '../store/fake-processes.ts';
import type { Acknowledged, Effect, Told } from './acknowledged.ts';
import { runEngine, STILL_CLOCK, type EngineOutcome } from './engine-run.ts';
import type { FilePort } from '../../src/store/files/file-port.ts';
import { RecordedFiles, type DiskStep } from './recorded-files.ts';
import type { Scenario } from './scenario.ts';

/** Something that left the engine when `at` steps had been done to the disk. */
export interface Moment<T> {
  readonly at: number;
  readonly what: T;
}

/** A run of the real engine on a disk in memory: what it did to the disk, and what was told when. */
export interface RecordedRun {
  readonly steps: readonly DiskStep[];
  readonly printed: readonly Moment<TaskEvent>[];
  readonly requests: readonly Moment<Told>[];
  readonly effects: readonly Moment<Effect>[];
  readonly outcome: EngineOutcome;
}

export const DATA_DIR = '/home/me/.local/share/muster';
/** The first process; those that come after it count up. */
const FIRST_PID = 7;

/** The store of a process. `owners`: how many had it before and died. */
export function openOver(
  files: FilePort,
  { owners = 0 }: { readonly owners?: number } = {},
): TaskStore {
  return openFileStore({
    dataDir: DATA_DIR,
    durability: 'safe',
    clock: STILL_CLOCK,
    files,
    processes: fakeProcesses({ pid: FIRST_PID + owners }),
  });
}

/** `sabotage` puts itself between the engine and its store. */
export async function recordRun(
  scenario: Scenario,
  sabotage: (store: TaskStore) => TaskStore = (store) => store,
): Promise<RecordedRun> {
  const files = new RecordedFiles();
  const printed: Moment<TaskEvent>[] = [];
  const requests: Moment<Told>[] = [];
  const effects: Moment<Effect>[] = [];
  const moment = <T>(what: T): Moment<T> => ({ at: files.steps.length, what });
  const outcome = await runEngine(sabotage(openOver(files)), scenario, {
    printed: (event) => void printed.push(moment(event)),
    sent: (request) => void requests.push(moment(request)),
    made: (effect) => void effects.push(moment(effect)),
  });
  return { steps: files.steps, printed, requests, effects, outcome };
}

/** What had been acknowledged when the process died after so many steps. */
export function acknowledgedAt(
  run: Pick<RecordedRun, 'printed' | 'requests' | 'effects'>,
  steps: number,
): Acknowledged {
  const until = <T>(moments: readonly Moment<T>[]): readonly T[] =>
    moments.filter(({ at }) => at <= steps).map(({ what }) => what);
  return {
    printed: until(run.printed),
    requests: until(run.requests),
    effects: until(run.effects),
  };
}
