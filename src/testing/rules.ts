import type { Answer } from './answer.ts';
import {
  firstUserText,
  lastUserText,
  toolResultRounds,
  type RecordedRequest,
  type WireProtocol,
} from './wire-request.ts';

/** The conditions under which a rule answers a request. All that are set must be met. */
export interface RuleCondition {
  readonly protocol?: WireProtocol;
  readonly model?: string;
  readonly systemIncludes?: string;
  /** A text in the first user message, which is the task's prompt. */
  readonly promptIncludes?: string;
  /** A text in the last user message. Tool results are not searched. */
  readonly lastUserIncludes?: string;
  /** A text anywhere in the body as it was sent. */
  readonly bodyIncludes?: string;
  /** The request has a tool of this name. */
  readonly offersTool?: string;
  /** The number of answers with calls of which the results were sent back: 0 for a task's first request. */
  readonly toolResults?: number;
  /** The number of times that this body has arrived: 1 at first, 2 when it is sent again, and so on. */
  readonly attempt?: number | readonly number[];
  /** The condition that more than this many requests are being answered, including this one. */
  readonly inFlightAbove?: number;
  /** The position, from 1, among the requests that reached this rule and met its other conditions. */
  readonly nth?: number | readonly number[];
}

/**
 * A condition and an answer. The first rule whose condition is met gives the answer. A rule without a condition
 * fits every request.
 */
export interface Rule {
  readonly when?: RuleCondition;
  readonly answer: Answer;
}

/** Creates a handler from rules. It throws an error that describes the request if no rule fits it. */
export function answerByRules(rules: readonly Rule[]): AnswerHandler {
  const seen = rules.map(() => 0);
  return (request) => {
    const rule = rules.find(({ when = {} }, index) => {
      if (!fits(when, request)) return false;
      const nth = (seen[index] ?? 0) + 1;
      seen[index] = nth;
      return includes(when.nth, nth);
    });
    if (rule === undefined) throw new Error(`no rule fits ${describe(request)}`);
    return rule.answer;
  };
}

/** Returns true if a request meets all conditions except `nth`. */
function fits(when: RuleCondition, request: RecordedRequest): boolean {
  return (
    (when.protocol === undefined || when.protocol === request.protocol) &&
    (when.model === undefined || when.model === request.model) &&
    (when.toolResults === undefined || when.toolResults === toolResultRounds(request)) &&
    (when.inFlightAbove === undefined || request.inFlight > when.inFlightAbove) &&
    includes(when.attempt, request.attempt) &&
    contains(request.system, when.systemIncludes) &&
    contains(firstUserText(request), when.promptIncludes) &&
    contains(lastUserText(request), when.lastUserIncludes) &&
    contains(request.rawBody, when.bodyIncludes) &&
    (when.offersTool === undefined || request.tools.some((tool) => tool.name === when.offersTool))
  );
}

function contains(text: string, part: string | undefined): boolean {
  return part === undefined || text.includes(part);
}

function includes(wanted: number | readonly number[] | undefined, value: number): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'number' ? wanted === value : wanted.includes(value);
}

function describe(request: RecordedRequest): string {
  return (
    `request ${request.id} (${request.protocol}, model ${request.model}, ` +
    `${toolResultRounds(request)} rounds of tool results, ` +
    `last user message ${JSON.stringify(lastUserText(request).slice(0, 200))})`
  );
}

/**
 * Decides the answer to a request. If it throws, the server answers with status 400 and records the error in
 * the outcome.
 */
export type AnswerHandler = (request: RecordedRequest) => Answer | Promise<Answer>;
