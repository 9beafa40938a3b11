import { truncate } from '../base/text.ts';
import type { TaskEvent } from '../protocol/event.ts';
import { modelName, paidTokens } from '../protocol/model.ts';
import type { TaskStatus } from '../protocol/result.ts';
import type { TaskSummary } from './task-store.ts';

/** Code points: keeps a line of the index short. */
const DESCRIPTION_LENGTH = 120;

type Created = Extract<TaskEvent, { type: 'task.created' }>;

function startSummary(event: Created): TaskSummary {
  const { spec } = event;
  return {
    id: event.task,
    root: spec.root,
    parent: spec.parent,
    depth: spec.depth,
    agent: spec.agent.name,
    description: truncate(spec.description, DESCRIPTION_LENGTH),
    status: 'queued',
    model: modelName(spec.model),
    cwd: spec.cwd,
    source: spec.source,
    created: event.ts,
    ended: null,
    turns: 0,
    paidTokens: 0,
    costUsd: 0,
  };
}

/** The summary after one more event; undefined as long as no created event was seen. */
export function addToSummary(
  summary: TaskSummary | undefined,
  event: TaskEvent,
): TaskSummary | undefined {
  if (event.type === 'task.created') return startSummary(event);
  if (summary === undefined) return undefined;
  switch (event.type) {
    case 'task.claimed':
      // To go on with one that has ended takes more than an owner.
      return summary.ended === null ? { ...summary, status: 'queued' } : summary;
    case 'task.resumed':
      return { ...summary, status: 'queued', ended: null };
    case 'task.started':
      return { ...summary, status: 'running' };
    case 'turn.ended':
      return {
        ...summary,
        model: event.model,
        turns: summary.turns + 1,
        paidTokens: summary.paidTokens + paidTokens(event.usage),
        costUsd:
          summary.costUsd === null || event.costUsd === null
            ? null
            : summary.costUsd + event.costUsd,
      };
    case 'task.ended':
      return { ...summary, status: event.end.status, ended: event.ts };
    default:
      // All others change nothing that a listing shows.
      return summary;
  }
}

export function summarize(events: readonly TaskEvent[]): TaskSummary | undefined {
  return events.reduce(addToSummary, undefined);
}

/** The status to show: a log without an end and without a living owner was interrupted. */
export function shownStatus(
  summary: TaskSummary,
  options: { readonly owned: boolean },
): TaskStatus {
  return summary.ended === null && !options.owned ? 'interrupted' : summary.status;
}

/** Newest first; equal times by id, so that the order is always the same. */
export function newestFirst(a: TaskSummary, b: TaskSummary): number {
  return b.created - a.created || (a.id < b.id ? -1 : 1);
}
