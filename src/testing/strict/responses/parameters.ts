import { listNames } from '../../../base/text.ts';
import { isList, readString } from '../../wire/read-json.ts';
import {
  createToolChoiceRule,
  checkListIsNotEmpty,
  locateTools,
  checkFunctionName,
  checkLength,
  checkFunctionParameters,
  checkModelParameters,
} from '../openai-refusal.ts';
import { findUnknownKeys } from '../read.ts';
import type { StrictRule } from '../rule.ts';
import type { ResponsesRequest } from './request.ts';

/** The parameters of https://platform.openai.com/docs/api-reference/responses/create. */
const PARAMETERS = listNames(`
  background context_management conversation include input instructions max_output_tokens
  max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key
  prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options
  temperature text tool_choice tools top_logprobs top_p truncation user
`);
const MAX_CACHE_KEY_LENGTH = 64;
const MIN_OUTPUT_TOKENS = 16;

/** The rules for the parameters of a request other than its input. */
export const RESPONSES_PARAMETER_RULES: readonly StrictRule<ResponsesRequest>[] = [
  {
    id: 'responses/required-parameters',
    requirement: 'The request names the model and has input.',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find({ body }) {
      const code = 'missing_required_parameter';
      if (readString(body['model']) === '') {
        yield { path: 'model', message: "Missing required parameter: 'model'.", code };
      }
      const { input } = body;
      if (isList(input)) yield* checkListIsNotEmpty('input', input);
      else if (typeof input !== 'string' || input === '') {
        yield { path: 'input', message: "Missing required parameter: 'input'.", code };
      }
    },
  },
  {
    id: 'responses/known-fields',
    requirement: 'All parameters are known to the API.',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find({ body }) {
      for (const key of findUnknownKeys(body, PARAMETERS)) {
        yield { path: key, message: `Unknown parameter: '${key}'.`, code: 'unknown_parameter' };
      }
    },
  },
  {
    id: 'responses/refused-parameter',
    requirement: 'The request has no parameter that this server refuses.',
    source: 'https://github.com/automazeio/vibeproxy/issues/311',
    *find({ body, options: { refusedParameters = [] } }) {
      for (const name of refusedParameters) {
        if (body[name] === undefined) continue;
        const message = `Unsupported parameter: ${name}`;
        yield { path: name, message, body: { detail: message } };
      }
    },
  },
  {
    id: 'responses/parameters-of-model',
    requirement: 'The requested model supports all parameters.',
    source: 'https://github.com/BerriAI/litellm/pull/38842',
    find: ({ body }) => checkModelParameters(body),
  },
  {
    id: 'responses/cache-key-length',
    requirement: 'The key of the prompt cache has at most 64 characters.',
    source: 'https://github.com/earendil-works/pi/issues/4720',
    find: ({ body }) =>
      checkLength('prompt_cache_key', body['prompt_cache_key'], { max: MAX_CACHE_KEY_LENGTH }),
  },
  {
    id: 'responses/least-output-tokens',
    requirement: 'An answer may have at least 16 tokens.',
    source: 'https://github.com/vectorize-io/hindsight/issues/58',
    *find({ body }) {
      const maxTokens = body['max_output_tokens'];
      if (typeof maxTokens !== 'number' || maxTokens >= MIN_OUTPUT_TOKENS) return;
      const path = 'max_output_tokens';
      const message = `Invalid '${path}': integer below minimum value. Expected a value >= ${MIN_OUTPUT_TOKENS}, but got ${maxTokens} instead.`;
      yield { path, message, code: 'integer_below_min_value' };
    },
  },
  {
    id: 'responses/tool-form',
    requirement:
      'The list of tools is not empty, and the parameters of a function are the schema of an object.',
    source: 'https://github.com/zed-industries/zed/pull/47578',
    *find({ body }) {
      yield* checkListIsNotEmpty('tools', body['tools']);
      for (const { path, value } of locateTools(body)) {
        if (value['type'] !== 'function') continue;
        yield* checkFunctionParameters(
          `${path}.parameters`,
          readString(value['name']),
          value['parameters'],
        );
      }
    },
  },
  {
    id: 'responses/tool-name-form',
    requirement: 'The name of a function has 1 to 64 letters, digits, _ and -.',
    source: 'https://github.com/anomalyco/opencode/issues/43714',
    *find({ body }) {
      for (const { path, value } of locateTools(body)) {
        if (value['type'] !== 'function') continue;
        yield* checkFunctionName(`${path}.name`, value['name']);
      }
    },
  },
  createToolChoiceRule(
    'responses',
    'https://platform.openai.com/docs/api-reference/responses/create',
  ),
];
