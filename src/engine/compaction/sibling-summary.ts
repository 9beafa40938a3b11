import { MusterError } from '../../base/errors.ts';
import type { SummarizedConversation } from '../../protocol/initial-context.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { SummaryText } from '../task/task-tree.ts';

/** The same for all tasks that the calls of one answer make. */
export function summaryKey({ task, turn, messages }: SummarizedConversation): string {
  return [task, turn, ...callsOf({ messages })].join(' ');
}

function callsOf({ messages }: Pick<SummarizedConversation, 'messages'>): readonly string[] {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.content.map(({ callId }) => callId) : [];
}

/** What a sibling was handed before a crash, by its log: it is paid for. Null: none was. */
export function summaryInLogs(
  { store, onFault }: Pick<EngineDeps, 'store' | 'onFault'>,
  { parent, spec }: TaskRun,
  of: SummarizedConversation,
): SummaryText | null {
  // Those that this process has made tell each other.
  if (parent === null || parent.state.epoch === 1) return null;
  const key = summaryKey(of);
  const calls = callsOf(of);
  for (const [id, { callId }] of parent.state.children) {
    if (!calls.includes(callId) || id === spec.id || !store.exists(id)) continue;
    try {
      const { handover } = foldLog(store, id).conversation;
      if (handover?.isSummary !== true || handover.text === null) continue;
      if (summaryKey(handover.of) === key) return { text: handover.text, from: id, because: null };
    } catch (thrown) {
      // One whose log can't be read tells nothing; it is asked for once more.
      if (!(thrown instanceof MusterError)) throw thrown;
      onFault(id, thrown);
    }
  }
  return null;
}
