import { formatClockTime } from '../../base/local-time.ts';
import { formatDuration, collapseWhitespace, plural } from '../../base/text.ts';
import { NO_USAGE, paidTokens } from '../../protocol/model.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import { staleReadsNote } from '../task/file-versions.ts';
import { elapsedMs, parentText, endNoticeId } from './result.ts';
import { resumeHint } from './resume-hint.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Lines and code units of what a running task has said that its report shows. */
const SHOWN_LINES = 8;
const SHOWN_LENGTH = 1_000;

/**
 * What a task that has not ended is at, and what can be done about it. It tells the time in whole
 * seconds, so that a model that waits for a long call is not taken for one that goes in circles, and
 * one that asks without a pause is. `tools`: names of those that the reader has.
 */
export function runningReport(
  state: TaskState,
  { now, tools }: { readonly now: number; readonly tools: readonly string[] },
): string {
  const { id } = state.spec;
  const hereMs = Math.max(0, now - state.activation.since);
  const last = state.lastText.trim().slice(-SHOWN_LENGTH).split('\n').slice(-SHOWN_LINES);
  return [
    ...facts(state, state.status === 'queued' ? queuedFor(state) : doing(state, now)),
    `Duration: ${Math.floor((state.activation.workedMs + hereMs) / 1000)} s so far`,
    ...(state.lastText.trim() === '' ? [] : ['', 'Last lines:', ...last]),
    ...optionLines(id, tools),
  ].join('\n');
}

function optionLines(id: string, tools: readonly string[]): readonly string[] {
  const lines = [
    ...(tools.includes('TaskOutput')
      ? [
          `  - Wait longer: TaskOutput(task_id: "${id}", timeout: 60000)`,
          `  - Check: TaskOutput(task_id: "${id}", block: false)`,
        ]
      : []),
    ...(tools.includes('TaskStop') ? [`  - Stop: TaskStop(task_id: "${id}")`] : []),
  ];
  return lines.length === 0 ? [] : ['', 'Options:', ...lines];
}

/** The outcome of an ended task, for whoever asked; that it ended need not be told any more. */
export function endedReport(state: TaskState, reader: TaskState): ToolOutput {
  const head = [...facts(state, state.status), `Duration: ${formatDuration(elapsedMs(state))}`];
  return endOutput(state, `${head.join('\n')}\n\nOutput:\n${parentText(state, 0)}`, reader);
}

/**
 * `said` tells how a task ended: its notice is not needed any more. `reader` is who gets it, and is
 * told what of its reads is stale.
 */
export function endOutput(state: TaskState, said: string, reader: TaskState): ToolOutput {
  const text = [said, resumeHint(state, reader), staleReadsNote(reader, state)]
    .filter((part) => part !== '')
    .join('\n\n');
  const told = [endNoticeId(state)];
  const failed = state.status !== 'completed' && state.status !== 'partial';
  return failed
    ? { text, told, error: state.end?.error?.code ?? 'INTERNAL_ERROR' }
    : { text, told };
}

function queuedFor(state: TaskState): string {
  return `queued: ${activityText(state) ?? 'it waits for a slot'}`;
}

function doing(state: TaskState, now: number): string {
  const text = activityText(state, now);
  return text === null ? 'still running' : `still running (${text})`;
}

function facts(state: TaskState, status: string): readonly string[] {
  const { usage } = state;
  return [
    `Agent: ${state.spec.agent.name}`,
    `Status: ${status}`,
    `Turns: ${state.turns}`,
    `Tokens: ${usage === NO_USAGE ? 0 : paidTokens(usage)}`,
  ];
}

/**
 * What a running task does, in a few words; null: nothing that lasts. `now`: the present time on the
 * timeline of the task's steady times; absent: it does not say for how long.
 */
export function activityText(
  {
    activity,
    openChildren,
    parkedOn,
  }: Pick<TaskState, 'activity' | 'parkedOn'> & {
    readonly openChildren: { readonly size: number };
  },
  now?: number,
): string | null {
  const lasting = (since: number | null) =>
    now === undefined || since === null ? '' : ` for ${seconds(Math.max(0, now - since))}`;
  if (parkedOn.length > 0) return `waiting for ${plural(parkedOn.length, 'answer')} of the user`;
  switch (activity.kind) {
    case 'idle':
      return null;
    case 'connecting':
      return 'connecting';
    case 'waiting_for_first_token':
      return `waiting for the first token${lasting(activity.since)}`;
    case 'streaming':
      return 'streaming';
    case 'compacting':
      return 'compacting its context';
    case 'stalled':
      return `stalled${lasting(activity.since)}`;
    case 'waiting_to_retry':
      return `waiting to try again: ${collapseWhitespace(activity.because)}`;
    case 'held':
      return heldText(activity);
    case 'tools':
      return [
        ...atWork(activity.running, lasting(activity.since)),
        ...asking(activity.asking),
      ].join(', ');
    case 'waiting_for_children':
      return `waiting for ${plural(openChildren.size, 'child', 'children')}`;
    default:
      return activity satisfies never;
  }
}

/** What is waited for, and until when: `waiting for the rate limit of openai until 17:05:09`. */
function heldText({
  because,
  untilMs,
}: {
  readonly because: string;
  readonly untilMs: number | null;
}): string {
  const until = untilMs === null ? '' : ` until ${formatClockTime(untilMs)}`;
  return `waiting for ${collapseWhitespace(because)}${until}`;
}

function atWork(tools: readonly string[], lasting: string): readonly string[] {
  return tools.length === 0 ? [] : [`${[...new Set(tools)].join(', ')}${lasting}`];
}

/** Whole, so that what is asked again at once is answered in the same words. */
function seconds(ms: number): string {
  return `${Math.max(0, Math.floor(ms / 1000))} s`;
}

function asking(tools: readonly string[]): readonly string[] {
  const calls = [...new Set(tools)].filter((tool) => tool !== 'AskUser');
  return [
    ...(calls.length === 0 ? [] : [`waiting for permission: ${calls.join(', ')}`]),
    ...(tools.includes('AskUser') ? ["waiting for the user's answer"] : []),
  ];
}
