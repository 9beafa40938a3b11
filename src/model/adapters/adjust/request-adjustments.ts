import { type AdjustmentName, isAdjustment } from '../../settings/adjustment-names.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';

import {
  OUTPUT_LIMIT_FIELDS,
  renameField,
  removeField,
  insertAnswerAfterTools,
  removeCacheMarks,
  removeOutputLimit,
  removeReasoning,
  moveSystemToUser,
  removeToolField,
  addBlankReasoning,
  shortenCallIds,
  useSystemRole,
} from './body-changes.ts';
import type { HttpStatusError } from '../errors/answer-errors.ts';
import { errorText } from '../errors/error-body.ts';

/** A change to the request body for servers that refuse a part of it. */
interface Adjustment {
  /** Matches the texts of refusals that are about this part. */
  readonly isRefused: RegExp | ((text: string, request: JsonObject) => boolean);
  /** `model`: only the model refuses the part. `server`: the server refuses it for all models. */
  readonly scope: 'model' | 'server';
  /** The opposite change. If it is active, this one is not made: the server accepts neither of the two names. */
  readonly opposite?: AdjustmentName;
  /** Changes the body; null: there is nothing to change. */
  change(body: JsonObject): JsonObject | null;
}

const UNKNOWN =
  "(?:unsupported|not supported|n't support|unrecognized|unknown|unexpected|extra|not (?:allowed|permitted|recognized|implemented)|forbidden)";

/** Matches a list of the roles that a server knows, without `system`. */
const ONLY_USER_AND_ASSISTANT =
  /only user and assistant roles|\b(?:be|of|in)\W{1,12}user\W{1,5}(?:(?:or|and)\W{1,3})?(?:assistant|model)\b(?!.{0,40}\bsystem\b)/i;
const NO_SYSTEM_PROMPT = new RegExp(
  [
    '\\bsystem\\b.{0,20}\\brole|\\brole.{0,20}\\bsystem\\b',
    `${UNKNOWN}.{0,30}\\bsystem (?:message|prompt|instruction)`,
    `\\b(?:system|developer) (?:message|prompt|instruction)s?\\b.{0,40}(?:${UNKNOWN}|not enabled)`,
    // The other messages of the conversation do alternate, so this is about the system message.
    'roles must alternate',
  ].join('|'),
  'i',
);

/** The known adjustments. If several match a refusal, the first one is made. */
const ADJUSTMENTS: Readonly<Record<AdjustmentName, Adjustment>> = {
  // Databricks, Mistral: https://github.com/openai/openai-agents-python/issues/442
  stream_options: removal('stream_options', 'server'),
  parallel_tool_calls: removal('parallel_tool_calls', 'server'),
  // Models that reason accept no sampling parameters.
  temperature: removal('temperature', 'model'),
  top_p: removal('top_p', 'model'),
  prompt_cache_key: removal('prompt_cache_key', 'server'),
  tool_choice: removal('tool_choice', 'model'),
  store: { ...removal('store', 'server'), isRefused: unknownCommonName('store') },
  include: { ...removal('include', 'server'), isRefused: unknownCommonName('include') },
  strict: {
    isRefused: unknownCommonName('strict'),
    scope: 'server',
    change: (body) => removeToolField(body, 'strict'),
  },
  // "tools.0.custom.eager_input_streaming: Extra inputs are not permitted"
  eager_input_streaming: {
    isRefused: /\beager_input_streaming\b/i,
    scope: 'server',
    change: (body) => removeToolField(body, 'eager_input_streaming'),
  },
  // Anthropic also refuses markers in a wrong place. That is another error, which this pattern does not match.
  cache_control: {
    isRefused: unknownField('cache_control'),
    scope: 'model',
    change: removeCacheMarks,
  },
  // "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
  max_tokens: {
    isRefused: unknownLimit('max_tokens', 'max_completion_tokens'),
    scope: 'model',
    opposite: 'max_completion_tokens',
    change: (body) => renameField(body, 'max_tokens', 'max_completion_tokens'),
  },
  max_completion_tokens: {
    isRefused: unknownLimit('max_completion_tokens', 'max_tokens'),
    scope: 'server',
    opposite: 'max_tokens',
    change: (body) => renameField(body, 'max_completion_tokens', 'max_tokens'),
  },
  // A limit that is refused under each of its names, whatever its value.
  output_limit: {
    isRefused: (text, request) =>
      OUTPUT_LIMIT_FIELDS.some(
        (field) => request[field] !== undefined && unknownLimitName(field).test(text),
      ),
    scope: 'model',
    change: removeOutputLimit,
  },
  developer_role: {
    // vLLM says "Unexpected message role." and not which one; pydantic lists the roles that it knows.
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
  // "Unexpected role 'user' after role 'tool'", and templates that say "roles must alternate". Before
  // `system_role`, which those may also be about.
  user_after_tool: {
    isRefused: /role '?user'? after role '?tool|roles must alternate/i,
    scope: 'model',
    change: insertAnswerAfterTools,
  },
  // Chat templates that know no system role: "System role not supported".
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

type KnownNeeds = readonly (readonly [pattern: RegExp, names: readonly AdjustmentName[]])[];

/** The adjustments that a model is known to need on any server. */
const KNOWN_MODELS: KnownNeeds = [
  [
    /mi[sx]tral|codestral|devstral|magistral|pixtral|voxtral/i,
    ['long_call_ids', 'user_after_tool'],
  ],
];

/**
 * Remembers which parts the requests to one server have to omit. A request that is refused with 400 or 422
 * because of a part is sent again without that part, and all later requests are sent without it.
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

  /** Returns the body in the form that the server accepts for this model; the same string if nothing changes. */
  apply(model: string, body: string): string {
    const names = [...this.forServer, ...this.namesFor(model)];
    if (names.length === 0) return body;
    const parsed = parseObject(body);
    if (parsed === null) return body;
    return JSON.stringify(
      names.reduce((changed, name) => ADJUSTMENTS[name].change(changed) ?? changed, parsed),
    );
  }

  /** Learns from a refusal. Returns true if it is about a part that the next request can omit. */
  learn(model: string, { status, body, requestBody: sent }: HttpStatusError): boolean {
    if (status !== 400 && status !== 422) return false;
    const request = parseObject(sent);
    if (request === null) return false;
    // Only the fields of the error are searched: others may contain the refused request, with any names in it.
    const text = errorText(body);
    for (const [name, { isRefused, scope, opposite, change }] of Object.entries(ADJUSTMENTS)) {
      const fits = isRefused instanceof RegExp ? isRefused.test(text) : isRefused(text, request);
      if (!isAdjustment(name) || !fits || change(request) === null) continue;
      if (this.isActive(model, name)) continue;
      if (opposite !== undefined && this.isActive(model, opposite)) continue;
      if (scope === 'server') this.forServer.add(name);
      else this.namesFor(model).add(name);
      this.learnedNames.add(name);
      return true;
    }
    return false;
  }

  /** Returns true if the requests of this model are changed in this way. */
  isActive(model: string, name: AdjustmentName): boolean {
    return this.forServer.has(name) || this.namesFor(model).has(name);
  }

  private namesFor(model: string): Set<AdjustmentName> {
    const known = this.forModels.get(model);
    if (known !== undefined) return known;
    const names = KNOWN_MODELS.flatMap(([pattern, needed]) => (pattern.test(model) ? needed : []));
    const made = new Set(names);
    this.forModels.set(model, made);
    return made;
  }
}

function parseObject(body: string): JsonObject | null {
  const parsed: JsonValue = JSON.parse(body);
  return isJsonObject(parsed) ? parsed : null;
}

/** Matches a sentence that says that the server does not know the field. */
function unknownField(field: string): RegExp {
  return new RegExp(`${UNKNOWN}[^.]*\\b${field}\\b|\\b${field}\\b[^.]*${UNKNOWN}`, 'i');
}

/** Does the same for a field whose name is a common word. It must be at a position where field names appear. */
function unknownCommonName(field: string): RegExp {
  const name = `(?:^|['"\`:.(]\\s*|\\b(?:body|function|parameter|field|argument)\\s)${field}(?=['"\`:)[.,\\s]|$)`;
  return new RegExp(`^(?=.*${UNKNOWN}).*${name}`, 'is');
}

/** Matches a refusal of a limit by this name, or a recommendation of its other name. */
function unknownLimit(field: string, other: string): RegExp {
  const recommended = `use\\W{1,4}${other}\\b|instead of\\W{1,4}${field}\\b`;
  return new RegExp(
    `${unknownField(field).source}|${unknownLimitName(field).source}|${recommended}`,
    'i',
  );
}

/** Matches a refusal of the name of a limit. A refusal that contains a number is about its value. */
function unknownLimitName(field: string): RegExp {
  const name = `\\b${field}\\b(?!.{0,60}(?<!code: )\\b\\d{3})`;
  const invalid = `invalid (?:parameter|field|argument)s?\\W{1,4}${name}(?!\\W{1,3}(?:must|should|value|is)\\b)`;
  return new RegExp(`${UNKNOWN}[^.]*${name}|${name}[^.]*${UNKNOWN}|${invalid}`, 'i');
}

function removal(field: string, scope: Adjustment['scope']): Adjustment {
  return {
    isRefused: new RegExp(`\\b${field}\\b`, 'i'),
    scope,
    change: (body) => removeField(body, field),
  };
}
