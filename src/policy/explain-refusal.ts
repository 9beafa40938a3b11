import type { Decision, ModeToGrant } from '../protocol/permission.ts';
import { explainGrant } from './mode-grants.ts';

/**
 * What the model reads when a call may not run: because it is denied, or because it would have to be
 * asked about and nobody is there to answer. Names the rule or mode that would let it run, for whoever
 * reads the answer.
 *
 * @param unasked why nobody is asked, as a sentence
 */
export function explainRefusal(
  decision: Decision,
  unasked = 'Nobody is here to be asked.',
): string {
  const parts = [`Refused, nothing was done. ${decision.reason}`];
  if (decision.verdict === 'ask') parts.push(unasked);
  if (decision.wouldAllow !== undefined) {
    parts.push(`A user can allow it with ${asFlag(decision.wouldAllow)}.`);
  }
  if (decision.lacksSandbox === 'in_container') {
    parts.push('Or, if this container is itself the sandbox, with --sandbox container.');
  }
  if (decision.modeToGrant !== undefined) parts.push(grantText(decision.modeToGrant));
  parts.push(decision.instead ?? GO_ON);
  return parts.join(' ');
}

function grantText(lacking: ModeToGrant): string {
  const { agent, mode } = lacking;
  return `Or a user can let ${agent} run in ${mode} mode, as its definition asks, with ${explainGrant(lacking)}.`;
}

const GO_ON = 'Do not try the same another way; go on without it, and say so in your answer.';

function asFlag(way: string): string {
  return way.startsWith('--') ? way : `--allow ${quoteForShell(way)}`;
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
