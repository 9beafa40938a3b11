import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../../src/base/errors.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { openOver, type RecordedRun } from './recorded-run.ts';
import { replay, type DiskStep } from './recorded-files.ts';
import { readLog } from '../store/read-log.ts';

/** An event that has to survive a loss of power from a moment on. */
export interface Promised {
  /** Steps done to the disk at that moment. */
  readonly at: number;
  readonly event: TaskEvent;
  readonly because: string;
}

interface Told {
  readonly at: number;
  readonly what: TaskEvent;
}

/** Tools whose calls change nothing. */
const LOOKING: ReadonlySet<string> = new Set(['Read', 'Grep']);

/**
 * What a run promised to keep: the intent before an effect, the outcome after it, and an answer when
 * its turn has ended, that is when the calls that follow from it are done.
 */
export function promisesOf(run: RecordedRun): readonly Promised[] {
  const promises: Promised[] = [];
  for (const [index, told] of run.printed.entries()) {
    const later = run.printed.slice(index + 1).filter(({ what }) => what.task === told.what.task);
    promises.push(...promisesBy(run, told, later));
  }
  return promises;
}

/** `later`: what the same task did after it. */
function promisesBy(run: RecordedRun, { what: event }: Told, later: readonly Told[]): Promised[] {
  const from = (at: number | undefined, because: string): Promised[] => [
    { at: at ?? run.steps.length, event, because },
  ];
  switch (event.type) {
    case 'turn.ended': {
      const next = later.find(({ what }) => what.type === 'turn.started');
      return from(next?.at, 'the turn had ended, and the next one began');
    }
    case 'call.started': {
      const made = run.effects.find(({ what }) => what.token === JSON.stringify(event.input));
      return made === undefined ? [] : from(made.at, 'the call changed something');
    }
    case 'child.created': {
      const made = firstEffectBelow(run, event.child);
      return made === undefined ? [] : from(made, 'the child changed something');
    }
    case 'call.ended': {
      if (LOOKING.has(event.tool)) return [];
      const next = later.find(({ what }) => what.type === 'turn.started');
      return from(next?.at, 'the outcome of an effect stood in a request');
    }
    case 'task.ended':
      return from(handedOut(run, event.task), 'the result was handed out');
    default:
      return [];
  }
}

/** When a task made its first effect. */
function firstEffectBelow(run: RecordedRun, task: string): number | undefined {
  const intents = new Set(
    run.printed.flatMap(({ what }) =>
      what.type === 'call.started' && what.task === task ? [JSON.stringify(what.input)] : [],
    ),
  );
  return run.effects.find(({ what }) => intents.has(what.token))?.at;
}

/** When the parent's call had the result; for a root, when the run was over. */
function handedOut(run: RecordedRun, task: string): number | undefined {
  const created = run.printed.find(
    ({ what }) => what.type === 'child.created' && what.child === task,
  );
  if (created?.what.type !== 'child.created') return undefined;
  const { callId, task: parent } = created.what;
  return run.printed.find(
    ({ what }) => what.type === 'call.ended' && what.task === parent && what.callId === callId,
  )?.at;
}

/** The promises that are broken when the power goes at their moments; `steps` as they were done. */
export function brokenPromises(
  run: RecordedRun,
  promises: readonly Promised[] = promisesOf(run),
  steps: readonly DiskStep[] = run.steps,
): readonly string[] {
  return promises.flatMap(({ at, event, because }) => {
    const files = replay(steps.slice(0, at));
    files.losePower();
    const lost = lostFrom(files, event);
    return lost === null ? [] : [`${because}, but ${event.type} ${event.seq} is lost: ${lost}`];
  });
}

/** Why an event can't be read back; null: it is there. */
function lostFrom(files: ReturnType<typeof replay>, event: TaskEvent): string | null {
  try {
    const { events, problems } = readLog(openOver(files, { owners: 1 }), event.task);
    const [problem] = problems;
    if (problem !== undefined) return problem.message;
    return isDeepStrictEqual(events[event.seq], event) ? null : 'it is not in the log';
  } catch (thrown) {
    return errorMessage(thrown);
  }
}
