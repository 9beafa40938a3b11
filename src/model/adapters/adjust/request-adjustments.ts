import { type AdjustmentName, isAdjustment } from '../../settings/adjustment-names.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';

import {
  OUTPUT_LIMIT_FIELDS,
  renameField,
  removeField,
  insertAnswerAfterTools,
  removeCacheMarkers,
  removeOutputLimit,
  removeReasoning,
  moveSystemToUser,
  removeToolField,
  addBlankReasoning,
  shortenCallIds,
  useSystemRole,
} from './body-changes.ts';
import { writeFunctionTools } from '../openai-responses/free-form-calls.ts';
import type { HttpStatusError } from '../errors/answer-errors.ts';
import { extractErrorText } from '../errors/error-body.ts';

/** A change to the request body for servers that refuse a part of the body. */
interface Adjustment {
  /** Matches the error texts that refuse this part, or decides whether an error text refuses it. */
  readonly isRefused: RegExp | ((text: string, request: JsonObject) => boolean);
  /** `model`: only one model refuses the part. `server`: the server refuses the part for all models. */
  readonly scope: 'model' | 'server';
  /** The opposite change. If it is active, this change is not made: the server accepts neither of the two field names. */
  readonly opposite?: AdjustmentName;
  /** Changes the body; null: there is nothing to change. */
  change(body: JsonObject): JsonObject | null;
}

const UNKNOWN =
  "(?:unsupported|not supported|n't support|unrecognized|unknown|unexpected|extra|not (?:allowed|permitted|recognized|implemented)|forbidden)";

/** Matches a list of the roles that a server accepts if the list lacks `system`. */
const ONLY_USER_AND_ASSISTANT =
  /only user and assistant roles|\b(?:be|of|in)\W{1,12}user\W{1,5}(?:(?:or|and)\W{1,3})?(?:assistant|model)\b(?!.{0,40}\bsystem\b)/i;
const NO_SYSTEM_PROMPT = new RegExp(
  [
    '\\bsystem\\b.{0,20}\\brole|\\brole.{0,20}\\bsystem\\b',
    `${UNKNOWN}.{0,30}\\bsystem (?:message|prompt|instruction)`,
    `\\b(?:system|developer) (?:message|prompt|instruction)s?\\b.{0,40}(?:${UNKNOWN}|not enabled)`,
    // The roles of all other messages alternate, so the refusal is about the system message.
    'roles must alternate',
  ].join('|'),
  'i',
);

const UNKNOWN_CACHE_CONTROL = createUnknownFieldPattern('cache_control');
const NO_PROMPT_CACHING =
  /did not allow prompt caching|\bcachePoint\b.{0,60}(?:not|n't|unsupported|extraneous)|extraneous key \[cachePoint\]/i;

/** The known adjustments. If several match a refusal, the first of them is made. */
const ADJUSTMENTS: Readonly<Record<AdjustmentName, Adjustment>> = {
  // Databricks, Mistral: https://github.com/openai/openai-agents-python/issues/442
  stream_options: createRemoval('stream_options', 'server'),
  parallel_tool_calls: createRemoval('parallel_tool_calls', 'server'),
  // Reasoning models accept no sampling parameters.
  temperature: createRemoval('temperature', 'model'),
  top_p: createRemoval('top_p', 'model'),
  prompt_cache_key: createRemoval('prompt_cache_key', 'server'),
  // Z.ai: "Tool choice must be auto"
  tool_choice: {
    ...createRemoval('tool_choice', 'model'),
    isRefused: /\btool_choice\b|tool choice must be/i,
  },
  store: { ...createRemoval('store', 'server'), isRefused: createCommonNamePattern('store') },
  include: { ...createRemoval('include', 'server'), isRefused: createCommonNamePattern('include') },
  strict: {
    isRefused: createCommonNamePattern('strict'),
    scope: 'server',
    change: (body) => removeToolField(body, 'strict'),
  },
  // "Invalid value: 'custom'. Supported values are: 'function', …"
  custom_tools: {
    isRefused: /['"`]custom['"`]|\bcustom tools?\b|\bgrammar\b/i,
    scope: 'server',
    change: writeFunctionTools,
  },
  // "tools.0.custom.eager_input_streaming: Extra inputs are not permitted"
  eager_input_streaming: {
    isRefused: /\beager_input_streaming\b/i,
    scope: 'server',
    change: (body) => removeToolField(body, 'eager_input_streaming'),
  },
  // Anthropic also refuses markers at wrong positions. This pattern does not match that error.
  cache_control: {
    // Bedrock's Converse: "You invoked an unsupported model or your request did not allow prompt caching."
    isRefused: (text) => UNKNOWN_CACHE_CONTROL.test(text) || NO_PROMPT_CACHING.test(text),
    scope: 'model',
    change: removeCacheMarkers,
  },
  // "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
  max_tokens: {
    isRefused: createUnknownLimitPattern('max_tokens', 'max_completion_tokens'),
    scope: 'model',
    opposite: 'max_completion_tokens',
    change: (body) => renameField(body, 'max_tokens', 'max_completion_tokens'),
  },
  max_completion_tokens: {
    isRefused: createUnknownLimitPattern('max_completion_tokens', 'max_tokens'),
    scope: 'server',
    opposite: 'max_tokens',
    change: (body) => renameField(body, 'max_completion_tokens', 'max_tokens'),
  },
  // The server refuses the output limit under each of its names.
  output_limit: {
    isRefused: (text, request) =>
      OUTPUT_LIMIT_FIELDS.some(
        (field) => request[field] !== undefined && createLimitNamePattern(field).test(text),
      ),
    scope: 'model',
    change: removeOutputLimit,
  },
  developer_role: {
    // vLLM says "Unexpected message role." without the role; pydantic lists the accepted roles.
    isRefused:
      /\bdeveloper\b|unexpected message role|\bbe\W.{0,60}'(?:system'.{0,60}'assistant|assistant'.{0,60}'system)'/i,
    scope: 'server',
    change: useSystemRole,
  },
  // "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."
  long_call_ids: {
    isRefused: /tool.?call.?id[^.]*(?:length of 9|a-z)/i,
    scope: 'model',
    change: shortenCallIds,
  },
  // "Unexpected role 'user' after role 'tool'", and templates that say "roles must alternate". This adjustment comes
  // before `system_role`, because the second message may be about either of them.
  user_after_tool: {
    isRefused: /role '?user'? after role '?tool|roles must alternate/i,
    scope: 'model',
    change: insertAnswerAfterTools,
  },
  // Chat templates without a system role: "System role not supported".
  system_role: {
    isRefused: (text) => NO_SYSTEM_PROMPT.test(text) || ONLY_USER_AND_ASSISTANT.test(text),
    scope: 'model',
    change: moveSystemToUser,
  },
  // "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
  // DeepSeek: "The `content[].thinking` in the thinking mode must be passed back to the API."
  // https://github.com/NousResearch/hermes-agent/issues/22313
  calls_without_reasoning: {
    isRefused:
      /(?:reasoning_content|content\[\]\.thinking)\W.{0,40}(?:missing|required|must be passed)|missing.{0,40}\breasoning_content/i,
    scope: 'model',
    change: addBlankReasoning,
  },
  reasoning_content: {
    isRefused: /^(?!.*missing).*\breasoning_content\b(?!.{0,40}(?:required|must be passed))/is,
    scope: 'model',
    change: removeReasoning,
  },
};

type KnownAdjustments = readonly (readonly [pattern: RegExp, names: readonly AdjustmentName[]])[];

/** The adjustments that a model is known to need on any server. */
const KNOWN_MODELS: KnownAdjustments = [
  [
    /mi[sx]tral|codestral|devstral|magistral|pixtral|voxtral/i,
    ['long_call_ids', 'user_after_tool'],
  ],
];

/**
 * Remembers which adjustments the requests to one server need. If the server refuses a request with 400 or 422 because
 * of a part, the request is sent again with the adjustment for this part, as are all later requests.
 */
export class RequestAdjustments {
  private readonly forServer: Set<AdjustmentName>;
  private readonly forModels = new Map<string, Set<AdjustmentName>>();
  /** The adjustments that refusals have taught. */
  private readonly learnedNames = new Set<AdjustmentName>();

  /** `omit`: the adjustments that are made from the first request on. */
  constructor(omit: readonly AdjustmentName[] = []) {
    this.forServer = new Set(omit);
  }

  /** The adjustments that refusals have taught, without those that were known from the start. */
  get learned(): readonly AdjustmentName[] {
    return [...this.learnedNames];
  }

  /** Returns the body with the adjustments for this model; the same string if no adjustment is active. */
  apply(model: string, body: string): string {
    const names = [...this.forServer, ...this.getModelAdjustments(model)];
    if (names.length === 0) return body;
    const parsed = parseObject(body);
    if (parsed === null) return body;
    return JSON.stringify(
      names.reduce((changed, name) => ADJUSTMENTS[name].change(changed) ?? changed, parsed),
    );
  }

  /** Learns from a refused request. Returns true if a new adjustment was found with which it can be sent again. */
  learn(model: string, { status, responseBody, requestBody }: HttpStatusError): boolean {
    if (status !== 400 && status !== 422) return false;
    const request = parseObject(requestBody);
    if (request === null) return false;
    // Only the fields of the error are searched. Other fields may contain the refused request, which names all parts.
    const text = extractErrorText(responseBody);
    for (const [name, { isRefused, scope, opposite, change }] of Object.entries(ADJUSTMENTS)) {
      const matches = isRefused instanceof RegExp ? isRefused.test(text) : isRefused(text, request);
      if (!isAdjustment(name) || !matches || change(request) === null) continue;
      if (this.isActive(model, name)) continue;
      if (opposite !== undefined && this.isActive(model, opposite)) continue;
      if (scope === 'server') this.forServer.add(name);
      else this.getModelAdjustments(model).add(name);
      this.learnedNames.add(name);
      return true;
    }
    return false;
  }

  /** Returns true if the adjustment is made in the requests to this model. */
  isActive(model: string, name: AdjustmentName): boolean {
    return this.forServer.has(name) || this.getModelAdjustments(model).has(name);
  }

  private getModelAdjustments(model: string): Set<AdjustmentName> {
    const known = this.forModels.get(model);
    if (known !== undefined) return known;
    const names = KNOWN_MODELS.flatMap(([pattern, needed]) => (pattern.test(model) ? needed : []));
    const adjustments = new Set(names);
    this.forModels.set(model, adjustments);
    return adjustments;
  }
}

function parseObject(body: string): JsonObject | null {
  const parsed: JsonValue = JSON.parse(body);
  return isJsonObject(parsed) ? parsed : null;
}

/** Creates a pattern for a sentence that says that the server does not know the field. */
function createUnknownFieldPattern(field: string): RegExp {
  return new RegExp(`${UNKNOWN}[^.]*\\b${field}\\b|\\b${field}\\b[^.]*${UNKNOWN}`, 'i');
}

/** Creates a pattern for an unknown field whose name is a common word. The name must be where field names appear in messages. */
function createCommonNamePattern(field: string): RegExp {
  const name = `(?:^|['"\`:.(]\\s*|\\b(?:body|function|parameter|field|argument)\\s)${field}(?=['"\`:)[.,\\s]|$)`;
  return new RegExp(`^(?=.*${UNKNOWN}).*${name}`, 'is');
}

/** Creates a pattern for a refusal of an output limit with this field name, or a recommendation of the other name. */
function createUnknownLimitPattern(field: string, other: string): RegExp {
  const recommended = `use\\W{1,4}${other}\\b|instead of\\W{1,4}${field}\\b`;
  return new RegExp(
    `${createUnknownFieldPattern(field).source}|${createLimitNamePattern(field).source}|${recommended}`,
    'i',
  );
}

/** Creates a pattern for a refusal of the field name of a limit. A refusal with a number is about the value instead. */
function createLimitNamePattern(field: string): RegExp {
  const name = `\\b${field}\\b(?!.{0,60}(?<!code: )\\b\\d{3})`;
  const invalid = `invalid (?:parameter|field|argument)s?\\W{1,4}${name}(?!\\W{1,3}(?:must|should|value|is)\\b)`;
  return new RegExp(`${UNKNOWN}[^.]*${name}|${name}[^.]*${UNKNOWN}|${invalid}`, 'i');
}

/** Creates an adjustment that removes a field when an error text contains the name of the field. */
function createRemoval(field: string, scope: Adjustment['scope']): Adjustment {
  return {
    isRefused: new RegExp(`\\b${field}\\b`, 'i'),
    scope,
    change: (body) => removeField(body, field),
  };
}
