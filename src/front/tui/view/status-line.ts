import type { TreeUse } from '../model/tree-rows.ts';
import { visibleWidth } from './fit.ts';
import { between, factsThatFit, fit } from './fit.ts';
import { shortCost, shortCount } from './numbers.ts';
import type { Pen } from './pen.ts';
import type { Role } from './theme.ts';

export interface StatusFacts {
  readonly mode: string;
  /** The mode of the next message, if it is a different one. */
  readonly nextMode: string | null;
  readonly model: string;
  readonly use: TreeUse;
  /** A message, or the keys that matter now, the most needed first. */
  readonly hints: readonly string[];
  readonly isUrgent: boolean;
}

/** Draws the status line: the mode, the use and the model; at its end the hints. */
export function statusLine(facts: StatusFacts, width: number, pen: Pen): string {
  const { mode, nextMode, model, use, hints, isUrgent } = facts;
  const role: Role = isUrgent ? 'warn' : 'dim';
  const modeText = nextMode === null ? mode : `${mode} → ${nextMode} next`;
  const room = width - visibleWidth(modeText) - 4;
  // A message is cut rather than left out.
  const hint = isUrgent
    ? fit(hints.join(' · '), room)
    : factsThatFit(hints, { width: room, least: 0, separator: ' · ' });
  const rest = [
    ...(use.turns === 0 ? [] : [`${shortCount(use.tokens)} tok ${shortCost(use.costUsd)}`]),
    model,
  ];
  const left = [
    pen.prose(MODE_ROLES[nextMode ?? mode] ?? 'accent', `[${modeText}]`),
    pen.prose(
      'dim',
      factsThatFit(rest, {
        width,
        least: visibleWidth(hint) + visibleWidth(modeText) + 6,
        separator: ' · ',
      }),
    ),
  ];
  return between(left.join(' '), pen.prose(role, hint), width);
}

/** Wider modes have stronger colors. */
const MODE_ROLES: Readonly<Record<string, Role>> = {
  plan: 'good',
  default: 'accent',
  acceptEdits: 'warn',
  autonomous: 'bad',
};
