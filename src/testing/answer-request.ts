import { errorMessage } from '../base/errors.ts';
import type { AnswerHandler } from './rules.ts';
import type { Exchange } from './exchange.ts';
import { prepareAnswer, tokensOf, type AnswerContext } from './prepare-answer.ts';
import type { CacheLookup, PromptCache } from './prompt-cache.ts';
import { respond, sendStatus } from './respond.ts';
import { describeViolations, type Violation } from './strict/rule.ts';
import { CODECS } from './wire/codecs.ts';
import type { PreparedAnswer } from './wire/codec.ts';
import type { RecordedRequest } from './wire-request.ts';

export interface AnsweringParts {
  readonly exchange: Exchange;
  readonly handler: AnswerHandler;
  /** The modelled prompt cache; null if there is none. */
  readonly cache: PromptCache | null;
  /** The rules of the vendor that the request breaks. If there are none, the script decides the answer. */
  readonly violations: readonly Violation[];
}

/**
 * Refuses the request if its vendor would refuse it. Otherwise it plays the answer that the script decides.
 * Never rejects.
 */
export async function answerRequest(
  request: RecordedRequest,
  { exchange, handler, cache, violations }: AnsweringParts,
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
    // The lookup is made when the request arrives: entries that are written later come too late for it.
    const lookup =
      cache === null
        ? uncached(request)
        : cache.lookup(request.model, codec.blocks(request.body), codec.cache);
    const answer = await Promise.race([handler(request), exchange.ended]);
    if (answer === undefined) return;
    const prepare = (): PreparedAnswer => {
      lookup.commit();
      return prepareAnswer(answer, context(request, lookup));
    };
    await respond({ exchange, codec, request, answer, prepare });
  } catch (thrown) {
    // The script has failed. No client tries again after 400, so a test fails at once.
    const message = `The fake model's script failed: ${errorMessage(thrown)}`;
    exchange.outcome.problem = message;
    if (exchange.outcome.status === null) {
      sendStatus(exchange, codec, { kind: 'status', status: 400, message });
    } else exchange.destroy();
    await exchange.ended;
  }
}

function uncached(request: RecordedRequest): CacheLookup {
  const input = tokensOf(Buffer.byteLength(request.rawBody));
  return { usage: { input, cacheRead: 0, cacheWrite: 0 }, commit: () => {} };
}

function context(request: RecordedRequest, lookup: CacheLookup): AnswerContext {
  const { callIdPrefix } = CODECS[request.protocol];
  const place = `${request.taskKey.slice(0, 10)}_${request.messages.length}_`;
  return {
    id: `fake${request.id}_${request.taskKey.slice(0, 10)}`,
    createdAt: Math.floor(request.receivedAt / 1000),
    callIdPrefix: `${callIdPrefix}${place}`,
    prompt: lookup.usage,
  };
}
