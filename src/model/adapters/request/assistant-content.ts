import type { LanguageModelV4Message, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../base/json.ts';
import type {
  AssistantMessage,
  AssistantPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from '../../../protocol/message.ts';
import type { PromptRules } from '../protocol-adapter.ts';
import { findThinkingMarks } from '../answers/answer-blocks.ts';
import type { WireCallIds } from './wire-ids.ts';
import { canonicalToolName } from '../../../protocol/tool-aliases.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/** Stands for an answer of which nothing can be sent: no server takes a message without content. */
const EMPTY_ANSWER = { type: 'text', text: '(empty answer)' } as const;

interface Receiver {
  readonly rules: PromptRules;
  readonly ids: WireCallIds;
  /** The ids of the reasoning items of earlier answers; grows by those of this one. */
  readonly sentItems: Set<JsonValue | undefined>;
  /** The model that the request is for, as `modelName` has it. */
  readonly asked: string;
}

/**
 * An answer as the receiver takes it. Of what another model has thought nothing goes along, nor its
 * signatures and ids, though both speak the same protocol: they hold for the one that made them.
 */
export function toAssistantContent(
  message: AssistantMessage,
  { rules, ids, sentItems, asked }: Receiver,
): AssistantContent {
  const isOwn = message.model === undefined || message.model === asked;
  const lost = isOwn ? lostReasoning(message, rules, sentItems) : new Set<AssistantPart>();
  const unsigned = unsignedCalls(message, rules, { isOwn });
  const content = message.content.flatMap((part): AssistantContent => {
    switch (part.type) {
      case 'text':
        return textContent(part, isOwn ? ownMeta(part, rules) : null, rules);
      case 'reasoning':
        return isOwn && !lost.has(part) ? reasoningContent(part, rules) : [];
      case 'tool_call': {
        const id = ids.next(part.id, { isOwn: message.model === asked });
        const own = isOwn ? ownMeta(part, rules, rules.callMetaKey) : null;
        return [callContent(part, id, unsigned.has(part) ? substituteMeta(rules) : own)];
      }
    }
  });
  // A thought belongs to what follows it: alone at the end it is refused.
  const end = content.findLastIndex(({ type }) => type !== 'reasoning');
  if (end === -1) return [EMPTY_ANSWER];
  const complete = content.slice(0, end + 1);
  return rules.callsLast === true ? withCallsLast(complete) : complete;
}

function withCallsLast(content: AssistantContent): AssistantContent {
  return [
    ...content.filter(({ type }) => type !== 'tool-call'),
    ...content.filter(({ type }) => type === 'tool-call'),
  ];
}

function textContent(part: TextPart, own: OwnMeta | null, rules: PromptRules): AssistantContent {
  const isSigned = own !== null && rules.signsBlankText;
  return part.text.trim() === '' && !isSigned ? [] : [{ type: 'text', text: part.text, ...own }];
}

function reasoningContent(part: ReasoningPart, rules: PromptRules): AssistantContent {
  const marks = findThinkingMarks(part.meta);
  // Its server has no parser for thoughts, so they stood in the text, and there its model looks for them.
  if (marks !== null) return [{ type: 'text', text: marks.before + part.text + marks.after }];
  const own = ownMeta(part, rules);
  const isPlain = rules.plainReasoning && part.meta === undefined && part.text.trim() !== '';
  return own === null && !isPlain ? [] : [{ type: 'reasoning', text: part.text, ...own }];
}

function callContent(part: ToolCallPart, toolCallId: string, own: OwnMeta | null) {
  return {
    type: 'tool-call',
    toolCallId,
    toolName: wireName(part.name),
    input: wireInput(part),
    ...own,
  } as const;
}

/**
 * The thoughts whose item came without the content by which their server would know it again, or whose item an
 * earlier answer has: no request may have an item twice. Adds the other items to `sentItems`.
 */
function lostReasoning(
  { content }: AssistantMessage,
  { metaKey, reasoningContentKey }: PromptRules,
  sentItems: Set<JsonValue | undefined>,
): ReadonlySet<AssistantPart> {
  if (reasoningContentKey === undefined) return new Set();
  const thoughts = content.flatMap((part) => {
    const meta = part.meta?.[metaKey];
    return part.type === 'reasoning' && isJsonObject(meta) ? [{ part, meta }] : [];
  });
  const known = new Set(
    thoughts.flatMap(({ meta }) =>
      typeof meta[reasoningContentKey] === 'string' ? [meta['itemId']] : [],
    ),
  );
  const isLost = (id: JsonValue | undefined): boolean => !known.has(id) || sentItems.has(id);
  const lost = thoughts.flatMap(({ part, meta }) => (isLost(meta['itemId']) ? [part] : []));
  for (const id of known) if (id !== undefined) sentItems.add(id);
  return new Set(lost);
}

interface OwnMeta {
  readonly providerOptions: SharedV4ProviderOptions;
}

/**
 * Returns what this provider put on the part, byte for byte, under the key that the package takes it by; null where
 * another one wrote it.
 */
function ownMeta(
  part: AssistantPart,
  { metaKey }: PromptRules,
  sentKey: string = metaKey,
): OwnMeta | null {
  const own = part.meta?.[metaKey];
  if (!isJsonObject(own)) return null;
  return { providerOptions: { [sentKey]: Object.assign({}, own) } };
}

/** The calls for which no signature of the asked model stands: that of a call holds for those after it as well. */
function unsignedCalls(
  { content }: AssistantMessage,
  rules: PromptRules,
  { isOwn }: { readonly isOwn: boolean },
): ReadonlySet<AssistantPart> {
  if (rules.missingSignature === undefined) return new Set();
  const calls = content.filter(({ type }) => type === 'tool_call');
  const signed = isOwn ? calls.findIndex((call) => ownMeta(call, rules) !== null) : -1;
  return new Set(signed === -1 ? calls : calls.slice(0, signed));
}

/** Returns what stands in place of the signature of a call. */
function substituteMeta({ callMetaKey, metaKey, missingSignature = '' }: PromptRules): OwnMeta {
  return { providerOptions: { [callMetaKey ?? metaKey]: { thoughtSignature: missingSignature } } };
}

/** Arguments are an object in every protocol; what the model wrote instead stays readable. */
function wireInput(part: ToolCallPart): JsonObject {
  if (part.malformed !== undefined) return { invalid_json: part.malformed };
  return isJsonObject(part.input) ? part.input : { not_an_object: part.input };
}

/**
 * Names of tools that all four APIs accept. Anthropic takes 1 to 128 of these characters, OpenAI 64, and
 * Google wants a letter or an underscore at the beginning:
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 * https://platform.openai.com/docs/api-reference/chat/create
 * https://ai.google.dev/api/caching#FunctionDeclaration
 */
const VALID = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const LONGEST = 64;

/** Stands for a name of which no character can be sent. */
const UNNAMED = 'unnamed_tool';

/**
 * The name under which a call and its result are sent. Models make up names that their own API refuses
 * afterwards (`functions.Read`, a blank, an emoji, nothing): the log keeps what the model wrote.
 */
function wireName(name: string): string {
  // The packages look names up in plain objects, which have these already.
  if (name in Object.prototype) return `_${name}`;
  if (VALID.test(name)) return name;
  const canonical = canonicalToolName(name.trim());
  if (canonical !== undefined && VALID.test(canonical)) return canonical;
  const made = name.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?=[0-9-])/, '_');
  return /[a-zA-Z0-9]/.test(made) ? made.slice(0, LONGEST) : UNNAMED;
}
