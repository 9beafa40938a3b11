import { MusterError } from '../base/errors.ts';
import { plural, truncate } from '../base/text.ts';

/** The maximum length of the title of a finding, in code points. */
export const MAX_FINDING_TITLE = 120;
/** The maximum size of the text of a finding, in bytes of UTF-8. */
export const MAX_FINDING_BYTES = 4096;
/** The maximum number of findings that one task may post. */
export const MAX_TASK_FINDINGS = 50;
/** The maximum number of findings on the board of one tree. */
export const MAX_TREE_FINDINGS = 500;

/** The author of a finding. */
export interface FindingAuthor {
  /** The id of the task that posted the finding. */
  readonly task: string;
  /** The name of the agent as which the task ran. */
  readonly agent: string;
  /** The time of the post, in milliseconds since the epoch. */
  readonly at: number;
}

/** The content of a finding, as the log contains it. */
export interface FindingContent {
  /** The id of the finding, in the form of task ids. */
  readonly finding: string;
  /**
   * The position on the board: one more than the highest number before it. Findings that two processes post at the same
   * time can have the same number.
   */
  readonly number: number;
  /** One line, written by a model. */
  readonly title: string;
  /** Written by a model. */
  readonly text: string;
  /** The call that posted the finding. */
  readonly callId: string;
}

/** A finding on the board of a tree: a short text that a task has posted for the other tasks. */
export interface BoardFinding extends FindingContent {
  /** The task that has posted the finding. */
  readonly author: FindingAuthor;
}

/**
 * Puts together the board of a tree from the findings in the logs of its tasks: each finding once, in the order in which
 * they were posted. The order of the lists does not matter.
 */
export function mergeFindings(lists: Iterable<readonly BoardFinding[]>): readonly BoardFinding[] {
  const byId = new Map<string, BoardFinding>();
  for (const list of lists) {
    for (const each of list) {
      const known = byId.get(each.finding);
      // Only a log that somebody has changed contains different findings with one id.
      if (known === undefined || compareFindings(each, known) < 0) byId.set(each.finding, each);
    }
  }
  return [...byId.values()].toSorted(compareFindings);
}

/** The maximum length, in code points, of a wrong id in its error. Ids are shorter. */
const MAX_SHOWN_ID = 64;

/**
 * Finds a finding by its id, or by the beginning of its id if no other id begins so. Otherwise returns the error, which
 * begins with `id`.
 */
export function findFinding(
  board: readonly BoardFinding[],
  reference: string,
): BoardFinding | MusterError {
  const found = board.filter(({ finding }) => finding.startsWith(reference));
  const [first] = found;
  const match = found.find(({ finding }) => finding === reference);
  const shown = truncate(reference, MAX_SHOWN_ID);
  if (match !== undefined) return match;
  if (first === undefined)
    return new MusterError('NOT_FOUND', `id: no finding on the board begins with ${shown}`);
  if (found.length === 1) return first;
  const message = `id: ${shown} is the beginning of ${plural(found.length, 'id')}; give more of it`;
  return new MusterError('INVALID_PARAM', message);
}

/** Returns the findings in the log of a task that the task has posted itself, and not the task of which it is a branch. */
export function selectOwnFindings(
  findings: readonly BoardFinding[],
  task: string,
): readonly BoardFinding[] {
  return findings.filter(({ author }) => author.task === task);
}

function compareFindings(a: BoardFinding, b: BoardFinding): number {
  return (
    a.number - b.number ||
    a.author.at - b.author.at ||
    compareTexts(a.author.task, b.author.task) ||
    compareTexts(a.finding, b.finding)
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
