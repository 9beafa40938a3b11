import { truncate } from '../../base/text.ts';
import { asksForHistory } from './asked-for.ts';
import type { Clause } from './clause.ts';
import { overCount } from './count-claims.ts';
import type { ClaimRun } from './facts.ts';
import { fileClaims } from './file-claims.ts';
import type { Matter, Objection } from './matter.ts';
import { successLists } from './mixed-lists.ts';
import { changedNoOthers, mayHaveChanged } from './possible.ts';
import { resultFiles } from './result-files.ts';
import { unseenFiles } from './unseen-files.ts';

/** They keep texts under names that look like files. */
const KEEPS_TEXTS = /^(?:Memory|Board|HttpRequest)/;

/** What the receipt has against files that a clause says were changed. */
export function* againstFiles(
  clause: Clause,
  { facts, asked, clauses }: Matter,
): Generator<Objection> {
  if ([...facts.tools].some((tool) => KEEPS_TEXTS.test(tool))) return;
  const isWork = asked() === 'work';
  const claims = [...fileClaims(clause), ...(isWork ? resultFiles(clause) : [])];
  const mayTellOfOthers =
    asked() !== 'work' || (asksForHistory(facts.prompt) && facts.runs.flat().some(readsHistory));
  const lists = isWork && changedNoOthers(facts) ? successLists(clause) : [];
  for (const file of isWork ? unseenFiles(clauses, clauses.indexOf(clause), facts) : []) {
    yield { kind: 'file', why: notChanged([file]) };
  }
  for (const list of lists) {
    const missing = list.filter((file) => !mayHaveChanged(file, facts));
    if (missing.length === list.length) continue;
    for (const file of missing) yield { kind: 'file', why: notChanged([file]) };
  }
  const counted = isWork ? overCount(clause, facts) : null;
  if (counted !== null) {
    const number = facts.changed.length === 0 ? 'none was' : `only ${facts.changed.length} were`;
    yield { kind: 'file', why: `of ${counted} files ${number} changed by it` };
  }
  for (const { oneOf, isFirstPerson } of claims) {
    if (mayTellOfOthers && !isFirstPerson) continue;
    if (oneOf.length === 0 || oneOf.some((file) => mayHaveChanged(file, facts))) continue;
    yield { kind: 'file', why: notChanged(oneOf) };
  }
}

function notChanged(oneOf: readonly string[]): string {
  const named = oneOf.map((file) => JSON.stringify(truncate(file, 80))).join(' or ');
  return `${named} was not changed by it`;
}

function readsHistory({ command }: ClaimRun): boolean {
  return /\bgit\b.*\b(?:log|show|diff|blame|status|shortlog)\b|\bgh (?:pr|run)\b/.test(command);
}
