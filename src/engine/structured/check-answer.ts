import type { JsonObject } from '../../base/json.ts';
import { parseAnswerJson } from './answer-json.ts';
import { findSizeProblem } from '../task/output-schema.ts';
import type { SchemaCheckResult } from './compile-schema.ts';

export type AnswerCheck = (answer: string) => SchemaCheckResult;

/**
 * Loads the validator, and makes the check of a schema: a text says what is wrong with the schema. The
 * check itself is done at once.
 */
export async function answerCheck(schema: JsonObject): Promise<AnswerCheck | string> {
  const tooBig = findSizeProblem(schema);
  if (tooBig !== null) return tooBig;
  const { compileSchema } = await import('./compile-schema.ts');
  const check = compileSchema(schema);
  if (typeof check === 'string') return check;
  return (answer) => {
    const json = parseAnswerJson(answer);
    return json.ok ? check(json.value) : { kind: 'invalid', findings: [json.why] };
  };
}

/** What is wrong with a schema; null: nothing. */
export async function schemaProblem(schema: JsonObject): Promise<string | null> {
  const check = await answerCheck(schema);
  return typeof check === 'string' ? check : null;
}
