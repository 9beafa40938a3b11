import {
  type ChangedFile,
  UNTRACKED,
  WORKING_TREE_DIFF,
  commitDiff,
  parseChanges,
  parseUntracked,
} from './changes.ts';
import { isJsonObject } from '../../base/json.ts';
import type { PlannedCall } from './plan-calls.ts';
import type { CallOutcome, Situation } from './situation.ts';

/** Files whose changed lines are opened. */
const OPENED = 8;
/** Lines of a file that are read: what lies further on is named and not quoted. */
const READ_LINES = 1500;

/** What is asked about: a commit, or what has not been committed. */
const COMMIT = /\b(?:last|latest|newest|previous) commit\b|\bcommit ([0-9a-f]{7,40})\b/i;
const ASKS_FOR_CHANGES: readonly RegExp[] = [
  /^(?:so |and )?what(?:'s| is| has| have| did| was| were)?(?: i| we| you)?(?: been)? (?:changed?|new|different|modified)\b[^?]{0,60}\??$/i,
  /^(?:please |can you |could you )*(?:show|list|review|summari[sz]e|describe|check|outline|audit|go over|look at)\b[^?]{0,60}\b(?:changes|diff|edits|modifications|commit)\b/i,
  /^git diff\b/i,
];
const LAST = 'HEAD';

/** Whether a question is about what changed rather than about what there is. */
export function asksForChanges(question: string): boolean {
  return ASKS_FOR_CHANGES.some((pattern) => pattern.test(question));
}

export interface FoundChanges {
  readonly files: readonly ChangedFile[];
  readonly untracked: readonly string[];
  /** The commit whose changes they are; null: they are not committed. */
  readonly commit: string | null;
  /** Git said more than a call may return. */
  readonly cut: boolean;
  /** What git said where it could not tell. */
  readonly failure: string | null;
}

/**
 * The next calls: what git tells of the working tree; where nothing has changed, of the last commit; then
 * the files. Empty: all is known.
 */
export function changeCalls(question: string, situation: Situation): readonly PlannedCall[] {
  const asked = bashOutcomes(situation);
  const named = COMMIT.exec(question);
  if (asked.length === 0) {
    if (named !== null) return [bash(commitDiff(named[1] ?? LAST))];
    return [bash(UNTRACKED), bash(WORKING_TREE_DIFF)];
  }
  const { files, untracked, failure } = foundChanges(situation);
  if (failure !== null) return [];
  const isLast = asked.some(({ call }) => commandOf(call.input) === commitDiff(LAST));
  if (files.length + untracked.length === 0 && named === null && !isLast) {
    return [bash(commitDiff(LAST))];
  }
  if (situation.rounds.flat().some(({ call }) => call.name === 'Read')) return [];
  return files
    .filter(({ places }) => places.some(({ added }) => added > 0))
    .slice(0, OPENED)
    .map(({ path }) => ({ name: 'Read', input: { file_path: path, limit: READ_LINES } }));
}

/** What git has told so far. */
export function foundChanges(situation: Situation): FoundChanges {
  const asked = bashOutcomes(situation);
  const [first] = asked;
  const failed = asked.find(({ result }) => isFailure(result));
  const notAsked = asked.length === 0 ? 'it was not asked, as no more calls are allowed' : null;
  const texts = asked.map(({ result }) => result?.text ?? '');
  const last = asked.at(-1);
  const shown = /^git show .* (\S+) \|/.exec(last === undefined ? '' : commandOf(last.call.input));
  return {
    files: parseChanges(last?.result?.text ?? ''),
    untracked: parseUntracked(first?.result?.text ?? ''),
    commit: shown?.[1] ?? null,
    cut: texts.some((text) => CUT.test(text)),
    failure: failed === undefined ? notAsked : (failed.result?.text.trim() ?? 'nothing'),
  };
}

const CUT = /^\[… .* left out|… \[cut\]$/m;

/** Without a line to show `grep` ends with 1, which is no failure. */
function isFailure(result: CallOutcome['result']): boolean {
  if (result === null) return true;
  return (
    /^fatal:|^(?:bash: )?.*git: command not found/m.test(result.text) ||
    (result.isError && !/^\[exit code 1\]$/m.test(result.text))
  );
}

function bashOutcomes({ rounds }: Situation): readonly CallOutcome[] {
  return rounds.flat().filter(({ call }) => call.name === 'Bash');
}

function commandOf(input: CallOutcome['call']['input']): string {
  const command = isJsonObject(input) ? input['command'] : undefined;
  return typeof command === 'string' ? command : '';
}

function bash(command: string): PlannedCall {
  return { name: 'Bash', input: { command } };
}
