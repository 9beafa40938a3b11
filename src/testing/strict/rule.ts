import type { JsonObject } from '../../base/json.ts';
import { findLoneSurrogates } from './read.ts';

/** A part of a request that breaks a rule, with the answer of the vendor's server. */
export interface Breach {
  /** The path of the part, in the notation of the vendor: `messages.1.content.0` or `messages[1].content[0]`. */
  readonly path: string;
  /** The error message of the vendor's server. */
  readonly message: string;
  /** The HTTP status of the answer. Default: 400. */
  readonly status?: number;
  /** The field `code` of an error of OpenAI. Default: null. */
  readonly code?: string;
  /** The error body, for servers that do not use the usual error body of the protocol. */
  readonly body?: JsonObject;
}

/** A published rule of a vendor's server for the body of a request. */
export interface StrictRule<Request> {
  /** The unique id of the rule: the protocol, a slash and a name. */
  readonly id: string;
  /** The rule in plain words. */
  readonly requirement: string;
  /** The page or the public report from which the rule and the message are taken. */
  readonly source: string;
  /** Finds the parts of a request that break the rule. */
  find(request: Request): Iterable<Breach>;
}

/** A violation: the rule that a request breaks, and the answer of the vendor's server. */
export interface Violation {
  /** The id of the rule: the protocol, a slash and a name. */
  readonly rule: string;
  /** The rule in plain words. */
  readonly requirement: string;
  /** The path of the part that breaks the rule, in the notation of the vendor: `messages.1.content.0`. */
  readonly path: string;
  /** The error message of the vendor's server. */
  readonly message: string;
  /** The HTTP status of the vendor's answer. */
  readonly status: number;
  /** The body of the vendor's answer. */
  readonly body: JsonObject;
}

/** Checks a request against each rule, in the order of the rules. `errorBody`: creates the usual error body of the vendor. */
export function applyRules<Request>(
  rules: readonly StrictRule<Request>[],
  request: Request,
  errorBody: (status: number, message: string, breach: Breach) => JsonObject,
): readonly Violation[] {
  return rules.flatMap(({ id, requirement, find }) =>
    [...find(request)].map(({ status = 400, ...breach }) => ({
      rule: id,
      requirement,
      path: breach.path,
      message: breach.message,
      status,
      body: breach.body ?? errorBody(status, breach.message, breach),
    })),
  );
}

/**
 * Describes each violation in one line: the rule, the path, the requirement and the vendor's error. Empty for no violations.
 *
 * @example
 * import assert from 'node:assert/strict';
 * import { describeViolations, startFakeModel } from 'muster-agent/testing';
 *
 * const server = await startFakeModel();
 * assert.equal(describeViolations(server.violations), '');
 * await server.close();
 */
export function describeViolations(violations: readonly Violation[]): string {
  return violations
    .map(
      ({ rule, path, requirement, status, message }) =>
        `- ${rule} at ${path}: ${requirement} (${status} ${message.trim()})`,
    )
    .join('\n');
}

/** Creates the rule of every server that no text contains half of a surrogate pair. */
export function createWellFormedTextRule(
  protocol: string,
  source: string,
  message: string,
): StrictRule<{ readonly body: JsonObject }> {
  return {
    id: `${protocol}/well-formed-text`,
    requirement: 'No text contains half of a surrogate pair.',
    source,
    find: ({ body }) => [...findLoneSurrogates(body)].map((path) => ({ path, message })),
  };
}
