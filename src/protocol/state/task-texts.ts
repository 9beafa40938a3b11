import { SERVER_QUESTION } from './activity.ts';
import { formatClockTime } from '../../base/local-time.ts';
import { collapseWhitespace, plural } from '../../base/text.ts';
import type { ShellEnd } from '../result.ts';
import type { TaskState } from './task-state.ts';

/** Describes the reuse of a result for people: the earlier task, and the time of its end. */
export function reusedText({ of, at }: NonNullable<TaskState['reused']>): string {
  return `the result of task ${of} of ${new Date(at).toISOString()}; all that it read is the same`;
}

/**
 * Describes the activity of a running task in a few words; null: the task is idle. `now`: the present steady time of the
 * task. Without it, the description contains no duration.
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
  const formatDuration = (since: number | null) =>
    now === undefined || since === null ? '' : ` for ${formatSeconds(Math.max(0, now - since))}`;
  if (parkedOn.length > 0) return `waiting for ${plural(parkedOn.length, 'answer')} of the user`;
  switch (activity.kind) {
    case 'idle':
      return null;
    case 'connecting':
      return 'connecting';
    case 'waiting_for_first_token':
      return `waiting for the first token${formatDuration(activity.since)}`;
    case 'streaming':
      return 'streaming';
    case 'compacting':
      return 'compacting its context';
    case 'checking':
      return 'checking the work';
    case 'stalled':
      return `stalled${formatDuration(activity.since)}`;
    case 'waiting_to_retry':
      return `waiting to try again: ${collapseWhitespace(activity.because)}`;
    case 'held':
      return heldText(activity);
    case 'tools':
      return [
        ...runningTools(activity.running, formatDuration(activity.since)),
        ...askingTools(activity.asking),
      ].join(', ');
    case 'waiting_for_children':
      return `waiting for ${plural(openChildren.size, 'task')}`;
    default:
      return activity satisfies never;
  }
}

/** Describes the reason and the end of a wait: `waiting for the rate limit of openai until 17:05:09`. */
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

function runningTools(tools: readonly string[], duration: string): readonly string[] {
  return tools.length === 0 ? [] : [`${[...new Set(tools)].join(', ')}${duration}`];
}

/** Formats a duration in full seconds, so that the texts of two tool calls in quick succession are the same. */
function formatSeconds(ms: number): string {
  return `${Math.max(0, Math.floor(ms / 1000))} s`;
}

function askingTools(tools: readonly string[]): readonly string[] {
  const isQuestion = (tool: string) => tool === 'AskUser' || tool === SERVER_QUESTION;
  const calls = [...new Set(tools)].filter((tool) => !isQuestion(tool));
  return [
    ...(calls.length === 0 ? [] : [`waiting for permission: ${calls.join(', ')}`]),
    ...(tools.some(isQuestion) ? ["waiting for the user's answer"] : []),
  ];
}

/** The way in which a shell ended. */
interface EndOfShell {
  readonly how: ShellEnd;
  readonly exitCode: number | null;
}

/** Describes the end of work of a server, in words that follow the call or `Status:`. */
export function describeRemoteEnd(end: EndOfShell): string {
  if (end.how === 'killed') return OTHER_ENDS.stopped;
  if (end.how !== 'exited') return OTHER_ENDS[end.how];
  return end.exitCode === 0 ? 'completed' : 'failed';
}

/** Describes the end of a shell, in words that follow `the shell` or `Status:`. */
export function describeShellEnd({ how, exitCode }: EndOfShell): string {
  if (how !== 'exited') return OTHER_ENDS[how];
  return exitCode === null ? 'ended by a signal' : `ended with exit code ${exitCode}`;
}

const OTHER_ENDS: Readonly<Record<Exclude<ShellEnd, 'exited'>, string>> = {
  stopped: 'stopped',
  killed: 'killed, since it did not stop when asked',
  output_limit: 'stopped: it wrote more than the limit output.spill_bytes',
  process_limit:
    'killed: it had more processes and threads at a time than the limit sandbox.command_processes',
  lost: 'lost: its outcome is unknown; check what it did before you start it again',
};
