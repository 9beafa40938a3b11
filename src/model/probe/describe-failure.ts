import { fail, warn, type Check } from '../../protocol/check.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { extractErrorText } from '../adapters/errors/error-body.ts';
import { isWebPage } from '../adapters/errors/markup.ts';
import { quoteServerText, type ProbeAnswer } from './probe-client.ts';

/** Returns the message of a failure without the name of the model before it. */
export function failureText({ message }: ModelFailure): string {
  return quoteServerText(message.replace(/^\S+: /, ''));
}

/** Returns true if a later request may succeed, so that the failure says nothing about what the server supports. */
export function isPassing({ kind, retryable }: ModelFailure): boolean {
  return retryable || kind === 'rate_limit' || kind === 'overloaded' || kind === 'cancelled';
}

/** Describes a failure that ends the probe, or a part of it. */
export function describeFailure(name: string, failure: ModelFailure): Check {
  const text = failureText(failure);
  switch (failure.kind) {
    case 'auth':
      return fail(
        name,
        text,
        'check the key: sign in with "muster login", or name the variable that holds it with --api-key-env NAME',
      );
    case 'rate_limit':
    case 'overloaded':
    case 'server':
      return warn(name, `not tested: ${text}`, 'try again later');
    case 'cancelled':
      return warn(name, `not tested: ${text}`, null);
    case 'timeout':
      return fail(
        name,
        text,
        'see in the log of the server whether it loads a model, or choose a smaller one with --model ID',
      );
    case 'connect':
      return fail(name, text, 'check the server and the proxy between, then try again');
    case 'not_found':
      return fail(name, text, 'choose a model of the server with --model ID, or correct the URL');
    case 'context_overflow':
      return fail(name, text, 'give the model a larger context window at the server');
    case 'bad_request':
    case 'malformed':
    case 'too_large':
      return fail(name, text, 'look in the log of the server, or choose another model');
    default:
      return failure.kind satisfies never;
  }
}

/**
 * Returns true if the server has no endpoint of the protocol: it answers with a page, or with a status for an unknown
 * address. A server that only does not know the model has the endpoint.
 */
export function hasNoEndpoint({ end, wire: { status, received } }: ProbeAnswer): boolean {
  if (end.type !== 'failed' || status === null) return false;
  if (status < 400) return isWebPage(received);
  if (status !== 404 && status !== 405 && status !== 501) return false;
  return isWebPage(received) || !/\b(?:models?|deployment)\b/i.test(extractErrorText(received));
}
