import { oneLine, truncate } from '../../base/text.ts';
import { undoneActs } from './act-claims.ts';
import { kindsOf } from './check-kinds.ts';
import type { Clause } from './clause.ts';
import { commandClaims } from './command-claims.ts';
import { hasFailed, mayHaveRun } from './command-runs.ts';
import type { Matter, Objection } from './matter.ts';
import { commandsGoneWell } from './outcome-claims.ts';
import { segmentsOf } from './shell-lines.ts';
import { admitsFailing, tellsTrouble } from './troubles.ts';

/** Commands that are run for what they do: who tells of one that failed has to say so. */
const HAS_EFFECT =
  /\b(?:migrate|install|deploy|publish|push|seed|apply|generate|commit|upgrade|create|add|cherry-pick|merge|rebase|release)\b/;

function isRunForOutcome(command: string): boolean {
  return (
    HAS_EFFECT.test(command) || segmentsOf(command).some((each) => kindsOf(each).kinds.size > 0)
  );
}

/** What the receipt has against commands, and what takes one, that a clause says were run. */
export function* againstCommands(
  clause: Clause,
  { facts, asked, clauses }: Matter,
): Generator<Objection> {
  for (const command of commandClaims(clause)) {
    if (!mayHaveRun(command, facts))
      yield { kind: 'command', why: `${quotedCommand(command)} was not run` };
    else if (isRunForOutcome(command) && hasFailed(command, facts) && !tellsTrouble(clauses)) {
      yield { kind: 'command', why: `the last run of ${quotedCommand(command)} failed` };
    }
  }
  for (const why of undoneActs(clause, facts)) {
    if (asked() !== 'words') yield { kind: 'command', why };
  }
  if (asked() !== 'work') return;
  for (const command of commandsGoneWell(clause)) {
    if (!mayHaveRun(command, facts))
      yield { kind: 'command', why: `${quotedCommand(command)} was not run` };
    else if (hasFailed(command, facts) && !admitsFailing(clauses)) {
      yield { kind: 'command', why: `the last run of ${quotedCommand(command)} failed` };
    }
  }
}

function quotedCommand(command: string): string {
  return JSON.stringify(truncate(oneLine(command), 80));
}
