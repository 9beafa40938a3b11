import { listNames } from '../../../base/text.ts';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { isList, readNumber, readObject, readString } from '../../wire/read-json.ts';
import {
  locateObjects,
  selectRepeatedItems,
  findUnknownKeys,
  type LocatedObject,
} from '../read.ts';
import type { Breach, StrictRule } from '../rule.ts';
import { listAllBlocks, type AnthropicRequest } from './request.ts';
import { TOOL_NAME } from './tool-calls.ts';

/** The parameters of https://platform.claude.com/docs/en/api/messages that need no beta header. */
const PARAMETERS = listNames(`
  model max_tokens messages system tools tool_choice stream temperature top_k top_p stop_sequences
  thinking output_config metadata service_tier cache_control container inference_geo
`);

const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control', 'citations'],
  image: ['type', 'source', 'cache_control'],
  document: ['type', 'source', 'title', 'context', 'citations', 'cache_control'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
};

const TOOL_FIELDS = listNames(`
  type name description input_schema cache_control strict eager_input_streaming input_examples
  defer_loading allowed_callers
`);

const MAX_CACHE_MARKERS = 4;
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The rules for the parameters of a request other than its messages. */
export const ANTHROPIC_PARAMETER_RULES: readonly StrictRule<AnthropicRequest>[] = [
  {
    id: 'anthropic/required-parameters',
    requirement: 'The request names the model and the limit on the answer.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ body }) {
      if (readString(body['model']) === '')
        yield { path: 'model', message: 'model: Field required' };
      const maxTokens = body['max_tokens'];
      if (maxTokens === undefined)
        yield { path: 'max_tokens', message: 'max_tokens: Field required' };
      else if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1) {
        const message = 'max_tokens: Input should be greater than or equal to 1';
        yield { path: 'max_tokens', message };
      }
    },
  },
  {
    id: 'anthropic/known-fields',
    requirement: 'All fields are known to the API.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find(request) {
      yield* checkUnknownFields({ path: '', value: request.body }, PARAMETERS);
      for (const message of request.messages)
        yield* checkUnknownFields(message, ['role', 'content']);
      for (const block of listAllBlocks(request)) {
        const known = BLOCK_FIELDS[block.type];
        if (known !== undefined)
          yield* checkUnknownFields(block, known, `${block.path}.${block.type}`);
      }
      for (const tool of locateClientTools(request)) {
        yield* checkUnknownFields(tool, TOOL_FIELDS, `${tool.path}.custom`);
      }
    },
  },
  {
    id: 'anthropic/cache-marks',
    requirement: 'At most 4 blocks have a cache_control, and none of them is an empty text.',
    source: 'https://github.com/continuedev/continue/pull/6937',
    *find(request) {
      const { tools, system } = request.body;
      const marked = [
        ...locateObjects(tools, (index) => `tools.${index}`),
        ...locateObjects(system, (index) => `system.${index}`),
        ...listAllBlocks(request),
      ].filter(({ value }) => isJsonObject(value['cache_control']));
      const markerCount = marked.length + (isJsonObject(request.body['cache_control']) ? 1 : 0);
      if (markerCount > MAX_CACHE_MARKERS) {
        const message = `A maximum of ${MAX_CACHE_MARKERS} blocks with cache_control may be provided. Found ${markerCount}.`;
        yield { path: marked.at(-1)?.path ?? 'cache_control', message };
      }
      for (const { path, value } of marked) {
        if (value['type'] !== 'text' || value['text'] !== '') continue;
        const message = `${path}.text: cache_control cannot be set for empty text blocks`;
        yield { path: `${path}.cache_control`, message };
      }
    },
  },
  {
    id: 'anthropic/tool-name-form',
    requirement: 'The name of a tool has 1 to 128 letters, digits, _ and -.',
    source: 'https://github.com/home-assistant/core/issues/147760',
    *find(request) {
      for (const { path, value } of locateClientTools(request)) {
        if (TOOL_NAME.test(readString(value['name']))) continue;
        const message = `${path}.custom.name: String should match pattern '${TOOL_NAME.source}'`;
        yield { path: `${path}.name`, message };
      }
    },
  },
  {
    id: 'anthropic/tool-name-unique',
    requirement: 'No two tools have the same name.',
    source: 'https://github.com/danny-avila/LibreChat/issues/13162',
    *find(request) {
      for (const { path } of selectRepeatedItems(
        locateClientTools(request),
        ({ value }) => value['name'],
      )) {
        yield { path: `${path}.name`, message: 'tools: Tool names must be unique.' };
      }
    },
  },
  {
    id: 'anthropic/tool-schema',
    requirement:
      'The schema of a tool is of the type object, without oneOf, allOf and anyOf at its top, and its properties have plain names.',
    source: 'https://github.com/anthropics/claude-code/issues/40075',
    *find(request) {
      for (const { path, value } of locateClientTools(request)) {
        const schema = value['input_schema'];
        const vendorPath = `${path}.custom.input_schema`;
        const schemaPath = `${path}.input_schema`;
        if (!isJsonObject(schema)) {
          yield { path: schemaPath, message: `${vendorPath}: Field required` };
          continue;
        }
        if (schema['type'] !== 'object') {
          const wrong =
            schema['type'] === undefined ? 'Field required' : "Input should be 'object'";
          yield { path: `${schemaPath}.type`, message: `${vendorPath}.type: ${wrong}` };
        }
        if (['oneOf', 'allOf', 'anyOf'].some((key) => schema[key] !== undefined)) {
          const message = `${vendorPath}: input_schema does not support oneOf, allOf, or anyOf at the top level`;
          yield { path: schemaPath, message };
        }
        for (const name of Object.keys(readObject(schema['properties']))) {
          if (PROPERTY_NAME.test(name)) continue;
          const message = `${vendorPath}.properties: Property keys should match pattern '${PROPERTY_NAME.source}'`;
          yield { path: `${schemaPath}.properties.${name}`, message };
        }
      }
    },
  },
  {
    id: 'anthropic/tool-choice-with-tools',
    requirement: 'A tool_choice comes with tools.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ body }) {
      const { tools } = body;
      if (body['tool_choice'] === undefined || (isList(tools) && tools.length > 0)) return;
      const message = 'tool_choice may only be specified while providing tools.';
      yield { path: 'tool_choice', message };
    },
  },
];

/** The documentation of thinking and its limits. */
const THINKING_PAGE = 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking';

/** The rules for parameters in a request with thinking. */
export const ANTHROPIC_THINKING_PARAMETER_RULES: readonly StrictRule<AnthropicRequest>[] = [
  {
    id: 'anthropic/thinking-budget',
    requirement:
      'The thinking budget is at least 1024 tokens and less than the limit on the answer.',
    source: THINKING_PAGE,
    *find({ body, thinking }) {
      if (thinking !== 'enabled') return;
      const path = 'thinking.budget_tokens';
      const budget = readNumber(readObject(body['thinking'])['budget_tokens']) ?? 0;
      if (budget < 1024) {
        const message =
          'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
        yield { path, message };
      }
      if (budget >= (readNumber(body['max_tokens']) ?? 0)) {
        yield { path, message: '`max_tokens` must be greater than `thinking.budget_tokens`.' };
      }
    },
  },
  {
    id: 'anthropic/thinking-sampling',
    requirement: 'With thinking, the temperature is 1, and there is no top_k and no forced tool.',
    source: THINKING_PAGE,
    *find({ body, thinking }) {
      if (thinking !== 'enabled' && thinking !== 'adaptive') return;
      if (body['temperature'] !== undefined && body['temperature'] !== 1) {
        const message = '`temperature` may only be set to 1 when thinking is enabled.';
        yield { path: 'temperature', message };
      }
      if (body['top_k'] !== undefined) {
        yield { path: 'top_k', message: '`top_k` must be unset when thinking is enabled.' };
      }
      const choice = readString(readObject(body['tool_choice'])['type']);
      if (choice === 'any' || choice === 'tool') {
        const message = 'Thinking may not be enabled when tool_choice forces tool use.';
        yield { path: 'tool_choice', message };
      }
    },
  },
];

/** Returns the tools that the client runs. Other tools are run by the vendor and have a type. */
function locateClientTools({ body }: AnthropicRequest): readonly LocatedObject[] {
  return locateObjects(body['tools'], (index) => `tools.${index}`).filter(
    ({ value }) => value['type'] === undefined || value['type'] === 'custom',
  );
}

/** Yields a breach for each unknown field. `vendorPath`: the path of the object in the message, if it differs. */
function* checkUnknownFields(
  { path, value }: { readonly path: string; readonly value: JsonObject },
  known: readonly string[],
  vendorPath = path,
): Generator<Breach> {
  for (const key of findUnknownKeys(value, known)) {
    const message = `${vendorPath === '' ? '' : `${vendorPath}.`}${key}: Extra inputs are not permitted`;
    yield { path: path === '' ? key : `${path}.${key}`, message };
  }
}
