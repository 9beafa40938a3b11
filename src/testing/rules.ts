import type { ScriptedAnswer } from './answer.ts';
import {
  firstUserText,
  lastUserText,
  toolResultRounds,
  type RecordedRequest,
  type WireProtocol,
} from './wire-request.ts';

/** The conditions under which a rule answers a request. All conditions that are set must be met. */
export interface RuleCondition {
  /** The protocol of the request. */
  readonly protocol?: WireProtocol;
  /** The id of the requested model. */
  readonly model?: string;
  /** A text that the system prompt contains. */
  readonly systemIncludes?: string;
  /** A text that the first user message contains, which is the prompt of the task. */
  readonly promptIncludes?: string;
  /** A text that the last user message contains. Tool results are not searched. */
  readonly lastUserIncludes?: string;
  /** A text that the unchanged body contains. */
  readonly bodyIncludes?: string;
  /** The name of a tool that the request contains. */
  readonly offersTool?: string;
  /** The number of answers whose calls have results in the request: 0 for the first request of a task. */
  readonly toolResults?: number;
  /** The number of times that this body has arrived: 1 at first, 2 when it is sent again, and so on. */
  readonly attempt?: number | readonly number[];
  /** A number that the number of requests in flight, including this request, must exceed. */
  readonly inFlightAbove?: number;
  /** The number of this request, from 1, among the requests that reached this rule and met its other conditions. */
  readonly nth?: number | readonly number[];
}

/**
 * A condition and an answer. The first rule whose condition is met decides the answer. A rule without a condition matches
 * every request.
 */
export interface Rule {
  /** The condition. Default: the rule matches every request. */
  readonly when?: RuleCondition;
  /** The answer. */
  readonly answer: ScriptedAnswer;
}

/** Creates a handler from rules. The handler throws an error that describes the request if no rule matches it. */
export function answerByRules(rules: readonly Rule[]): AnswerHandler {
  const matchCounts = rules.map(() => 0);
  return (request) => {
    const rule = rules.find(({ when = {} }, index) => {
      if (!meetsConditions(when, request)) return false;
      const nth = (matchCounts[index] ?? 0) + 1;
      matchCounts[index] = nth;
      return isWanted(when.nth, nth);
    });
    if (rule === undefined) throw new Error(`no rule fits ${describeRequest(request)}`);
    return rule.answer;
  };
}

/** Returns true if a request meets all conditions except `nth`. */
function meetsConditions(when: RuleCondition, request: RecordedRequest): boolean {
  return (
    (when.protocol === undefined || when.protocol === request.protocol) &&
    (when.model === undefined || when.model === request.model) &&
    (when.toolResults === undefined || when.toolResults === toolResultRounds(request)) &&
    (when.inFlightAbove === undefined || request.inFlight > when.inFlightAbove) &&
    isWanted(when.attempt, request.attempt) &&
    containsPart(request.system, when.systemIncludes) &&
    containsPart(firstUserText(request), when.promptIncludes) &&
    containsPart(lastUserText(request), when.lastUserIncludes) &&
    containsPart(request.rawBody, when.bodyIncludes) &&
    (when.offersTool === undefined || request.tools.some((tool) => tool.name === when.offersTool))
  );
}

function containsPart(text: string, part: string | undefined): boolean {
  return part === undefined || text.includes(part);
}

function isWanted(wanted: number | readonly number[] | undefined, value: number): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'number' ? wanted === value : wanted.includes(value);
}

function describeRequest(request: RecordedRequest): string {
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
export type AnswerHandler = (request: RecordedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
