import { describeAcceptance } from '../../protocol/acceptance.ts';
import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { TaskLog } from '../../store/task-store.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskTree } from './task-tree.ts';
import { applyEvent } from '../../protocol/state/fold.ts';
import { initialState, type TaskState } from '../../protocol/state/task-state.ts';
import { describeCompaction } from '../../protocol/compaction-text.ts';
import { describeHookGrant, describeHookRun } from '../../protocol/hook-text.ts';
import { formatClockTime } from '../../base/local-time.ts';
import { sanitizeLine, sanitizeForTerminal } from '../../base/terminal-text.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { messageText } from '../../protocol/message.ts';
import { formatServerMessage } from '../../protocol/server-message.ts';
import { questionSubject } from '../../protocol/question.ts';

/** Reports an event after it has been written and folded into the state. */
type PublishEvent = (event: TaskEvent, state: TaskState) => void;

/** The types of events that change what a task and the tasks below it may do. */
const RIGHTS_EVENTS: ReadonlySet<TaskEvent['type']> = new Set<TaskEvent['type']>([
  'rights.granted',
  'mode.granted',
  'terms.changed',
]);

/**
 * The only way to change the state of a task: an event is written, then folded, then published. So the live state
 * always equals the fold of the log, and nothing is published that is not written.
 */
export class Journal {
  readonly state: TaskState;
  private readonly log: TaskLog;
  /** The newest sync; null when an answer was recorded after it. */
  private newestSync: Promise<void> | null = Promise.resolve();
  /** The newest sync; null when rights were recorded after it. */
  private newestRightsSync: Promise<void> | null = Promise.resolve();
  private readonly publish: PublishEvent;

  /** @param state the fold of all events in the log */
  constructor(log: TaskLog, state: TaskState, publish: PublishEvent) {
    this.log = log;
    this.publish = publish;
    this.state = state;
    for (const event of log.opening) publish(event, state);
  }

  /** Writes the events as one batch. Throws when they can't be written; then nothing is folded. */
  record(...bodies: readonly EventBody[]): void {
    const events = this.log.append(bodies);
    for (const event of events) applyEvent(this.state, event);
    if (events.some(({ type }) => type === 'turn.ended')) this.newestSync = null;
    if (events.some(({ type }) => RIGHTS_EVENTS.has(type))) this.newestRightsSync = null;
    for (const event of events) this.publish(event, this.state);
  }

  /** Resolves when all events recorded so far are safe from a loss of power. */
  sync(): Promise<void> {
    this.newestSync = this.log.sync();
    this.newestRightsSync = this.newestSync;
    return this.newestSync;
  }

  /** Resolves when the newest change of rights is safe from a loss of power. Uses an earlier `sync` if that included it. */
  syncNewestRights(): Promise<void> {
    return this.newestRightsSync ?? this.sync();
  }

  /**
   * Resolves when the newest answer is safe from a loss of power. Uses an earlier `sync` if that included the answer.
   */
  syncNewestAnswer(): Promise<void> {
    return this.newestSync ?? this.sync();
  }

  close(): void {
    this.log.close();
  }
}

/**
 * Opens the journal of a log that this process owns. Its events are passed to `onEvent` and to the output file.
 *
 * @param before the fold of the log so far; null for a new log
 */
export function openJournal(
  deps: Pick<EngineDeps, 'store' | 'onEvent' | 'onFault'>,
  tree: Pick<TaskTree, 'id'>,
  log: TaskLog,
  before: TaskState | null = null,
): Journal {
  const state = foldOpening(log, before);
  return new Journal(log, state, (event, now) => {
    appendToOutputFile(deps, event);
    deps.onEvent(event, { tree: tree.id, state: now });
  });
}

function foldOpening(log: TaskLog, before: TaskState | null): TaskState {
  let state = before;
  for (const event of log.opening) {
    if (state === null) state = initialState(event);
    else applyEvent(state, event);
  }
  if (state === null) throw new Error(`the log of task ${log.id} holds no event`);
  return state;
}

/**
 * Appends the text of an event to the output file. The file is only for people, so a failed write does not stop the
 * task.
 */
function appendToOutputFile(deps: Pick<EngineDeps, 'store' | 'onFault'>, event: TaskEvent): void {
  const text = eventOutputText(event);
  if (text === null) return;
  try {
    deps.store.appendOutput(event.task, text);
  } catch (thrown) {
    deps.onFault(event.task, thrown);
  }
}

/** The maximum number of code units of a call's input, or of another text, on one line of the output file. */
const MAX_SHOWN_INPUT = 200;

/** Returns the text that an event adds to a task's output file, which people read; null if it adds nothing. */
export function eventOutputText(event: TaskEvent): string | null {
  const text = formatEvent(event);
  return text === null ? null : sanitizeForTerminal(text, 'prose');
}

function formatEvent(event: TaskEvent): string | null {
  switch (event.type) {
    case 'task.created':
      return `# ${event.spec.agent.name}: ${event.spec.description}\n\n`;
    case 'task.reused':
      return `${event.text.trim()}\n\n`;
    case 'reuse.missed':
      return `· nothing to reuse: ${firstLine(event.because)}\n\n`;
    case 'turn.ended': {
      const text = messageText(event.message).trim();
      return text === '' ? null : `${text}\n\n`;
    }
    case 'context.cleared':
    case 'summary.started':
    case 'summary.refused':
    case 'context.summarised':
    case 'context.dropped':
    case 'context.handed':
      return `~ ${describeCompaction(event)}\n`;
    case 'call.started':
      return `→ ${event.tool} ${formatInput(event.input)}\n`;
    case 'request.ended':
      return event.failure === null ? null : `… ${event.failure.message}\n`;
    case 'call.ended':
      return event.error === null ? null : `✗ ${event.tool}: ${firstLine(event.text)}\n`;
    case 'acceptance.checked':
      return `${event.outcome.isPassed ? '✓' : '✗'} ${describeAcceptance(event.outcome)}\n`;
    case 'call.refused':
      return `✗ ${event.tool}: ${firstLine(event.text)}\n`;
    case 'question.asked':
      return `? ${event.question.tool}: ${sanitizeLine(questionSubject(event.question))} [question ${event.question.id}]\n`;
    case 'question.answered':
      return `» ${answerText(event.answer, event.by)}\n`;
    case 'turn.retried':
      return `… ${event.failure.message}\n`;
    case 'turn.failed': {
      const text = event.text?.trim() ?? '';
      return `${text === '' ? '' : `${text}\n\n`}… ${event.failure.message}\n`;
    }
    case 'turn.held': {
      const until = event.untilMs === null ? '' : ` until ${formatClockTime(event.untilMs)}`;
      return `… waiting for ${firstLine(event.because)}${until}\n`;
    }
    case 'notified':
      return `· ${event.message}\n`;
    case 'finding.posted':
      return `· finding: ${firstLine(event.title)}\n`;
    case 'server.logged':
      return `· ${firstLine(formatServerMessage(event))}\n`;
    case 'hook.ran':
      return describeHookRun(event)
        .map((line) => `· ${firstLine(sanitizeLine(line))}\n`)
        .join('');
    case 'call.granted':
      return `· ${firstLine(sanitizeLine(describeHookGrant(event)))}\n`;
    case 'warning':
      return `! ${event.message}\n`;
    case 'task.ended':
      return `[${event.end.status}: ${event.end.because}]\n`;
    default:
      return null;
  }
}

function formatInput(input: unknown): string {
  // Escape hidden characters, so that a person sees every character of what runs.
  const text = sanitizeLine(JSON.stringify(input));
  return text.length <= MAX_SHOWN_INPUT ? text : `${text.slice(0, MAX_SHOWN_INPUT)}…`;
}

function firstLine(text: string): string {
  return text.slice(0, MAX_SHOWN_INPUT).split('\n')[0] ?? '';
}
