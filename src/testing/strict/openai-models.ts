import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { readString } from '../wire/read-json.ts';
import type { Breach } from './rule.ts';

/** Matches OpenAI's models that reason before they answer. */
export const REASONS = /^(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat))/;

/** Matches OpenAI's models that do not. Nothing is known of the models of others. */
const ANSWERS_AT_ONCE = /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/;

/** Parameters that control how a token is chosen, which models that reason do for themselves. */
const SAMPLING = ['temperature', 'top_p'];

/** Finds parameters that the API has and the requested model has not, in both protocols of OpenAI. */
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

/** Refuses a parameter of the API that the requested model does not have. */
export function unsupported(path: string) {
  const message = `Unsupported parameter: '${path}' is not supported with this model.`;
  return { path, message, code: 'unsupported_parameter' } as const;
}
