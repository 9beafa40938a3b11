import type { CalledTask, CallEntry, Entry } from './entry.ts';

/** A call as an entry of a transcript. */
export type KeyedCall = CallEntry & { readonly key: number };

/** Calls of one message that delegate to the same agent. They are shown as one block. */
export interface CallGroup {
  readonly agent: string;
  /** At least two calls, in their order. */
  readonly calls: readonly KeyedCall[];
}

/** The groups of a list of entries, by the keys of their calls. */
type GroupIndex = ReadonlyMap<number, CallGroup>;

const NO_GROUPS: GroupIndex = new Map();
/** The groups of lists, which never change. Frames between two events use the same list. */
const known = new WeakMap<readonly Entry[], GroupIndex>();

/** Returns the groups of delegations in a list of entries, by the keys of their calls. */
export function groupCalls(entries: readonly Entry[]): GroupIndex {
  const index = known.get(entries) ?? findGroups(entries);
  known.set(entries, index);
  return index;
}

function findGroups(entries: readonly Entry[]): GroupIndex {
  let index: Map<number, CallGroup> | null = null;
  for (let start = 0; start < entries.length;) {
    const calls = callsFrom(entries, start);
    start += Math.max(1, calls.length);
    const agent = calls[0]?.agent;
    if (calls.length < 2 || agent === undefined) continue;
    const group = { agent, calls };
    index ??= new Map();
    for (const { key } of calls) index.set(key, group);
  }
  return index ?? NO_GROUPS;
}

/** Returns the calls from an index on that are of one message and name the same agent. */
function callsFrom(entries: readonly Entry[], start: number): readonly KeyedCall[] {
  const calls: KeyedCall[] = [];
  for (let at = start; at < entries.length; at += 1) {
    const entry = entries[at];
    const first = calls[0];
    if (entry?.kind !== 'call' || entry.agent === undefined) break;
    // The entries of one message have consecutive keys.
    if (first !== undefined && entry.key !== first.key + calls.length) break;
    if (first !== undefined && entry.agent !== first.agent) break;
    calls.push(entry);
  }
  return calls;
}

/** The state of a delegation: that of its call, or that of its task if the call does not wait for the task. */
export type DelegationState =
  | 'done'
  | 'partial'
  | 'failed'
  | 'stopped'
  | 'refused'
  | 'at work'
  | 'waiting';

/** The states in the order in which they are counted. */
const STATES: readonly DelegationState[] = [
  'done',
  'partial',
  'failed',
  'refused',
  'stopped',
  'at work',
  'waiting',
];

/** Lists the states of the delegations of a call: one for each of its tasks, or that of the call before it has any. */
export function delegationStates({ state, tasks = [] }: CallEntry): readonly DelegationState[] {
  if (state === 'refused') return ['refused'];
  if (tasks.length > 0) return tasks.map(toState);
  if (state === 'requested') return ['waiting'];
  return [state === 'running' ? 'at work' : state];
}

function toState({ status, hasRefusal }: CalledTask): DelegationState {
  switch (status) {
    case null:
      return 'at work';
    case 'completed':
      return hasRefusal === true ? 'refused' : 'done';
    case 'partial':
    case 'failed':
      return status;
    default:
      return 'stopped';
  }
}

/** Counts states: `7 done, 1 failed, 4 at work`. */
export function countStates(states: readonly DelegationState[]): string {
  return STATES.flatMap((state) => {
    const count = states.filter((each) => each === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  }).join(', ');
}
