import * as endings from '../task/endings.ts';
import type { JsonObject } from '../../base/json.ts';
import { answerJson } from '../task/answer-json.ts';
import { whyTooBig, outputSchemaOf } from '../task/output-schema.ts';
import type { SchemaCheckResult } from './compile-schema.ts';
import type { Ending } from '../task/endings.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { EngineDeps } from '../task/deps.ts';

export type AnswerCheck = (answer: string) => SchemaCheckResult;

/**
 * Loads the validator, and makes the check of a schema: a text says what is wrong with the schema. The
 * check itself is done at once.
 */
export async function createAnswerCheck(schema: JsonObject): Promise<AnswerCheck | string> {
  const tooBig = whyTooBig(schema);
  if (tooBig !== null) return tooBig;
  const { compileSchema } = await import('./compile-schema.ts');
  const check = compileSchema(schema);
  if (typeof check === 'string') return check;
  return (answer) => {
    const json = answerJson(answer);
    return json.ok ? check(json.value) : { kind: 'invalid', findings: [json.why] };
  };
}

/** What is wrong with a schema; null: nothing. */
export async function findSchemaProblem(schema: JsonObject): Promise<string | null> {
  const check = await createAnswerCheck(schema);
  return typeof check === 'string' ? check : null;
}

/** Answers of one stint that are checked: the first, and two that were told what was wrong. */
const MAX_ANSWERS = 3;
/** Findings that the error of a task names: all of them stand in its log. */
const FINDINGS_IN_ERROR = 3;

/** What follows the check of a final answer. */
export type SchemaCheckStep =
  | { readonly kind: 'tell'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: Ending };

/** Counted by what the log holds, so that a crash between two answers gives no answer more. */
export function decideAfterCheck(
  state: TaskState,
  answer: string,
  verdict: SchemaCheckResult,
): SchemaCheckStep {
  switch (verdict.kind) {
    case 'valid':
      return {
        kind: 'end',
        ending: { ...endings.completed(answer), structured: verdict.value },
      };
    case 'unchecked':
      return {
        kind: 'end',
        ending: endings.failedBySchema(state, uncheckedAnswerError(verdict.reason)),
      };
    case 'invalid': {
      const { findings } = verdict;
      const told = countRepairRequests(state);
      if (told + 1 >= MAX_ANSWERS) {
        return {
          kind: 'end',
          ending: endings.failedBySchema(state, invalidAnswersError(findings)),
        };
      }
      return { kind: 'tell', id: repairId(state, told + 1), text: repairText(told + 1, findings) };
    }
    default:
      return verdict satisfies never;
  }
}

function countRepairRequests(state: TaskState): number {
  let told = 0;
  while (state.conversation.inputIds.has(repairId(state, told + 1))) told += 1;
  return told;
}

function repairId({ activation }: TaskState, number: number): string {
  return `schema-${activation.number}-${number}`;
}

function repairText(answer: number, findings: readonly string[]): string {
  const list = findings.map((finding) => `- ${finding}`).join('\n');
  return `Your answer is not valid against the JSON Schema that this task has (answer ${answer} of at most ${MAX_ANSWERS}):\n${list}\nGive the whole answer again: one JSON value that is valid, and no other text.`;
}

function invalidAnswersError(findings: readonly string[]) {
  const shown = findings.slice(0, FINDINGS_IN_ERROR);
  const rest = findings.length > shown.length ? '; …' : '';
  const message = `none of ${MAX_ANSWERS} answers was valid against it; the last: ${shown.map(removeFullStop).join('; ')}${rest}`;
  return { code: 'PROVIDER_ERROR', message } as const;
}

/** What quotes the error goes on behind it. */
function removeFullStop(finding: string): string {
  return finding.replace(/\.$/, '');
}

function uncheckedAnswerError(why: string) {
  const message = `the answer could not be checked: ${why}`;
  return { code: 'LIMIT_EXCEEDED', message } as const;
}

/**
 * Whether a task that has a schema came to its result on another way than by an answer that was checked: a
 * limit ended it, with what may be a whole answer, or an earlier result was reused.
 */
export function needsSchemaCheck(spec: TaskSpec, { end, structured }: Ending): boolean {
  const hasResult = end.status === 'partial' || end.status === 'completed';
  return hasResult && structured === undefined && outputSchemaOf(spec) !== null;
}

/** Such an ending with what its result is as JSON, where it is valid: there is nobody to mend it. */
export async function addStructuredResult(
  { onFault }: Pick<EngineDeps, 'onFault'>,
  spec: TaskSpec,
  ending: Ending,
): Promise<Ending> {
  try {
    const schema = outputSchemaOf(spec);
    const check = schema === null ? null : await createAnswerCheck(schema);
    if (check === null || typeof check === 'string') return ending;
    const verdict = check(ending.result);
    return verdict.kind === 'valid' ? { ...ending, structured: verdict.value } : ending;
  } catch (thrown) {
    // A fault in the check takes nobody's answer away.
    onFault(spec.id, thrown);
    return ending;
  }
}
