import { AssertionError, deepStrictEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { RecordedExchange } from './cassette-file.ts';
import type { NormalizedRequest } from './normalize-request.ts';

/** The exchanges of a cassette, and which of them were played. */
export class CassettePlayer {
  private readonly exchanges: readonly RecordedExchange[];
  private readonly played = new Set<RecordedExchange>();

  constructor(exchanges: readonly RecordedExchange[]) {
    this.exchanges = exchanges;
  }

  /** The requests that were recorded and have not been played. */
  get unused(): readonly NormalizedRequest[] {
    return this.exchanges.flatMap((each) => (this.played.has(each) ? [] : [each.request]));
  }

  /**
   * Returns the first exchange with this request that has not been played. An exchange without a body, such as a list of models,
   * is played as often as it is requested. Throws an error that shows the difference from the nearest recorded request.
   */
  play(request: NormalizedRequest): RecordedExchange {
    const same = this.exchanges.filter((each) => isDeepStrictEqual(each.request, request));
    const next = same.find((each) => !this.played.has(each));
    const found = next ?? (request.method === 'GET' ? same.at(-1) : undefined);
    if (found === undefined) throw new Error(describeMiss(request, same.length, this.unused));
    this.played.add(found);
    return found;
  }
}

function describeMiss(
  request: NormalizedRequest,
  recorded: number,
  unused: readonly NormalizedRequest[],
): string {
  const name = `${request.method} ${request.path}`;
  if (recorded > 0)
    return `the request ${name} was recorded only ${recorded} times; record the cassette again`;
  const [nearest] = unused
    .filter(({ method, path }) => method === request.method && path === request.path)
    .toSorted((a, b) => countShared(b, request) - countShared(a, request));
  const advice = 'Record the cassette again, or pass `normalize` if only a detail differs.';
  if (nearest === undefined) return `the request ${name} was never recorded. ${advice}`;
  return `the request ${name} was never recorded. ${advice} The nearest recorded request differs:\n${diff(request, nearest)}`;
}

/** Counts the messages at the beginning that two requests share. */
function countShared(a: NormalizedRequest, b: NormalizedRequest): number {
  const [first, second] = [a, b].map(({ messages }) => (Array.isArray(messages) ? messages : []));
  const differs = (first ?? []).findIndex(
    (message, index) => !isDeepStrictEqual(message, second?.[index]),
  );
  return differs < 0 ? (first ?? []).length : differs;
}

function diff(actual: NormalizedRequest, expected: NormalizedRequest): string {
  try {
    deepStrictEqual(actual, expected);
    return '';
  } catch (thrown) {
    if (thrown instanceof AssertionError) return thrown.message;
    throw thrown;
  }
}
