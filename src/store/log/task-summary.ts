import { truncate } from '../../base/text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { addToLedger, knownCost, sumLedger } from '../../protocol/state/ledger.ts';
import { toSourcePath } from '../../protocol/workspace-paths.ts';
import { modelName, paidTokens } from '../../protocol/model.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { OpenQuestionSummary, TaskSummary } from '../task-store.ts';

/** The maximum length of a description, in code points. It keeps the lines of the index short. */
const MAX_DESCRIPTION_LENGTH = 120;

type Created = Extract<TaskEvent, { type: 'task.created' }>;

function startSummary(event: Created): TaskSummary {
  const { spec } = event;
  return {
    id: event.task,
    root: spec.root,
    parent: spec.parent,
    depth: spec.depth,
    agent: spec.agent.name,
    description: truncate(spec.description, MAX_DESCRIPTION_LENGTH),
    status: 'queued',
    model: modelName(spec.model),
    cwd: findDirectory(spec),
    source: spec.source,
    created: event.ts,
    ended: null,
    turns: 0,
    paidTokens: 0,
    costUsd: 0,
    ledger: [],
  };
}

/** Returns the directory in which people find a task: that of a conversation stays the same in a workspace. */
function findDirectory({ parent, cwd, workspace }: Created['spec']): string {
  return parent !== null || workspace === undefined ? cwd : (toSourcePath(cwd, workspace) ?? cwd);
}

/** Returns the summary after one more event; undefined before the `task.created` event. */
export function addToSummary(
  summary: TaskSummary | undefined,
  event: TaskEvent,
): TaskSummary | undefined {
  if (event.type === 'task.created') return startSummary(event);
  if (summary === undefined) return undefined;
  switch (event.type) {
    case 'turn.held':
      return { ...summary, heldBy: { because: event.because, untilMs: event.untilMs } };
    case 'task.held':
      return { ...summary, heldBy: { because: event.because, untilMs: null } };
    case 'turn.accepted':
      return withoutHold(summary);
    case 'task.claimed':
      // A new owner alone does not resume a task that has ended.
      return summary.ended === null ? withActiveStatus(withoutHold(summary), 'queued') : summary;
    case 'task.resumed':
      return { ...withoutReuse(summary), status: 'queued', ended: null };
    case 'task.reused':
      return { ...summary, reused: event.of };
    case 'reuse.missed':
      return { ...summary, reuseKey: event.key };
    case 'task.rewound':
      return {
        ...withoutReuse(withoutHold(withoutQuestions(summary))),
        status: event.end ?? 'queued',
        ended: event.end === null ? null : event.ts,
        turns: event.turns,
      };
    case 'task.started':
      return withActiveStatus(withoutHold(summary), 'running');
    case 'task.parked':
      return { ...summary, status: 'parked' };
    case 'question.asked': {
      const { id, callId } = event.question;
      const others = (summary.questions ?? []).filter((each) => each.callId !== callId);
      return withQuestions(summary, [...others, { id, callId, parks: event.parks }]);
    }
    case 'question.answered':
    case 'call.ended':
    case 'call.refused':
      if (summary.questions === undefined) return summary;
      return withQuestions(
        summary,
        summary.questions.filter(({ callId }) => callId !== event.callId),
      );
    case 'turn.ended':
      return { ...withUsage(summary, event), model: event.model, turns: summary.turns + 1 };
    case 'turn.retried':
    case 'turn.failed':
    case 'summary.refused':
    case 'context.summarised':
    case 'request.ended':
      return withUsage(withoutHold(summary), event);
    case 'task.ended':
      return {
        ...withoutHold(withoutQuestions(summary)),
        status: event.end.status,
        ended: event.ts,
      };
    default:
      // The other events change nothing that a listing shows.
      return summary;
  }
}

function withUsage(summary: TaskSummary, event: TaskEvent): TaskSummary {
  const ledger = addToLedger(summary.ledger ?? [], event, summary.model);
  const reported = sumLedger(ledger, { isEstimated: false });
  return {
    ...summary,
    paidTokens: paidTokens(reported.usage),
    costUsd: knownCost(reported),
    ledger,
  };
}

/** Sets the status as the fold does: the task is parked while a question that parks it is open. */
function withActiveStatus(summary: TaskSummary, status: 'queued' | 'running'): TaskSummary {
  const isParked = summary.questions?.some(({ parks }) => parks) === true;
  return { ...summary, status: isParked ? 'parked' : status };
}

function withQuestions(
  summary: TaskSummary,
  questions: readonly OpenQuestionSummary[],
): TaskSummary {
  const rest = withoutQuestions(summary);
  const changed = questions.length === 0 ? rest : { ...rest, questions };
  return summary.status === 'queued' ? changed : withActiveStatus(changed, 'running');
}

function withoutQuestions(summary: TaskSummary): TaskSummary {
  const { questions: _, ...rest } = summary;
  return rest;
}

function withoutReuse(summary: TaskSummary): TaskSummary {
  const { reuseKey: _, reused: _of, ...rest } = summary;
  return rest;
}

function withoutHold(summary: TaskSummary): TaskSummary {
  const { heldBy: _, ...rest } = summary;
  return rest;
}

/** Returns the status to display: a task without an end and without a living owner was interrupted or parked. */
export function getDisplayStatus(
  summary: TaskSummary,
  options: { readonly owned: boolean },
): TaskStatus {
  const isInterrupted = summary.ended === null && !options.owned && summary.status !== 'parked';
  return isInterrupted ? 'interrupted' : summary.status;
}

/** Orders summaries from new to old, and those with equal times by id, so that the order is always the same. */
export function compareNewestFirst(a: TaskSummary, b: TaskSummary): number {
  return b.created - a.created || (a.id < b.id ? -1 : 1);
}
