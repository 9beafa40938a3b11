import { addUsage, NO_USAGE, toCount, toUsageCounts } from '../protocol/model.ts';
import type { AnswerUsage } from '../protocol/used.ts';
import { endSpan, type SpanEnd } from './open-span.ts';
import { formatInputMessages, type NewMessage } from './span-content.ts';
import type { Attributes, SpanRecord } from './span-record.ts';
import { splitModelName, toSpanName, usageAttributes, type ModelParts } from './span-texts.ts';
import { beginSpan, type EventOf, type OpenRequest, type TaskTrace } from './task-trace.ts';
import { spanIdOfRequest } from './trace-ids.ts';

/** Begins the span of a request, and ends that of a request before it that got no end. */
export function beginRequest(
  task: TaskTrace,
  event: EventOf<'turn.started' | 'summary.started'>,
): readonly SpanRecord[] {
  const isSummary = event.type === 'summary.started';
  // After a crash the same request is announced again.
  if (task.request?.turn === event.turn && task.request.isSummary === isSummary) return [];
  const abandoned = endRequest(task, { endMs: task.newestMs, errorType: 'interrupted' });
  const model = splitModelName(event.model);
  task.request = {
    turn: event.turn,
    isSummary,
    usage: NO_USAGE,
    costUsd: 0,
    isRetried: false,
    span: {
      ...beginSpan(task),
      spanId: spanIdOfRequest(task.id, event.seq),
      name: `chat ${model.id}`,
      kind: 'client',
      attributes: {
        ...chatAttributes(task, model),
        'muster.turn': event.turn,
        ...(event.outputCap === undefined
          ? {}
          : { 'gen_ai.request.max_tokens': event.outputCap.tokens }),
        ...(isSummary ? { 'muster.request.purpose': 'summary' } : {}),
        ...(task.hasContent
          ? { 'gen_ai.input.messages': formatInputMessages(takeNewMessages(task, event)) }
          : {}),
      },
    },
  };
  return abandoned;
}

/** Notes the time at which the first byte of an answer arrived. It is not known of a request that was repeated. */
export function noteFirstByte({ request, newestMs }: TaskTrace): void {
  if (request === null || request.isRetried) return;
  const seconds = (newestMs - request.span.startMs) / 1000;
  request.span.attributes['gen_ai.response.time_to_first_chunk'] = Math.max(0, seconds);
}

/** Adds the usage of an attempt. What the provider did not report is added as it was estimated. */
export function addAttempt(request: OpenRequest, attempt: AnswerUsage): void {
  request.usage = addUsage(request.usage, toUsageCounts(attempt.usage));
  request.costUsd += toCount(attempt.costUsd ?? 0);
  if (attempt.estimated === undefined) return;
  request.usage = addUsage(request.usage, toUsageCounts(attempt.estimated.usage));
  request.costUsd += toCount(attempt.estimated.costUsd ?? 0);
}

/** Ends the open request of a task. Its usage is that of all its attempts. */
export function endRequest(task: TaskTrace, end: SpanEnd): readonly SpanRecord[] {
  const { request } = task;
  if (request === null) return [];
  task.request = null;
  const attributes = {
    ...usageAttributes(request.usage),
    'muster.cost.usd': request.costUsd,
    ...end.attributes,
  };
  return [endSpan(request.span, { ...end, attributes })];
}

/** Returns the span of a request that a call sent apart from the conversation. */
export function createRequestApart(task: TaskTrace, event: EventOf<'request.ended'>): SpanRecord {
  const model = splitModelName(event.model ?? 'unknown');
  const request: OpenRequest = {
    turn: 0,
    isSummary: false,
    usage: NO_USAGE,
    costUsd: 0,
    isRetried: false,
    span: {
      ...beginSpan(task),
      spanId: spanIdOfRequest(task.id, event.seq),
      parentSpanId: task.calls.get(event.callId)?.spanId ?? beginSpan(task).parentSpanId,
      name: `chat ${model.id}`,
      kind: 'client',
      startMs: task.newestMs - toCount(event.ms),
      attributes: {
        ...chatAttributes(task, model),
        'muster.request.purpose': 'call',
        'gen_ai.tool.call.id': toSpanName(event.callId),
      },
    },
  };
  addAttempt(request, event);
  return endSpan(request.span, {
    endMs: task.newestMs,
    attributes: { ...usageAttributes(request.usage), 'muster.cost.usd': request.costUsd },
    ...(event.failure === null ? {} : { errorType: event.failure.kind }),
  });
}

function chatAttributes(task: TaskTrace, { provider, id }: ModelParts): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    ...task.shared,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': id,
    'gen_ai.request.stream': true,
  };
}

/** Returns what a request adds to the conversation: the results of calls, then its inputs. */
function takeNewMessages(
  task: TaskTrace,
  event: EventOf<'turn.started' | 'summary.started'>,
): readonly NewMessage[] {
  if (event.type === 'summary.started') return [{ role: 'user', text: event.ask }];
  const texts = event.inputs.flatMap((input) => task.inputs.get(input) ?? []);
  for (const input of event.inputs) task.inputs.delete(input);
  const { results } = task;
  task.results = [];
  return [...results, ...texts.map((text) => ({ role: 'user', text }) as const)];
}
