import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { isAdjustment, type AdjustmentName } from '../../model-settings.ts';
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
import type { HttpRefusal } from '../errors/answer-errors.ts';
import { errorText } from '../errors/error-body.ts';

/** A change to a request body for servers that refuse a part of it. */
interface Adjustment {
  /** Finds in the words of a refusal that it is about this part, in any wording. */
  readonly refusal: RegExp | ((words: string, request: JsonObject) => boolean);
  /** Whether only the model refuses it, or the server for all of its models. */
  readonly scope: 'model' | 'server';
  /** The opposite change: a server that has refused that one too does without the part. */
  readonly opposite?: AdjustmentName;
  /** Returns the changed body; null: there is nothing to change. */
  change(body: JsonObject): JsonObject | null;
}

const UNKNOWN =
  "(?:unsupported|not supported|n't support|unrecognized|unknown|unexpected|extra|not (?:allowed|permitted|recognized|implemented)|forbidden)";

/** The roles that a server lists as the only ones that it knows, without `system`. */
const ONLY_USER_AND_ASSISTANT =
  /only user and assistant roles|\b(?:be|of|in)\W{1,12}user\W{1,5}(?:(?:or|and)\W{1,3})?(?:assistant|model)\b(?!.{0,40}\bsystem\b)/i;
const NO_SYSTEM_PROMPT = new RegExp(
  [
    '\\bsystem\\b.{0,20}\\brole|\\brole.{0,20}\\bsystem\\b',
    `${UNKNOWN}.{0,30}\\bsystem (?:message|prompt|instruction)`,
    `\\b(?:system|developer) (?:message|prompt|instruction)s?\\b.{0,40}(?:${UNKNOWN}|not enabled)`,
    // Of a conversation whose other messages do alternate.
    'roles must alternate',
  ].join('|'),
  'i',
);

/** The known refusals. Of several rows that fit a refusal, the first is taken. */
const ADJUSTMENTS: Readonly<Record<AdjustmentName, Adjustment>> = {
  // Databricks, Mistral: https://github.com/openai/openai-agents-python/issues/442
  stream_options: dropping('stream_options', 'server'),
  parallel_tool_calls: dropping('parallel_tool_calls', 'server'),
  // Models that reason take no sampling parameters.
  temperature: dropping('temperature', 'model'),
  top_p: dropping('top_p', 'model'),
  prompt_cache_key: dropping('prompt_cache_key', 'server'),
  tool_choice: dropping('tool_choice', 'model'),
  store: { ...dropping('store', 'server'), refusal: unknownWord('store') },
  include: { ...dropping('include', 'server'), refusal: unknownWord('include') },
  strict: {
    refusal: unknownWord('strict'),
    scope: 'server',
    change: (body) => removeToolField(body, 'strict'),
  },
  // "tools.0.custom.eager_input_streaming: Extra inputs are not permitted"
  eager_input_streaming: {
    refusal: /\beager_input_streaming\b/i,
    scope: 'server',
    change: (body) => removeToolField(body, 'eager_input_streaming'),
  },
  // Anthropic refuses marks that are in a wrong place, which is an error of another kind.
  cache_control: {
    refusal: unknown('cache_control'),
    scope: 'model',
    change: removeCacheMarks,
  },
  // "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
  max_tokens: {
    refusal: unknownLimit('max_tokens', 'max_completion_tokens'),
    scope: 'model',
    opposite: 'max_completion_tokens',
    change: (body) => renameField(body, 'max_tokens', 'max_completion_tokens'),
  },
  max_completion_tokens: {
    refusal: unknownLimit('max_completion_tokens', 'max_tokens'),
    scope: 'server',
    opposite: 'max_tokens',
    change: (body) => renameField(body, 'max_completion_tokens', 'max_tokens'),
  },
  // A limit that is refused under each of its names, and not for its value.
  output_limit: {
    refusal: (words, request) =>
      OUTPUT_LIMIT_FIELDS.some(
        (field) => request[field] !== undefined && unknownName(field).test(words),
      ),
    scope: 'model',
    change: removeOutputLimit,
  },
  developer_role: {
    // vLLM says "Unexpected message role." and not which one; pydantic lists the roles that it knows.
    refusal:
      /\bdeveloper\b|unexpected message role|\bbe\W.{0,60}'(?:system'.{0,60}'assistant|assistant'.{0,60}'system)'/i,
    scope: 'server',
    change: useSystemRole,
  },
  // "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."
  long_call_ids: {
    refusal: /tool.?call.?id[^.]*(?:length of 9|a-z)/i,
    scope: 'model',
    change: shortenCallIds,
  },
  // "Unexpected role 'user' after role 'tool'", and templates that say "roles must alternate". Before
  // `system_role`, which those may also be about.
  user_after_tool: {
    refusal: /role '?user'? after role '?tool|roles must alternate/i,
    scope: 'model',
    change: insertAnswerAfterTools,
  },
  // Chat templates that know no system role: "System role not supported".
  system_role: {
    refusal: (words) => NO_SYSTEM_PROMPT.test(words) || ONLY_USER_AND_ASSISTANT.test(words),
    scope: 'model',
    change: moveSystemToUser,
  },
  // "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
  // DeepSeek: "The `content[].thinking` in the thinking mode must be passed back to the API."
  // https://github.com/NousResearch/hermes-agent/issues/22313
  calls_without_reasoning: {
    refusal:
      /(?:reasoning_content|content\[\]\.thinking)\W.{0,40}(?:missing|required|must be passed)|missing.{0,40}\breasoning_content/i,
    scope: 'model',
    change: addBlankReasoning,
  },
  reasoning_content: {
    refusal: /^(?!.*missing).*\breasoning_content\b(?!.{0,40}(?:required|must be passed))/is,
    scope: 'model',
    change: removeReasoning,
  },
};

/** Adjustments that a server is known to need, so that it need not refuse them first. */
const KNOWN_SERVERS: readonly {
  readonly host: RegExp;
  readonly names: readonly AdjustmentName[];
}[] = [{ host: /(?:^|\.)mistral\.ai$/, names: ['stream_options', 'reasoning_content'] }];

/** Adjustments that a model is known to need on any server. */
const KNOWN_MODELS: readonly {
  readonly model: RegExp;
  readonly names: readonly AdjustmentName[];
}[] = [
  {
    model: /mi[sx]tral|codestral|devstral|magistral|pixtral|voxtral/i,
    names: ['long_call_ids', 'user_after_tool'],
  },
];

/**
 * Remembers, for one server, what its requests have to do without. A request that is refused with 400 or
 * 422 for a part of it is sent again without that part, and so are all later ones at once.
 */
export class RequestAdjustments {
  private readonly forServer: Set<AdjustmentName>;
  private readonly forModels = new Map<string, Set<AdjustmentName>>();

  /** `omit`: adjustments that the user wants made from the first request on. */
  constructor(baseUrl: string, omit: readonly AdjustmentName[] = []) {
    const { hostname } = new URL(baseUrl);
    const known = KNOWN_SERVERS.flatMap(({ host, names }) => (host.test(hostname) ? names : []));
    this.forServer = new Set([...known, ...omit]);
  }

  /** Returns the body as this server takes it from this model; the same string if nothing has to change. */
  apply(model: string, body: string): string {
    const names = [...this.forServer, ...this.namesFor(model)];
    if (names.length === 0) return body;
    const parsed = objectIn(body);
    if (parsed === null) return body;
    return JSON.stringify(
      names.reduce((changed, name) => ADJUSTMENTS[name].change(changed) ?? changed, parsed),
    );
  }

  /** Whether the refusal is about a part that the next request can do without. */
  learn(model: string, { status, body, sent }: HttpRefusal): boolean {
    if (status !== 400 && status !== 422) return false;
    const request = objectIn(sent);
    if (request === null) return false;
    // Only the fields of errors: others may hold the refused request, in which any name may stand.
    const words = errorText(body);
    for (const [name, { refusal, scope, opposite, change }] of Object.entries(ADJUSTMENTS)) {
      const fits = refusal instanceof RegExp ? refusal.test(words) : refusal(words, request);
      if (!isAdjustment(name) || !fits || change(request) === null) continue;
      if (this.isMade(model, name)) continue;
      if (opposite !== undefined && this.isMade(model, opposite)) continue;
      if (scope === 'server') this.forServer.add(name);
      else this.namesFor(model).add(name);
      return true;
    }
    return false;
  }

  /** Whether the requests of this model are changed in this way. */
  isMade(model: string, name: AdjustmentName): boolean {
    return this.forServer.has(name) || this.namesFor(model).has(name);
  }

  private namesFor(model: string): Set<AdjustmentName> {
    const known = this.forModels.get(model);
    if (known !== undefined) return known;
    const names = KNOWN_MODELS.flatMap((row) => (row.model.test(model) ? row.names : []));
    const made = new Set(names);
    this.forModels.set(model, made);
    return made;
  }
}

function objectIn(body: string): JsonObject | null {
  const parsed: JsonValue = JSON.parse(body);
  return isJsonObject(parsed) ? parsed : null;
}

/** Finds that the server does not know the field; a sentence that recommends it is another one. */
function unknown(field: string): RegExp {
  return new RegExp(`${UNKNOWN}[^.]*\\b${field}\\b|\\b${field}\\b[^.]*${UNKNOWN}`, 'i');
}

/** The same for a field whose name is a common word, which has to stand where names of fields stand. */
function unknownWord(field: string): RegExp {
  const name = `(?:^|['"\`:.(]\\s*|\\b(?:body|function|parameter|field|argument)\\s)${field}(?=['"\`:)[.,\\s]|$)`;
  return new RegExp(`^(?=.*${UNKNOWN}).*${name}`, 'is');
}

/** Finds that the server does not know a limit by this name, or that it wants the other one. */
function unknownLimit(field: string, other: string): RegExp {
  const recommended = `use\\W{1,4}${other}\\b|instead of\\W{1,4}${field}\\b`;
  return new RegExp(`${unknown(field).source}|${unknownName(field).source}|${recommended}`, 'i');
}

/** Finds that the server does not know a limit; a refusal that names a number is about its value. */
function unknownName(field: string): RegExp {
  const name = `\\b${field}\\b(?!.{0,60}(?<!code: )\\b\\d{3})`;
  const invalid = `invalid (?:parameter|field|argument)s?\\W{1,4}${name}(?!\\W{1,3}(?:must|should|value|is)\\b)`;
  return new RegExp(`${UNKNOWN}[^.]*${name}|${name}[^.]*${UNKNOWN}|${invalid}`, 'i');
}

function dropping(field: string, scope: Adjustment['scope']): Adjustment {
  return {
    refusal: new RegExp(`\\b${field}\\b`, 'i'),
    scope,
    change: (body) => removeField(body, field),
  };
}
