import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { deriveCallId } from '../request/wire-ids.ts';

// The changes to request bodies for `request-adjustments.ts`. Each function returns null if there is nothing to change.

/** Adds fields to a JSON body that does not have them. The rest of the body, which may be long, is not parsed. */
export function addFields(body: string, fields: JsonObject): string {
  if (Object.keys(fields).length === 0) return body;
  return `${JSON.stringify(fields).slice(0, -1)},${body.slice(1)}`;
}

/** Removes a field. */
export function removeField(body: JsonObject, field: string): JsonObject | null {
  const { [field]: dropped, ...rest } = body;
  return dropped === undefined ? null : rest;
}

/** Renames a field. */
export function renameField(body: JsonObject, from: string, to: string): JsonObject | null {
  const { [from]: value, ...rest } = body;
  return value === undefined ? null : { ...rest, [to]: value };
}

type MessagesKey = 'messages' | 'input';

/** Finds the list of messages in a body of OpenAI's two protocols. */
function findMessages(
  body: JsonObject,
): { key: MessagesKey; messages: readonly JsonValue[] } | null {
  for (const key of ['messages', 'input'] as const) {
    const messages = body[key];
    if (Array.isArray(messages)) return { key, messages };
  }
  return null;
}

function hasRole(message: JsonValue | undefined, role: string): message is JsonObject {
  return isJsonObject(message) && message['role'] === role;
}

/** Replaces the role `developer` by `system`. */
export function useSystemRole(body: JsonObject): JsonObject | null {
  const found = findMessages(body);
  if (found === null || !found.messages.some((message) => hasRole(message, 'developer')))
    return null;
  const messages = found.messages.map((message) =>
    hasRole(message, 'developer') ? { ...message, role: 'system' } : message,
  );
  return { ...body, [found.key]: messages };
}

/** Moves the system messages to the beginning of the first user message, for servers that accept no system role. */
export function moveSystemToUser(body: JsonObject): JsonObject | null {
  const found = findMessages(body);
  if (found === null) return moveSystemInstruction(body);
  const { key, messages } = found;
  const first = messages.findIndex(
    (each) => !hasRole(each, 'system') && !hasRole(each, 'developer'),
  );
  const count = first === -1 ? messages.length : first;
  if (count === 0) return null;
  const system = messages
    .slice(0, count)
    .map((each) => (isJsonObject(each) ? each['content'] : null));
  const rest = messages.slice(count);
  const [user] = rest;
  if (!hasRole(user, 'user')) {
    return { ...body, [key]: [{ role: 'user', content: joinContents(system, key) }, ...rest] };
  }
  const content = joinContents([...system, user['content']], key);
  return { ...body, [key]: [{ ...user, content }, ...rest.slice(1)] };
}

/** Joins the contents of messages: to one text if all contents are texts, otherwise to a list of parts. */
function joinContents(contents: readonly (JsonValue | undefined)[], key: MessagesKey): JsonValue {
  const texts = contents.filter((content) => typeof content === 'string');
  if (texts.length === contents.length) return texts.join('\n\n');
  const type = key === 'input' ? 'input_text' : 'text';
  return contents.flatMap((content) => {
    if (Array.isArray(content)) return content;
    return typeof content === 'string' ? [{ type, text: content }] : [];
  });
}

/** Moves the system prompt to the first user message in Google's protocol, in which it is a field of the body. */
function moveSystemInstruction(body: JsonObject): JsonObject | null {
  const { systemInstruction: instruction, contents, ...rest } = body;
  if (!isJsonObject(instruction) || !Array.isArray(contents)) return null;
  const parts = instruction['parts'];
  const [user, ...others] = contents;
  if (!Array.isArray(parts) || !hasRole(user, 'user') || !Array.isArray(user['parts'])) return null;
  return { ...rest, contents: [{ ...user, parts: [...parts, ...user['parts']] }, ...others] };
}

/** The fields that set the output limit in the protocols of OpenAI and Anthropic. */
export const OUTPUT_LIMIT_FIELDS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const;

/** Removes the output limit. */
export function removeOutputLimit(body: JsonObject): JsonObject | null {
  const remaining = Object.entries(body).filter(
    ([key]) => !OUTPUT_LIMIT_FIELDS.some((field) => field === key),
  );
  return remaining.length === Object.keys(body).length ? null : Object.fromEntries(remaining);
}

/** Removes a field from all tools, and from their field `function` if they have one (Chat Completions). */
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

/** Removes the cache markers of Anthropic and of Bedrock from tools, system texts and parts of messages. */
export function removeCacheMarkers(body: JsonObject): JsonObject | null {
  let isChanged = false;
  const removeMarkers = (value: JsonValue): JsonValue => {
    if (!isJsonObject(value)) return value;
    const rest = removeField(value, 'cache_control');
    if (rest !== null) isChanged = true;
    const { content } = value;
    return Array.isArray(content)
      ? { ...(rest ?? value), content: removeAll(content) }
      : (rest ?? value);
  };
  const removeAll = (list: readonly JsonValue[]): readonly JsonValue[] => {
    const kept = list.filter((value) => !isJsonObject(value) || value['cachePoint'] === undefined);
    if (kept.length < list.length) isChanged = true;
    return kept.map(removeMarkers);
  };
  const lists = ['tools', 'system', 'messages'].flatMap((key) => {
    const list = body[key];
    return Array.isArray(list) ? [[key, removeAll(list)] as const] : [];
  });
  return isChanged ? { ...body, ...Object.fromEntries(lists) } : null;
}

/** The length that Mistral requires of call ids. */
const MISTRAL_ID_LENGTH = 9;

/** Replaces call ids by ids that Mistral accepts. */
export function shortenCallIds(body: JsonObject): JsonObject | null {
  return changeMessages(body, (message) => {
    const { tool_call_id: callId, tool_calls: calls } = message;
    return {
      ...message,
      ...(typeof callId === 'string' ? { tool_call_id: shortenId(callId) } : {}),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(shortenCall) } : {}),
    };
  });
}

function shortenCall(call: JsonValue): JsonValue {
  if (!isJsonObject(call) || typeof call['id'] !== 'string') return call;
  return { ...call, id: shortenId(call['id']) };
}

function shortenId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : deriveCallId(id, MISTRAL_ID_LENGTH);
}

/** The answer that is inserted between a tool result and a user message, for servers that expect an answer there. */
const FILLER_ANSWER = { role: 'assistant', content: 'OK.' };

/** Inserts an answer between tool results and a user message. */
export function insertAnswerAfterTools(body: JsonObject): JsonObject | null {
  const found = findMessages(body);
  if (found === null) return null;
  const { key, messages } = found;
  const changed = messages.flatMap((message, index) =>
    hasRole(message, 'user') && hasRole(messages[index - 1], 'tool')
      ? [FILLER_ANSWER, message]
      : [message],
  );
  return changed.length === messages.length ? null : { ...body, [key]: changed };
}

/** Adds a blank thought to each message with calls but without a thought, for servers that refuse such messages. */
export function addBlankReasoning(body: JsonObject): JsonObject | null {
  return changeMessages(body, (message) => {
    const { reasoning_content: thought = '', tool_calls: calls, content } = message;
    if (Array.isArray(content)) return { ...message, content: addBlankThinking(content) };
    return calls === undefined || thought !== '' ? message : { ...message, reasoning_content: ' ' };
  });
}

/** Adds a blank thought in Anthropic's protocol, in which thoughts and calls are parts of the content. */
function addBlankThinking(content: readonly JsonValue[]): readonly JsonValue[] {
  const has = (types: readonly string[]) =>
    content.some((part) => isJsonObject(part) && types.some((type) => part['type'] === type));
  if (!has(['tool_use']) || has(['thinking', 'redacted_thinking'])) return content;
  return [{ type: 'thinking', thinking: ' ', signature: '' }, ...content];
}

/** Removes the thoughts from all messages. */
export function removeReasoning(body: JsonObject): JsonObject | null {
  return changeMessages(body, (message) => removeField(message, 'reasoning_content') ?? message);
}

function changeMessages(
  body: JsonObject,
  change: (message: JsonObject) => JsonObject,
): JsonObject | null {
  const found = findMessages(body);
  if (found === null) return null;
  const changed = found.messages.map((message) =>
    isJsonObject(message) ? change(message) : message,
  );
  const isSame = JSON.stringify(changed) === JSON.stringify(found.messages);
  return isSame ? null : { ...body, [found.key]: changed };
}
