import type { Span } from './span.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** Their calls last as long as the children that they wait for. */
const WAITS_FOR_CHILDREN: ReadonlySet<string> = new Set(['Task', 'TaskOutput']);
/** Its calls last as long as a person takes. */
const WAITS_FOR_PERSON = 'AskUser';

export type Phase = Pick<Span, 'kind' | 'detail'>;

/** What a task is at; null: nothing that lasts, or it has ended. Pure. */
export function phaseOf(
  state: Pick<TaskState, 'status' | 'activity' | 'openChildren'>,
): Phase | null {
  const { status, activity } = state;
  if (status === 'parked') return { kind: 'person', detail: 'parked' };
  if (status !== 'queued' && status !== 'running') return null;
  switch (activity.kind) {
    case 'held':
      return { kind: 'held', detail: activity.because };
    case 'connecting':
    case 'waiting_for_first_token':
    case 'streaming':
      return { kind: 'model', detail: '' };
    case 'compacting':
      return { kind: 'model', detail: 'compacting' };
    case 'stalled':
      return { kind: 'model', detail: 'stalled' };
    case 'waiting_to_retry':
      return { kind: 'retry', detail: activity.because };
    case 'waiting_for_children':
      return { kind: 'children', detail: '' };
    case 'tools':
      return callPhase(activity);
    case 'idle':
      if (status === 'queued') return { kind: 'slot', detail: '' };
      return null;
    default:
      return activity satisfies never;
  }
}

/** Work comes before waiting, and a person before children, who may wait for the same one. */
function callPhase(calls: {
  readonly running: readonly string[];
  readonly asking: readonly string[];
}): Phase {
  const isWork = (tool: string) => tool !== WAITS_FOR_PERSON && !WAITS_FOR_CHILDREN.has(tool);
  const work = calls.running.filter(isWork);
  if (work.length > 0) return { kind: 'tool', detail: [...new Set(work)].join(', ') };
  const asks = calls.asking.length > 0 || calls.running.includes(WAITS_FOR_PERSON);
  if (asks) return { kind: 'person', detail: [...new Set(calls.asking)].join(', ') };
  return { kind: 'children', detail: '' };
}
