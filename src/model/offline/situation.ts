import { parseQuotedFileName } from '../../protocol/quoted-item.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import {
  toolCalls,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  type UserMessage,
} from '../../protocol/message.ts';
import type { ModelRequest } from '../../protocol/model.ts';

/** A tool call that the engine plans. */
export interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** A tool call with its result; null: the call has no result. */
export interface CallOutcome {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart | null;
}

/** The state of the conversation, which the engine reads from the request in every turn. */
export interface Situation {
  readonly question: string;
  /** The question before `question` in the same conversation; empty: there is none. */
  readonly earlierQuestion: string;
  /** The agent types that the user chose for this question with `@name`. */
  readonly chosenAgents: readonly string[];
  /** The calls since the question, grouped by the answers that contain them. */
  readonly rounds: readonly (readonly CallOutcome[])[];
  /** The tools of the request, with the names of their arguments. */
  readonly tools: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if the request allows tool calls. */
  readonly canCallTools: boolean;
  /** The agent type in the system prompt; empty for the main agent. */
  readonly agentType: string;
  /** The working directory in the system prompt; empty: it names no directory. */
  readonly cwd: string;
}

/** Reads the state of the conversation from a request. */
export function readSituation(request: ModelRequest): Situation {
  const questions = findQuestions(request);
  const newest = questions.at(-1);
  const system = request.prefix.system.join('\n');
  return {
    question: newest?.text ?? '',
    earlierQuestion: questions.at(-2)?.text ?? '',
    chosenAgents: newest?.chosenAgents ?? [],
    rounds: collectRounds(request.messages.slice((newest?.index ?? -1) + 1)),
    tools: new Map(
      request.prefix.tools.map((tool) => [tool.name, listArgumentNames(tool.inputSchema)]),
    ),
    canCallTools: request.toolChoice === 'auto',
    agentType: /^# Agent type: *(\S+)/m.exec(system)?.[1] ?? '',
    cwd: /^(?:Working )?directory: *(.+)$/im.exec(system)?.[1]?.trim() ?? '',
  };
}

/** Finds the first call of a tool since the question. */
export function findOutcome({ rounds }: Situation, tool: string): CallOutcome | undefined {
  return rounds.flat().find(({ call }) => call.name === tool);
}

interface UserQuestion {
  readonly index: number;
  readonly text: string;
  readonly chosenAgents: readonly string[];
}

/**
 * Finds the questions of the user, the oldest first. A user message after results in a request that forbids calls is not
 * a question: it is Muster's notice that a limit was reached.
 */
function findQuestions({ messages, toolChoice }: ModelRequest): readonly UserQuestion[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'user') return [];
    const isLast = index === messages.length - 1;
    if (isLast && toolChoice === 'none' && messages[index - 1]?.role === 'tool') return [];
    const chosenAgents = findChosenAgents(message);
    const plainText = removeFileMarks(extractUserText(message), message);
    const text = chosenAgents.length === 0 ? plainText : plainText.replaceAll(MENTION, ' ').trim();
    return text === '' && chosenAgents.length === 0 ? [] : [{ index, text, chosenAgents }];
  });
}

/** Extracts the text of a message without the parts that Muster adds, which are in brackets or tags. */
function extractUserText(message: UserMessage): string {
  return message.content
    .map((part) => part.text.trim())
    .filter((text) => !/^\[[^\]]*\]$/.test(text) && !/^<([\w-]+)[^>]*>[\s\S]*<\/\1>$/.test(text))
    .join('\n')
    .trim();
}

/** Removes the `@` from the names of attached files. */
function removeFileMarks(text: string, { content }: UserMessage): string {
  const files = content.flatMap((part) => parseQuotedFileName(part.text.trim()) ?? []);
  return files.reduce(
    // The replacement is a function, because `$` has a special meaning in a replacement text.
    (named, file) => named.replaceAll(`@${file}`, () => file).replaceAll(`@"${file}"`, () => file),
    text,
  );
}

/** Matches the `@name` of an agent type. */
const MENTION =
  /(?<![\p{L}\p{N}_/@])@(?:"[^"\n]*"|[\p{L}\p{N}_][\p{L}\p{N}_.:-]*(?![.:-]*[\p{L}\p{N}_/]))/gu;
const CHOSEN =
  /^<notice>The user chose who does this:.* subagent_type (.+?)(?:, one call each)?\. Say /;

/** Finds the chosen agent types in the notice that Muster adds to the message of the user. */
function findChosenAgents({ content }: UserMessage): readonly string[] {
  return content.flatMap(({ text }) =>
    [...(CHOSEN.exec(text)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(([, type = '']) => type),
  );
}

function collectRounds(messages: readonly Message[]): readonly (readonly CallOutcome[])[] {
  const results = new Map<string, ToolResultPart>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) results.set(part.callId, part);
  }
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    const calls = toolCalls(message);
    if (calls.length === 0) return [];
    return [calls.map((call) => ({ call, result: results.get(call.id) ?? null }))];
  });
}

function listArgumentNames(
  schema: ModelRequest['prefix']['tools'][number]['inputSchema'],
): ReadonlySet<string> {
  const properties = schema['properties'];
  return new Set(isJsonObject(properties) ? Object.keys(properties) : []);
}
