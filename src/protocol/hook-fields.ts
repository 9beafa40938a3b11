import type { ErrorInfo } from '../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { FormValues } from './form.ts';
import type { TaskInput } from './input.ts';
import type { ServerQuestion } from './question.ts';
import { readSlashText } from './slash-text.ts';

/** A call in the fields that hooks know. `tool`: the canonical name. */
export function callHookFields(call: {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
}): JsonObject {
  return {
    tool_name: call.tool,
    tool_input: isJsonObject(call.input) ? call.input : {},
    tool_use_id: call.id,
  };
}

/** The outcome of a call in the fields that hooks know. `error`: its code; null if the call has ended well. */
export function outcomeHookFields(text: string, error: ErrorInfo['code'] | null): JsonObject {
  if (error === null) return { tool_response: { text } };
  return { error: text, error_code: error, is_interrupt: error === 'CANCELLED' };
}

/** A call among all of one answer in the fields that hooks know. `text`: its result. */
export function batchHookFields(
  call: Parameters<typeof callHookFields>[0],
  text: string,
): JsonObject {
  return { ...callHookFields(call), tool_response: text };
}

/** The end of a task in the fields that hooks know. */
export function endHookFields(
  answer: string,
  { isRepeated }: { readonly isRepeated: boolean },
): JsonObject {
  return { stop_hook_active: isRepeated, last_assistant_message: answer };
}

/**
 * Describes the slash command or the prompt of an MCP server that a message runs, in the fields that hooks know. Returns null for
 * a message that runs none.
 */
export function expansionHookFields({
  text,
  enclosed = [],
}: Pick<TaskInput, 'text' | 'enclosed'>): (JsonObject & { readonly command_name: string }) | null {
  const item = enclosed.find(({ kind }) => kind === 'slash_command' || kind === 'prompt');
  const typed = item === undefined ? null : (readSlashText(text) ?? readSlashText(item.name));
  if (item === undefined || typed === null) return null;
  return {
    expansion_type: item.kind === 'prompt' ? 'mcp_prompt' : 'slash_command',
    command_name: typed.name,
    command_args: typed.argument,
    prompt: text,
  };
}

/** Describes a question of an MCP server in the fields that hooks know. */
export function elicitationHookFields({
  server,
  text,
  fields,
  url,
}: Pick<ServerQuestion, 'server' | 'text' | 'fields' | 'url'>): JsonObject {
  const about = { mcp_server_name: server, message: text };
  if (url !== null) return { ...about, mode: 'url', url };
  const properties = fields.map(({ name, title, description, type }) => [
    name,
    { type: SCHEMA_TYPES[type], title, description },
  ]);
  const required = fields.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  const schema = { type: 'object', properties: Object.fromEntries(properties), required };
  return { ...about, mode: 'form', requested_schema: schema };
}

const SCHEMA_TYPES = {
  text: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  choice: 'string',
  choices: 'array',
} as const;

/** Describes the answer to an MCP server in the fields that hooks know. `values`: absent unless the user has filled in the form. */
export function answerHookFields(
  { server, url }: Pick<ServerQuestion, 'server' | 'url'>,
  action: 'accept' | 'decline' | 'cancel',
  values?: FormValues,
): JsonObject {
  return {
    mcp_server_name: server,
    action,
    mode: url === null ? 'form' : 'url',
    ...(values === undefined ? {} : { content: toContent(values) }),
  };
}

function toContent(values: FormValues): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'object' ? [...value] : value,
    ]),
  );
}

/**
 * Returns the call id in the events of the child that answers the question of a hook. No call of a model has it.
 *
 * @param child the id of the child
 */
export function toHookCallId(child: string): string {
  return `hook-${child}`;
}
