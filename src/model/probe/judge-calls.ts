import { isJsonObject } from '../../base/json.ts';
import { fail, ok, warn, type Check } from '../../protocol/check.ts';
import {
  messageText,
  toolCalls,
  userMessage,
  type AssistantMessage,
  type ToolCallPart,
  type ToolMessage,
} from '../../protocol/message.ts';
import type { ToolSpec } from '../../protocol/model.ts';
import { findTextCall } from '../../protocol/text-calls/call-as-text.ts';
import { describeFailure, isPassing } from './describe-failure.ts';
import { describeOnlyThought, isOnlyThought, quoteAnswer } from './judge-answer.ts';
import { quoteServerText, type ProbeAnswer, type ProbeRequest } from './probe-client.ts';

/** A tool as in a run. It is never executed. */
const READ_TOOL: ToolSpec = {
  name: 'Read',
  description: 'Reads a text file.',
  inputSchema: {
    type: 'object',
    properties: { file_path: { type: 'string', description: 'The path of the file.' } },
    required: ['file_path'],
    additionalProperties: false,
  },
};

/** Asks for one call. */
export const ONE_CALL: ProbeRequest = {
  messages: [userMessage('Call the tool Read for the file notes.txt.')],
  tools: [READ_TOOL],
};

/** Asks for two calls in one answer. */
export const TWO_CALLS: ProbeRequest = {
  messages: [
    userMessage(
      'Call the tool Read two times in one answer: for the file a.txt and for the file b.txt.',
    ),
  ],
  tools: [READ_TOOL],
};

/** Continues a request with the results of the calls that the model made, and forbids further calls. */
export function continueWithResults(request: ProbeRequest, answer: AssistantMessage): ProbeRequest {
  const results: ToolMessage = {
    role: 'tool',
    content: toolCalls(answer).map(({ id, name }) => ({
      type: 'tool_result',
      callId: id,
      name,
      text: 'The file contains the word "harbour".',
      isError: false,
    })),
  };
  return { ...request, messages: [...request.messages, answer, results], toolChoice: 'none' };
}

/** The options of servers that refuse tools unless they are started with them. */
const SERVER_OPTIONS: readonly (readonly [refusal: RegExp, fix: string])[] = [
  [
    /enable-auto-tool-choice|tool-call-parser/i,
    'start vLLM with --enable-auto-tool-choice --tool-call-parser NAME',
  ],
  [/jinja/i, 'start llama-server with --jinja'],
  [
    /not support (?:tools?|functions?)|tools? (?:is|are) not supported/i,
    'choose a model that can call tools with --model ID',
  ],
];
const NO_PARSER =
  'choose a model that can call tools, or switch the recognition of calls on at the server (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; llama-server: --jinja)';

/** Judges the answer to the request for one call. */
export function judgeToolCall(answer: ProbeAnswer): Check {
  const name = 'tool call';
  const { end } = answer;
  if (end.type === 'failed') {
    if (isPassing(end.failure)) return describeFailure(name, end.failure);
    const check = describeFailure(name, end.failure);
    const fix = SERVER_OPTIONS.find(([refusal]) => refusal.test(end.failure.message))?.[1];
    return { ...check, fix: fix ?? check.fix };
  }
  const [call] = toolCalls(end.message);
  if (call === undefined) return describeMissingCall(name, answer);
  const problem = findCallProblem(call, ['notes.txt']);
  if (problem !== null)
    return problem.isBroken ? fail(name, problem.text, FAULTY) : warn(name, problem.text, FAULTY);
  if (end.reason !== 'tool_calls') {
    return warn(name, `a correct call, but the answer ends with "${end.reason}"`, null);
  }
  return ok(name, 'the call has the right name and complete arguments');
}

const FAULTY = 'choose a larger model with --model ID if this happens again';

function describeMissingCall(name: string, answer: ProbeAnswer): Check {
  const { end } = answer;
  if (isOnlyThought(answer)) return describeOnlyThought(name);
  const text = end.type === 'failed' ? '' : messageText(end.message);
  return findTextCall(text, [READ_TOOL.name]) === null
    ? fail(name, `no call, but the text ${quoteAnswer(answer)}`, NO_PARSER)
    : fail(name, `the call came as text: ${quoteAnswer(answer)}`, NO_PARSER);
}

interface CallProblem {
  readonly text: string;
  /** True if the call cannot be executed. */
  readonly isBroken: boolean;
}

function findCallProblem(call: ToolCallPart, paths: readonly string[]): CallProblem | null {
  const name = quoteServerText(call.name);
  if (call.malformed !== undefined) {
    return {
      text: `the arguments of the call are no valid JSON: ${quoteServerText(call.malformed)}`,
      isBroken: true,
    };
  }
  if (call.name !== READ_TOOL.name) {
    return { text: `a call of "${name}" instead of "${READ_TOOL.name}"`, isBroken: false };
  }
  const path = isJsonObject(call.input) ? call.input['file_path'] : undefined;
  if (typeof path === 'string' && paths.some((one) => path.endsWith(one))) return null;
  const shown = quoteServerText(JSON.stringify(call.input));
  return { text: `the call has other arguments than asked for: ${shown}`, isBroken: false };
}

/** Judges the answer to the request for two calls. */
export function judgeTwoCalls(answer: ProbeAnswer): Check {
  const name = 'parallel calls';
  const { end } = answer;
  if (end.type === 'failed') return describeFailure(name, end.failure);
  if (isOnlyThought(answer)) return describeOnlyThought(name);
  const calls = toolCalls(end.message);
  const broken = calls
    .map((call) => findCallProblem(call, ['a.txt', 'b.txt']))
    .find((one) => one !== null);
  if (broken !== undefined) return warn(name, broken.text, FAULTY);
  if (calls.length > 1) return ok(name, `${calls.length} calls in one answer`);
  return warn(
    name,
    calls.length === 1
      ? 'one call instead of two: subagents and tools run one after the other'
      : `no call, but the text ${quoteAnswer(answer)}`,
    null,
  );
}

/** Judges the answer to the results of calls. */
export function judgeResults(answer: ProbeAnswer): Check {
  const name = 'tool results';
  const { end } = answer;
  if (end.type === 'failed') return describeFailure(name, end.failure);
  if (isOnlyThought(answer)) return describeOnlyThought(name);
  if (toolCalls(end.message).length > 0) {
    return warn(name, 'the model makes further calls although they are forbidden', null);
  }
  const text = messageText(end.message);
  if (text.trim() === '') return warn(name, 'the model answers with an empty text', FAULTY);
  return ok(
    name,
    /harbou?r/i.test(text)
      ? 'the model answers from the results of its calls'
      : `the results are accepted; the model answers ${quoteAnswer(answer)}`,
  );
}
