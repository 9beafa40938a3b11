import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { derivedId } from './wire-ids.ts';

/** The changes to request bodies that `adjustments.ts` names. Each returns null if there is nothing to change. */

export function without(body: JsonObject, field: string): JsonObject | null {
  const { [field]: dropped, ...rest } = body;
  return dropped === undefined ? null : rest;
}

export function renamed(body: JsonObject, from: string, to: string): JsonObject | null {
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

export function withSystemRole(body: JsonObject): JsonObject | null {
  const found = messagesOf(body);
  if (found === null || !found.messages.some((one) => hasRole(one, 'developer'))) return null;
  const messages = found.messages.map((one) =>
    hasRole(one, 'developer') ? { ...one, role: 'system' } : one,
  );
  return { ...body, [found.key]: messages };
}

/** What the system message says begins the first message of the user, since roles have to alternate there. */
export function withoutSystemRole(body: JsonObject): JsonObject | null {
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

/** Characters of a call id at Mistral. */
const SHORT_ID = 9;

export function withShortIds(body: JsonObject): JsonObject | null {
  return withMessages(body, (message) => {
    const { tool_call_id: answered, tool_calls: calls } = message;
    return {
      ...message,
      ...(typeof answered === 'string' ? { tool_call_id: shortId(answered) } : {}),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(withShortId) } : {}),
    };
  });
}

function withShortId(call: JsonValue): JsonValue {
  if (!isJsonObject(call) || typeof call['id'] !== 'string') return call;
  return { ...call, id: shortId(call['id']) };
}

function shortId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : derivedId(id, SHORT_ID);
}

/** Says as little as possible in the place of the answer that the server expects. */
const BETWEEN = { role: 'assistant', content: 'OK.' };

export function withAnswerAfterTools(body: JsonObject): JsonObject | null {
  const found = messagesOf(body);
  if (found === null) return null;
  const { key, messages } = found;
  const changed = messages.flatMap((message, index) =>
    hasRole(message, 'user') && hasRole(messages[index - 1], 'tool')
      ? [BETWEEN, message]
      : [message],
  );
  return changed.length === messages.length ? null : { ...body, [key]: changed };
}

/** Gives calls that other models made the blank thought without which their server refuses them. */
export function withReasoning(body: JsonObject): JsonObject | null {
  return withMessages(body, (message) => {
    const { reasoning_content: thought = '', tool_calls: calls } = message;
    return calls === undefined || thought !== '' ? message : { ...message, reasoning_content: ' ' };
  });
}

export function withoutReasoning(body: JsonObject): JsonObject | null {
  return withMessages(body, (message) => without(message, 'reasoning_content') ?? message);
}

function withMessages(
  body: JsonObject,
  change: (message: JsonObject) => JsonObject,
): JsonObject | null {
  const found = messagesOf(body);
  if (found === null) return null;
  const changed = found.messages.map((message) =>
    isJsonObject(message) ? change(message) : message,
  );
  const isSame = JSON.stringify(changed) === JSON.stringify(found.messages);
  return isSame ? null : { ...body, [found.key]: changed };
}
