import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type {
  AssistantMessage,
  AssistantPart,
  Message,
  ToolCallPart,
  UserMessage,
} from '../../protocol/message.ts';
import { modelName, type ModelRequest, type ToolSpec } from '../../protocol/model.ts';
import { markEnd, markFormerEnd } from './cache-marks.ts';
import type { PromptRules } from './dialect.ts';
import type { ShownByPart } from './shown-files.ts';
import { wireId, wireResults } from './tool-results.ts';

/**
 * A request in the form that the provider packages take. The same history gives the same bytes:
 * successive requests of a task differ by what is appended and by the cache markers alone. `shown`: its
 * images and documents; null: it has none.
 */
export function toCallOptions(
  request: ModelRequest,
  rules: PromptRules,
  shown: ShownByPart | null = null,
): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice'> {
  const said = conversation(request, rules, shown);
  // Three marks at most, and what stands before the system prompt its own serves, too.
  const marksTools = !markTurns(said, rules);
  const prompt = [...systemMessages(request.prefix.system, rules), ...said];
  const tools = functionTools(request.prefix.tools, rules, { marked: marksTools });
  if (tools.length === 0) return { prompt };
  return { prompt, tools, toolChoice: { type: request.toolChoice } };
}

/** Whether it took two marks. */
function markTurns(said: LanguageModelV4Prompt, { cacheMarker }: PromptRules): boolean {
  if (cacheMarker === null) return false;
  markEnd(said, cacheMarker);
  return markFormerEnd(said, cacheMarker);
}

function systemMessages(system: readonly string[], rules: PromptRules): LanguageModelV4Prompt {
  const parts = system.filter((part) => part !== '');
  if (parts.length === 0) return [];
  if (rules.joinSystem) return [{ role: 'system', content: parts.join('\n\n') }];
  // The last part is particular to the task; the one before it ends what siblings share.
  const marked = Math.max(parts.length - 2, 0);
  return parts.map((content, index) => {
    const message: LanguageModelV4Message = { role: 'system', content };
    return index === marked ? Object.assign(message, marker(rules)) : message;
  });
}

type FunctionTools = LanguageModelV4FunctionTool[];
/** Siblings and the turns of a task share one list: it is converted once for each protocol. */
const convertedTools = new WeakMap<readonly ToolSpec[], Map<PromptRules, FunctionTools>>();

function functionTools(
  tools: readonly ToolSpec[],
  rules: PromptRules,
  { marked }: { readonly marked: boolean },
): FunctionTools {
  const all = allMarked(tools, rules);
  const last = tools.at(-1);
  if (marked || last === undefined) return all;
  return all.with(all.length - 1, functionTool(last, rules, { last: false }));
}

function allMarked(tools: readonly ToolSpec[], rules: PromptRules): FunctionTools {
  const converted = convertedTools.get(tools) ?? new Map<PromptRules, FunctionTools>();
  convertedTools.set(tools, converted);
  const known = converted.get(rules);
  if (known !== undefined) return known;
  const made = tools.map((tool, at) =>
    functionTool(tool, rules, { last: at === tools.length - 1 }),
  );
  converted.set(rules, made);
  return made;
}

function functionTool(
  tool: ToolSpec,
  rules: PromptRules,
  { last }: { last: boolean },
): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: jsonSchema(tool.inputSchema),
    ...(rules.strictTools === undefined ? {} : { strict: rules.strictTools }),
    ...toolOptions(rules, { last }),
  };
}

function toolOptions(
  { toolOptions: own, cacheMarker, metaKey }: PromptRules,
  { last }: { last: boolean },
): { providerOptions?: SharedV4ProviderOptions } {
  const marker = last ? cacheMarker : null;
  if (own === undefined) return marker === null ? {} : { providerOptions: marker };
  return { providerOptions: { ...marker, [metaKey]: { ...own, ...marker?.[metaKey] } } };
}

/** A tool's schema is a JSON Schema by contract; only the types of the two sides differ. */
function jsonSchema(schema: JsonObject): JSONSchema7 {
  return Object.assign({}, schema);
}

function marker(rules: PromptRules): { providerOptions?: SharedV4ProviderOptions } {
  return rules.cacheMarker === null ? {} : { providerOptions: rules.cacheMarker };
}

interface Wiring {
  readonly rules: PromptRules;
  readonly shown: ShownByPart | null;
  /** The model that the request is for, as `modelName` has it. */
  readonly asked: string;
}

function conversation(
  request: ModelRequest,
  rules: PromptRules,
  shown: ShownByPart | null,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  const asked = modelName(request.model);
  for (const message of request.messages) append(prompt, message, { rules, shown, asked });
  return prompt;
}

/** Adds a message; one of the same side as the last joins it, since some servers want turns. */
function append(
  prompt: LanguageModelV4Prompt,
  message: Message,
  { rules, shown, asked }: Wiring,
): void {
  const last = prompt.at(-1);
  switch (message.role) {
    case 'user': {
      const content = userContent(message, shown);
      if (content.length === 0) return;
      if (last?.role === 'user') last.content.push(...content);
      else prompt.push({ role: 'user', content });
      return;
    }
    case 'assistant': {
      const content = assistantContent(message, rules, asked);
      // Left out, the user messages around it would join, and what was sent before would change.
      prompt.push({ role: 'assistant', content: content.length > 0 ? content : [EMPTY_ANSWER] });
      return;
    }
    case 'tool': {
      const { results, behind } = wireResults(message, rules, shown);
      if (last?.role === 'tool') last.content.push(...results);
      else if (results.length > 0) prompt.push({ role: 'tool', content: results });
      if (behind.length > 0) prompt.push({ role: 'user', content: behind });
    }
  }
}

/** Stands for an answer of which nothing can be sent: no server takes a message without content. */
const EMPTY_ANSWER = { type: 'text', text: '(empty answer)' } as const;

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];

/** Empty text is left out everywhere: Anthropic refuses it. */
function userContent(message: UserMessage, shown: ShownByPart | null): UserContent {
  return message.content.flatMap((part): UserContent => {
    const { files = [], notes = [] } = shown?.get(part) ?? {};
    const text = [part.text, ...notes].filter((each) => each !== '').join('\n');
    return text === '' ? [...files] : [{ type: 'text', text }, ...files];
  });
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/**
 * `asked`: the model that the request is for. Of what another model has thought nothing goes along, nor
 * its signatures and ids, though both speak the same protocol: they hold for the one that made them.
 */
function assistantContent(
  message: AssistantMessage,
  rules: PromptRules,
  asked: string,
): AssistantContent {
  const isOwn = message.model === undefined || message.model === asked;
  return message.content.flatMap((part) => assistantPart(part, rules, { isOwn }));
}

function assistantPart(
  part: AssistantPart,
  rules: PromptRules,
  { isOwn }: { readonly isOwn: boolean },
): AssistantContent {
  const own = isOwn ? ownMeta(part, rules) : null;
  switch (part.type) {
    case 'text':
      return part.text === '' && own === null ? [] : [{ type: 'text', text: part.text, ...own }];
    case 'reasoning': {
      // Another provider's reasoning can't be checked by this one, and is not its to read.
      const plain = isOwn && rules.plainReasoning && part.meta === undefined && part.text !== '';
      return own === null && !plain ? [] : [{ type: 'reasoning', text: part.text, ...own }];
    }
    case 'tool_call':
      return [
        {
          type: 'tool-call',
          toolCallId: wireId(part.id, rules),
          toolName: part.name,
          input: wireInput(part),
          ...own,
        },
      ];
  }
}

/** What this provider put on the part, byte for byte; null where another one wrote it. */
function ownMeta(
  part: AssistantPart,
  rules: PromptRules,
): { providerOptions: SharedV4ProviderOptions } | null {
  const own = part.meta?.[rules.metaKey];
  if (!isJsonObject(own)) return null;
  return { providerOptions: { [rules.metaKey]: Object.assign({}, own) } };
}

/** Arguments are an object in every protocol; what the model wrote instead stays readable. */
function wireInput(part: ToolCallPart): JsonObject {
  if (part.malformed !== undefined) return { invalid_json: part.malformed };
  return isJsonObject(part.input) ? part.input : { not_an_object: part.input };
}
