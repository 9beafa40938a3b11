import { constants } from 'node:os';
import { MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import { isCpuLimitEnd } from '../../sys/processes/cpu-limit.ts';
import type { ProcessLimits } from '../task/call-process.ts';

/** The maximum number of bytes that the process may print, for which it has no reason. */
export const MAX_PRINTED_BYTES = 1_000_000;
/**
 * The maximum number of bytes of the messages during one call. Each message counts as `MESSAGE_BYTES` more, for the work
 * that it makes.
 */
export const MAX_CALL_BYTES = 268_435_456;
export const MESSAGE_BYTES = 512;

/** The reason why Muster ended the process of a task. */
export type EndCause =
  | { readonly kind: 'memory'; readonly usedBytes: number }
  | { readonly kind: 'printed' }
  | { readonly kind: 'messages' }
  /** `problem`: what it sent, as a noun phrase. */
  | { readonly kind: 'malformed'; readonly problem: string }
  /** The call had to stop and did not. `reason`: a clause. */
  | { readonly kind: 'unresponsive'; readonly tool: string; readonly reason: string };

/** The end of a process as the operating system reports it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The reason why the process could not be started. Absent if it ran. */
  readonly startError?: string;
  /** The end of its stderr. */
  readonly printed: string;
}

const MEGABYTE = 1_048_576;
const MAX_PRINTED_LENGTH = 200;

/**
 * Describes why the process of a task has ended, although the task needed it, as the error with which the task fails.
 *
 * @param cause the reason for which Muster ended it; null if it ended otherwise
 */
export function describeProcessEnd(
  cause: EndCause | null,
  end: ProcessEnd,
  limits: ProcessLimits,
): MusterError {
  const { text, isLimit } =
    cause === null ? describeOwnEnd(end, limits) : describeCause(cause, limits);
  const code = isLimit ? 'LIMIT_EXCEEDED' : 'INTERNAL_ERROR';
  return new MusterError(code, `the process of the task ${text}`);
}

interface Description {
  readonly text: string;
  readonly isLimit: boolean;
}

function describeCause(cause: EndCause, { memoryMb }: ProcessLimits): Description {
  switch (cause.kind) {
    case 'memory': {
      const used = Math.ceil(cause.usedBytes / MEGABYTE);
      return limit(
        `and its commands used ${used} MB of memory together (limit process.memory_mb = ${memoryMb})`,
      );
    }
    case 'printed':
      return limit(`printed more than ${MAX_PRINTED_BYTES} bytes (limit printed_bytes)`);
    case 'messages':
      return limit(
        `sent more than ${MAX_CALL_BYTES / MEGABYTE} MB during a call (limit process_messages)`,
      );
    case 'malformed':
      return { text: `sent ${cause.problem}, which Muster cannot read`, isLimit: false };
    case 'unresponsive':
      return limit(`did not end its call of ${cause.tool}, although ${cause.reason}`);
  }
}

function describeOwnEnd(
  { code, signal, startError, printed }: ProcessEnd,
  { heapMb, cpuSeconds }: ProcessLimits,
): Description {
  if (startError !== undefined) return { text: `could not start: ${startError}`, isLimit: false };
  if (isCpuLimitEnd(code, signal)) {
    return limit(
      `used ${cpuSeconds} seconds of processor time (limit process.cpu_seconds = ${cpuSeconds})`,
    );
  }
  if (/heap out of memory|heap limit/.test(printed)) {
    return limit(`used more than ${heapMb} MB of heap (limit process.heap_mb = ${heapMb})`);
  }
  const last = printed.split('\n').findLast((line) => line.trim() !== '') ?? '';
  const quoted = last === '' ? '' : `: ${JSON.stringify(truncate(last, MAX_PRINTED_LENGTH))}`;
  const killedBy = signal ?? findSignal(code);
  const how = killedBy === null ? `ended with exit code ${code}` : `was killed by ${killedBy}`;
  return { text: `${how}${quoted}`, isLimit: false };
}

/** Returns the signal that an exit code stands for: a sandbox reports the end of its program like a shell. */
function findSignal(code: number | null): string | null {
  const number = (code ?? 0) - 128;
  return Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? null;
}

function limit(text: string): Description {
  return { text, isLimit: true };
}
