import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { ModelRequest } from '../../../protocol/model.ts';
import { parseJsonLine } from '../../../base/jsonl.ts';
import { asObjects, asText } from '../answers/json-fields.ts';

/** The argument that holds the text of a free-form call in Muster's calls. */
export const FREE_FORM_ARGUMENT = 'input';

/** Matches the ids of models that accept tools with a grammar: https://platform.openai.com/docs/guides/function-calling#custom-tools */
const MODELS_WITH_GRAMMARS = /(?:^|\/)(?:gpt-(?:[5-9]|\d\d)(?!\d)|codex)/;

/**
 * Writes tools with a grammar as custom tools, whose calls contain free text instead of JSON, and the earlier calls of
 * these tools in the same form. Returns the body unchanged if the model does not accept such tools, or if there are none.
 */
export function writeFreeFormTools(body: string, { model, prefix }: ModelRequest): string {
  const grammars = new Map(
    prefix.tools.flatMap(({ name, grammar }) => (grammar === undefined ? [] : [[name, grammar]])),
  );
  if (grammars.size === 0 || !MODELS_WITH_GRAMMARS.test(model.id)) return body;
  const parsed: JsonObject = JSON.parse(body);
  const { input, tools } = parsed;
  const changed = {
    ...parsed,
    input: writeItems(input, (name) => grammars.has(name)),
    ...(tools === undefined
      ? {}
      : {
          tools: asObjects(tools).map((tool) => {
            const grammar = grammars.get(asText(tool['name']) ?? '');
            return grammar === undefined ? tool : toCustomTool(tool, grammar);
          }),
        }),
  };
  return JSON.stringify(changed);
}

function toCustomTool({ name, description }: JsonObject, definition: string): JsonObject {
  return {
    type: 'custom',
    name,
    description,
    format: { type: 'grammar', syntax: 'lark', definition },
  };
}

function writeItems(
  input: JsonValue | undefined,
  isFreeForm: (tool: string) => boolean,
): readonly JsonObject[] {
  const callIds = new Set<JsonValue | undefined>();
  return asObjects(input).map((item) => {
    if (item['type'] === 'function_call_output' && callIds.has(item['call_id'])) {
      return toCustomOutput(item);
    }
    const isCall = item['type'] === 'function_call' && isFreeForm(asText(item['name']) ?? '');
    const call = isCall ? toCustomCall(item) : null;
    if (call !== null) callIds.add(item['call_id']);
    return call ?? item;
  });
}

/** Returns null for a call with other arguments, such as one of another model, which stays a call of a function. */
function toCustomCall({ arguments: args, ...rest }: JsonObject): JsonObject | null {
  const parsed = parseJsonLine(asText(args) ?? '');
  const text = isJsonObject(parsed) ? asText(parsed[FREE_FORM_ARGUMENT]) : undefined;
  return text === undefined ? null : { ...rest, type: 'custom_tool_call', input: text };
}

function toCustomOutput(item: JsonObject): JsonObject {
  return { ...item, type: 'custom_tool_call_output' };
}

/** Writes custom tools as functions with one argument, for servers that accept no custom tools; null: there are none. */
export function writeFunctionTools(body: JsonObject): JsonObject | null {
  const { tools, input } = body;
  const isCustom = (tool: JsonObject): boolean => tool['type'] === 'custom';
  if (!Array.isArray(tools) || !asObjects(tools).some(isCustom)) return null;
  return {
    ...body,
    tools: asObjects(tools).map((tool) => (isCustom(tool) ? toFunctionTool(tool) : tool)),
    input: asObjects(input).map(toFunctionItem),
  };
}

function toFunctionItem(item: JsonObject): JsonObject {
  if (item['type'] === 'custom_tool_call_output') return { ...item, type: 'function_call_output' };
  if (item['type'] !== 'custom_tool_call') return item;
  const { input: text, ...rest } = item;
  const args = JSON.stringify({ [FREE_FORM_ARGUMENT]: text });
  return { ...rest, type: 'function_call', arguments: args };
}

function toFunctionTool({ name, description }: JsonObject): JsonObject {
  const parameters = {
    type: 'object',
    properties: { [FREE_FORM_ARGUMENT]: { type: 'string' } },
    required: [FREE_FORM_ARGUMENT],
  };
  return { type: 'function', name, description, parameters, strict: false };
}
