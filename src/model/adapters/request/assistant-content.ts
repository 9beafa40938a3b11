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
import { findThoughtTags } from '../answers/answer-blocks.ts';
import type { WireCallIds } from './wire-ids.ts';
import { canonicalToolName } from '../../../protocol/tool-aliases.ts';

/** Replaces an answer of which nothing can be sent, since no server accepts a message without content. */
const EMPTY_ANSWER = { type: 'text', text: '(empty answer)' } as const;

/** The request to which the converted answer belongs. */
interface ReceiverContext {
  readonly rules: PromptRules;
  readonly ids: WireCallIds;
  /** The ids of the reasoning items in earlier answers. The items of the converted answer are added. */
  readonly sentItems: Set<JsonValue | undefined>;
  /** The name of the model that receives the request, as `modelName` returns it. */
  readonly model: string;
}

/**
 * Converts an answer to the form that the receiving model accepts. The thoughts, signatures and ids of another model
 * are left out, even if both models use the same protocol, because only the model that created them accepts them.
 */
export function toAssistantContent(
  message: AssistantMessage,
  { rules, ids, sentItems, model }: ReceiverContext,
): AssistantContent {
  const isOwn = message.model === undefined || message.model === model;
  const unusable = isOwn
    ? findUnusableReasoning(message, rules, sentItems)
    : new Set<AssistantPart>();
  const unsigned = findUnsignedCalls(message, rules, { isOwn });
  const content = message.content.flatMap((part): AssistantContent => {
    switch (part.type) {
      case 'text':
        return toTextContent(part, isOwn ? toOwnOptions(part, rules) : null, rules);
      case 'reasoning':
        return isOwn && !unusable.has(part) ? toReasoningContent(part, rules) : [];
      case 'tool_call': {
        const id = ids.choose(part.id, { isOwn: message.model === model });
        const options = isOwn ? toOwnOptions(part, rules, rules.callMetaKey) : null;
        return [
          toCallContent(part, id, unsigned.has(part) ? createSubstituteSignature(rules) : options),
        ];
      }
    }
  });
  // A thought belongs to the part after it. Servers refuse a thought at the end of an answer.
  const end = content.findLastIndex(({ type }) => type !== 'reasoning');
  if (end === -1) return [EMPTY_ANSWER];
  // In a field of its own, its position does not matter.
  const complete = rules.thoughtFields === undefined ? content.slice(0, end + 1) : content;
  return rules.requiresCallsLast === true ? moveCallsLast(complete) : complete;
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
  const isSigned = options !== null && rules.sendsSignedBlankText;
  return part.text.trim() === '' && !isSigned
    ? []
    : [{ type: 'text', text: part.text, ...options }];
}

function toReasoningContent(part: ReasoningPart, rules: PromptRules): AssistantContent {
  const tags = findThoughtTags(part.meta);
  // The thought arrived as text between tags, because the server has no parser for thoughts. It is sent back unchanged.
  if (tags !== null) return [{ type: 'text', text: tags.before + part.text + tags.after }];
  const options = toOwnOptions(part, rules);
  const isPlain =
    rules.sendsReasoningWithoutMetadata && part.meta === undefined && part.text.trim() !== '';
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
 * Finds the thoughts that can't be sent back. Either their item lacks the content by which the server recognizes it, or
 * an earlier answer contains the same item, which no request may contain twice. Adds the ids of the items that can be
 * sent to `sentItems`.
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
  const isUnusable = (id: JsonValue | undefined): boolean => !known.has(id) || sentItems.has(id);
  const unusable = thoughts.flatMap(({ part, meta }) => (isUnusable(meta['itemId']) ? [part] : []));
  for (const id of known) if (id !== undefined) sentItems.add(id);
  return new Set(unusable);
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

/** Finds the calls that no signature covers. The signature of a call also covers the calls after it. */
function findUnsignedCalls(
  { content }: AssistantMessage,
  rules: PromptRules,
  { isOwn }: { readonly isOwn: boolean },
): ReadonlySet<AssistantPart> {
  if (rules.substituteSignature === undefined) return new Set();
  const calls = content.filter(({ type }) => type === 'tool_call');
  const signed = isOwn ? calls.findIndex((call) => toOwnOptions(call, rules) !== null) : -1;
  return new Set(signed === -1 ? calls : calls.slice(0, signed));
}

/** Creates the metadata with a substitute for the signature of a call. */
function createSubstituteSignature({
  callMetaKey,
  metaKey,
  substituteSignature = '',
}: PromptRules): PartOptions {
  return {
    providerOptions: { [callMetaKey ?? metaKey]: { thoughtSignature: substituteSignature } },
  };
}

/** Returns the arguments of a call as an object, as every protocol requires. Other values are wrapped in an object. */
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

/** The name that replaces a tool name without any character that can be sent. */
const REPLACEMENT_NAME = 'unnamed_tool';

/**
 * Returns the tool name with which a call and its result are sent. Models invent names that their own API then refuses
 * (`functions.Read`, a blank, an emoji, an empty name). The log keeps the original name.
 */
function toWireName(name: string): string {
  // The packages look names up in plain objects, in which these inherited properties would be found.
  if (name in Object.prototype) return `_${name}`;
  if (VALID_NAME.test(name)) return name;
  const canonical = canonicalToolName(name.trim());
  if (canonical !== undefined && VALID_NAME.test(canonical)) return canonical;
  const cleaned = name.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?=[0-9-])/, '_');
  return /[a-zA-Z0-9]/.test(cleaned) ? cleaned.slice(0, MAX_NAME_LENGTH) : REPLACEMENT_NAME;
}
