import { createHash } from 'node:crypto';
import type { TaskSpec } from '../protocol/task.ts';

/**
 * The ids of traces and spans are hashes of ids in the log. So every process that works on a task, and every later
 * reading of its log, gives a span the same id.
 */

/** The place of a span in a trace: the values of the header `traceparent` of W3C Trace Context. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** False if whoever started the trace does not want its spans to be recorded. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/** Reads a `traceparent`. Returns null for a text that is none. */
export function parseTraceparent(text: string): TraceContext | null {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text.trim()) ?? [];
  if (traceId === '' || ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Formats the `traceparent` of a span, version 00. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Returns the trace to which a task belongs: one from outside, or else that of its tree. */
export function findTrace(
  spec: Pick<TaskSpec, 'root' | 'traceparent'>,
): Pick<TraceContext, 'traceId' | 'isSampled'> & { readonly outerSpanId: string | null } {
  const outer = parseTraceparent(spec.traceparent ?? '');
  if (outer === null) {
    return { traceId: hash(['trace', spec.root], 32), isSampled: true, outerSpanId: null };
  }
  return { traceId: outer.traceId, isSampled: outer.isSampled, outerSpanId: outer.spanId };
}

/** Returns the `traceparent` of a call of a task, for the programs that the call runs. */
export function traceparentOfCall(
  spec: Pick<TaskSpec, 'id' | 'root' | 'traceparent'>,
  callId: string,
): string {
  return formatTraceparent({ ...findTrace(spec), spanId: spanIdOfCall(spec.id, callId) });
}

/** Returns the id of the span of an activation. `number`: 0 for the first activation of the task. */
export function spanIdOfActivation(task: string, number: number): string {
  return hash(['activation', task, String(number)], 16);
}

/** Returns the id of the span of a request. `seq`: the number of the event with which it began, or ended as a whole. */
export function spanIdOfRequest(task: string, seq: number): string {
  return hash(['request', task, String(seq)], 16);
}

/** Returns the id of the span of a call. `use`: 0 for the first call of the task with this id, 1 for the second. */
export function spanIdOfCall(task: string, callId: string, use = 0): string {
  return hash(['call', task, callId, String(use)], 16);
}

function hash(parts: readonly string[], digits: number): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);
  // An id of zeros alone is invalid.
  return ONLY_ZEROS.test(digest) ? digest.replace(/0$/, '1') : digest;
}
