import { dropMissing } from '../../base/drop-missing.ts';
import type { TaskSpec } from '../../protocol/task.ts';

/** A task as the client knows it. */
export interface ShownTask {
  readonly spec: TaskSpec;
  /** The part of the present answer that was sent already. */
  text: string;
  /** Whether thoughts of the present answer were sent already. */
  hasSentThoughts: boolean;
  /** The id of the present answer among the messages of the session. */
  messageId: string;
  /** The text of the newest answer. */
  answer: string;
  /** The calls that the client knows, by their ids there, with their tools. */
  readonly calls: Map<string, string>;
}

/** A call that has started a task, or a command in the background, which has not ended. */
export interface Delegation {
  readonly task: string;
  readonly callId: string;
}

export interface ShownTasksOptions {
  /** The id of the conversation, which is that of its main task. */
  readonly root: string;
  /** True if the client shows subagents as sessions of their own. Otherwise their calls are calls of the conversation. */
  readonly hasChildSessions: boolean;
}

/** Returns the id under which the client knows a call. Calls of different tasks may have the same id. */
export function toClientCallId(task: string, callId: string): string {
  return `${task}:${callId}`;
}

/** The tasks of a conversation as the client knows them. */
export class ShownTasks {
  readonly #options: ShownTasksOptions;
  readonly #tasks = new Map<string, ShownTask>();
  readonly #delegations = new Map<string, Delegation>();

  constructor(options: ShownTasksOptions) {
    this.#options = options;
  }

  get hasChildSessions(): boolean {
    return this.#options.hasChildSessions;
  }

  get(id: string): ShownTask | undefined {
    return this.#tasks.get(id);
  }

  add(spec: TaskSpec): ShownTask {
    const task = {
      spec,
      text: '',
      hasSentThoughts: false,
      messageId: `${spec.id}:0`,
      answer: '',
      calls: new Map<string, string>(),
    };
    this.#tasks.set(spec.id, task);
    return task;
  }

  /** Returns the session in which the client shows a task. */
  sessionOf(id: string): string {
    return this.#options.hasChildSessions ? id : this.#options.root;
  }

  /** Returns whether the client shows the texts of a task: it has a session of its own. */
  hasSession(id: string): boolean {
    return this.sessionOf(id) === id;
  }

  /** Notes that a call has started a task or a command. `child`: the id of the task or the command. */
  addDelegation(child: string, delegation: Delegation): void {
    this.#delegations.set(child, delegation);
  }

  endDelegation(child: string): void {
    this.#delegations.delete(child);
  }

  /** Returns the call that has started a task or a command; undefined if that has ended. */
  delegationOf(child: string): Delegation | undefined {
    return this.#delegations.get(child);
  }

  /** Returns whether something that a call has started has not ended. */
  isDelegating({ task, callId }: Delegation): boolean {
    return [...this.#delegations.values()].some(
      (each) => each.task === task && each.callId === callId,
    );
  }

  /** Returns the field `_meta` of a call. It names the agent of a subagent's call, the call that has started it, and its depth. */
  describeCallOrigin(
    spec: TaskSpec,
    tool: string,
  ): { readonly _meta: Readonly<Record<string, unknown>> } {
    // Clients of Claude Code's adapter read this key, and group the calls of a subagent by it.
    const claudeCode = {
      toolName: tool,
      ...dropMissing({ parentToolUseId: this.#parentCallOf(spec) }),
    };
    return { _meta: { ...(spec.parent === null ? {} : this.describeOrigin(spec)), claudeCode } };
  }

  /** Describes where a task comes from. */
  describeOrigin(spec: TaskSpec): Readonly<Record<string, unknown>> {
    const { id, agent, depth } = spec;
    const parentToolCallId = this.#parentCallOf(spec);
    return { muster: { task: id, agent: agent.name, depth, ...dropMissing({ parentToolCallId }) } };
  }

  #parentCallOf({ parent, parentCall }: TaskSpec): string | null {
    return parent === null || parentCall === null ? null : toClientCallId(parent, parentCall);
  }
}
