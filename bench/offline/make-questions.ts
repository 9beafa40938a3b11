/**
 * Bug-localisation questions from a history: `node bench/offline/make-questions.ts --repo DIR [--most 40]`
 * prints one JSON object a line. The question is the subject of a fix, its answers are the one or two
 * source files that it changed, the workspace is its parent commit. The same history gives the same
 * questions.
 */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileKind } from '../../src/base/code/file-kind.ts';
import { languageOf } from '../../src/base/code/language.ts';
import type { LocationQuestion } from './question-file.ts';

const FIX =
  /\b(?:fix(?:e[sd]|ing)?|bug(?:s|fix)?|regression|crash(?:es|ed)?|broken|incorrect(?:ly)?|wrong(?:ly)?)\b/i;
/** Fixes of what is no behaviour of the program. */
const NO_BEHAVIOUR =
  /\b(?:typos?|spelling|grammar|lint(?:er|ing)?|docs?|docstrings?|documentation|comments?|readme|changelog|whitespace|formatting|warnings?|clippy|eslint|checkstyle|javadocs?|ci|travis|merge|revert(?:s|ed)?|review)\b/i;
/** An issue's key, a conventional commit's type and scope, `subsystem:`. */
const PREFIX =
  /^\s*(?:\[[^\]]{1,30}\]|[A-Z]{2,}-\d+|(?:fix|bugfix|hotfix|bug)\b(?:\([^)]*\))?!?(?=:)|[\w./-]{1,30}(?=:\s))\s*[:.-]?\s*/i;
const REFERENCE =
  /\(?(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|see|gh|issue|pr|bug)[\s:-]*)?(?:#\d+|GH-\d+|[A-Z]{2,}-\d+)\)?|https?:\/\/\S+/gi;
const MOST_ANSWERS = 2;
const FEWEST_WORDS = 3;

interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly subject: string;
  readonly changes: readonly { readonly status: string; readonly path: string }[];
}

/** Oldest first. */
function commitsOf(directory: string): readonly Commit[] {
  const listed = execFileSync(
    'git',
    [
      '--git-dir',
      directory,
      'log',
      '--reverse',
      '--no-merges',
      '--no-renames',
      '--name-status',
      '-z',
      '--format=%x01%H%x02%P%x02%s%x02',
    ],
    { encoding: 'utf8', maxBuffer: 2 ** 30 },
  );
  return listed
    .split('\u0001')
    .slice(1)
    .map((entry) => {
      const [id = '', parents = '', subject = '', names = ''] = entry.split('\u0002');
      const fields = names
        .split('\0')
        .map((field) => field.replace(/^\n+/, ''))
        .filter((field) => field !== '');
      const changes = fields.flatMap((status, index) =>
        index % 2 === 0 ? [{ status, path: fields[index + 1] ?? '' }] : [],
      );
      return {
        id,
        parents: parents.split(' ').filter((parent) => parent !== ''),
        subject,
        changes,
      };
    });
}

function questionText(subject: string): string {
  return subject
    .replace(PREFIX, '')
    .replace(REFERENCE, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[\s.,:;-]+$/, '')
    .trim();
}

/** Whether the words name the file: by its name or by the stem of it, however they are joined. */
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

function questionOf(commit: Commit): Omit<LocationQuestion, 'language'> | null {
  const [parent] = commit.parents;
  if (parent === undefined || commit.parents.length > 1) return null;
  if (!FIX.test(commit.subject) || NO_BEHAVIOUR.test(commit.subject)) return null;
  const sources = commit.changes.filter(
    ({ path }) => fileKind(path) === 'source' && languageOf(path) !== null,
  );
  if (sources.length === 0 || sources.length > MOST_ANSWERS) return null;
  if (sources.some(({ status }) => status !== 'M')) return null;
  const answers = sources.map(({ path }) => path);
  const question = questionText(commit.subject);
  if ((question.match(/[A-Za-z]{3,}/g) ?? []).length < FEWEST_WORDS) return null;
  if (answers.some((path) => names(question, path))) return null;
  return { workspace: parent, question, answers };
}

/** Evenly over the history. */
function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from(
    { length: most },
    (_, index) => all[Math.floor(((index + 0.5) * all.length) / most)],
  ).filter((each) => each !== undefined);
}

const { values } = parseArgs({
  options: { repo: { type: 'string' }, most: { type: 'string', default: '40' } },
});
if (values.repo === undefined) throw new Error('--repo DIR is missing: a git directory');
const seen = new Set<string>();
const found = commitsOf(resolve(values.repo)).flatMap((commit) => {
  const question = questionOf(commit);
  if (question === null || seen.has(question.question.toLowerCase())) return [];
  seen.add(question.question.toLowerCase());
  return [{ ...question, language: languageOf(question.answers[0] ?? '') ?? '' }];
});
for (const question of spread(found, Number(values.most))) console.log(JSON.stringify(question));
