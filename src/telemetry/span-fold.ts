import type { TaskEvent } from '../protocol/events/event.ts';
import { toCount } from '../protocol/model.ts';
import { steadyTime } from '../protocol/state/steady-time.ts';
import { beginCall, endCall } from './call-spans.ts';
import { addSpanEvent, endSpan, type SpanEnd } from './open-span.ts';
import {
  addAttempt,
  beginRequest,
  createRequestApart,
  endRequest,
  noteFirstByte,
} from './request-spans.ts';
import { formatOutputMessage } from './span-content.ts';
import { describeSpanEvent } from './span-events.ts';
import type { SpanRecord } from './span-record.ts';
import { splitModelName, toFinishReason } from './span-texts.ts';
import { spanIdOfCall } from './trace-ids.ts';
import { beginActivation, createTaskTrace, type EventOf, type TaskTrace } from './task-trace.ts';

interface SpanFoldOptions {
  /** True to add prompts, answers, arguments and results to the spans. */
  readonly content: boolean;
}

/** The error type of work that was cut off. */
const INTERRUPTED = 'interrupted';

/**
 * Turns the events of tasks into spans by the GenAI conventions of OpenTelemetry: `invoke_agent` for each activation of a
 * task, below it `chat` for each request and `execute_tool` for each call, and the activations of children below the
 * calls that created them. The same events always give the same spans with the same ids. The events of one task must
 * come in order.
 */
export class SpanFold {
  private readonly options: SpanFoldOptions;
  private readonly tasks = new Map<string, TaskTrace>();

  constructor(options: SpanFoldOptions) {
    this.options = options;
  }

  /** Folds an event. Returns the spans that end with it, each before its parent. */
  apply(event: TaskEvent): readonly SpanRecord[] {
    const known = this.tasks.get(event.task);
    if (event.type === 'task.created') {
      if (known !== undefined) return [];
      const created = createTaskTrace(event.spec, this.options.content);
      this.tasks.set(event.task, created);
      beginActivation(created, event, created.topParent);
      return [];
    }
    if (known === undefined) return [];
    known.newestMs = toCount(steadyTime(event));
    const described = describeSpanEvent(event);
    if (described !== null) {
      const request = event.type.startsWith('turn.') ? known.request?.span : undefined;
      const span = request ?? known.activation;
      if (span !== null) addSpanEvent(span, { ...described, timeMs: known.newestMs });
    }
    return this.applyToTask(known, event);
  }

  /**
   * Ends the open spans of a task that has not ended at its newest event, and marks them with `muster.unfinished`.
   */
  endUnfinished(taskId: string): readonly SpanRecord[] {
    const task = this.tasks.get(taskId);
    if (task === undefined) return [];
    const end = { endMs: task.newestMs, attributes: { 'muster.unfinished': true } };
    return endActivation(task, end, end);
  }

  /** Tells whether a task has begun and not ended. */
  isOpen(taskId: string): boolean {
    const activation = this.tasks.get(taskId)?.activation ?? null;
    return activation !== null;
  }

  private applyToTask(task: TaskTrace, event: TaskEvent): readonly SpanRecord[] {
    switch (event.type) {
      case 'task.resumed':
        beginActivation(task, event, findResumer(task, event));
        return [];
      case 'input.queued':
        if (task.hasContent) task.inputs.set(event.input.id, event.input.text);
        return [];
      case 'input.withdrawn':
        for (const id of event.ids) task.inputs.delete(id);
        return [];
      case 'turn.started':
      case 'summary.started':
        return beginRequest(task, event);
      case 'turn.accepted':
        noteFirstByte(task);
        return [];
      case 'turn.retried':
        if (task.request !== null) {
          addAttempt(task.request, event);
          task.request.isRetried = true;
        }
        return [];
      case 'turn.ended':
      case 'context.summarised':
      case 'summary.refused':
        return endAnswered(task, event);
      case 'turn.failed':
        if (task.request !== null) addAttempt(task.request, event);
        return endRequest(task, { endMs: task.newestMs, errorType: event.failure.kind });
      case 'call.started':
        beginCall(task, event);
        return [];
      case 'call.ended':
      case 'call.refused':
        return endCall(task, event);
      case 'request.ended':
        return [createRequestApart(task, event)];
      case 'task.ended':
        return endTask(task, event);
      default:
        return [];
    }
  }
}

/** Returns the parent of the activation that begins with a resume: the call that resumed the task. */
function findResumer(
  { topParent }: TaskTrace,
  { by, callId }: EventOf<'task.resumed'>,
): string | null {
  return by === 'user' || callId === null ? topParent : spanIdOfCall(by, callId);
}

function endAnswered(
  task: TaskTrace,
  event: EventOf<'turn.ended' | 'context.summarised' | 'summary.refused'>,
): readonly SpanRecord[] {
  if (task.request !== null) addAttempt(task.request, event);
  const reason = toFinishReason(event.reason);
  const content =
    event.type === 'context.summarised'
      ? [{ type: 'text', text: event.summary } as const]
      : event.message.content;
  return endRequest(task, {
    endMs: task.newestMs,
    attributes: {
      'gen_ai.response.model': splitModelName(event.model).id,
      'gen_ai.response.finish_reasons': [reason],
      ...(task.hasContent
        ? { 'gen_ai.output.messages': formatOutputMessage(content, reason) }
        : {}),
    },
  });
}

function endTask(task: TaskTrace, event: EventOf<'task.ended'>): readonly SpanRecord[] {
  const { status, error } = event.end;
  const answer = [{ type: 'text', text: event.result }] as const;
  const end = {
    endMs: task.newestMs,
    attributes: {
      'muster.task.status': status,
      ...(task.hasContent ? { 'gen_ai.output.messages': formatOutputMessage(answer, 'stop') } : {}),
    },
    ...(status === 'failed' || status === 'killed' ? { errorType: error?.code ?? status } : {}),
  };
  return endActivation(task, end, { endMs: task.newestMs, errorType: INTERRUPTED });
}

/** Ends the activation of a task. `inner`: the end of the requests and calls that are still open. */
function endActivation(task: TaskTrace, end: SpanEnd, inner: SpanEnd): readonly SpanRecord[] {
  const ended = [
    ...endRequest(task, inner),
    ...Array.from(task.calls.values(), (span) => endSpan(span, inner)),
    ...(task.activation === null ? [] : [endSpan(task.activation, end)]),
  ];
  task.calls.clear();
  task.activation = null;
  return ended;
}
