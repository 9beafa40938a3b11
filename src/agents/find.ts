import type { ErrorInfo } from '../base/errors.ts';
import { terminalText } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { nearNames } from '../base/near-names.ts';

export type FoundAgent =
  | { readonly ok: true; readonly agent: AgentDefinition }
  | { readonly ok: false; readonly error: ErrorInfo };

/** More names than this would bury the message. */
const MAX_NAMES = 40;
/** A name given by a model can be of any length. */
const MAX_SHOWN = 80;

/**
 * The agent of this name, a definition's own name before any alias, case ignored. Unknown:
 * INVALID_PARAM, naming the valid names and the nearest one; never another agent instead.
 */
export function findAgent(name: string, agents: readonly AgentDefinition[]): FoundAgent {
  const wanted = name.trim().toLowerCase();
  const agent =
    agents.find((each) => each.name.toLowerCase() === wanted) ??
    agents.find((each) => each.aliases.some((alias) => alias.toLowerCase() === wanted));
  return agent === undefined
    ? { ok: false, error: unknownAgent(wanted, name, agents) }
    : { ok: true, agent };
}

function unknownAgent(
  wanted: string,
  written: string,
  agents: readonly AgentDefinition[],
): ErrorInfo {
  const shown = terminalText(truncate(written.trim(), MAX_SHOWN), 'exact');
  const words = agents.flatMap((agent) => [agent.name, ...agent.aliases]);
  const [nearest] = nearNames(truncate(wanted, MAX_SHOWN), words);
  const guess = nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`;
  const names = agents.slice(0, MAX_NAMES).map((agent) => agent.name);
  const more = agents.length > MAX_NAMES ? `, and ${agents.length - MAX_NAMES} more` : '';
  const message = `There is no agent \`${shown}\`.${guess} Valid: ${names.join(', ')}${more}.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
}
