import { oneLine, truncate } from '../base/text.ts';
import { terminalText } from '../base/terminal-text.ts';
import type { ClaimFlag } from './result.ts';

const SHOWN_FLAGS = 3;
/** Code points of each quoted claim. */
const SHOWN_CLAIM = 100;

/** For the model of the parent, and for people; the quoted words are the answerer's. Empty: no flags. */
export function claimsNote(flags: readonly ClaimFlag[]): string {
  if (flags.length === 0) return '';
  const reasons = new Map<string, string[]>();
  for (const { claim, why } of flags.slice(0, SHOWN_FLAGS)) {
    reasons.set(claim, [...(reasons.get(claim) ?? []), harmless(why)]);
  }
  const shown = [...reasons].map(([claim, why]) => `${quoted(claim)} (${why.join(', ')})`);
  const more = flags.length > SHOWN_FLAGS ? `; and ${flags.length - SHOWN_FLAGS} more` : '';
  return `[Not borne out by what it did: ${shown.join('; ')}${more}]`;
}

function quoted(claim: string): string {
  const line = harmless(claim);
  const cut = truncate(line, SHOWN_CLAIM);
  return JSON.stringify(cut === line ? line : `${cut}…`);
}

function harmless(text: string): string {
  return oneLine(terminalText(text, 'prose'));
}
