import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isAdjustment, type AdjustmentName } from '../model-settings.ts';
import {
  renamed,
  without,
  withAnswerAfterTools,
  withoutReasoning,
  withoutSystemRole,
  withReasoning,
  withShortIds,
  withSystemRole,
} from './adjusted-bodies.ts';
import type { Refusal } from './answer-errors.ts';

/** A change to a request body for servers that refuse a part of it. */
interface Adjustment {
  /** Finds in the body of a refusal that it is about this part, in any wording. */
  readonly refusal: RegExp;
  /** Whether only the model refuses it, or the server for all of its models. */
  readonly scope: 'model' | 'server';
  /** Returns the changed body; null: there is nothing to change. */
  change(body: JsonObject): JsonObject | null;
}

const UNKNOWN = '(?:unsupported|not supported|unrecognized|unknown|unexpected|extra)';

/** What servers are known to refuse. Of several rows that fit a refusal, the first is taken. */
const ADJUSTMENTS: Readonly<Record<AdjustmentName, Adjustment>> = {
  // Databricks, Mistral: https://github.com/openai/openai-agents-python/issues/442
  stream_options: dropping('stream_options', 'server'),
  parallel_tool_calls: dropping('parallel_tool_calls', 'server'),
  // Models that reason take no sampling parameters.
  temperature: dropping('temperature', 'model'),
  top_p: dropping('top_p', 'model'),
  prompt_cache_key: dropping('prompt_cache_key', 'server'),
  tool_choice: dropping('tool_choice', 'model'),
  // "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
  max_tokens: {
    refusal: unknown('max_tokens'),
    scope: 'model',
    change: (body) => renamed(body, 'max_tokens', 'max_completion_tokens'),
  },
  max_completion_tokens: {
    refusal: unknown('max_completion_tokens'),
    scope: 'server',
    change: (body) => renamed(body, 'max_completion_tokens', 'max_tokens'),
  },
  developer_role: {
    // vLLM says "Unexpected message role." and not which one.
    refusal: /\bdeveloper\b|unexpected message role/i,
    scope: 'server',
    change: withSystemRole,
  },
  // Chat templates that know no system role: "System role not supported".
  system_role: {
    refusal: /\bsystem\b.{0,20}\brole|\brole.{0,20}\bsystem\b/i,
    scope: 'model',
    change: withoutSystemRole,
  },
  // "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."
  long_call_ids: {
    refusal: /tool.?call.?id[^.]*(?:length of 9|a-z)/i,
    scope: 'model',
    change: withShortIds,
  },
  // "Unexpected role 'user' after role 'tool'", and templates that say "roles must alternate".
  user_after_tool: {
    refusal: /role '?user'? after role '?tool|roles must alternate/i,
    scope: 'model',
    change: withAnswerAfterTools,
  },
  // "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
  calls_without_reasoning: {
    refusal:
      /reasoning_content\b.{0,40}(?:missing|required|must be passed)|missing.{0,40}\breasoning_content/i,
    scope: 'model',
    change: withReasoning,
  },
  reasoning_content: {
    refusal: /^(?!.*missing).*\breasoning_content\b(?!.{0,40}(?:required|must be passed))/is,
    scope: 'model',
    change: withoutReasoning,
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
export class Adjustments {
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
  learn(model: string, { status, body, sent }: Refusal): boolean {
    if (status !== 400 && status !== 422) return false;
    const request = objectIn(sent);
    if (request === null) return false;
    for (const [name, { refusal, scope, change }] of Object.entries(ADJUSTMENTS)) {
      if (!isAdjustment(name) || !refusal.test(body) || change(request) === null) continue;
      if (this.isMade(model, name)) continue;
      if (scope === 'server') this.forServer.add(name);
      else this.namesFor(model).add(name);
      return true;
    }
    return false;
  }

  private isMade(model: string, name: AdjustmentName): boolean {
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

function dropping(field: string, scope: Adjustment['scope']): Adjustment {
  return {
    refusal: new RegExp(`\\b${field}\\b`, 'i'),
    scope,
    change: (body) => without(body, field),
  };
}
