import { type JsonObject, type JsonValue, isJsonObject } from '../../base/json.ts';
import { openaiError } from '../wire/chat-answer.ts';
import { quoteNames, eachSchema, jsonType, placedObjects, type Placed } from './read.ts';
import type { WireProtocol } from '../wire-request.ts';
import type { Breach, StrictRule } from './rule.ts';
import { readString } from '../wire/read-json.ts';

/** Creates the error body with the field and the code that OpenAI names. */
export function openaiRefusal(status: number, message: string, { path, code }: Breach): JsonObject {
  const { error } = openaiError(status, message);
  return { error: { ...Object(error), param: path, ...(code === undefined ? {} : { code }) } };
}

/** Refuses a text whose length is not allowed. Values of other types are not checked. */
export function* wrongLength(
  path: string,
  value: JsonValue | undefined,
  { min = 0, max }: { readonly min?: number; readonly max: number },
): Generator<Breach> {
  if (typeof value !== 'string') return;
  if (value.length < min) {
    const message = `Invalid '${path}': empty string. Expected a string with minimum length ${min}, but got an empty string instead.`;
    yield { path, message, code: 'empty_string' };
  }
  if (value.length > max) {
    const message = `Invalid '${path}': string too long. Expected a string with maximum length ${max}, but got a string with length ${value.length} instead.`;
    yield { path, message, code: 'string_above_max_length' };
  }
}

/**
 * Refuses a value that is not supported. `last`: the separator before the last supported value in the message.
 */
export function* unsupportedValue(
  path: string,
  value: string,
  supported: readonly string[],
  last = ', ',
): Generator<Breach> {
  if (supported.includes(value)) return;
  const message = `Invalid value: '${value}'. Supported values are: ${quoteNames(supported, last)}.`;
  yield { path, message, code: 'invalid_value' };
}

/** Refuses the parts of a content that are of none of the supported types. */
export function* unsupportedParts(
  path: string,
  content: JsonValue | undefined,
  supported: readonly string[],
  last?: string,
): Generator<Breach> {
  for (const part of placedObjects(content, (at) => `${path}[${at}]`)) {
    yield* unsupportedValue(`${part.path}.type`, readString(part.value['type']), supported, last);
  }
}

const MAX_NAME_LENGTH = 64;
const FUNCTION_NAME = /^[a-zA-Z0-9_-]+$/;

export function* wrongFunctionName(path: string, value: JsonValue | undefined): Generator<Breach> {
  yield* wrongType(path, value, 'string');
  yield* wrongLength(path, value, { min: 1, max: MAX_NAME_LENGTH });
  if (typeof value !== 'string' || value === '' || FUNCTION_NAME.test(value)) return;
  const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${FUNCTION_NAME.source}'.`;
  yield { path, message, code: 'invalid_value' };
}

export function* wrongType(
  path: string,
  value: JsonValue | undefined,
  expected: string,
): Generator<Breach> {
  if (value === undefined) {
    const message = `Missing required parameter: '${path}'.`;
    yield { path, message, code: 'missing_required_parameter' };
    return;
  }
  const given = jsonType(value);
  if (given === expected) return;
  const message = `Invalid type for '${path}': expected ${withArticle(expected)}, but got ${withArticle(given)} instead.`;
  yield { path, message, code: 'invalid_type' };
}

function withArticle(type: string): string {
  if (type === 'null') return 'null';
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

export function* emptyList(path: string, value: JsonValue | undefined): Generator<Breach> {
  if (!Array.isArray(value) || value.length > 0) return;
  const message = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  yield { path, message, code: 'empty_array' };
}

/** Refuses parameters of a function that are not the schema of an object, or contain a list without `items`. */
export function* wrongParameters(
  path: string,
  name: string,
  parameters: JsonValue | undefined,
): Generator<Breach> {
  if (parameters === undefined || parameters === null) return;
  const code = 'invalid_function_parameters';
  const [schema] = placedObjects([parameters], () => path);
  const type = schema?.value['type'];
  if (schema === undefined || type !== 'object') {
    const given = typeof type === 'string' ? type : 'None';
    const message = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${given}"'.`;
    yield { path, message, code };
    return;
  }
  for (const inner of eachSchema(schema.value)) {
    if (inner.schema['type'] !== 'array' || inner.schema['items'] !== undefined) continue;
    const context = inner.path.map((key) => `'${key}'`).join(', ');
    const message = `Invalid schema for function '${name}': In context=(${context}), array schema missing items.`;
    yield { path, message, code };
  }
}

export function toolsOf(body: JsonObject): readonly Placed[] {
  return placedObjects(body['tools'], (index) => `tools[${index}]`);
}

/** Creates the rule of OpenAI's two protocols that a tool choice needs tools. */
export function toolChoiceRule(
  protocol: WireProtocol,
  source: string,
): StrictRule<{ readonly body: JsonObject }> {
  const message =
    "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
  return {
    id: `${protocol}/tool-choice-with-tools`,
    requirement: 'A tool_choice comes with tools.',
    source,
    find: ({ body }) =>
      body['tool_choice'] === undefined || toolsOf(body).length > 0
        ? []
        : [{ path: 'tool_choice', message }],
  };
}

/** Matches OpenAI's models that reason before they answer. */
export const REASONS = /^(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat))/;

/** Matches OpenAI's models that do not reason. The models of other vendors are not known. */
const ANSWERS_AT_ONCE = /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/;

/** The parameters for the choice of tokens, which models that reason do not accept. */
const SAMPLING = ['temperature', 'top_p'];

/** Refuses parameters of OpenAI's two protocols that the requested model does not support. */
export function* parametersOfOtherModels(body: JsonObject): Generator<Breach> {
  const model = readString(body['model']);
  if (REASONS.test(model)) {
    for (const path of SAMPLING) {
      const value = body[path];
      if (value !== undefined && value !== 1) yield unsupported(path);
    }
  }
  if (ANSWERS_AT_ONCE.test(model)) {
    const { reasoning } = body;
    if (isJsonObject(reasoning) && reasoning['effort'] !== undefined) {
      yield unsupported('reasoning.effort');
    }
    if (body['reasoning_effort'] !== undefined) yield unsupported('reasoning_effort');
  }
}

/** Creates the refusal of a parameter that the requested model does not support. */
export function unsupported(path: string) {
  const message = `Unsupported parameter: '${path}' is not supported with this model.`;
  return { path, message, code: 'unsupported_parameter' } as const;
}
