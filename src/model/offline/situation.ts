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

/** A tool call that the engine is going to make. */
export interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** A tool call with its result; null when there is none. */
export interface CallOutcome {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart | null;
}

/** The request as the engine understands it. It is read anew at every turn. */
export interface Situation {
  readonly question: string;
  /** The question before this one in the same conversation; empty for the first. */
  readonly earlier: string;
  /** Agent types that the user chose for this question with `@name`. */
  readonly chosen: readonly string[];
  /** The calls since the question, by answer. */
  readonly rounds: readonly (readonly CallOutcome[])[];
  /** Offered tools with the names of their arguments. */
  readonly tools: ReadonlyMap<string, ReadonlySet<string>>;
  readonly mayCall: boolean;
  /** The agent type in the system prompt; empty for the main agent. */
  readonly agentType: string;
  /** The working directory in the system prompt; empty when it names none. */
  readonly cwd: string;
}

/** Reads a request. */
export function readSituation(request: ModelRequest): Situation {
  const asked = questions(request);
  const newest = asked.at(-1);
  const system = request.prefix.system.join('\n');
  return {
    question: newest?.text ?? '',
    earlier: asked.at(-2)?.text ?? '',
    chosen: newest?.chosen ?? [],
    rounds: rounds(request.messages.slice((newest?.index ?? -1) + 1)),
    tools: new Map(
      request.prefix.tools.map((tool) => [tool.name, argumentNames(tool.inputSchema)]),
    ),
    mayCall: request.toolChoice === 'auto',
    agentType: /^# Agent type: *(\S+)/m.exec(system)?.[1] ?? '',
    cwd: /^(?:Working )?directory: *(.+)$/im.exec(system)?.[1]?.trim() ?? '',
  };
}

/** Returns the first call of a tool since the question. */
export function findOutcome({ rounds }: Situation, tool: string): CallOutcome | undefined {
  return rounds.flat().find(({ call }) => call.name === tool);
}

interface Question {
  readonly index: number;
  readonly text: string;
  readonly chosen: readonly string[];
}

/**
 * Returns the user's questions, oldest first. A message between the results of calls and a turn that
 * forbids calls is none: it says that a limit was reached.
 */
function questions({ messages, toolChoice }: ModelRequest): readonly Question[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'user') return [];
    const isLast = index === messages.length - 1;
    if (isLast && toolChoice === 'none' && messages[index - 1]?.role === 'tool') return [];
    const chosen = chosenTypes(message);
    const asked = withPlainNames(askedText(message), message);
    const text = chosen.length === 0 ? asked : asked.replaceAll(MENTION, ' ').trim();
    return text === '' && chosen.length === 0 ? [] : [{ index, text, chosen }];
  });
}

/** Returns the text of a message without the parts that Muster adds, which are in brackets or tags. */
function askedText(message: UserMessage): string {
  return message.content
    .map((part) => part.text.trim())
    .filter((text) => !/^\[[^\]]*\]$/.test(text) && !/^<([\w-]+)[^>]*>[\s\S]*<\/\1>$/.test(text))
    .join('\n')
    .trim();
}

/** Removes the `@` from the names of attached files. */
function withPlainNames(text: string, { content }: UserMessage): string {
  const files = content.flatMap((part) => parseQuotedFileName(part.text.trim()) ?? []);
  return files.reduce(
    // A replacement text would give `$` a meaning.
    (named, file) => named.replaceAll(`@${file}`, () => file).replaceAll(`@"${file}"`, () => file),
    text,
  );
}

/** Matches the `@name` of an agent type. */
const MENTION =
  /(?<![\p{L}\p{N}_/@])@(?:"[^"\n]*"|[\p{L}\p{N}_][\p{L}\p{N}_.:-]*(?![.:-]*[\p{L}\p{N}_/]))/gu;
const CHOSEN =
  /^<notice>The user chose who does this:.* subagent_type (.+?)(?:, one call each)?\. Say /;

/** Reads the chosen agent types from Muster's notice beside the user's words. */
function chosenTypes({ content }: UserMessage): readonly string[] {
  return content.flatMap(({ text }) =>
    [...(CHOSEN.exec(text)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(([, type = '']) => type),
  );
}

function rounds(messages: readonly Message[]): readonly (readonly CallOutcome[])[] {
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

function argumentNames(
  schema: ModelRequest['prefix']['tools'][number]['inputSchema'],
): ReadonlySet<string> {
  const properties = schema['properties'];
  return new Set(isJsonObject(properties) ? Object.keys(properties) : []);
}
