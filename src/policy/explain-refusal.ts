import type { Decision, ModeToGrant } from '../protocol/permission.ts';
import { quoteForShell } from '../base/text.ts';
import { explainGrant } from './mode-grants.ts';

/**
 * Explains to the model why a call does not run: it is denied, or it needs a question and nobody is asked. Also names
 * the rule or the mode that would allow the call, for the person who reads the model's answer.
 *
 * @param unasked the reason why nobody is asked, as a sentence
 */
export function explainRefusal(
  decision: Decision,
  unasked = 'Nobody is here to be asked.',
): string {
  const parts = [`Refused, nothing was done. ${decision.reason}`];
  if (decision.verdict === 'ask') parts.push(unasked);
  if (decision.wouldAllow !== undefined) {
    parts.push(`A user can allow it with ${toFlag(decision.wouldAllow)}.`);
  }
  if (decision.lacksSandbox === 'in_container') {
    parts.push('Or, if this container is itself the sandbox, with --sandbox container.');
  }
  if (decision.modeToGrant !== undefined) parts.push(suggestGrant(decision.modeToGrant));
  parts.push(decision.instead ?? CONTINUE_WITHOUT);
  return parts.join(' ');
}

/** Explains to a person why a call that the person has requested does not run, and what would allow it. */
export function describeRefusal({ verdict, reason, wouldAllow }: Decision): string {
  const hint = wouldAllow === undefined ? '' : ` Allow it with ${toFlag(wouldAllow)}.`;
  return verdict === 'ask' ? `${reason} Nobody is here to be asked.${hint}` : `${reason}${hint}`;
}

function suggestGrant(grant: ModeToGrant): string {
  const { agent, mode } = grant;
  return `Or a user can let ${agent} run in ${mode} mode, as its definition asks, with ${explainGrant(grant)}.`;
}

const CONTINUE_WITHOUT =
  'Do not try the same another way; go on without it, and say so in your answer.';

/** Returns the flag for `wouldAllow`, which is either a flag or a rule. */
function toFlag(wouldAllow: string): string {
  return wouldAllow.startsWith('--') ? wouldAllow : `--allow ${quoteForShell(wouldAllow)}`;
}
