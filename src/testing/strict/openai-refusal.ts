import { type JsonObject, type JsonValue, isJsonObject } from '../../base/json.ts';
import { createOpenaiError } from '../wire/chat-answer.ts';
import {
  quoteNames,
  iterateSchemas,
  findJsonType,
  locateObjects,
  type LocatedObject,
} from './read.ts';
import type { WireProtocol } from '../wire-request.ts';
import type { Breach, StrictRule } from './rule.ts';
import { readString } from '../wire/read-json.ts';

/** Creates an error body with the field and the code, as OpenAI does. */
export function createOpenaiRefusal(
  status: number,
  message: string,
  { path, code }: Breach,
): JsonObject {
  const { error } = createOpenaiError(status, message);
  return { error: { ...Object(error), param: path, ...(code === undefined ? {} : { code }) } };
}

/** Yields a breach if the length of a text is not allowed. Values of other types are not checked. */
export function* checkLength(
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
 * Yields a breach if a value is not supported. `last`: the separator before the last supported value in the message.
 */
export function* checkSupportedValue(
  path: string,
  value: string,
  supported: readonly string[],
  last = ', ',
): Generator<Breach> {
  if (supported.includes(value)) return;
  const message = `Invalid value: '${value}'. Supported values are: ${quoteNames(supported, last)}.`;
  yield { path, message, code: 'invalid_value' };
}

/** Yields a breach for each part of a content whose type is not supported. */
export function* checkPartTypes(
  path: string,
  content: JsonValue | undefined,
  supported: readonly string[],
  last?: string,
): Generator<Breach> {
  for (const part of locateObjects(content, (at) => `${path}[${at}]`)) {
    yield* checkSupportedValue(
      `${part.path}.type`,
      readString(part.value['type']),
      supported,
      last,
    );
  }
}

const MAX_NAME_LENGTH = 64;
const FUNCTION_NAME = /^[a-zA-Z0-9_-]+$/;

/** Yields the breaches in the name of a function. */
export function* checkFunctionName(path: string, value: JsonValue | undefined): Generator<Breach> {
  yield* checkJsonType(path, value, 'string');
  yield* checkLength(path, value, { min: 1, max: MAX_NAME_LENGTH });
  if (typeof value !== 'string' || value === '' || FUNCTION_NAME.test(value)) return;
  const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${FUNCTION_NAME.source}'.`;
  yield { path, message, code: 'invalid_value' };
}

/** Yields a breach if a value is missing or has another type than the expected one. */
export function* checkJsonType(
  path: string,
  value: JsonValue | undefined,
  expected: string,
): Generator<Breach> {
  if (value === undefined) {
    const message = `Missing required parameter: '${path}'.`;
    yield { path, message, code: 'missing_required_parameter' };
    return;
  }
  const given = findJsonType(value);
  if (given === expected) return;
  const message = `Invalid type for '${path}': expected ${withArticle(expected)}, but got ${withArticle(given)} instead.`;
  yield { path, message, code: 'invalid_type' };
}

function withArticle(type: string): string {
  if (type === 'null') return 'null';
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Yields a breach if a value is an empty list. */
export function* checkListIsNotEmpty(
  path: string,
  value: JsonValue | undefined,
): Generator<Breach> {
  if (!Array.isArray(value) || value.length > 0) return;
  const message = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  yield { path, message, code: 'empty_array' };
}

/** Yields breaches if the parameters of a function are not the schema of an object, or contain a list without `items`. */
export function* checkFunctionParameters(
  path: string,
  name: string,
  parameters: JsonValue | undefined,
): Generator<Breach> {
  if (parameters === undefined || parameters === null) return;
  const code = 'invalid_function_parameters';
  const [schema] = locateObjects([parameters], () => path);
  const type = schema?.value['type'];
  if (schema === undefined || type !== 'object') {
    const given = typeof type === 'string' ? type : 'None';
    const message = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${given}"'.`;
    yield { path, message, code };
    return;
  }
  for (const inner of iterateSchemas(schema.value)) {
    if (inner.schema['type'] !== 'array' || inner.schema['items'] !== undefined) continue;
    const context = inner.path.map((key) => `'${key}'`).join(', ');
    const message = `Invalid schema for function '${name}': In context=(${context}), array schema missing items.`;
    yield { path, message, code };
  }
}

export function locateTools(body: JsonObject): readonly LocatedObject[] {
  return locateObjects(body['tools'], (index) => `tools[${index}]`);
}

/** Creates the rule of OpenAI's two protocols that a tool choice requires tools. */
export function createToolChoiceRule(
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
      body['tool_choice'] === undefined || locateTools(body).length > 0
        ? []
        : [{ path: 'tool_choice', message }],
  };
}

/** Matches OpenAI's models that reason before they answer. */
export const REASONING_MODELS = /^(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat))/;

/** Matches OpenAI's models that do not reason. The models of other vendors do not match. */
const MODELS_WITHOUT_REASONING = /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/;

/** The sampling parameters, which reasoning models do not accept. */
const SAMPLING_PARAMETERS = ['temperature', 'top_p'];

/** Yields a breach for each parameter of OpenAI's two protocols that the requested model does not support. */
export function* checkModelParameters(body: JsonObject): Generator<Breach> {
  const model = readString(body['model']);
  if (REASONING_MODELS.test(model)) {
    for (const path of SAMPLING_PARAMETERS) {
      const value = body[path];
      if (value !== undefined && value !== 1) yield createUnsupportedBreach(path);
    }
  }
  if (MODELS_WITHOUT_REASONING.test(model)) {
    const { reasoning } = body;
    if (isJsonObject(reasoning) && reasoning['effort'] !== undefined) {
      yield createUnsupportedBreach('reasoning.effort');
    }
    if (body['reasoning_effort'] !== undefined) yield createUnsupportedBreach('reasoning_effort');
  }
}

/** Creates the breach for a parameter that the requested model does not support. */
export function createUnsupportedBreach(path: string) {
  const message = `Unsupported parameter: '${path}' is not supported with this model.`;
  return { path, message, code: 'unsupported_parameter' } as const;
}
