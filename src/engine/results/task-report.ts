import { formatDuration } from '../../base/text.ts';
import { NO_USAGE, paidTokens } from '../../protocol/model.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import { staleReadsNote } from '../task/shared-files.ts';
import { elapsedMs, endNoticeId, buildParentText } from './result.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { activityText } from '../../protocol/state/task-texts.ts';

/** The maximum number of lines and code units of a running task's last text that its report shows. */
const MAX_LINES = 8;
const MAX_LENGTH = 1_000;

/**
 * Formats the report on a task that has not ended: its state, and the calls with which the reader can continue. The
 * duration is given in full seconds, because the loop detector compares outputs: a model that waits between its calls
 * gets different reports, while a model that asks again without a pause gets equal ones.
 *
 * @param tools the names of the tools that the reader has
 */
export function formatRunningReport(
  state: TaskState,
  { now, tools }: { readonly now: number; readonly tools: readonly string[] },
): string {
  const { id } = state.spec;
  const sinceResumeMs = Math.max(0, now - state.activation.since);
  const last = state.lastText.trim().slice(-MAX_LENGTH).split('\n').slice(-MAX_LINES);
  return [
    ...statusLines(
      state,
      state.status === 'queued' ? queuedStatus(state) : runningStatus(state, now),
    ),
    `Duration: ${Math.floor((state.activation.workedMs + sinceResumeMs) / 1000)} s so far`,
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

/** Formats the report on an ended task for the task that asked. The report replaces the notice of the end. */
export function formatEndedReport(state: TaskState, reader: TaskState): ToolOutput {
  const head = [
    ...statusLines(state, state.status),
    `Duration: ${formatDuration(elapsedMs(state))}`,
  ];
  return buildEndOutput(
    state,
    `${head.join('\n')}\n\nOutput:\n${buildParentText(state, 0)}`,
    reader,
  );
}

/**
 * Builds the output of a tool that reports the end of a task. The output replaces the notice of the end.
 *
 * @param report the text about the end
 * @param reader the task that gets the output. It is also notified of files that it has read and that have changed
 *   since.
 */
export function buildEndOutput(state: TaskState, report: string, reader: TaskState): ToolOutput {
  const text = [report, formatResumeHint(state, reader), staleReadsNote(reader, state)]
    .filter((part) => part !== '')
    .join('\n\n');
  const replacedNotices = [endNoticeId(state)];
  const failed = state.status !== 'completed' && state.status !== 'partial';
  return failed
    ? { text, told: replacedNotices, error: state.end?.error?.code ?? 'INTERNAL_ERROR' }
    : { text, told: replacedNotices };
}

function queuedStatus(state: TaskState): string {
  return `queued: ${activityText(state) ?? 'it waits for a slot'}`;
}

function runningStatus(state: TaskState, now: number): string {
  const text = activityText(state, now);
  return text === null ? 'still running' : `still running (${text})`;
}

function statusLines(state: TaskState, status: string): readonly string[] {
  const { usage } = state;
  return [
    `Agent: ${state.spec.agent.name}`,
    `Status: ${status}`,
    `Turns: ${state.turns}`,
    `Tokens: ${usage === NO_USAGE ? 0 : paidTokens(usage)}`,
  ];
}

/**
 * Formats a hint for the reader of a task's result how to resume a task that did not complete. Returns '' if the task
 * completed, if the reader cannot delegate, or if the task is not a descendant of the reader.
 *
 * @param child a task that has ended
 */
export function formatResumeHint(child: TaskState, reader: TaskState): string {
  const { id } = child.spec;
  if (child.status === 'completed' || !reader.spec.tools.includes('Task')) return '';
  if (!isDescendant(reader, id)) return '';
  return `[To resume it with all that it knows: Task(resume: "${id}", prompt: "what it is to do next")]`;
}

function isDescendant({ children }: TaskState, id: string): boolean {
  return children.has(id) || [...children.values()].some(({ below }) => below.includes(id));
}
