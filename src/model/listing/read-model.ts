import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { listNames } from '../../base/text.ts';
import type { ListedModel } from '../../protocol/listed-model.ts';
import type { TokenPrices } from '../../protocol/model.ts';

/**
 * The fields in which servers state a fact, as paths into an entry of their list, the most specific first. The tests
 * name the server of each form.
 */
const CONTEXT_PATHS = listNames(`
  loaded_instances.0.config.context_length loaded_context_length meta.n_ctx max_model_len
  context_length context_window contextLength contextWindow max_context_length max_input_tokens
  inputTokenLimit limits.max_context_length limits.max_input_tokens
  capabilities.limits.max_context_window_tokens model_info.max_input_tokens metadata.context_length
  default_generation_settings.n_ctx meta.n_ctx_train
`);
const OUTPUT_PATHS = listNames(`
  max_completion_tokens max_output_tokens outputTokenLimit top_provider.max_completion_tokens
  limits.max_output_tokens limits.max_completion_tokens capabilities.limits.max_output_tokens
  model_info.max_output_tokens metadata.max_tokens
`);
const ID_PATHS = listNames('id key model_name name model');

/** The fields of a fact that is true or false. */
interface FlagFields {
  /** Fields that are true or false, or objects with a field `supported`. */
  readonly flags: readonly string[];
  /** Lists that are complete: the fact is false if none of the words is in them. */
  readonly lists?: readonly string[];
  /** Lists or texts that show only that the fact is true. */
  readonly hints?: readonly string[];
  /** The words for the fact. */
  readonly words: readonly string[];
}

const INPUTS = listNames(`
  architecture.input_modalities input_modalities supported_input_modalities supportedInputModalities
  modalities.input
`);

const TOOLS: FlagFields = {
  flags: listNames(`
    capabilities.function_calling capabilities.tools capabilities.trained_for_tool_use
    capabilities.supports.tool_calls supports_tools supportsTools
    model_info.supports_function_calling chat_template_caps.supports_tools
  `),
  lists: listNames('supported_parameters supported_features capabilities'),
  hints: ['tags'],
  words: listNames('tools tool_use tool-use tool-calling function-calling function_calling'),
};
const IMAGES: FlagFields = {
  flags: listNames(`
    capabilities.vision capabilities.image_input capabilities.supports.vision supports_image_input
    supportsImageInput supports_image_in model_info.supports_vision modalities.vision
  `),
  lists: INPUTS,
  hints: listNames('type capabilities tags'),
  words: listNames('image vlm vision'),
};
const PDF: FlagFields = {
  flags: listNames('capabilities.pdf_input model_info.supports_pdf_input'),
  lists: INPUTS,
  hints: ['tags'],
  words: listNames('file pdf file-input'),
};
const REASONING: FlagFields = {
  flags: listNames(`
    capabilities.thinking capabilities.reasoning supports_reasoning thinking
    model_info.supports_reasoning
  `),
  lists: listNames('supported_parameters supported_features'),
  hints: listNames('capabilities tags'),
  words: listNames('reasoning reasoning_effort include_reasoning thinking'),
};
const CHAT: FlagFields = {
  flags: listNames('capabilities.completion_chat capabilities.chat_completion supports_chat'),
  lists: listNames(`
    supportedGenerationMethods architecture.output_modalities output_modalities
    supported_output_modalities supportedOutputModalities
  `),
  hints: listNames('type mode capabilities.type'),
  words: listNames('generateContent text chat language llm vlm'),
};

/** Matches the types of models that answer no conversations. */
const OTHER_TYPE =
  /embed|rerank|moderation|image_generation|^image$|^video$|audio|speech|transcri|classif/i;
const TYPE_PATHS = listNames('type kind mode model_info.mode capabilities.type');

const EFFORT_PATHS = listNames(`
  reasoning.supported_efforts effort.supported_levels capabilities.reasoning_effort
  capabilities.reasoning.allowed_options supported_reasoning_efforts
`);

/** The fields of a price. */
interface PriceFields {
  readonly input: string;
  readonly output: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  /** The factor from the stated number to US dollars per million tokens; `guess`: the servers differ. */
  readonly factor: number | 'guess';
  /** True if the server states 0 for a price that it does not know. */
  readonly zeroIsUnknown?: true;
}

const PER_TOKEN = 1_000_000;
const CACHE = { cacheRead: 'pricing.input_cache_read', cacheWrite: 'pricing.input_cache_write' };
const PRICES: readonly PriceFields[] = [
  { input: 'pricing.prompt', output: 'pricing.completion', ...CACHE, factor: PER_TOKEN },
  { input: 'pricing.input', output: 'pricing.output', ...CACHE, factor: 'guess' },
  {
    input: 'metadata.pricing.input_tokens',
    output: 'metadata.pricing.output_tokens',
    cacheRead: 'metadata.pricing.cache_read_tokens',
    factor: 1,
  },
  {
    input: 'model_info.input_cost_per_token',
    output: 'model_info.output_cost_per_token',
    cacheRead: 'model_info.cache_read_input_token_cost',
    cacheWrite: 'model_info.cache_creation_input_token_cost',
    factor: PER_TOKEN,
    zeroIsUnknown: true,
  },
  {
    // xAI counts in cents per hundred million tokens.
    input: 'prompt_text_token_price',
    output: 'completion_text_token_price',
    cacheRead: 'cached_prompt_text_token_price',
    factor: 1 / 10_000,
  },
];
/** A number below it is a price per token: no provider asks for less than a tenth of a cent per million. */
const LEAST_PER_MILLION = 0.001;
/** A higher price in US dollars per million tokens is a mistake. */
const MAX_PRICE = 100_000;

const MAX_TOKENS = 1_000_000_000;
/** Longer ids are dropped: the longest known ones are paths of files and have about a hundred characters. */
const MAX_ID_LENGTH = 200;
const MAX_EFFORTS = 12;
const MAX_EFFORT_LENGTH = 24;
/** The number of entries of a list of words that are read. */
const MAX_WORDS = 200;

/**
 * Reads an entry of a list in the form of any server. Unknown fields, and values of the wrong type or size, are
 * ignored. Returns null for an entry without an id.
 */
export function readListedModel(entry: unknown): ListedModel | null {
  if (typeof entry === 'string') return readListedModel({ id: entry });
  if (!isJsonObject(entry)) return null;
  const id = readId(entry);
  return id === null ? null : { id, ...readFacts(entry) };
}

/** Reads the facts about a model from a document about it, which need not contain its id. */
export function readFacts(entry: JsonObject): Omit<ListedModel, 'id'> {
  const contextWindow = firstOf(CONTEXT_PATHS, entry, toTokens);
  const efforts = readEfforts(entry);
  return {
    contextWindow,
    // Anthropic and Vercel call the output limit so, and others the context window.
    outputLimit:
      firstOf(OUTPUT_PATHS, entry, toTokens) ??
      (contextWindow === null ? null : toTokens(entry['max_tokens'])),
    price: readPrice(entry),
    chat: readChat(entry),
    tools: readFlag(entry, TOOLS),
    images: readFlag(entry, IMAGES),
    pdf: readFlag(entry, PDF),
    reasoning: readReasoning(entry, efforts),
    efforts,
    loaded: readLoaded(entry),
  };
}

function readId(entry: JsonObject): string | null {
  for (const path of ID_PATHS) {
    const value = valueAt(entry, path);
    if (typeof value !== 'string') continue;
    const id = toPlainText(value, MAX_ID_LENGTH);
    // Google's names are those of resources.
    if (id !== null) return path === 'name' ? id.replace(/^models\//, '') : id;
  }
  return null;
}

/** Removes characters that are invisible or control a terminal. Returns null for an empty text or a longer one. */
export function toPlainText(text: string, maxLength: number): string | null {
  if (text.length > maxLength) return null;
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim();
  return plain === '' ? null : plain;
}

/** Returns the value at a path such as `a.b.0`; undefined if there is none. */
function valueAt(entry: JsonObject, path: string): unknown {
  let value: unknown = entry;
  for (const name of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(name)];
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

function firstOf<T>(
  paths: readonly string[],
  entry: JsonObject,
  read: (value: unknown) => T | null,
): T | null {
  for (const path of paths) {
    const found = read(valueAt(entry, path));
    if (found !== null) return found;
  }
  return null;
}

/** Reads a number of tokens, which some servers send as a text. Zero stands for an unknown number. */
export function toTokens(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  const isCount = typeof count === 'number' && Number.isSafeInteger(count);
  return isCount && count > 0 && count <= MAX_TOKENS ? count : null;
}

function readFlag(entry: JsonObject, fields: FlagFields): boolean | null {
  const stated = firstOf(fields.flags, entry, toFlag);
  if (stated !== null) return stated;
  const names = (value: unknown): boolean | null => {
    const words = toWords(value);
    return words === null ? null : words.some((word) => fields.words.includes(word));
  };
  const listed = firstOf(fields.lists ?? [], entry, (value) =>
    Array.isArray(value) ? names(value) : null,
  );
  if (listed === true) return true;
  return firstOf(fields.hints ?? [], entry, (value) => names(value) || null) ?? listed;
}

function toFlag(value: unknown): boolean | null {
  const stated = isJsonObject(value) ? value['supported'] : value;
  return typeof stated === 'boolean' ? stated : null;
}

/** Returns the words of a list or of a text; null if there are none. */
function toWords(value: unknown): readonly string[] | null {
  if (typeof value === 'string') return [value.toLowerCase()];
  if (!Array.isArray(value)) return null;
  const words = value.slice(0, MAX_WORDS).filter((word) => typeof word === 'string');
  return words.length === 0 ? null : words.flatMap((word) => [word, word.toLowerCase()]);
}

function readChat(entry: JsonObject): boolean | null {
  const isOther = TYPE_PATHS.some((path) => {
    const type = valueAt(entry, path);
    return typeof type === 'string' && OTHER_TYPE.test(type);
  });
  if (isOther) return false;
  // Ollama lists "completion" for each model that answers.
  const capabilities = toWords(valueAt(entry, 'capabilities'));
  if (capabilities?.includes('embedding') === true) return capabilities.includes('completion');
  return readFlag(entry, CHAT);
}

function readEfforts(entry: JsonObject): readonly string[] | null {
  return firstOf(EFFORT_PATHS, entry, toEfforts) ?? readAnthropicEfforts(entry);
}

function toEfforts(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const efforts = value.slice(0, MAX_EFFORTS).flatMap((effort) => {
    const plain = typeof effort === 'string' ? toPlainText(effort, MAX_EFFORT_LENGTH) : null;
    return plain === null ? [] : [plain];
  });
  return efforts.length === 0 ? null : [...new Set(efforts)];
}

/** Reads the efforts from Anthropic's form, in which each is a field with its own `supported`. */
function readAnthropicEfforts(entry: JsonObject): readonly string[] | null {
  const effort = valueAt(entry, 'capabilities.effort');
  if (!isJsonObject(effort) || effort['supported'] === false) return null;
  const names = Object.entries(effort).flatMap(([name, level]) =>
    isJsonObject(level) && level['supported'] === true ? [name] : [],
  );
  return toEfforts(names);
}

function readReasoning(entry: JsonObject, efforts: readonly string[] | null): boolean | null {
  if (efforts?.some((effort) => effort !== 'none' && effort !== 'off') === true) return true;
  return readFlag(entry, REASONING) ?? (isJsonObject(entry['reasoning']) ? true : null);
}

function readLoaded(entry: JsonObject): boolean | null {
  const instances = entry['loaded_instances'];
  if (Array.isArray(instances)) return instances.length > 0;
  const state = entry['state'] ?? valueAt(entry, 'status.value');
  if (state === 'loaded') return true;
  return ['not-loaded', 'unloaded', 'loading', 'sleeping', 'downloading'].some(
    (one) => one === state,
  )
    ? false
    : null;
}

function readPrice(entry: JsonObject): TokenPrices | null {
  for (const fields of PRICES) {
    const input = toPrice(valueAt(entry, fields.input), fields.factor);
    const output = toPrice(valueAt(entry, fields.output), fields.factor);
    if (input === null || output === null) continue;
    if (fields.zeroIsUnknown === true && input === 0 && output === 0) continue;
    const cached = (path: string | undefined): number | null =>
      path === undefined ? null : toPrice(valueAt(entry, path), fields.factor);
    // Without a price for the cache, its tokens cost as much as the other ones.
    const cacheRead = cached(fields.cacheRead) ?? input;
    return { input, output, cacheRead, cacheWrite: cached(fields.cacheWrite) ?? input };
  }
  return null;
}

/** Reads a price in US dollars per million tokens. */
function toPrice(value: unknown, factor: PriceFields['factor']): number | null {
  const stated =
    typeof value === 'string' && /^\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?$/i.test(value)
      ? Number(value)
      : value;
  if (typeof stated !== 'number' || !(stated >= 0)) return null;
  const perMillion = stated * (factor === 'guess' ? guessFactor(stated) : factor);
  return perMillion > MAX_PRICE ? null : Number(perMillion.toPrecision(9));
}

function guessFactor(stated: number): number {
  return stated < LEAST_PER_MILLION ? PER_TOKEN : 1;
}
