import { isJsonObject } from '../../base/json.ts';
import { quotedFileName } from '../../protocol/quoted-item.ts';
import {
  toolCalls,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  type UserMessage,
} from '../../protocol/message.ts';
import type { ModelRequest } from '../../protocol/model.ts';

/** One answer's calls with what came back, in call order; null where no result stands. */
export interface CallOutcome {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart | null;
}

/** Everything that the engine knows, recomputed from the request at every turn. */
export interface Situation {
  readonly question: string;
  /** The question before this one in the same conversation; empty for the first. */
  readonly earlier: string;
  /** Agent types that the user chose for this question, by `@name`. */
  readonly chosen: readonly string[];
  /** The answers since the question that made calls. */
  readonly rounds: readonly (readonly CallOutcome[])[];
  /** Offered tools with the names of their arguments. */
  readonly tools: ReadonlyMap<string, ReadonlySet<string>>;
  readonly mayCall: boolean;
  /** As the system prompt names it; empty for the main agent. */
  readonly agentType: string;
  /** The directory that tools work in, as the system prompt names it; empty when it does not. */
  readonly cwd: string;
}

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

interface Asked {
  readonly index: number;
  readonly text: string;
  readonly chosen: readonly string[];
}

/**
 * What people asked, oldest first. A message between calls' results and a turn that forbids calls
 * is no question: it is the engine's word that a limit was reached.
 */
function questions({ messages, toolChoice }: ModelRequest): readonly Asked[] {
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

/** A message's words less what Muster puts there itself: parts that are wholly in brackets or tags. */
function askedText(message: UserMessage): string {
  return message.content
    .map((part) => part.text.trim())
    .filter((text) => !/^\[[^\]]*\]$/.test(text) && !/^<([\w-]+)[^>]*>[\s\S]*<\/\1>$/.test(text))
    .join('\n')
    .trim();
}

/** A file that came along, because its name stands behind an `@`, has no `@` in its name. */
function withPlainNames(text: string, { content }: UserMessage): string {
  const files = content.flatMap((part) => quotedFileName(part.text.trim()) ?? []);
  return files.reduce(
    // By a function, as `$` in a text that is put in has a meaning of its own.
    (named, file) => named.replaceAll(`@${file}`, () => file).replaceAll(`@"${file}"`, () => file),
    text,
  );
}

/** A word that names a type, and is none to search for. */
const MENTION =
  /(?<![\p{L}\p{N}_/@])@(?:"[^"\n]*"|[\p{L}\p{N}_][\p{L}\p{N}_.:-]*(?![.:-]*[\p{L}\p{N}_/]))/gu;
const CHOSEN =
  /^<notice>The user chose who does this:.* subagent_type (.+?)(?:, one call each)?\. Say /;

/** As the engine tells of them beside the user's words. */
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
