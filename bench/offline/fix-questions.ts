import { fileKind } from '../../src/base/code/file-kind.ts';
import { detectLanguage } from '../../src/base/code/file-kind.ts';
import type { LocationQuestion } from './question-file.ts';

const FIX =
  /\b(?:fix(?:e[sd]|ing)?|bug(?:s|fix)?|regression|crash(?:es|ed)?|broken|incorrect(?:ly)?|wrong(?:ly)?)\b/i;
/** Words of fixes that do not change the behaviour of the program. */
const NO_BEHAVIOUR =
  /\b(?:typos?|spelling|grammar|lint(?:er|ing)?|docs?|docstrings?|documentation|comments?|readme|changelog|whitespace|formatting|warnings?|clippy|eslint|checkstyle|javadocs?|ci|travis|merge|revert(?:s|ed)?|review)\b/i;
/** The key of an issue, the type and scope of a conventional commit, or `subsystem:`. */
const PREFIX =
  /^\s*(?:\[[^\]]{1,30}\]|[A-Z]{2,}-\d+|(?:fix|bugfix|hotfix|bug)\b(?:\([^)]*\))?!?(?=:)|[\w./-]{1,30}(?=:\s))\s*[:.-]?\s*/i;
const REFERENCE =
  /\(?(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|see|gh|issue|pr|bug)[\s:-]*)?(?:#\d+|GH-\d+|[A-Z]{2,}-\d+)\)?|https?:\/\/\S+/gi;
const MAX_ANSWERS = 2;
const MIN_WORDS = 3;

/** A commit as its history lists it. */
export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly subject: string;
  /** `status` as git reports it: M for a file that existed before and after the commit. */
  readonly changes: readonly { readonly status: string; readonly path: string }[];
}

/** Makes at most `most` different questions, spread evenly over the history. The commits come oldest first. */
export function fixQuestions(
  commits: readonly Commit[],
  most: number,
): readonly LocationQuestion[] {
  const seen = new Set<string>();
  const found = commits.flatMap((commit) => {
    const question = questionOf(commit);
    if (question === null || seen.has(question.question.toLowerCase())) return [];
    seen.add(question.question.toLowerCase());
    return [{ ...question, language: detectLanguage(question.answers[0] ?? '') ?? '' }];
  });
  return spread(found, most);
}

function questionText(subject: string): string {
  return subject
    .replace(PREFIX, '')
    .replace(REFERENCE, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s.,:;-]+|[\s.,:;-]+$/g, '')
    .trim();
}

/** Whether the text names the file, by its name or by its stem, however its words are joined. */
function names(text: string, path: string): boolean {
  const base = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const stem = joined(base.replace(/\.[^.]*$/, ''));
  const lower = text.toLowerCase();
  if (lower.includes(base)) return true;
  const words = lower.split(/[^a-z0-9_-]+/).map(joined);
  const pairs = words.map((word, index) => word + (words[index + 1] ?? ''));
  return [...words, ...pairs].some(
    (word) => word === stem || word === `${stem}s` || `${word}s` === stem,
  );
}

function joined(name: string): string {
  return name.replace(/[^a-z0-9]+/gi, '');
}

/** The question about a commit, or null when the commit is not suitable. */
function questionOf(commit: Commit): Omit<LocationQuestion, 'language'> | null {
  const [parent] = commit.parents;
  if (parent === undefined || commit.parents.length > 1) return null;
  if (!FIX.test(commit.subject) || NO_BEHAVIOUR.test(commit.subject)) return null;
  const sources = commit.changes.filter(
    ({ path }) => fileKind(path) === 'source' && detectLanguage(path) !== null,
  );
  if (sources.length === 0 || sources.length > MAX_ANSWERS) return null;
  if (sources.some(({ status }) => status !== 'M')) return null;
  const answers = sources.map(({ path }) => path);
  const question = questionText(commit.subject);
  if ((question.match(/[A-Za-z]{3,}/g) ?? []).length < MIN_WORDS) return null;
  if (answers.some((path) => names(question, path))) return null;
  return { workspace: parent, question, answers };
}

/** Picks `most` items, evenly spaced. */
function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from(
    { length: most },
    (_, index) => all[Math.floor(((index + 0.5) * all.length) / most)],
  ).filter((each) => each !== undefined);
}
