import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Message, UserMessage } from '../../../protocol/message.ts';
import { type ModelRequest, type ToolSpec, modelName } from '../../../protocol/model.ts';
import { toAssistantContent } from './assistant-content.ts';
import type { PromptRules } from '../protocol-adapter.ts';
import { pairCallsWithResults } from './paired-messages.ts';
import type { FilesByPart } from './attached-files.ts';
import { toToolResults } from './tool-results.ts';
import { WireCallIds } from './wire-ids.ts';

/**
 * A request in the form that the provider packages take. The same history gives the same bytes:
 * successive requests of a task differ by what is appended and by the cache markers alone. `shown`: its
 * images and documents; null: it has none.
 */
export function toCallOptions(
  request: ModelRequest,
  rules: PromptRules,
  shown: FilesByPart | null = null,
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
  const parts = system.filter((part) => part.trim() !== '');
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

function conversation(
  request: ModelRequest,
  rules: PromptRules,
  shown: FilesByPart | null,
): LanguageModelV4Prompt {
  const writer = new PromptWriter({ rules, shown, asked: modelName(request.model) });
  for (const message of pairCallsWithResults(request.messages)) writer.add(message);
  return writer.end();
}

interface Wiring {
  readonly rules: PromptRules;
  readonly shown: FilesByPart | null;
  /** The model that the request is for, as `modelName` has it. */
  readonly asked: string;
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];

/** Takes the place of what a person said, where that is blank, or answers would stand first, last or in a row. */
const CONTINUED: UserContent = [{ type: 'text', text: '(continued)' }];

/** Writes the messages of one conversation. What is written never depends on what follows. */
class PromptWriter {
  private readonly prompt: LanguageModelV4Prompt = [];
  private readonly ids: WireCallIds;
  private readonly sentItems = new Set<JsonValue | undefined>();
  private readonly wiring: Wiring;
  /** The calls of the last answer. */
  private calls: readonly LanguageModelV4ToolCallPart[] = [];

  constructor(wiring: Wiring) {
    this.wiring = wiring;
    this.ids = new WireCallIds(wiring.rules.acceptedIds);
  }

  add(message: Message): void {
    const { rules, shown, asked } = this.wiring;
    switch (message.role) {
      case 'user':
        this.say(userContent(message, shown), CONTINUED);
        return;
      case 'assistant': {
        const role = this.prompt.at(-1)?.role;
        if (role === undefined || role === 'assistant') this.say(CONTINUED);
        const content = toAssistantContent(message, {
          rules,
          ids: this.ids,
          sentItems: this.sentItems,
          asked,
        });
        this.calls = content.filter((part) => part.type === 'tool-call');
        this.prompt.push({ role: 'assistant', content });
        return;
      }
      case 'tool': {
        const { results, behind } = toToolResults(message, this.calls, rules, shown);
        this.prompt.push({ role: 'tool', content: results });
        this.say(behind);
      }
    }
  }

  end(): LanguageModelV4Prompt {
    // No server goes on from an answer that it gave.
    if (this.prompt.length === 0 || this.prompt.at(-1)?.role === 'assistant') this.say(CONTINUED);
    return this.prompt;
  }

  /** Adds a message of the user, or joins it to the last one, since some servers want turns. */
  private say(content: UserContent, ifEmpty: UserContent = []): void {
    const last = this.prompt.at(-1);
    if (last?.role === 'user') {
      last.content.push(...content);
      return;
    }
    const said = content.length > 0 ? content : [...ifEmpty];
    if (said.length > 0) this.prompt.push({ role: 'user', content: said });
  }
}

/** Blank text is left out everywhere: Anthropic refuses it. */
function userContent(message: UserMessage, shown: FilesByPart | null): UserContent {
  return message.content.flatMap((part): UserContent => {
    const { files = [], notes = [] } = shown?.get(part) ?? {};
    const text = [part.text, ...notes].filter((each) => each !== '').join('\n');
    return text.trim() === '' ? [...files] : [{ type: 'text', text }, ...files];
  });
}

/**
 * Blocks in which Anthropic looks for what an earlier request left in the cache, from a mark back, its
 * own one included.
 */
const LOOKED_AT = 20;

/** Marks the last part of the last message, the end of what the next turn will send again. */
function markEnd(prompt: LanguageModelV4Prompt, mark: SharedV4ProviderOptions): void {
  markLastPart(prompt, prompt.length - 1, mark);
}

/**
 * Marks where the request before this one ended, if an answer of many calls and their results stand since
 * and the mark at the end would not be looked back from so far: all that was said would be paid for again.
 * Whether it did.
 */
function markFormerEnd(prompt: LanguageModelV4Prompt, mark: SharedV4ProviderOptions): boolean {
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  if (answer <= 0) return false;
  const added = prompt.slice(answer).reduce((sum, { content }) => sum + content.length, 0);
  return added >= LOOKED_AT && markLastPart(prompt, answer - 1, mark);
}

function markLastPart(
  prompt: LanguageModelV4Prompt,
  at: number,
  mark: SharedV4ProviderOptions,
): boolean {
  const message = prompt[at];
  if (message === undefined || message.role === 'system') return false;
  const part = message.content.at(-1);
  if (part === undefined || part.type === 'reasoning') return false;
  part.providerOptions = { ...part.providerOptions, ...mark };
  return true;
}
