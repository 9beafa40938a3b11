import type { ErrorInfo } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { AssistantMessage } from './message.ts';
import type { FinishReason, ModelFailure, Usage } from './model.ts';
import type { Decision } from './permission.ts';
import type { EndStatus } from './result.ts';
import type { TaskSpec } from './task.ts';
import type { CallFacts, FileChange, TodoItem } from './tool.ts';

/** The version of the log format that this code writes. Older ones replay; newer ones are refused. */
export const LOG_VERSION = 1;

/** What every event carries besides its own fields. */
export interface EventStamp {
  readonly v: number;
  /** From 0, without a gap within one log. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly task: string;
  /** Grows by one with each owner of the log: fences off a writer that lost it. */
  readonly epoch: number;
}

/** Text that enters the conversation from outside the loop, in the next request, exactly once. */
export interface TaskInput {
  readonly id: string;
  readonly kind: 'prompt' | 'message' | 'result' | 'notice';
  /** A task id, or `user`, or `muster`. */
  readonly from: string;
  readonly text: string;
}

/** Why a task ended, for people and for the receipt. */
export interface EndReason {
  readonly status: EndStatus;
  readonly error: ErrorInfo | null;
  /** One sentence. */
  readonly because: string;
}

export type EventBody =
  | { readonly type: 'task.created'; readonly spec: TaskSpec }
  /** An owner took the log, first or after another one. */
  | { readonly type: 'task.claimed'; readonly pid: number; readonly host: string }
  /** It has a slot (again). */
  | { readonly type: 'task.started' }
  /** Something to say to the model waits for the next request. */
  | { readonly type: 'input.queued'; readonly input: TaskInput }
  /**
   * A request is about to be sent: the intent. Its messages are those of the fold up to here with
   * `inputs` appended in this order, so a repeat after a crash is byte-identical.
   */
  | {
      readonly type: 'turn.started';
      readonly turn: number;
      readonly inputs: readonly string[];
      readonly model: string;
      /** `none` for the last turn after a limit. */
      readonly toolChoice: 'auto' | 'none';
    }
  /** The first byte of the answer arrived: what the request held is delivered. */
  | { readonly type: 'turn.accepted'; readonly turn: number }
  | {
      readonly type: 'turn.retried';
      readonly turn: number;
      readonly attempt: number;
      readonly failure: ModelFailure;
      readonly waitMs: number;
      /** What the broken answer cost, as far as the provider said. */
      readonly usage: Usage;
    }
  | {
      readonly type: 'turn.ended';
      readonly turn: number;
      readonly message: AssistantMessage;
      readonly usage: Usage;
      readonly costUsd: number | null;
      readonly reason: FinishReason;
      /** `provider/id` of the one that answered. */
      readonly model: string;
      readonly ms: number;
    }
  | {
      readonly type: 'turn.failed';
      readonly turn: number;
      readonly failure: ModelFailure;
      readonly usage: Usage;
    }
  /** The intent of a call; durable before an effect. `tool` is canonical. */
  | {
      readonly type: 'call.started';
      readonly callId: string;
      readonly tool: string;
      readonly input: JsonValue;
    }
  /** The outcome of a call: what the model gets. */
  | {
      readonly type: 'call.ended';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly error: ErrorInfo['code'] | null;
      readonly facts: CallFacts;
      readonly ms: number;
    }
  /** A call that did not run: it got an error result, and here is why. */
  | {
      readonly type: 'call.refused';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly error: ErrorInfo['code'];
      readonly decision: Decision | null;
    }
  /** Written before the child's log is made. */
  | { readonly type: 'child.created'; readonly child: string; readonly callId: string }
  /** A child has ended; `changed` is what it and all below it did to files. */
  | {
      readonly type: 'child.ended';
      readonly child: string;
      readonly status: EndStatus;
      readonly changed: readonly FileChange[];
    }
  | { readonly type: 'todos.set'; readonly items: readonly TodoItem[] }
  | {
      readonly type: 'limit.reached';
      readonly limit: string;
      readonly value: number;
      readonly used: number;
      /** What the next request could take, where that is what did not fit. */
      readonly needed?: number;
    }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'task.ended';
      readonly end: EndReason;
      /** The final answer, or what there is of one. */
      readonly result: string;
    };

/** One line of a task's log: the durable truth. */
export type TaskEvent = EventStamp & EventBody;
export type EventType = EventBody['type'];

/** What is shown and forgotten: may be dropped, is never written. */
export type TaskSignal =
  | { readonly type: 'text_delta'; readonly task: string; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly task: string; readonly text: string }
  | { readonly type: 'tool_call_started'; readonly task: string; readonly name: string }
  | {
      readonly type: 'progress';
      readonly task: string;
      readonly callId: string;
      readonly line: string;
    };
