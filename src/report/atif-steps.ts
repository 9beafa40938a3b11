import { dropMissing } from '../base/drop-missing.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { describeAttachment, type Attachment } from '../protocol/attachment.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import {
  messageText,
  toolCalls,
  type AssistantMessage,
  type Message,
} from '../protocol/message.ts';
import {
  addUsage,
  NO_USAGE,
  toUsageCounts,
  type RequestPrefix,
  type Usage,
} from '../protocol/model.ts';
import { isZeroUsage } from '../protocol/state/ledger.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { AnswerUsage } from '../protocol/used.ts';
import type {
  AtifContextManagement,
  AtifMetrics,
  AtifObservationResult,
  AtifStep,
} from './atif-format.ts';

/** A step without its number. */
export type NewStep = Omit<AtifStep, 'step_id'>;

type Queued = TaskState['conversation']['queued'];

/** The steps of one trajectory, to which the events of its log are added in order. */
export class StepList {
  private readonly steps: NewStep[] = [];
  /** The results of the calls of each step, by the index of the step. */
  private readonly results = new Map<number, Map<string, AtifObservationResult>>();
  /** The index of the step that made each call. */
  private readonly callers = new Map<string, number>();
  private readonly children: ReadonlySet<string>;
  private readonly prompt: { readonly text: string; readonly ts: number };
  private hasPrompt = false;

  constructor(
    { spec, ts }: Extract<TaskEvent, { type: 'task.created' }>,
    prefix: RequestPrefix | null,
    children: ReadonlySet<string>,
  ) {
    this.children = children;
    this.prompt = { text: spec.prompt, ts };
    const system = prefix?.system.join('\n\n') ?? '';
    if (system !== '') this.push({ ts }, { source: 'system', message: system });
    for (const message of spec.inherited?.messages ?? []) this.addInherited(ts, message);
  }

  /** Adds the inputs with which a turn begins, as one step. Notices of Muster alone are a step of the system. */
  addInputs(
    { ts, inputs }: Extract<TaskEvent, { type: 'turn.started' }>,
    queued: Queued,
    messages: readonly Message[],
  ): void {
    const last = messages.at(-1);
    if (inputs.length === 0 || last?.role !== 'user') return;
    const kinds = queued.filter(({ id }) => inputs.includes(id)).map(({ kind }) => kind);
    const isFromUser = kinds.some((kind) => kind === 'prompt' || kind === 'message');
    this.hasPrompt ||= kinds.includes('prompt');
    const source = isFromUser ? 'user' : 'system';
    this.push({ ts }, { source, message: joinParts(last.content) });
  }

  add(event: TaskEvent): void {
    switch (event.type) {
      case 'turn.ended': {
        const { turn, reason, ms } = event;
        const extra = { turn, finish_reason: reason, ms };
        this.addAnswer(event, {
          message: event.message,
          model: event.model,
          metrics: createMetrics(event),
          extra,
        });
        return;
      }
      case 'turn.failed': {
        const { text, turn, failure } = event;
        if (text === undefined) return;
        const message = { role: 'assistant', content: [{ type: 'text', text }] } as const;
        const extra = { turn, failure: failure.message };
        this.addAnswer(event, {
          message,
          model: event.model,
          metrics: createMetrics(event),
          extra,
        });
        return;
      }
      case 'task.reused': {
        if (!this.hasPrompt) this.addPrompt();
        this.push(event, {
          source: 'agent',
          message: event.text,
          is_copied_context: true,
          extra: { reused_from: event.of },
        });
        return;
      }
      case 'call.ended':
      case 'call.refused': {
        const attachments = event.type === 'call.ended' ? event.attachments : undefined;
        this.addResult(event.callId, { content: joinParts([{ text: event.text, attachments }]) });
        return;
      }
      case 'child.created':
      case 'child.resumed':
        this.addChild(event);
        return;
      case 'context.summarised':
        this.addSummary(event);
        return;
      case 'context.cleared':
        this.addContextChange(event, {
          message: 'Old results of tools were cleared from the context.',
          management: { type: 'pruning', boundary: 'truncate' },
        });
        return;
      case 'context.dropped':
        this.addContextChange(event, {
          message: 'Old messages were dropped from the context.',
          management: { type: 'pruning', boundary: 'truncate' },
        });
        return;
      default:
    }
  }

  finish({ conversation }: TaskState): readonly NewStep[] {
    // The task has sent no request yet, and so its prompt is still queued.
    if (!this.hasPrompt && (this.steps.length === 0 || conversation.queued.length > 0))
      this.addPrompt();
    return this.steps.map((step, index) => {
      const results = this.results.get(index);
      return results === undefined
        ? step
        : { ...step, observation: { results: [...results.values()] } };
    });
  }

  private addSummary(event: Extract<TaskEvent, { type: 'context.summarised' }>): void {
    const content = event.summary;
    // Only a summary of the parent's conversation, with which a task begins, has a nonce.
    if (event.nonce === undefined) {
      this.addContextChange(event, {
        message: 'A summary replaced the beginning of the context.',
        management: { type: 'compaction', boundary: 'truncate' },
        content,
      });
      return;
    }
    this.addContextChange(event, {
      message: 'A summary of the conversation of the parent was added to the context.',
      management: { type: 'injection', boundary: 'append' },
      content,
    });
  }

  private addContextChange(
    at: Pick<TaskEvent, 'ts'>,
    change: {
      readonly message: string;
      readonly management: AtifContextManagement['context_management'];
      /** The text that is now in the context. */
      readonly content?: string;
    },
  ): void {
    const { message, management, content } = change;
    const extra: AtifContextManagement = { context_management: management };
    const observation = content === undefined ? undefined : { results: [{ content }] };
    this.push(at, { source: 'system', message, extra, ...dropMissing({ observation }) });
  }

  private addPrompt(): void {
    this.hasPrompt = true;
    this.push(this.prompt, { source: 'user', message: this.prompt.text });
  }

  private push({ ts }: Pick<TaskEvent, 'ts'>, step: Omit<NewStep, 'timestamp'>): number {
    return this.steps.push({ ...dropMissing({ timestamp: toIsoTime(ts) }), ...step }) - 1;
  }

  private addAnswer(
    at: Pick<TaskEvent, 'ts'>,
    answer: {
      readonly message: AssistantMessage;
      readonly model?: string | undefined;
      readonly metrics?: AtifMetrics | undefined;
      readonly extra?: JsonObject;
      readonly isCopied?: true;
    },
  ): void {
    const { message, model, metrics, extra, isCopied } = answer;
    const thoughts = message.content.filter((part) => part.type === 'reasoning');
    const calls = toolCalls(message);
    const index = this.push(at, {
      source: 'agent',
      message: messageText(message),
      ...dropMissing({
        model_name: model,
        reasoning_content: thoughts.length === 0 ? undefined : joinParts(thoughts),
        tool_calls: calls.length === 0 ? undefined : calls.map(toAtifCall),
        metrics,
        llm_call_count: isCopied === true ? undefined : 1,
        is_copied_context: isCopied,
        extra,
      }),
    });
    for (const { id } of calls) this.callers.set(id, index);
  }

  /** Adds a message of the parent's conversation that the task continues. */
  private addInherited(ts: number, message: Message): void {
    const is_copied_context = true;
    switch (message.role) {
      case 'assistant':
        this.addAnswer({ ts }, { message, isCopied: true });
        return;
      case 'user':
        this.push(
          { ts },
          { source: 'user', message: joinParts(message.content), is_copied_context },
        );
        return;
      case 'tool':
        for (const part of message.content)
          this.addResult(part.callId, { content: joinParts([part]) });
    }
  }

  /** Adds to the result of a call. Does nothing for a call that no step has made, as in a damaged log. */
  private addResult(callId: string, more: AtifObservationResult): boolean {
    const index = this.callers.get(callId);
    if (index === undefined) return false;
    const results = this.results.get(index) ?? new Map<string, AtifObservationResult>();
    this.results.set(index, results);
    results.set(callId, { source_call_id: callId, ...results.get(callId), ...more });
    return true;
  }

  private addChild({
    ts,
    child,
    callId,
  }: Extract<TaskEvent, { type: 'child.created' | 'child.resumed' }>): void {
    if (!this.children.has(child)) return;
    const ref = { trajectory_id: child };
    // A call that creates several children appends a number to its id: `ID/0`.
    const call = this.callers.has(callId) ? callId : callId.replace(/\/\d+$/, '');
    const index = this.callers.get(call);
    const known = index === undefined ? undefined : this.results.get(index)?.get(call);
    const refs = [...(known?.subagent_trajectory_ref ?? []), ref];
    if (this.addResult(call, { subagent_trajectory_ref: refs })) return;
    const observation = { results: [{ subagent_trajectory_ref: [ref] }] };
    this.push({ ts }, { source: 'system', message: `Task ${child} was started.`, observation });
  }
}

function toAtifCall({ id, name, input }: ReturnType<typeof toolCalls>[number]) {
  const args = isJsonObject(input) ? input : { input };
  return { tool_call_id: id, function_name: name, arguments: args };
}

/** Returns the metrics of an answer; undefined if nothing is known about its usage. */
function createMetrics({ usage, estimated, costUsd = null }: AnswerUsage): AtifMetrics | undefined {
  const reported = toUsageCounts(usage);
  const counted = addUsage(
    reported,
    estimated === undefined ? NO_USAGE : toUsageCounts(estimated.usage),
  );
  if (isZeroUsage(counted)) return undefined;
  const cost = estimated === undefined ? costUsd : sumCosts(costUsd, estimated.costUsd);
  return {
    ...toTokenCounts(counted),
    ...(cost === null ? {} : { cost_usd: cost }),
    extra: {
      cache_write_tokens: counted.cacheWrite,
      reasoning_tokens: counted.reasoning,
      ...(estimated === undefined ? {} : { is_estimated: true }),
    },
  };
}

function sumCosts(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** Joins the texts of a message. Images and documents are described, because the format only names files. */
function joinParts(
  parts: readonly {
    readonly text: string;
    readonly attachments?: readonly Attachment[] | undefined;
  }[],
): string {
  return parts
    .flatMap(({ text, attachments = [] }) => [
      text,
      ...attachments.map((each) => `[${describeAttachment(each)}]`),
    ])
    .join('\n\n');
}

/** The first millisecond of the year 1 and the last one of the year 9999. Many programs read no other years. */
const TIMES = [-62_135_596_800_000, 253_402_300_799_999] as const;

/** Formats a time of a log, which may contain any number; undefined for a number that is no usual time. */
function toIsoTime(ms: number): string | undefined {
  const [first, last] = TIMES;
  return ms >= first && ms <= last ? new Date(ms).toISOString() : undefined;
}

/** Returns the numbers of tokens under the names of the format. */
export function toTokenCounts({ input, output, cacheRead, cacheWrite }: Usage) {
  return {
    prompt_tokens: input + cacheRead + cacheWrite,
    completion_tokens: output,
    cached_tokens: cacheRead,
  };
}
