import type { StopReason } from '@agentclientprotocol/sdk/unstable';
import type { TaskStatus } from '../../protocol/result.ts';

/**
 * Returns the reason of the protocol for the end of a task that has not failed.
 *
 * @param limit the limit that the task has reached; null if it has reached none
 */
export function toStopReason(status: TaskStatus, limit: string | null): StopReason {
  if (status === 'stopped' || status === 'killed') return 'cancelled';
  if (status !== 'partial') return 'end_turn';
  return limit === 'max_tokens' ? 'max_tokens' : 'max_turn_requests';
}
