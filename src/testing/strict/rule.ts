import type { JsonObject } from '../../base/json.ts';
import { loneSurrogates } from './read.ts';

/** A location in a request that breaks a rule, with the answer of the vendor's server. */
export interface Breach {
  /** The field, written as the vendor writes paths: `messages.1.content.0` or `messages[1].content[0]`. */
  readonly path: string;
  /** The error message of the vendor's server. */
  readonly message: string;
  /** The HTTP status of the answer. Default: 400. */
  readonly status?: number;
  /** The `code` of an error in OpenAI's form. Default: null. */
  readonly code?: string;
  /** Replaces the error body that the protocol usually has, for servers with a form of their own. */
  readonly body?: JsonObject;
}

/** A published rule of a vendor's server for the bodies of requests. */
export interface StrictRule<Request> {
  /** The unique id of the rule: the protocol, a slash and a name. */
  readonly id: string;
  /** The rule in plain words. */
  readonly requirement: string;
  /** The page or the public report that the rule and the message were taken from. */
  readonly source: string;
  find(request: Request): Iterable<Breach>;
}

/** A rule that a request breaks. */
export interface Violation extends Required<Pick<Breach, 'path' | 'message' | 'status'>> {
  readonly rule: string;
  readonly requirement: string;
  /** The body of the vendor's answer. */
  readonly body: JsonObject;
}

/** Checks a request against each rule, in the order of the rules. `errorBody` writes the vendor's usual answer. */
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

/** Describes each violation in one line with the rule, the field, the requirement and the vendor's error. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations
    .map(
      ({ rule, path, requirement, status, message }) =>
        `- ${rule} at ${path}: ${requirement} (${status} ${message.trim()})`,
    )
    .join('\n');
}

/** Creates the rule, which every server has, that no text contains half of a surrogate pair. */
export function wellFormedText(
  protocol: string,
  source: string,
  message: string,
): StrictRule<{ readonly body: JsonObject }> {
  return {
    id: `${protocol}/well-formed-text`,
    requirement: 'No text contains half of a surrogate pair.',
    source,
    find: ({ body }) => [...loneSurrogates(body)].map((path) => ({ path, message })),
  };
}
