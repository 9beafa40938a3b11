import { errorMessage } from '../base/errors.ts';
import type { AnswerHandler } from './rules.ts';
import type { Exchange } from './exchange.ts';
import { prepareAnswer, estimateTokenCount, type AnswerContext } from './prepare-answer.ts';
import type { CacheLookup, PromptCache } from './prompt-cache.ts';
import { respond, sendStatus } from './respond.ts';
import { describeViolations, type Violation } from './strict/rule.ts';
import { CODECS } from './wire/codecs.ts';
import type { PreparedAnswer } from './wire/codec.ts';
import type { RecordedRequest } from './wire-request.ts';

/** The options of `answerRequest`. */
export interface AnsweringOptions {
  readonly exchange: Exchange;
  readonly handler: AnswerHandler;
  /** The simulated prompt cache; null: no cache is simulated. */
  readonly cache: PromptCache | null;
  /** The rules of the vendor that the request breaks. If it breaks none, the script decides the answer. */
  readonly violations: readonly Violation[];
}

/**
 * Refuses a request if its vendor would refuse it. Otherwise sends the answer that the script decides. Never rejects.
 */
export async function answerRequest(
  request: RecordedRequest,
  { exchange, handler, cache, violations }: AnsweringOptions,
): Promise<void> {
  const codec = CODECS[request.protocol];
  const [first] = violations;
  if (first !== undefined) {
    const { status, message, body } = first;
    exchange.outcome.problem = `The request breaks rules of its vendor:\n${describeViolations(violations)}`;
    sendStatus(exchange, codec, { kind: 'status', status, message, body: JSON.stringify(body) });
    await exchange.ended;
    return;
  }
  try {
    // The cache is read when the request arrives, so that it does not contain entries that are written later.
    const lookup =
      cache === null
        ? createUncachedLookup(request)
        : cache.lookup(request.model, codec.listBlocks(request.body), codec.cache);
    const answer = await Promise.race([handler(request), exchange.ended]);
    if (answer === undefined) return;
    const prepare = (): PreparedAnswer => {
      lookup.commit();
      return prepareAnswer(answer, createAnswerContext(request, lookup));
    };
    await respond({ exchange, codec, request, answer, prepare });
  } catch (thrown) {
    // The script has failed. Clients do not repeat a request after status 400, so a test fails at once.
    const message = `The fake model's script failed: ${errorMessage(thrown)}`;
    exchange.outcome.problem = message;
    if (exchange.outcome.status === null) {
      sendStatus(exchange, codec, { kind: 'status', status: 400, message });
    } else exchange.destroy();
    await exchange.ended;
  }
}

function createUncachedLookup(request: RecordedRequest): CacheLookup {
  const input = estimateTokenCount(Buffer.byteLength(request.rawBody));
  return { usage: { input, cacheRead: 0, cacheWrite: 0 }, commit: () => {} };
}

function createAnswerContext(request: RecordedRequest, lookup: CacheLookup): AnswerContext {
  const { callIdPrefix } = CODECS[request.protocol];
  const uniquePart = `${request.taskKey.slice(0, 10)}_${request.messages.length}_`;
  return {
    id: `fake${request.id}_${request.taskKey.slice(0, 10)}`,
    createdAt: Math.floor(request.receivedAt / 1000),
    callIdPrefix: `${callIdPrefix}${uniquePart}`,
    prompt: lookup.usage,
  };
}
