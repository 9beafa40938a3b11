import { isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import type { ClaimFacts } from './facts.ts';
import { isSameFile } from './file-names.ts';
import { ranNothing } from './possible.ts';

/** Tools that show no file but the one they are given. */
const SHOWS_ONE = new Set(
  'Read Write Edit MultiEdit MoveFile DeleteFile TodoWrite Notify CurrentTime'.split(' '),
);
const SUBJECT =
  /(?:^(?:[^a-z‹]|ok-mark|the |and |a )*|, (?:and |while )?)‹f(\d+)›(?= (?!is imported|imports?|needs?|already)[a-z]+s\b| ?[—–:-] )/g;

/** As in `Tests in FILE cover both`, `covered by FILE`. */
const TESTED_IN =
  /(?:\bcovered (?:by|in)|^[^a-z‹]*(?:the |unit |new )*(?:tests?|specs?|cases|scenarios)(?: [\w-]+){0,3} in) (?:the |new )*‹f(\d+)›/g;

/**
 * Files that a clause describes as part of the work, next to one that was changed, though the task neither
 * changed nor can have seen them.
 */
export function unseenFiles(
  clauses: readonly Clause[],
  at: number,
  facts: ClaimFacts,
): readonly string[] {
  const clause = clauses[at];
  if (clause === undefined || facts.changed.length === 0 || !ranNothing(facts)) return [];
  if ([...facts.tools].some((tool) => !SHOWS_ONE.has(tool))) return [];
  const { text, under } = clause;
  if (standsElsewhere(under) || isAttributed(text) || isHedged(text)) return [];
  const tests = [...text.matchAll(TESTED_IN)]
    .flatMap(([, at]) => clause.files[Number(at)] ?? [])
    .filter((file) => /test|spec/i.test(file) && isUnseen(file, facts));
  if (tests.length > 0) return tests;
  const near = [clauses[at - 1], clause, clauses[at + 1]].flatMap((each) =>
    each === undefined ? [] : subjectsOf(each),
  );
  if (!near.some((file) => isAmong(file, facts.changed))) return [];
  return subjectsOf(clause).filter((file) => isUnseen(file, facts));
}

function isUnseen(file: string, facts: ClaimFacts): boolean {
  return (
    !isAmong(file, facts.changed) &&
    !isAmong(file, facts.read) &&
    !facts.prompt.includes(file.split('/').at(-1) ?? file)
  );
}

function subjectsOf({ text, files }: Clause): readonly string[] {
  return [...text.matchAll(SUBJECT)].flatMap(([, at]) => files[Number(at)] ?? []);
}

function isAmong(file: string, paths: readonly string[]): boolean {
  return paths.some((path) => isSameFile(file, path));
}
