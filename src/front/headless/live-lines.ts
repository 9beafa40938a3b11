import { describeAcceptance } from '../../protocol/acceptance.ts';
import { formatServerMessage, toNoticeLevel } from '../../protocol/server-message.ts';
import { findingTitle } from '../../report/board-lines.ts';
import { describeRequest } from '../../report/request-line.ts';
import { formatClockTime } from '../../base/local-time.ts';
import { formatDuration, plural } from '../../base/text.ts';
import { sanitizeLine, sanitizeForTerminal } from '../../base/terminal-text.ts';
import { describeCompaction } from '../../protocol/compaction-text.ts';
import { describeHookGrant, describeHookRun, hasFailedHook } from '../../protocol/hook-text.ts';
import type { NoticeLevel, TaskEvent } from '../../protocol/events/event.ts';
import type { TaskSignal } from '../../protocol/signal.ts';
import type { AwaitedProgress } from '../../protocol/model.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { questionSubject, type Question } from '../../protocol/question.ts';
import { viewWorkspace } from '../../protocol/state/workspace-view.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { steadyTime } from '../../protocol/state/steady-time.ts';

/** The amount of detail. `waits`: long waits, warnings and questions; `tasks`: also the tasks; `calls`: also their calls. */
export type LiveDetail = 'waits' | 'tasks' | 'calls';

/** The duration from which a wait is reported, because a person who sees nothing else may take it for a hang. */
const LONG_WAIT_MS = 2_000;

/** The shortest time between two lines about the progress of a call. */
const PROGRESS_MS = 5_000;

export interface LiveOptions {
  readonly detail: LiveDetail;
  /** Whether the start and end of main tasks are shown. A person who runs a task sees them anyway. */
  readonly roots: 'shown' | 'hidden';
}

/** Reports events to a person who waits, on one line each: the start and end of tasks, and their notices. */
export class LiveLines {
  private readonly write: (line: string) => void;
  private readonly options: LiveOptions;
  /** The tasks whose calls may report progress, by id, with their place in the lines. */
  private readonly places = new Map<string, Place>();
  /** The times at which the progress of calls was shown last, by call. */
  private readonly progressAt = new Map<string, number>();

  constructor(write: (line: string) => void, options: LiveOptions) {
    this.write = write;
    this.options = options;
  }

  /** Reports an event. `state` is the state of the task after the event. */
  show(event: TaskEvent, state: TaskState): void {
    if (event.type === 'call.started') this.places.set(event.task, placement(state, this.options));
    if (event.type === 'call.ended') this.progressAt.delete(event.callId);
    if (event.type === 'task.ended') this.places.delete(event.task);
    this.print(lineFor(event, state, this.options));
  }

  /**
   * Reports the progress of a call of a server's tool, unless it was reported a moment ago.
   *
   * @param now the time in milliseconds, by a clock that only goes forward
   */
  showProgress(signal: TaskSignal, now: number): void {
    if (signal.type !== 'progress' || !signal.tool.startsWith('mcp__')) return;
    const { task, callId, tool, line } = signal;
    const place = this.places.get(task);
    if (place === undefined || now - (this.progressAt.get(callId) ?? -Infinity) < PROGRESS_MS) {
      return;
    }
    this.progressAt.set(callId, now);
    this.print(`${place.indent}  ${place.name}: ${tool}: ${line}`);
  }

  /** Reports the start, continuation or end of a task, whatever the amount of detail is. */
  showTask(event: TaskEvent, state: TaskState): void {
    if (['task.created', 'task.resumed', 'task.ended'].includes(event.type)) {
      this.print(lineFor(event, state, { ...this.options, detail: 'tasks' }));
    }
  }

  /** Reports a task that is already at work. */
  showAtWork(state: TaskState, activity: string | null): void {
    const { indent, name } = placement(state, this.options);
    const status = activity === null ? state.status : `${state.status} (${activity})`;
    this.print(`${indent}▸ ${name}: ${status}: ${state.spec.description}`);
  }

  /** Reports a task whose process has gone before the task ended. */
  showLeft(state: TaskState): void {
    const { indent, name } = placement(state, this.options);
    const why = state.status === 'parked' ? 'it is waiting for an answer' : 'its process has gone';
    this.print(`${indent}✗ ${name}: ${state.status}: ${why}`);
  }

  private print(line: string | null): void {
    if (line !== null) this.write(sanitizeForTerminal(oneLine(line), 'prose'));
  }
}

/** Puts a text on one line, so that no part of a model's text looks like another report. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*[\n\u0085\u2028\u2029]\s*/g, ' ');
}

/** The indent and the name with which a task is shown. */
interface Place {
  readonly indent: string;
  readonly name: string;
}

function placement({ spec }: TaskState, { roots }: LiveOptions): Place {
  const depth = roots === 'shown' ? spec.depth : Math.max(spec.depth - 1, 0);
  const isNamed = roots === 'shown' || spec.parent !== null;
  const name = isNamed ? `${spec.agent.name} ${spec.id.slice(0, 6)}` : spec.agent.name;
  return { indent: '  '.repeat(depth), name };
}

const NOTICE_MARKS: Readonly<Record<NoticeLevel, string>> = {
  info: '·',
  warning: '! warning:',
  error: '! error:',
};

const WAIT_TEXTS: Readonly<Record<AwaitedProgress, string>> = {
  connection: 'connecting',
  first_token: 'waiting for the first token',
  next_event: 'stalled',
};

/** The events that are shown only with the detail `calls`. */
const CALL_DETAILS: ReadonlySet<TaskEvent['type']> = new Set([
  'context.cleared',
  'summary.refused',
  'context.summarised',
  'call.started',
  'request.ended',
  'server.logged',
  'call.refused',
  'input.queued',
  'reuse.missed',
  'child.detached',
]);

/** Whether an event is shown with this amount of detail. Long waits, warnings and questions are always shown. */
function isShown(event: TaskEvent, { spec }: TaskState, detail: LiveDetail): boolean {
  if (detail !== 'waits') return detail === 'calls' || !CALL_DETAILS.has(event.type);
  switch (event.type) {
    case 'warning':
    case 'question.asked':
      return true;
    case 'hook.ran':
      return hasFailedHook(event);
    case 'turn.retried':
      return event.waitMs >= LONG_WAIT_MS;
    case 'turn.held':
      // Children that share a limit on simultaneous requests wait for each other all the time, which is not worth a line.
      if (event.untilMs === null) return spec.parent === null;
      return event.untilMs - event.ts >= LONG_WAIT_MS;
    default:
      return false;
  }
}

function lineFor(event: TaskEvent, state: TaskState, options: LiveOptions): string | null {
  if (!isShown(event, state, options.detail)) return null;
  const { spec } = state;
  const { indent, name } = placement(state, options);
  const isHidden = spec.parent === null && options.roots === 'hidden';
  switch (event.type) {
    case 'task.created':
      return isHidden ? null : `${indent}▸ ${name}: ${spec.description}${workspacePlace(spec)}`;
    case 'task.resumed':
      return isHidden ? null : `${indent}▸ ${name}: continues: ${spec.description}`;
    case 'task.rewound':
      return `${indent}« ${name}: put back to event ${event.to}`;
    case 'notified':
      return `${indent}${NOTICE_MARKS[event.level]} ${name}: ${event.message}`;
    case 'finding.posted':
      return `${indent}· ${name}: finding: ${findingTitle(event)}`;
    case 'task.ended':
      return isHidden ? null : `${indent}${endText(state, name)}`;
    case 'turn.retried':
      return `${indent}… ${name}: ${event.failure.message}${retryText(event)}`;
    case 'turn.held': {
      const until = event.untilMs === null ? '' : ` until ${formatClockTime(event.untilMs)}`;
      return `${indent}… ${name}: waiting for ${event.because}${until}`;
    }
    case 'turn.quiet':
      return `${indent}… ${name}: ${WAIT_TEXTS[event.waitsFor]} for ${formatDuration(event.silentMs)}`;
    case 'turn.flowing':
      return `${indent}… ${name}: streams again`;
    case 'turn.interrupted':
      return `${indent}■ ${name}: ${event.because}`;
    case 'context.cleared':
    case 'summary.refused':
    case 'context.summarised':
    case 'summary.started':
    case 'context.dropped':
    case 'context.handed':
      return `${indent}~ ${name}: ${describeCompaction(event)}`;
    case 'acceptance.checked':
      return `${indent}${event.outcome.isPassed ? '✓' : '✗'} ${name}: ${describeAcceptance(event.outcome)}`;
    case 'hook.ran': {
      const lines = describeHookRun(event).map((line) => `${indent}· ${name}: ${line}`);
      return lines.length === 0 ? null : lines.join('\n');
    }
    case 'warning':
      return `${indent}! ${name}: ${event.message}`;
    case 'server.logged':
      return `${indent}${NOTICE_MARKS[toNoticeLevel(event.level)]} ${name}: ${formatServerMessage(event)}`;
    case 'call.started':
      return `${indent}  ${name}: ${event.tool} ${formatInput(event.input)}`;
    case 'request.ended':
      return `${indent}  ${name}: ${describeRequest(event)}`;
    case 'input.queued':
      return event.input.from === 'user' && event.input.kind === 'message'
        ? `${indent}» ${name}: ${event.input.text.slice(0, BRIEF_LENGTH)}`
        : null;
    case 'question.asked':
      return `${indent}? ${name}: ${requestText(event.question)}: muster tasks answer ${event.question.id}`;
    case 'question.answered':
      return `${indent}» ${name}: ${answerText(event.answer, event.by)}`;
    case 'reuse.missed':
      return `${indent}  ${name}: nothing to reuse: ${event.because}`;
    case 'rights.granted':
      return `${indent}» ${name}: from now on allowed: ${sanitizeLine(event.rule.text)}`;
    case 'rights.restricted':
      return `${indent}» ${name}: from now on ${event.list === 'deny' ? 'denied' : 'asked about'}: ${sanitizeLine(event.rule.text)}`;
    case 'rule.removed':
      return `${indent}» ${name}: the user removed the ${event.list} rule ${sanitizeLine(event.rule.text)}`;
    case 'call.granted':
      return `${indent}» ${name}: ${sanitizeLine(describeHookGrant(event))}`;
    case 'mode.granted':
      return `${indent}» ${name}: ${modeGrantedText(event)}`;
    case 'child.detached':
      return `${indent}  ${name}: ${event.child.slice(0, 6)} continues in the background`;
    case 'call.refused':
      return `${indent}  ${name}: ${event.tool} refused: ${event.text}`;
    default:
      return null;
  }
}

function modeGrantedText({ grant }: Extract<TaskEvent, { type: 'mode.granted' }>): string {
  return `${sanitizeLine(grant.agent)} may run in ${grant.mode} mode (${sanitizeLine(grant.source.where)})`;
}

/** Says when a request is sent again. For a rate limit the text is empty, because the event `turn.held` reports that wait. */
function retryText({ failure, waitMs }: Extract<TaskEvent, { type: 'turn.retried' }>): string {
  return failure.kind === 'rate_limit' ? '' : `; again in ${formatDuration(waitMs)}`;
}

function requestText(question: Question): string {
  const subject = questionSubject(question);
  if (question.kind === 'input') return `asks: ${subject}`;
  if (question.kind === 'server') {
    return `MCP server ${question.server} asks: ${oneLine(subject).slice(0, BRIEF_LENGTH)}`;
  }
  if (question.kind === 'permission') return `asks for ${question.tool}: ${sanitizeLine(subject)}`;
  return `asks to carry out a plan: ${oneLine(subject).slice(0, BRIEF_LENGTH)}`;
}

/** Says where a new task works, if it has a workspace of its own. */
function workspacePlace({ workspace }: TaskSpec): string {
  if (workspace === undefined) return '';
  const { kind, branch } = workspace;
  return ` [${kind}${branch === undefined ? '' : ` ${branch}`}]`;
}

function endText(state: TaskState, name: string): string {
  const workspace = viewWorkspace(state, 'open');
  const calls = [...state.toolCounts.values()].reduce((sum, count) => sum + count, 0);
  const facts = [
    ...(state.reused === null ? [] : [`reused from ${state.reused.of.slice(0, 6)}`]),
    ...(state.status === 'completed' ? [] : [`${state.status} (${state.end?.because ?? ''})`]),
    plural(state.turns, 'turn'),
    plural(calls, 'tool call'),
    formatDuration(state.lifetime.endedMs ?? 0),
    ...(workspace === null ? [] : [`${workspace.kind}: ${workspace.state}`]),
  ];
  return `${state.status === 'completed' ? '✓' : '✗'} ${name}: ${facts.join(', ')}`;
}

const BRIEF_LENGTH = 100;

function formatInput(input: unknown): string {
  const text = sanitizeLine(JSON.stringify(input));
  return text.length <= BRIEF_LENGTH ? text : `${text.slice(0, BRIEF_LENGTH)}…`;
}

/** The duration from which the subagents of a run are reported, because a person who sees nothing may take it for a hang. */
const LONG_WORK_MS = 30_000;

/**
 * Reports progress to a log or a pipe. A short run prints nothing. Once a run has become long, it prints a line for
 * each subagent that is at work at that moment, and for each that starts or ends later. The events give the time.
 */
export function reportLongWork(
  lines: Pick<LiveLines, 'showAtWork' | 'showTask'>,
): (event: TaskEvent, state: TaskState) => void {
  /** The subagents at work that have not been reported, by id. */
  const unreported = new Map<string, TaskState>();
  let startedAt: number | null = null;
  let isLong = false;
  return (event, state) => {
    startedAt ??= steadyTime(event);
    const { id, parent } = state.spec;
    if (isLong) {
      if (parent !== null) lines.showTask(event, state);
      return;
    }
    if (event.type === 'task.ended') unreported.delete(id);
    else if (parent !== null) unreported.set(id, state);
    if (steadyTime(event) - startedAt < LONG_WORK_MS) return;
    isLong = true;
    for (const atWork of unreported.values()) lines.showAtWork(atWork, null);
    unreported.clear();
  };
}
