import {
  Role,
  TaskState,
  type Artifact,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { AssistantPart } from '../../protocol/message.ts';
import { NO_USAGE, type FailureKind, type ModelPart } from '../../protocol/model.ts';
import { A2aError, formatServerText } from './failure.ts';
import { formatParts, toLine } from './part-text.ts';
import { toMeta, type A2aSession } from './session.ts';

/** One update of the work, as streams and polls report it. */
export type RemoteUpdate = StreamResponse['payload'];
/** The parts that show how an answer arrives. */
type DeltaPart = Extract<ModelPart, { readonly type: 'text_delta' | 'reasoning_delta' }>;

/** The effect of one update on an answer. */
interface TakenUpdate {
  /** The text that the update adds. */
  readonly deltas: readonly DeltaPart[];
  /** False if the update says nothing that was not known. */
  readonly isNews: boolean;
}

/** The limits on what one answer may bring. */
export interface AnswerLimits {
  /** The maximum number of characters of all updates together. */
  readonly maxCharacters: number;
  /** The maximum number of updates. */
  readonly maxUpdates: number;
}

/** The states in which the work goes on. In all others, the answer is complete. */
const AT_WORK: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_UNSPECIFIED,
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.UNRECOGNIZED,
]);

/** The states that are failures, with the kind and the text of the failure. */
const FAILURES: ReadonlyMap<TaskState, readonly [kind: FailureKind, text: string]> = new Map([
  [TaskState.TASK_STATE_FAILED, ['server', 'the agent has failed']],
  [TaskState.TASK_STATE_REJECTED, ['server', 'the agent has rejected the task']],
  [TaskState.TASK_STATE_CANCELED, ['server', 'the server has cancelled the task']],
  [
    TaskState.TASK_STATE_AUTH_REQUIRED,
    ['auth', 'the agent asks for a login, which Muster cannot give while it works'],
  ],
]);
const NO_TEXT = '[The agent has completed the task without a text.]';
const ASKS_WITHOUT_TEXT = '[The agent waits for an answer, and did not say what it asks.]';

interface ArtifactText {
  readonly name: string;
  readonly last: Part | undefined;
  readonly text: string;
}

/**
 * The answer of an agent, put together from its updates: artifacts and the last message are the answer, and the messages
 * before are shown as thinking.
 */
export class RemoteAnswer {
  private state = TaskState.TASK_STATE_UNSPECIFIED;
  private readonly limits: AnswerLimits;
  private readonly artifacts = new Map<string, ArtifactText>();
  private readonly steps: string[] = [];
  private session: A2aSession = { contextId: '', taskId: '' };
  private lastMessage = '';
  private characters = 0;
  private updates = 0;

  constructor(limits: AnswerLimits) {
    this.limits = limits;
  }

  /** True if the agent has ended its work or waits for something. */
  get isComplete(): boolean {
    return !AT_WORK.has(this.state);
  }

  /** The id of the server's task; empty if there is none. */
  get taskId(): string {
    return this.session.taskId;
  }

  /** Takes one update. Throws an A2aError when a limit is reached. */
  take(update: RemoteUpdate): TakenUpdate {
    const { state } = this;
    const deltas = this.add(update);
    return { deltas, isNews: deltas.length > 0 || state !== this.state };
  }

  private add(update: RemoteUpdate): readonly DeltaPart[] {
    this.updates += 1;
    const { maxUpdates } = this.limits;
    if (this.updates > maxUpdates)
      throw tooLarge(`it sent more than ${maxUpdates} updates (the limit of one answer)`);
    if (update === undefined) return [];
    const { value } = update;
    this.session = {
      contextId: value.contextId || this.session.contextId,
      taskId: (update.$case === 'task' ? update.value.id : readTaskId(update)) || this.taskId,
    };
    switch (update.$case) {
      case 'message':
        return this.complete(TaskState.TASK_STATE_COMPLETED, formatParts(update.value.parts));
      case 'task':
        return this.takeTask(update.value);
      case 'statusUpdate':
        return this.takeStatus(update.value.status);
      case 'artifactUpdate':
        return this.takeArtifact(update.value.artifact, update.value.append);
    }
  }

  /** Returns the last part of the stream of the answer. `name`: the name of the agent, for the message of a failure. */
  finish(name: string): ModelPart {
    const failure = FAILURES.get(this.state);
    if (failure === undefined)
      return {
        type: 'finished',
        message: { role: 'assistant', content: this.build() },
        usage: NO_USAGE,
        usageMissing: 'all',
        reason: 'stop',
      };
    const [kind, text] = failure;
    const reason = this.lastMessage === '' ? '' : `: ${formatServerText(this.lastMessage)}`;
    return {
      type: 'failed',
      failure: { kind, message: `${name}: ${text}${reason}`, retryable: false },
    };
  }

  /** Builds the parts of the answer. The last one has the data with which the conversation is continued. */
  private build(): readonly AssistantPart[] {
    const isOpen = this.state === TaskState.TASK_STATE_INPUT_REQUIRED;
    const artifacts = [...this.artifacts.values()].map(({ name, text }) =>
      this.artifacts.size > 1 && name !== '' ? `${name}:\n${text}` : text,
    );
    const texts = [...artifacts, this.lastMessage].filter((each) => each !== '');
    const text = texts.join('\n\n') || (isOpen ? ASKS_WITHOUT_TEXT : NO_TEXT);
    const meta = toMeta(this.session, { isOpen });
    const steps = this.steps.join('\n');
    return [
      ...(steps === '' ? [] : [{ type: 'reasoning', text: steps } as const]),
      { type: 'text', text, ...(meta === undefined ? {} : { meta }) },
    ];
  }

  private takeTask(task: Task): readonly DeltaPart[] {
    const deltas = task.artifacts.flatMap((artifact) => this.takeArtifact(artifact, false));
    const status = this.takeStatus(task.status);
    if (!this.isComplete || this.lastMessage !== '' || this.artifacts.size > 0)
      return [...deltas, ...status];
    // Some agents put their answer only into the history of the task.
    const answer = task.history.findLast(({ role }) => role === Role.ROLE_AGENT);
    return this.complete(this.state, textOf(answer));
  }

  private takeStatus(status: TaskStatus | undefined): readonly DeltaPart[] {
    if (status === undefined) return [];
    const text = textOf(status.message);
    if (!AT_WORK.has(status.state)) return this.complete(status.state, text);
    this.state = status.state;
    if (text === '' || text === this.steps.at(-1)) return [];
    this.count(text);
    this.steps.push(text);
    return [{ type: 'reasoning_delta', text: `${text}\n` }];
  }

  private complete(state: TaskState, text: string): readonly DeltaPart[] {
    this.state = state;
    // An agent may send the same text as its artifact and as its last message.
    if (text === '' || [...this.artifacts.values()].some((each) => each.text === text)) return [];
    this.count(text);
    this.lastMessage = text;
    return [{ type: 'text_delta', text: this.artifacts.size === 0 ? text : `\n\n${text}` }];
  }

  private takeArtifact(artifact: Artifact | undefined, isAppended: boolean): readonly DeltaPart[] {
    if (artifact === undefined) return [];
    const before = this.artifacts.get(artifact.artifactId);
    const known = before?.text ?? '';
    const text = formatParts(artifact.parts, isAppended ? before?.last : undefined);
    const continued = text.startsWith(known) ? text.slice(known.length) : `\n\n${text}`;
    const delta = isAppended ? text : continued;
    const last = artifact.parts.at(-1) ?? before?.last;
    const name = toLine(artifact.name) || (before?.name ?? '');
    this.count(delta);
    this.artifacts.set(artifact.artifactId, { name, last, text: isAppended ? known + text : text });
    if (delta === '') return [];
    const isFirst = before !== undefined || this.artifacts.size === 1;
    return [{ type: 'text_delta', text: isFirst ? delta : `\n\n${delta}` }];
  }

  private count(text: string): void {
    this.characters += text.length;
    const { maxCharacters } = this.limits;
    if (this.characters > maxCharacters)
      throw tooLarge(`it sent more than ${maxCharacters} characters (the limit of one answer)`);
  }
}

function readTaskId(update: Exclude<RemoteUpdate, { readonly $case: 'task' } | undefined>): string {
  // A task that a message names has ended, or never was: a message is a complete answer.
  return update.$case === 'message' ? '' : update.value.taskId;
}

function textOf(message: Message | undefined): string {
  return message === undefined || message.role === Role.ROLE_USER
    ? ''
    : formatParts(message.parts).trim();
}

function tooLarge(text: string): A2aError {
  return new A2aError('too_large', text);
}
