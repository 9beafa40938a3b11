import { listNames } from '../../../base/text.ts';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { isList, readObject, readString } from '../../wire/read-json.ts';
import { iterateSchemas, selectRepeatedItems, findUnknownKeys } from '../read.ts';
import type { Breach, StrictRule } from '../rule.ts';
import { FUNCTION_NAME_PATTERN, INVALID_NAME_MESSAGE } from './contents.ts';
import type { GoogleRequest } from './request.ts';

/** The parameters of https://ai.google.dev/api/generate-content. */
const PARAMETERS = listNames(`
  model contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent
  serviceTier store
`);

/** The fields of a Schema, which are fewer than those of JSON Schema: https://ai.google.dev/api/caching#Schema */
const SCHEMA_FIELDS = listNames(`
  type format title description nullable enum maxItems minItems properties required minProperties
  maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum
  maximum
`);

/** The rules for the parameters of a request other than its contents. */
export const GOOGLE_PARAMETER_RULES: readonly StrictRule<GoogleRequest>[] = [
  {
    id: 'google/known-fields',
    requirement: 'All parameters are known to the API.',
    source: 'https://ai.google.dev/api/generate-content',
    *find({ body }) {
      for (const key of findUnknownKeys(body, PARAMETERS)) {
        const message = `Invalid JSON payload received. Unknown name "${key}": Cannot find field.`;
        yield { path: key, message };
      }
    },
  },
  {
    id: 'google/declaration-name-form',
    requirement:
      'The name of a function begins with a letter or _, and has at most 64 letters, digits and . : _ -.',
    source: 'https://github.com/kaitranntt/ccs/issues/25',
    *find({ functions }) {
      for (const { path, value } of functions) {
        if (FUNCTION_NAME_PATTERN.test(readString(value['name']))) continue;
        const message = `* GenerateContentRequest.${path}.name: ${INVALID_NAME_MESSAGE}\n`;
        yield { path: `${path}.name`, message };
      }
    },
  },
  {
    id: 'google/declaration-name-unique',
    requirement: 'No two functions have the same name.',
    source: 'https://github.com/google-gemini/gemini-cli/pull/22207',
    *find({ functions }) {
      for (const { path, value } of selectRepeatedItems(functions, (each) => each.value['name'])) {
        const message = `Duplicate function declaration found: ${readString(value['name'])}`;
        yield { path: `${path}.name`, message };
      }
    },
  },
  {
    id: 'google/one-kind-of-schema',
    requirement: 'A function has parameters or parametersJsonSchema, not both.',
    source: 'https://ai.google.dev/api/caching#FunctionDeclaration',
    *find({ functions }) {
      for (const { path, value } of functions) {
        if (value['parameters'] === undefined || value['parametersJsonSchema'] === undefined)
          continue;
        const message = `* GenerateContentRequest.${path}: only one of parameters and parameters_json_schema can be set\n`;
        yield { path, message };
      }
    },
  },
  {
    id: 'google/schema-keywords',
    requirement:
      'The parameters of a function have only the keywords of Google’s Schema, one type each, and lists have items.',
    source: 'https://github.com/openswarm-ai/openswarm/issues/24',
    *find({ functions }) {
      for (const { path, value } of functions) {
        const { parameters } = value;
        if (!isJsonObject(parameters)) continue;
        for (const inner of iterateSchemas(parameters)) {
          const schemaPath = [`${path}.parameters`, ...inner.path].join('.');
          yield* checkSchema(schemaPath, inner.schema);
        }
      }
    },
  },
];

/** Yields the breaches in one schema, without the schemas inside it. */
function* checkSchema(path: string, schema: JsonObject): Generator<Breach> {
  for (const key of findUnknownKeys(schema, SCHEMA_FIELDS)) {
    const message = `Invalid JSON payload received. Unknown name "${key}" at '${path}': Cannot find field.`;
    yield { path: `${path}.${key}`, message };
  }
  if (isList(schema['type'])) {
    const message = `Invalid JSON payload received. Unknown name "type" at '${path}': Proto field is not repeating, cannot start list.`;
    yield { path: `${path}.type`, message };
  }
  if (readString(schema['type']).toLowerCase() === 'array' && schema['items'] === undefined) {
    const message = `* GenerateContentRequest.${path}.items: missing field.\n`;
    yield { path: `${path}.items`, message };
  }
  const { required } = schema;
  const properties = readObject(schema['properties']);
  for (const [index, name] of (isList(required) ? required : []).entries()) {
    if (Object.hasOwn(properties, readString(name))) continue;
    const message = `* GenerateContentRequest.${path}.required[${index}]: property is not defined\n`;
    yield { path: `${path}.required[${index}]`, message };
  }
}
