import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../base/json.ts';
import type {
  AssistantMessage,
  AssistantPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from '../../../protocol/message.ts';
import type { AssistantContent, PromptRules } from '../protocol-adapter.ts';
import { findMarks } from '../answers/answer-blocks.ts';
import type { WireCallIds } from './wire-ids.ts';
import { canonicalToolName } from '../../../protocol/tool-aliases.ts';

/** Replaces an answer of which nothing can be sent, since no server accepts a message without content. */
const EMPTY_ANSWER = { type: 'text', text: '(empty answer)' } as const;

interface ReceiverContext {
  readonly rules: PromptRules;
  readonly ids: WireCallIds;
  /** The ids of the reasoning items that were sent so far. The items of this answer are added. */
  readonly sentItems: Set<JsonValue | undefined>;
  /** The model that the request is for, as `modelName` has it. */
  readonly model: string;
}

/**
 * Converts an answer to the form that the receiver accepts. The thoughts, signatures and ids of another model are
 * left out, even if both models use the same protocol, since they are valid only for the model that made them.
 */
export function toAssistantContent(
  message: AssistantMessage,
  { rules, ids, sentItems, model }: ReceiverContext,
): AssistantContent {
  const isOwn = message.model === undefined || message.model === model;
  const lost = isOwn ? findUnusableReasoning(message, rules, sentItems) : new Set<AssistantPart>();
  const unsigned = findUnsignedCalls(message, rules, { isOwn });
  const content = message.content.flatMap((part): AssistantContent => {
    switch (part.type) {
      case 'text':
        return toTextContent(part, isOwn ? toOwnOptions(part, rules) : null, rules);
      case 'reasoning':
        return isOwn && !lost.has(part) ? toReasoningContent(part, rules) : [];
      case 'tool_call': {
        const id = ids.next(part.id, { isOwn: message.model === model });
        const options = isOwn ? toOwnOptions(part, rules, rules.callMetaKey) : null;
        return [toCallContent(part, id, unsigned.has(part) ? createSubstitute(rules) : options)];
      }
    }
  });
  // A thought belongs to the part after it. At the end of an answer it is refused.
  const end = content.findLastIndex(({ type }) => type !== 'reasoning');
  if (end === -1) return [EMPTY_ANSWER];
  // In a field of its own, its position does not matter.
  const complete = rules.thoughtFields === undefined ? content.slice(0, end + 1) : content;
  return rules.callsLast === true ? moveCallsLast(complete) : complete;
}

function moveCallsLast(content: AssistantContent): AssistantContent {
  return [
    ...content.filter(({ type }) => type !== 'tool-call'),
    ...content.filter(({ type }) => type === 'tool-call'),
  ];
}

function toTextContent(
  part: TextPart,
  options: PartOptions | null,
  rules: PromptRules,
): AssistantContent {
  const isSigned = options !== null && rules.signsBlankText;
  return part.text.trim() === '' && !isSigned
    ? []
    : [{ type: 'text', text: part.text, ...options }];
}

function toReasoningContent(part: ReasoningPart, rules: PromptRules): AssistantContent {
  const marks = findMarks(part.meta);
  // The thought came as text between tags, since its server has no parser for thoughts. It is sent back like that.
  if (marks !== null) return [{ type: 'text', text: marks.before + part.text + marks.after }];
  const options = toOwnOptions(part, rules);
  const isPlain = rules.plainReasoning && part.meta === undefined && part.text.trim() !== '';
  return options === null && !isPlain ? [] : [{ type: 'reasoning', text: part.text, ...options }];
}

function toCallContent(part: ToolCallPart, toolCallId: string, options: PartOptions | null) {
  return {
    type: 'tool-call',
    toolCallId,
    toolName: toWireName(part.name),
    input: toWireInput(part),
    ...options,
  } as const;
}

/**
 * Finds the thoughts that can't be sent back: their item came without the content by which the server recognizes
 * it, or an earlier answer contains the same item, and no request may contain an item twice. Adds the ids of the
 * other items to `sentItems`.
 */
function findUnusableReasoning(
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

interface PartOptions {
  readonly providerOptions: SharedV4ProviderOptions;
}

/**
 * Returns the metadata of this provider on a part, unchanged, under the key that the package expects; null: the
 * part has none.
 */
function toOwnOptions(
  part: AssistantPart,
  { metaKey }: PromptRules,
  sentKey: string = metaKey,
): PartOptions | null {
  const options = part.meta?.[metaKey];
  if (!isJsonObject(options)) return null;
  return { providerOptions: { [sentKey]: Object.assign({}, options) } };
}

/** Finds the calls without a signature of the model. The signature of a call also covers the calls after it. */
function findUnsignedCalls(
  { content }: AssistantMessage,
  rules: PromptRules,
  { isOwn }: { readonly isOwn: boolean },
): ReadonlySet<AssistantPart> {
  if (rules.missingSignature === undefined) return new Set();
  const calls = content.filter(({ type }) => type === 'tool_call');
  const signed = isOwn ? calls.findIndex((call) => toOwnOptions(call, rules) !== null) : -1;
  return new Set(signed === -1 ? calls : calls.slice(0, signed));
}

/** Creates the metadata that replaces the signature of a call. */
function createSubstitute({
  callMetaKey,
  metaKey,
  missingSignature = '',
}: PromptRules): PartOptions {
  return { providerOptions: { [callMetaKey ?? metaKey]: { thoughtSignature: missingSignature } } };
}

/** Returns the arguments of a call as an object, as every protocol requires. Other arguments are wrapped. */
function toWireInput(part: ToolCallPart): JsonObject {
  if (part.malformed !== undefined) return { invalid_json: part.malformed };
  return isJsonObject(part.input) ? part.input : { not_an_object: part.input };
}

/**
 * Matches tool names that all four APIs accept. Anthropic accepts 1 to 128 of these characters and OpenAI 64;
 * Google requires a letter or an underscore at the beginning:
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 * https://platform.openai.com/docs/api-reference/chat/create
 * https://ai.google.dev/api/caching#FunctionDeclaration
 */
const VALID_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const MAX_NAME_LENGTH = 64;

/** Replaces a name of which no character can be sent. */
const UNNAMED = 'unnamed_tool';

/**
 * Returns the tool name with which a call and its result are sent. Models make up names that their own API
 * refuses afterwards (`functions.Read`, a blank, an emoji, nothing). The log keeps the original name.
 */
function toWireName(name: string): string {
  // The packages look names up in plain objects, which already have these properties.
  if (name in Object.prototype) return `_${name}`;
  if (VALID_NAME.test(name)) return name;
  const canonical = canonicalToolName(name.trim());
  if (canonical !== undefined && VALID_NAME.test(canonical)) return canonical;
  const made = name.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?=[0-9-])/, '_');
  return /[a-zA-Z0-9]/.test(made) ? made.slice(0, MAX_NAME_LENGTH) : UNNAMED;
}
