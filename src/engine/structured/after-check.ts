import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import type { SchemaCheckResult } from './compile-schema.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Answers of one stint that are checked: the first, and two that were told what was wrong. */
const MOST_ANSWERS = 3;
/** Findings that the error of a task names: all of them stand in its log. */
const FINDINGS_IN_ERROR = 3;

/** What follows the check of a final answer. */
export type AfterCheck =
  | { readonly kind: 'tell'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

/** Counted by what the log holds, so that a crash between two answers gives no answer more. */
export function afterCheck(
  state: TaskState,
  answer: string,
  verdict: SchemaCheckResult,
): AfterCheck {
  switch (verdict.kind) {
    case 'valid':
      return {
        kind: 'end',
        ending: { ...endings.endCompleted(answer), structured: verdict.value },
      };
    case 'unchecked':
      return { kind: 'end', ending: endings.endFailedBySchema(state, unchecked(verdict.why)) };
    case 'invalid': {
      const { findings } = verdict;
      const told = repairsTold(state);
      if (told + 1 >= MOST_ANSWERS) {
        return { kind: 'end', ending: endings.endFailedBySchema(state, neverValid(findings)) };
      }
      return { kind: 'tell', id: repairId(state, told + 1), text: repairText(told + 1, findings) };
    }
    default:
      return verdict satisfies never;
  }
}

function repairsTold(state: TaskState): number {
  let told = 0;
  while (state.conversation.inputIds.has(repairId(state, told + 1))) told += 1;
  return told;
}

function repairId({ activation }: TaskState, number: number): string {
  return `schema-${activation.number}-${number}`;
}

function repairText(answer: number, findings: readonly string[]): string {
  const list = findings.map((finding) => `- ${finding}`).join('\n');
  return `Your answer is not valid against the JSON Schema that this task has (answer ${answer} of at most ${MOST_ANSWERS}):\n${list}\nGive the whole answer again: one JSON value that is valid, and no other text.`;
}

function neverValid(findings: readonly string[]) {
  const shown = findings.slice(0, FINDINGS_IN_ERROR);
  const rest = findings.length > shown.length ? '; …' : '';
  const message = `none of ${MOST_ANSWERS} answers was valid against it; the last: ${shown.map(withoutFullStop).join('; ')}${rest}`;
  return { code: 'PROVIDER_ERROR', message } as const;
}

/** What quotes the error goes on behind it. */
function withoutFullStop(finding: string): string {
  return finding.replace(/\.$/, '');
}

function unchecked(why: string) {
  const message = `the answer could not be checked: ${why}`;
  return { code: 'LIMIT_EXCEEDED', message } as const;
}
