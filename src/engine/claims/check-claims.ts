import { oneLine, truncate } from '../../base/text.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { accomplishmentOf } from './accomplishments.ts';
import { againstChecks } from './against-checks.ts';
import { againstCommands } from './against-commands.ts';
import { againstFiles } from './against-files.ts';
import { askedFor, type Asked } from './asked-for.ts';
import { asOne } from './children-speak.ts';
import { clauseOf, type Clause } from './clause.ts';
import type { ClaimFacts } from './facts.ts';
import { allFailed } from './failed-work.ts';
import { idleClaim } from './idle-claims.ts';
import type { Matter, Objection } from './matter.ts';
import { statementsOf } from './statements.ts';
import { tellsTrouble } from './troubles.ts';

/** Flags of one answer; the rest would say nothing new. */
const MOST_FLAGS = 20;
/** Code points of the sentence that a flag quotes. */
const CLAIM_LENGTH = 160;

/**
 * What an answer claims that the receipt of its task does not bear out (docs/receipts.md has the rules).
 * English alone; what can't be held against the receipt is never flagged, and where the receipt leaves
 * doubt the answer is believed. Pure; looks into the first and the last 40,000 characters.
 */
export function checkClaims(answer: string, facts: ClaimFacts): readonly ClaimFlag[] {
  const flags = new Map<string, ClaimFlag>();
  const own = statementsOf(answer).map(clauseOf);
  const clauses = facts.tools.has('Task') ? own.map(asOne) : own;
  let asked: Asked | null = null;
  const matter = { facts, clauses, asked: () => (asked ??= askedOf(facts)) };
  for (const clause of clauses) {
    if (flags.size >= MOST_FLAGS) break;
    for (const { kind, why } of againstClause(clause, matter)) {
      const claim = truncate(oneLine(clause.said), CLAIM_LENGTH);
      if (!flags.has(`${kind} ${why}`)) flags.set(`${kind} ${why}`, { kind, claim, why });
    }
  }
  if (flags.size === 0) return againstWhole(answer, matter);
  return [...flags.values()].slice(0, MOST_FLAGS);
}

/** What the receipt has against success as a whole: nothing came of the work, or all that ran failed. */
function againstWhole(answer: string, { facts, clauses, asked }: Matter): readonly ClaimFlag[] {
  if (!isWhole(facts)) return [];
  const idle = idleClaim(clauses, answer, facts);
  if (idle !== null) {
    const hasTools = [...facts.tools].some((tool) => !NOTES.has(tool));
    return [doneFlag(idle, hasTools ? 'nothing was changed by it' : 'no tool was used')];
  }
  if (!allFailed(facts) || asked() !== 'work' || tellsTrouble(clauses)) return [];
  const success = clauses.find((clause) => accomplishmentOf(clause) !== null);
  return success === undefined ? [] : [doneFlag(success, 'what it ran failed')];
}

function doneFlag({ said }: Clause, why: string): ClaimFlag {
  return { kind: 'done', claim: truncate(oneLine(said), CLAIM_LENGTH), why };
}

/** Where files were changed, no mere text was asked for. */
function askedOf({ prompt, changed }: ClaimFacts): Asked {
  const asked = askedFor(prompt);
  return asked === 'words' && changed.length > 0 ? 'work' : asked;
}

function againstClause(clause: Clause, matter: Matter): readonly Objection[] {
  if (!isWhole(matter.facts)) return [];
  return [
    ...againstFiles(clause, matter),
    ...againstChecks(clause, matter),
    ...againstCommands(clause, matter),
  ];
}

/** Tools whose receipts are whole. Of others, such as those of MCP servers, nobody knows what they do. */
const KNOWN_TOOLS: ReadonlySet<string> = new Set(TOOL_NAMES);
/** Muster's own notes, and what only talks. */
const NOTES: ReadonlySet<string> = new Set([
  'TodoWrite',
  'Notify',
  'CurrentTime',
  'Sleep',
  'AskUser',
]);
/** Whether the receipt has all that was done. */
function isWhole({ tools, hasGaps }: ClaimFacts): boolean {
  return !hasGaps && [...tools].every((tool) => KNOWN_TOOLS.has(tool));
}
