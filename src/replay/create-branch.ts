import { MusterError, UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { selectLiveEvents } from '../protocol/events/rewound.ts';
import type { TaskSpec } from '../protocol/task.ts';
import type { TaskStore } from '../store/task-store.ts';
import { requestPrefix } from '../engine/delegation/create-task.ts';
import { PrefixCache } from '../engine/prompt/prefix.ts';
import { readFullLog } from '../engine/task/fold-log.ts';
import { branchedEvents, lostWorkNotices } from './branched-events.ts';
import { findBranchPoint } from '../engine/rewind/branch-point.ts';
import { foldEvents } from '../protocol/state/fold.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** A request to branch off from an event of a task. */
export interface BranchRequest {
  /** The full id of the task to branch off from. */
  readonly id: string;
  /** The number of an event of it. */
  readonly at: number;
  /** True if the branch gets a message before it continues. */
  readonly hasPrompt: boolean;
}

/** A new branch, which does not run yet. */
export interface Branch {
  /** The id of the new task, the root of its own tree. */
  readonly id: string;
  /** The number of the event at which it branches off: the requested one, or one before it. */
  readonly at: number;
}

/**
 * Creates a task with the conversation of another one up to an event. The other task may be running: its log is only
 * read. Throws UsageError if there is nothing to continue, and `INVALID_PARAM` for an event that does not exist.
 */
export async function createBranch(
  store: TaskStore,
  { id, at, hasPrompt }: BranchRequest,
): Promise<Branch> {
  const events = readFullLog(store, id);
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
  const point = findBranchPoint(events, at);
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
    const grants = branchedEvents(kept, { trustsGrants: imported < 0 });
    log.append([
      ...grants,
      ...lostWorkNotices(state),
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

/** Returns the prefix of the branch, which as a root includes the line that describes the task. */
function prefixOf(store: TaskStore, spec: TaskSpec): string {
  const shared = spec.parent === null ? null : new PrefixCache(store).load(spec.prefix);
  if (shared === null) return spec.prefix;
  return store.putBlob(JSON.stringify(requestPrefix(shared, spec)), { redact: false });
}
