import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { deriveCallId } from '../request/wire-ids.ts';

/** The changes to request bodies that `adjustments.ts` names. Each returns null if there is nothing to change. */

export function removeField(body: JsonObject, field: string): JsonObject | null {
  const { [field]: dropped, ...rest } = body;
  return dropped === undefined ? null : rest;
}

export function renameField(body: JsonObject, from: string, to: string): JsonObject | null {
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

export function useSystemRole(body: JsonObject): JsonObject | null {
  const found = messagesOf(body);
  if (found === null || !found.messages.some((one) => hasRole(one, 'developer'))) return null;
  const messages = found.messages.map((one) =>
    hasRole(one, 'developer') ? { ...one, role: 'system' } : one,
  );
  return { ...body, [found.key]: messages };
}

/** Lets the system messages begin the first message of the user, since roles have to alternate there. */
export function moveSystemToUser(body: JsonObject): JsonObject | null {
  const found = messagesOf(body);
  if (found === null) return withoutSystemInstruction(body);
  const { key, messages } = found;
  const first = messages.findIndex((one) => !hasRole(one, 'system') && !hasRole(one, 'developer'));
  const count = first === -1 ? messages.length : first;
  if (count === 0) return null;
  const said = messages.slice(0, count).map((one) => (isJsonObject(one) ? one['content'] : null));
  const rest = messages.slice(count);
  const [user] = rest;
  if (!hasRole(user, 'user')) {
    return { ...body, [key]: [{ role: 'user', content: joined(said, key) }, ...rest] };
  }
  const content = joined([...said, user['content']], key);
  return { ...body, [key]: [{ ...user, content }, ...rest.slice(1)] };
}

/** Joins the contents of messages to that of one: to a text if all are texts, otherwise to a list of parts. */
function joined(contents: readonly (JsonValue | undefined)[], key: MessagesKey): JsonValue {
  const texts = contents.filter((content) => typeof content === 'string');
  if (texts.length === contents.length) return texts.join('\n\n');
  const type = key === 'input' ? 'input_text' : 'text';
  return contents.flatMap((content) => {
    if (Array.isArray(content)) return content;
    return typeof content === 'string' ? [{ type, text: content }] : [];
  });
}

/** The same in the protocol of Google, whose bodies have the system prompt beside the messages. */
function withoutSystemInstruction(body: JsonObject): JsonObject | null {
  const { systemInstruction: instruction, contents, ...rest } = body;
  if (!isJsonObject(instruction) || !Array.isArray(contents)) return null;
  const parts = instruction['parts'];
  const [user, ...others] = contents;
  if (!Array.isArray(parts) || !hasRole(user, 'user') || !Array.isArray(user['parts'])) return null;
  return { ...rest, contents: [{ ...user, parts: [...parts, ...user['parts']] }, ...others] };
}

/** The fields of all protocols that limit an answer. */
export const OUTPUT_LIMIT_FIELDS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const;

export function removeOutputLimit(body: JsonObject): JsonObject | null {
  const kept = Object.entries(body).filter(
    ([key]) => !OUTPUT_LIMIT_FIELDS.some((field) => field === key),
  );
  return kept.length === Object.keys(body).length ? null : Object.fromEntries(kept);
}

/** Leaves a field of tools out, in the form of any protocol. */
export function removeToolField(body: JsonObject, field: string): JsonObject | null {
  const { tools } = body;
  if (!Array.isArray(tools)) return null;
  let isChanged = false;
  const omit = (tool: JsonObject): JsonObject => {
    const rest = removeField(tool, field);
    if (rest !== null) isChanged = true;
    return rest ?? tool;
  };
  const changed = tools.map((tool) => {
    if (!isJsonObject(tool)) return tool;
    const definition = tool['function'];
    return omit(isJsonObject(definition) ? { ...tool, function: omit(definition) } : tool);
  });
  return isChanged ? { ...body, tools: changed } : null;
}

/** Leaves out the marks of Anthropic's cache, which stand on tools, system texts, and parts of messages. */
export function removeCacheMarks(body: JsonObject): JsonObject | null {
  let isChanged = false;
  const unmarked = (value: JsonValue): JsonValue => {
    if (!isJsonObject(value)) return value;
    const rest = removeField(value, 'cache_control');
    if (rest !== null) isChanged = true;
    const { content } = value;
    return Array.isArray(content)
      ? { ...(rest ?? value), content: content.map(unmarked) }
      : (rest ?? value);
  };
  const lists = ['tools', 'system', 'messages'].flatMap((key) => {
    const list = body[key];
    return Array.isArray(list) ? [[key, list.map(unmarked)] as const] : [];
  });
  return isChanged ? { ...body, ...Object.fromEntries(lists) } : null;
}

/** Characters of a call id at Mistral. */
const SHORT_ID = 9;

export function shortenCallIds(body: JsonObject): JsonObject | null {
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
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : deriveCallId(id, SHORT_ID);
}

/** Says as little as possible in the place of the answer that the server expects. */
const BETWEEN = { role: 'assistant', content: 'OK.' };

export function insertAnswerAfterTools(body: JsonObject): JsonObject | null {
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
export function addBlankReasoning(body: JsonObject): JsonObject | null {
  return withMessages(body, (message) => {
    const { reasoning_content: thought = '', tool_calls: calls, content } = message;
    if (Array.isArray(content)) return { ...message, content: withThinking(content) };
    return calls === undefined || thought !== '' ? message : { ...message, reasoning_content: ' ' };
  });
}

/** The same in the protocol of Anthropic, in which thoughts and calls are parts of the content. */
function withThinking(content: readonly JsonValue[]): readonly JsonValue[] {
  const has = (types: readonly string[]) =>
    content.some((part) => isJsonObject(part) && types.some((type) => part['type'] === type));
  if (!has(['tool_use']) || has(['thinking', 'redacted_thinking'])) return content;
  return [{ type: 'thinking', thinking: ' ', signature: '' }, ...content];
}

export function removeReasoning(body: JsonObject): JsonObject | null {
  return withMessages(body, (message) => removeField(message, 'reasoning_content') ?? message);
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
