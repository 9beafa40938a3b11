import type { SessionUpdate, StateUpdate } from '@agentclientprotocol/sdk/unstable';
import { sanitizeLine } from '../../base/terminal-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { messageText } from '../../protocol/message.ts';
import type { Usage } from '../../protocol/model.ts';
import type { EndStatus } from '../../protocol/result.ts';
import type { TaskSignal } from '../../protocol/signal.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import * as calls from './call-updates.ts';
import type { ClientUpdate, ReadChange } from './call-updates.ts';
import { ShownTasks, type ShownTask, type ShownTasksOptions } from './shown-tasks.ts';

export interface SessionUpdatesOptions extends ShownTasksOptions {
  /** True if the client shows notices apart from the conversation. */
  readonly hasNotices: boolean;
  /** True if past events are told, with the messages of the user. Otherwise the client knows what its user has written. */
  readonly isReplay: boolean;
  /** Returns the size of a model's context window in tokens; null if it is not known. `model`: `provider/id`. */
  readonly contextWindow: (model: string) => number | null;
  readonly readChange: ReadChange;
}

/**
 * Translates the events and signals of a conversation with all its tasks into the updates of the protocol. A past conversation is
 * translated in the same way.
 */
export class SessionUpdates {
  readonly #options: SessionUpdatesOptions;
  readonly #tasks: ShownTasks;
  /** The cost of the conversation in USD; null after an answer without a known price. */
  #costUsd: number | null = 0;

  constructor(options: SessionUpdatesOptions) {
    this.#options = options;
    this.#tasks = new ShownTasks(options);
  }

  /** Returns the session in which the client shows a task. */
  sessionOf(task: string): string {
    return this.#tasks.sessionOf(task);
  }

  /** Returns whether a task belongs to the conversation. */
  hasTask(id: string): boolean {
    return this.#tasks.get(id) !== undefined;
  }

  /** Learns of a task whose beginning was not translated, such as a copy of a conversation. */
  learn(spec: TaskSpec): void {
    if (!this.hasTask(spec.id)) this.#tasks.add(spec);
  }

  /** Translates an event. */
  add(event: TaskEvent): readonly ClientUpdate[] {
    if (event.type === 'task.created') return this.#begin(event.spec);
    const task = this.#tasks.get(event.task);
    if (task === undefined) return [];
    switch (event.type) {
      case 'input.queued':
        return this.#tellMessage(task, event.input);
      case 'turn.started':
      case 'turn.retried':
        task.text = '';
        task.hasSentThoughts = false;
        task.messageId = `${event.task}:${event.turn}:${event.seq}`;
        return event.type === 'turn.retried' ? this.#note(task, event.failure.message) : [];
      case 'turn.held':
        return this.#note(task, `Waiting for ${event.because}.`);
      case 'turn.ended':
        return this.#endTurn(task, event);
      case 'request.ended':
        this.#addCost(event.costUsd ?? null);
        return [];
      case 'call.started':
        return calls.startCall(this.#tasks, task, event);
      case 'call.refused':
        return calls.refuseCall(this.#tasks, task, event);
      case 'call.ended':
        return calls.finishCall(this.#tasks, task, event, this.#options.readChange);
      case 'todos.set':
        return this.#inSession(task, {
          sessionUpdate: 'plan',
          entries: event.items.map(({ content, status }) => {
            return { content: sanitizeLine(content), status, priority: 'medium' };
          }),
        });
      case 'child.created':
      case 'child.resumed':
        this.#tasks.addDelegation(event.child, { task: event.task, callId: event.callId });
        return [];
      case 'child.ended':
        return calls.endDelegation(this.#tasks, event);
      case 'shell.started':
        this.#tasks.addDelegation(event.shell, { task: event.task, callId: event.callId });
        return [];
      case 'shell.ended':
        return calls.endShell(this.#tasks, event);
      case 'task.resumed':
      case 'question.answered':
        return this.#announceState(task, { state: 'running' });
      case 'question.asked':
        return [
          ...this.#announceState(task, { state: 'requires_action' }),
          ...calls.reportQuestion(this.#tasks, event),
        ];
      case 'task.ended':
        return this.#announceState(task, toIdleState(event.end.status));
      case 'warning':
      case 'notified':
        return this.#note(task, event.message);
      default:
        return [];
    }
  }

  /** Translates a signal: a piece of an answer, or the progress of a call. */
  addSignal(signal: TaskSignal): readonly ClientUpdate[] {
    const task = this.#tasks.get(signal.task);
    if (task === undefined) return [];
    switch (signal.type) {
      case 'text_delta':
        task.text += signal.text;
        return this.#inSession(task, toChunk('agent_message_chunk', signal.text, task.messageId));
      case 'reasoning_delta':
        task.hasSentThoughts = true;
        return this.#inSession(
          task,
          toChunk('agent_thought_chunk', signal.text, toThoughtsId(task)),
        );
      case 'progress': {
        const lines = [signal.line, ...(signal.lines ?? [])];
        return calls.reportProgress(this.#tasks, task, { callId: signal.callId, lines });
      }
      default:
        return [];
    }
  }

  #begin(spec: TaskSpec): readonly ClientUpdate[] {
    const task = this.#tasks.add(spec);
    const { id, parent, prompt } = spec;
    if (parent === null) {
      return this.#options.isReplay && prompt !== ''
        ? this.#inSession(task, toChunk('user_message_chunk', prompt, `${id}:prompt`))
        : [];
    }
    const title = toTitle(spec);
    const delegation = calls.updateDelegation(this.#tasks, id, { status: 'in_progress', title });
    if (!this.#tasks.hasChildSessions) return delegation;
    const announcement: SessionUpdate = {
      sessionUpdate: 'subagent_update',
      sessionId: id,
      title,
      description: sanitizeLine(spec.agent.description),
      cwd: spec.workspace?.tree ?? spec.cwd,
      capabilities: { cancel: {} },
      state: { state: 'running' },
      _meta: this.#tasks.describeOrigin(spec),
    };
    const instruction: SessionUpdate = {
      sessionUpdate: 'session_message',
      messageId: `${id}:prompt`,
      senderSessionId: parent,
      recipientSessionId: id,
      content: [{ type: 'text', text: prompt }],
    };
    return [
      { sessionId: parent, update: announcement },
      { sessionId: id, update: instruction },
      ...delegation,
    ];
  }

  #tellMessage(
    task: ShownTask,
    { id, kind, from, text }: Extract<TaskEvent, { type: 'input.queued' }>['input'],
  ): readonly ClientUpdate[] {
    const isOfUser = from === 'user' && (kind === 'message' || kind === 'prompt');
    return isOfUser && this.#options.isReplay
      ? this.#inSession(task, toChunk('user_message_chunk', text, id))
      : [];
  }

  #endTurn(
    task: ShownTask,
    event: Extract<TaskEvent, { type: 'turn.ended' }>,
  ): readonly ClientUpdate[] {
    const { message, usage, costUsd, model } = event;
    const text = messageText(message);
    task.answer = text;
    this.#addCost(costUsd);
    const thoughts = task.hasSentThoughts
      ? ''
      : message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
    // A past answer came without pieces. An answer that was repaired may differ from its pieces.
    const isContinued = text.startsWith(task.text);
    const rest = isContinued ? text.slice(task.text.length) : text;
    const messageId = isContinued ? task.messageId : `${task.messageId}:repaired`;
    return [
      ...this.#inSession(
        task,
        ...(thoughts === '' ? [] : [toChunk('agent_thought_chunk', thoughts, toThoughtsId(task))]),
        ...(rest === '' ? [] : [toChunk('agent_message_chunk', rest, messageId)]),
      ),
      ...calls.announceCalls(this.#tasks, task, event),
      ...(task.spec.parent === null ? this.#inSession(task, ...this.#usage(usage, model)) : []),
    ];
  }

  #usage(usage: Usage, model: string): readonly SessionUpdate[] {
    const size = this.#options.contextWindow(model);
    if (size === null) return [];
    const used = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
    const cost = this.#costUsd === null ? {} : { cost: { amount: this.#costUsd, currency: 'USD' } };
    return [{ sessionUpdate: 'usage_update', used, size, ...cost }];
  }

  #addCost(costUsd: number | null): void {
    this.#costUsd = costUsd === null || this.#costUsd === null ? null : this.#costUsd + costUsd;
  }

  /** Tells the client the state of a task that has a session of its own. */
  #announceState({ spec }: ShownTask, state: StateUpdate): readonly ClientUpdate[] {
    if (!this.#tasks.hasChildSessions || spec.parent === null) return [];
    const update: SessionUpdate = { sessionUpdate: 'subagent_update', sessionId: spec.id, state };
    return [{ sessionId: spec.parent, update }];
  }

  /** Tells the user something that is not part of the conversation. */
  #note(task: ShownTask, text: string): readonly ClientUpdate[] {
    if (this.#options.isReplay) return [];
    const title = sanitizeLine(text);
    const update: SessionUpdate = this.#options.hasNotices
      ? { sessionUpdate: 'notice', severity: 'warning', title }
      : toChunk('agent_thought_chunk', `${title}\n`, `${task.spec.id}:note`);
    return this.#inSession(task, update);
  }

  /** Addresses updates to the session of a task. The texts of a task without a session are not shown. */
  #inSession({ spec }: ShownTask, ...updates: readonly SessionUpdate[]): readonly ClientUpdate[] {
    if (!this.#tasks.hasSession(spec.id)) return [];
    return updates.map((update) => ({ sessionId: spec.id, update }));
  }
}

function toTitle({ agent, description }: TaskSpec): string {
  return sanitizeLine(description === '' ? agent.name : `${agent.name}: ${description}`);
}

function toThoughtsId({ messageId }: ShownTask): string {
  return `${messageId}:thoughts`;
}

type ChunkKind = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';

function toChunk(sessionUpdate: ChunkKind, text: string, messageId: string): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text }, messageId };
}

function toIdleState(status: EndStatus): StateUpdate {
  switch (status) {
    case 'completed':
      return { state: 'idle', stopReason: 'end_turn' };
    case 'partial':
      return { state: 'idle', stopReason: 'max_turn_requests' };
    case 'stopped':
    case 'killed':
      return { state: 'idle', stopReason: 'cancelled' };
    case 'failed':
      return { state: 'idle', stopReason: 'error' };
  }
}
