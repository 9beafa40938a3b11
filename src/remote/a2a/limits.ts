import type { Deadlines } from '../../base/deadlines.ts';
import { formatDuration } from '../../base/text.ts';
import { A2aError } from './failure.ts';
import type { AnswerLimits } from './remote-answer.ts';

/** The limits on the work with a server. All times are in milliseconds. */
export interface A2aLimits extends AnswerLimits {
  /** The maximum size in bytes of one response or of one event of a stream. */
  readonly maxMessageBytes: number;
  /** The maximum time for reading the agent card. */
  readonly cardMs: number;
  /** The maximum time in which the server reports nothing new. */
  readonly silentMs: number;
  /** The maximum time for telling the server that its work is not wanted any more. */
  readonly cancelMs: number;
  /** The time before the first question how the work goes, and the maximum time between two such questions. */
  readonly pollMs: readonly [first: number, max: number];
}

const MIB = 1_048_576;

export const A2A_LIMITS: A2aLimits = {
  maxMessageBytes: 4 * MIB,
  maxCharacters: 2 * MIB,
  maxUpdates: 100_000,
  cardMs: 30_000,
  silentMs: 1_800_000,
  cancelMs: 3_000,
  pollMs: [500, 5_000],
};

/** Aborts work with a timeout as the reason when nothing new has happened for too long. */
export function watchSilence(deadlines: Deadlines, ms: number, controller: AbortController) {
  const text = `the server reported nothing new for ${formatDuration(ms)} (the limit for servers of agents)`;
  const expire = (): void => controller.abort(new A2aError('timeout', text));
  let deadline = deadlines.after(ms, expire);
  return {
    /** Begins the time anew. */
    extend(): void {
      deadline.cancel();
      deadline = deadlines.after(ms, expire);
    },
    stop: () => deadline.cancel(),
  };
}

/** Runs a function with a signal that aborts after a time. Then it rejects with a timeout and the text. */
export async function withTimeLimit<T>(
  deadlines: Deadlines,
  [ms, text]: readonly [ms: number, text: string],
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const error = new A2aError('timeout', text);
  const deadline = deadlines.after(ms, () => controller.abort(error));
  try {
    return await run(controller.signal);
  } catch (thrown) {
    throw controller.signal.aborted ? error : thrown;
  } finally {
    deadline.cancel();
  }
}
