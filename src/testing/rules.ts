import type { Answer } from './answer.ts';
import {
  firstUserText,
  lastUserText,
  toolResultRounds,
  type RecordedRequest,
  type WireProtocol,
} from './wire-request.ts';

/** What a request must be for a rule to answer it; all that are given must hold. */
export interface RuleCondition {
  readonly protocol?: WireProtocol;
  readonly model?: string;
  readonly systemIncludes?: string;
  /** In the first user message: the task's prompt. */
  readonly promptIncludes?: string;
  /** In the last user message; tool results are none. */
  readonly lastUserIncludes?: string;
  /** Anywhere in the body as sent. */
  readonly bodyIncludes?: string;
  /** The request has a tool of this name. */
  readonly offersTool?: string;
  /** How many answers with calls have had their results sent back: 0 for a task's first request. */
  readonly toolResults?: number;
  /** How often this very body has arrived: 1 for the first time, 2 when it is tried again, … */
  readonly attempt?: number | readonly number[];
  /** More than this many requests are being answered, this one counted. */
  readonly inFlightAbove?: number;
  /** Which of the requests that came to this rule and fit the rest of it, from 1. */
  readonly nth?: number | readonly number[];
}

/** The first rule whose condition holds gives the answer; one without a condition always does. */
export interface Rule {
  readonly when?: RuleCondition;
  readonly answer: Answer;
}

/** The rules as a handler. It throws for a request that no rule fits, saying what came. */
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

/** Everything but `nth`. */
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

/** Decides an answer. What it throws is answered with status 400 and stands in the outcome. */
export type AnswerHandler = (request: RecordedRequest) => Answer | Promise<Answer>;
