import { MusterError, UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { selectLiveEvents } from '../protocol/events/rewound.ts';
import type { TaskSpec } from '../protocol/task.ts';
import type { TaskStore } from '../store/task-store.ts';
import { requestPrefix } from '../engine/delegation/create-task.ts';
import { PrefixCache } from '../engine/prompt/prefix.ts';
import { branchedEvents, lostToBranch } from './branched-events.ts';
import { branchPoint } from '../engine/rewind/branch-point.ts';
import { fullLog } from '../engine/task/fold-log.ts';
import { foldEvents } from '../protocol/state/fold.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

export interface BranchRequest {
  /** The whole id of the task to branch off from. */
  readonly id: string;
  /** The number of an event of it. */
  readonly at: number;
  /** Whether something is said to the branch before it goes on. */
  readonly hasPrompt: boolean;
}

export interface Branch {
  /** Of the new task, the root of its own tree: nobody works on it yet. */
  readonly id: string;
  /** The number of the event that it branches off at: the one asked for, or one before it. */
  readonly at: number;
}

/**
 * Makes a task whose conversation is that of another up to an event. The other one may be at work: its
 * log is only read. Throws UsageError where there is nothing to go on with, MusterError `INVALID_PARAM`
 * for an event that is not there.
 */
export async function makeBranch(
  store: TaskStore,
  { id, at, hasPrompt }: BranchRequest,
): Promise<Branch> {
  const events = fullLog(store, id);
  const [created] = events;
  if (created?.type === 'task.created' && created.spec.fanOut !== undefined) {
    throw new UsageError(
      `task ${id} is a run of a template, and no conversation: branch off from one of its items`,
    );
  }
  const last = events.at(-1)?.seq ?? -1;
  if (at > last) {
    throw new MusterError('INVALID_PARAM', `--at: task ${id} has the events 0 to ${last}`);
  }
  const point = branchPoint(events, at);
  const before = events.filter(({ seq }) => seq <= point);
  const state = foldEvents(before);
  const kept = selectLiveEvents(before);
  if (!hasPrompt && isAnswered(state)) {
    throw new UsageError(
      `at event ${point} the task has answered and nobody has said anything since: say with --prompt what comes next, or branch off before that answer`,
    );
  }
  const branch = newId();
  const imported = store.importedUpTo(id) ?? -1;
  const log = store.create(specOf(store, branch, { state, point }));
  try {
    const grants = branchedEvents(kept, { honoursGrants: imported < 0 });
    log.append([
      ...grants,
      ...lostToBranch(state),
      { type: 'task.resumed', by: 'user', callId: null },
    ]);
    await log.sync();
  } catch (thrown) {
    log.close();
    await store.delete([branch]);
    throw thrown;
  }
  log.close();
  return { id: branch, at: point };
}

function isAnswered({ answer, conversation }: TaskState): boolean {
  return answer !== null && conversation.openCalls.length === 0 && conversation.queued.length === 0;
}

interface From {
  readonly state: TaskState;
  readonly point: number;
}

function specOf(store: TaskStore, id: string, { state: { spec }, point }: From): TaskSpec {
  return {
    ...spec,
    id,
    root: id,
    parent: null,
    parentCall: null,
    depth: 0,
    background: false,
    handed: [],
    prefix: prefixOf(store, spec),
    branchedFrom: { task: spec.id, seq: point },
  };
}

/** That of a root is whole: what was particular to a task below stands in it now. */
function prefixOf(store: TaskStore, spec: TaskSpec): string {
  const shared = spec.parent === null ? null : new PrefixCache(store).load(spec.prefix);
  if (shared === null) return spec.prefix;
  return store.putBlob(JSON.stringify(requestPrefix(shared, spec)), { redact: false });
}
