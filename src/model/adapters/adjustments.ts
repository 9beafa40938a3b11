import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isAdjustment, type AdjustmentName } from '../model-settings.ts';
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
    refusal: new RegExp(`${UNKNOWN}[^.]*\\bmax_tokens\\b|\\bmax_tokens\\b[^.]*${UNKNOWN}`, 'i'),
    scope: 'model',
    change: (body) => renamed(body, 'max_tokens', 'max_completion_tokens'),
  },
  max_completion_tokens: {
    refusal: /\bmax_completion_tokens\b/i,
    scope: 'server',
    change: (body) => renamed(body, 'max_completion_tokens', 'max_tokens'),
  },
  developer_role: {
    refusal: /\bdeveloper\b/i,
    scope: 'server',
    change: withSystemRole,
  },
  // Chat templates that know no system role: "System role not supported".
  system_role: {
    refusal: /\bsystem\b.{0,20}\brole|\brole.{0,20}\bsystem\b/i,
    scope: 'model',
    change: withoutSystemRole,
  },
};

/**
 * Remembers, for one server, what its requests have to do without. A request that is refused with 400 or
 * 422 for a part of it is sent again without that part, and so are all later ones at once.
 */
export class Adjustments {
  private readonly forServer: Set<AdjustmentName>;
  private readonly forModels = new Map<string, Set<AdjustmentName>>();

  /** `omit`: adjustments that the user wants made from the first request on. */
  constructor(omit: readonly AdjustmentName[] = []) {
    this.forServer = new Set(omit);
  }

  /** Returns the body as this server takes it from this model; the same string if nothing has to change. */
  apply(model: string, body: string): string {
    const names = [...this.forServer, ...(this.forModels.get(model) ?? [])];
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
      else this.forModels.set(model, new Set(this.forModels.get(model)).add(name));
      return true;
    }
    return false;
  }

  private isMade(model: string, name: AdjustmentName): boolean {
    return this.forServer.has(name) || this.forModels.get(model)?.has(name) === true;
  }
}

function objectIn(body: string): JsonObject | null {
  const parsed: JsonValue = JSON.parse(body);
  return isJsonObject(parsed) ? parsed : null;
}

function dropping(field: string, scope: Adjustment['scope']): Adjustment {
  return {
    refusal: new RegExp(`\\b${field}\\b`, 'i'),
    scope,
    change: ({ [field]: dropped, ...rest }) => (dropped === undefined ? null : rest),
  };
}

function renamed(body: JsonObject, from: string, to: string): JsonObject | null {
  const { [from]: value, ...rest } = body;
  return value === undefined ? null : { ...rest, [to]: value };
}

type MessagesKey = 'messages' | 'input';

/** The list of messages of OpenAI's two protocols. */
function messagesOf(body: JsonObject): { key: MessagesKey; messages: readonly JsonValue[] } | null {
  for (const key of ['messages', 'input'] as const) {
    const messages = body[key];
    if (Array.isArray(messages)) return { key, messages };
  }
  return null;
}

function hasRole(message: JsonValue | undefined, role: string): message is JsonObject {
  return isJsonObject(message) && message['role'] === role;
}

function withSystemRole(body: JsonObject): JsonObject | null {
  const found = messagesOf(body);
  if (found === null || !found.messages.some((one) => hasRole(one, 'developer'))) return null;
  const messages = found.messages.map((one) =>
    hasRole(one, 'developer') ? { ...one, role: 'system' } : one,
  );
  return { ...body, [found.key]: messages };
}

/** What the system message says begins the first message of the user, since roles have to alternate there. */
function withoutSystemRole(body: JsonObject): JsonObject | null {
  const found = messagesOf(body);
  if (found === null) return null;
  const [system, user, ...rest] = found.messages;
  if (!hasRole(system, 'system')) return null;
  const said = system['content'];
  if (!hasRole(user, 'user')) {
    return { ...body, [found.key]: found.messages.with(0, { ...system, role: 'user' }) };
  }
  const content = user['content'];
  const joined =
    typeof said === 'string' && typeof content === 'string'
      ? `${said}\n\n${content}`
      : [...partsOf(said), ...partsOf(content)];
  return { ...body, [found.key]: [{ ...user, content: joined }, ...rest] };
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}
