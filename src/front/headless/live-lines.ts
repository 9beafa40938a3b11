import { clockTime } from '../../base/local-time.ts';
import { formatDuration, plural } from '../../base/text.ts';
import { exactLine, terminalText } from '../../base/terminal-text.ts';
import { compactionText } from '../../protocol/compaction-text.ts';
import type { NoticeLevel, TaskEvent } from '../../protocol/events/event.ts';
import type { Awaited } from '../../protocol/model.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { questionSubject, type Question } from '../../protocol/question.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** What is told: long waits and warnings alone, also the tasks, also each of their calls. */
export type LiveDetail = 'waits' | 'tasks' | 'calls';

/** A wait that a person who sees nothing else would take for a hang. */
const LONG_WAIT_MS = 2_000;

export interface LiveOptions {
  readonly detail: LiveDetail;
  /** Of main tasks: who runs one sees its begin and end without being told. */
  readonly roots: 'told' | 'hidden';
}

/**
 * What is going on, a line at a time, for a person who waits: one when a task starts, one for what it
 * notifies of, and one when it ends.
 */
export class LiveLines {
  private readonly write: (line: string) => void;
  private readonly options: LiveOptions;

  constructor(write: (line: string) => void, options: LiveOptions) {
    this.write = write;
    this.options = options;
  }

  /** `state`: the fold of the task's log with the event. */
  show(event: TaskEvent, state: TaskState): void {
    const line = lineFor(event, state, this.options);
    if (line !== null) this.write(terminalText(oneLine(line), 'prose'));
  }

  /** That a task begins, goes on or ends, to whom nothing else of tasks is told. */
  showTask(event: TaskEvent, state: TaskState): void {
    switch (event.type) {
      case 'task.created':
      case 'task.resumed':
      case 'task.ended': {
        const line = lineFor(event, state, { ...this.options, detail: 'tasks' });
        if (line !== null) this.write(terminalText(oneLine(line), 'prose'));
        return;
      }
      default:
    }
  }

  /** A task that was at work before. */
  showAtWork(state: TaskState, doing: string | null): void {
    const { indent, name } = place(state, this.options);
    const what = doing === null ? state.status : `${state.status} (${doing})`;
    this.write(
      terminalText(oneLine(`${indent}▸ ${name}: ${what}: ${state.spec.description}`), 'prose'),
    );
  }

  /** A task whose process has gone before its end. */
  showLeft(state: TaskState): void {
    const { indent, name } = place(state, this.options);
    const why = state.status === 'parked' ? 'it waits for an answer' : 'its process has gone';
    this.write(terminalText(oneLine(`${indent}✗ ${name}: ${state.status}: ${why}`), 'prose'));
  }
}

/** What a model wrote must not pass for a line of its own. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*[\n\u0085\u2028\u2029]\s*/g, ' ');
}

/** How far to the right, and by which name, a task is told of. */
function place({ spec }: TaskState, { roots }: LiveOptions) {
  const depth = roots === 'told' ? spec.depth : Math.max(spec.depth - 1, 0);
  const isNamed = roots === 'told' || spec.parent !== null;
  const name = isNamed ? `${spec.agent.name} ${spec.id.slice(0, 6)}` : spec.agent.name;
  return { indent: '  '.repeat(depth), name };
}

const NOTICE_MARKS: Readonly<Record<NoticeLevel, string>> = {
  info: '·',
  warning: '! warning:',
  error: '! error:',
};

const QUIET_WORDS: Readonly<Record<Awaited, string>> = {
  connection: 'connecting',
  first_token: 'waiting for the first token',
  next_event: 'stalled',
};

/** Also to a person who watches nothing: a long wait, and what is not as it was asked for. */
function isAlwaysTold(event: TaskEvent, { spec }: TaskState): boolean {
  switch (event.type) {
    case 'warning':
    case 'question.asked':
      return true;
    case 'turn.retried':
      return event.waitMs >= LONG_WAIT_MS;
    case 'turn.held':
      // Children take turns where fewer lanes are left than they are: that is no news each time.
      if (event.untilMs === null) return spec.parent === null;
      return event.untilMs - event.ts >= LONG_WAIT_MS;
    default:
      return false;
  }
}

function lineFor(event: TaskEvent, state: TaskState, options: LiveOptions): string | null {
  const { detail, roots } = options;
  if (detail === 'waits' && !isAlwaysTold(event, state)) return null;
  const { spec } = state;
  const { indent, name } = place(state, options);
  const isHidden = spec.parent === null && roots === 'hidden';
  switch (event.type) {
    case 'task.created':
      return isHidden ? null : `${indent}▸ ${name}: ${spec.description}`;
    case 'task.resumed':
      return isHidden ? null : `${indent}▸ ${name}: goes on: ${spec.description}`;
    case 'task.rewound':
      return `${indent}« ${name}: put back to event ${event.to}`;
    case 'notified':
      return `${indent}${NOTICE_MARKS[event.level]} ${name}: ${event.message}`;
    case 'task.ended':
      return isHidden ? null : `${indent}${endMark(state)} ${name}: ${endFacts(state)}`;
    case 'turn.retried':
      return `${indent}… ${name}: ${event.failure.message}${againText(event)}`;
    case 'turn.held': {
      const until = event.untilMs === null ? '' : ` until ${clockTime(event.untilMs)}`;
      return `${indent}… ${name}: waits for ${event.because}${until}`;
    }
    case 'turn.quiet':
      return `${indent}… ${name}: ${QUIET_WORDS[event.waitsFor]} for ${formatDuration(event.silentMs)}`;
    case 'turn.flowing':
      return `${indent}… ${name}: goes on streaming`;
    case 'turn.interrupted':
      return `${indent}■ ${name}: ${event.because}`;
    case 'context.cleared':
    case 'summary.refused':
    case 'context.summarised':
      return detail === 'calls' ? `${indent}~ ${name}: ${compactionText(event)}` : null;
    case 'summary.started':
    case 'context.dropped':
    case 'context.handed':
      return `${indent}~ ${name}: ${compactionText(event)}`;
    case 'warning':
      return `${indent}! ${name}: ${event.message}`;
    case 'call.started':
      return detail === 'calls' ? `${indent}  ${name}: ${event.tool} ${brief(event.input)}` : null;
    case 'input.queued':
      return detail === 'calls' && event.input.from === 'user' && event.input.kind === 'message'
        ? `${indent}» ${name}: ${event.input.text.slice(0, BRIEF_LENGTH)}`
        : null;
    case 'question.asked':
      return `${indent}? ${name}: ${asked(event.question)}: muster tasks answer ${event.question.id}`;
    case 'question.answered':
      return `${indent}» ${name}: ${answerText(event.answer, event.by)}`;
    case 'reuse.missed':
      return detail === 'calls' ? `${indent}  ${name}: nothing to reuse: ${event.because}` : null;
    case 'rights.granted':
      return `${indent}» ${name}: from now on allowed: ${exactLine(event.rule.text)}`;
    case 'mode.granted':
      return `${indent}» ${name}: ${modeGrantedText(event)}`;
    case 'child.detached':
      return detail === 'calls'
        ? `${indent}  ${name}: ${event.child.slice(0, 6)} goes on in the background`
        : null;
    case 'call.refused':
      return detail === 'calls' ? `${indent}  ${name}: ${event.tool} refused: ${event.text}` : null;
    default:
      return null;
  }
}

function modeGrantedText({ grant }: Extract<TaskEvent, { type: 'mode.granted' }>): string {
  return `${exactLine(grant.agent)} may run in ${grant.mode} mode (${exactLine(grant.source.where)})`;
}

/** A rate limit's wait begins once the request is held, and is told then. */
function againText({ failure, waitMs }: Extract<TaskEvent, { type: 'turn.retried' }>): string {
  return failure.kind === 'rate_limit' ? '' : `; again in ${formatDuration(waitMs)}`;
}

function asked(question: Question): string {
  const subject = questionSubject(question);
  switch (question.kind) {
    case 'input':
      return `asks: ${subject}`;
    case 'plan':
      return `asks to carry out a plan: ${oneLine(subject).slice(0, BRIEF_LENGTH)}`;
    case 'permission':
      return `asks for ${question.tool}: ${exactLine(subject)}`;
    default:
      return question satisfies never;
  }
}

function endMark(state: TaskState): string {
  return state.status === 'completed' ? '✓' : '✗';
}

function endFacts(state: TaskState): string {
  let calls = 0;
  for (const count of state.toolCounts.values()) calls += count;
  const facts = [
    ...(state.reused === null ? [] : [`reused from ${state.reused.of.slice(0, 6)}`]),
    ...(state.status === 'completed' ? [] : [`${state.status} (${state.end?.because ?? ''})`]),
    plural(state.turns, 'turn'),
    plural(calls, 'tool call'),
    formatDuration(state.lifetime.endedMs ?? 0),
  ];
  return facts.join(', ');
}

const BRIEF_LENGTH = 100;

function brief(input: unknown): string {
  const text = exactLine(JSON.stringify(input));
  return text.length <= BRIEF_LENGTH ? text : `${text.slice(0, BRIEF_LENGTH)}…`;
}
