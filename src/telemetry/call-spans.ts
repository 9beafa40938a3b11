import { endSpan } from './open-span.ts';
import { formatCallValue } from './span-content.ts';
import type { SpanRecord } from './span-record.ts';
import { toSpanName } from './span-texts.ts';
import { beginSpan, type EventOf, type TaskTrace } from './task-trace.ts';
import { spanIdOfCall } from './trace-ids.ts';

/** Begins the span of a call. A call that runs again after a crash keeps its span. */
export function beginCall(task: TaskTrace, event: EventOf<'call.started' | 'call.refused'>): void {
  const { callId } = event;
  if (task.calls.has(callId)) return;
  const use = task.callUses.get(callId) ?? 0;
  task.callUses.set(callId, use + 1);
  const tool = toSpanName(event.tool);
  task.calls.set(callId, {
    ...beginSpan(task),
    spanId: spanIdOfCall(task.id, callId, use),
    name: `execute_tool ${tool}`,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      ...task.shared,
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': toSpanName(callId),
      'gen_ai.tool.type': 'function',
      ...(task.hasContent && event.type === 'call.started'
        ? { 'gen_ai.tool.call.arguments': formatCallValue(event.input) }
        : {}),
    },
  });
}

/** Ends the span of a call. A call that was refused before it ran gets a span without a duration. */
export function endCall(
  task: TaskTrace,
  event: EventOf<'call.ended' | 'call.refused'>,
): readonly SpanRecord[] {
  const { callId, text, error } = event;
  const isRefused = event.type === 'call.refused';
  if (isRefused) beginCall(task, event);
  const span = task.calls.get(callId);
  if (span === undefined) return [];
  task.calls.delete(callId);
  if (task.hasContent) task.results.push({ role: 'tool', callId, text });
  const ended = endSpan(span, {
    endMs: task.newestMs,
    attributes: {
      ...(isRefused ? { 'muster.call.refused': true } : {}),
      ...(task.hasContent ? { 'gen_ai.tool.call.result': formatCallValue(text) } : {}),
    },
    ...(error === null ? {} : { errorType: error }),
  });
  return [ended];
}
