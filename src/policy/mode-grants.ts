import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { actingPart, type AgentDefinition } from '../protocol/agent.ts';
import type {
  Decision,
  GrantedDefinition,
  ModeGrant,
  ModeToGrant,
  PermissionMode,
  Rights,
} from '../protocol/permission.ts';
import type { GrantScope } from '../protocol/question.ts';
import { intersectRights } from './attenuate.ts';
import { effectiveMode, isNarrower, narrowerMode, widerMode } from './modes.ts';

/**
 * Whether a definition comes from the user or from Muster, and not from a project or a plugin. No one else can
 * replace such a definition, so a grant may identify it by its name alone.
 */
export function isOwnDefinition({ origin }: Pick<AgentDefinition, 'origin'>): boolean {
  switch (origin.scope) {
    case 'user':
    case 'session':
    case 'builtin':
      return true;
    case 'project':
    case 'plugin':
      return false;
  }
}

const digests = new WeakMap<AgentDefinition, string>();

/** SHA-256 (hex) of everything in a definition that acts, whatever file it stands in. */
function definitionDigest(definition: AgentDefinition): string {
  const known = digests.get(definition);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...actingPart(definition), description: definition.description });
  const digest = createHash('sha256').update(text).digest('hex');
  digests.set(definition, digest);
  return digest;
}

/**
 * What a grant for this definition is bound to: its file, and for a file that others may write, what it says
 * now. As with trust, the user's own files may change.
 */
export function grantedDefinition(definition: AgentDefinition): GrantedDefinition {
  const isBoundByPath = isOwnDefinition(definition) && definition.origin.scope !== 'session';
  return {
    path: definition.origin.path,
    sha256: isBoundByPath ? null : definitionDigest(definition),
  };
}

function isMeant(definition: AgentDefinition, { agent, definition: bound }: ModeGrant): boolean {
  if (agent.toLowerCase() !== definition.name.toLowerCase()) return false;
  if (bound === null) return isOwnDefinition(definition);
  if (bound.path !== definition.origin.path) return false;
  return bound.sha256 === null || bound.sha256 === definitionDigest(definition);
}

/** The widest grant for a definition. Null: the user has given it none. */
export function grantFor(
  definition: AgentDefinition,
  grants: readonly ModeGrant[],
): ModeGrant | null {
  let widest: ModeGrant | null = null;
  for (const grant of grants) {
    if (!isMeant(definition, grant)) continue;
    if (widest === null || isNarrower(widest.mode, grant.mode)) widest = grant;
  }
  return widest;
}

export interface ModeTerms {
  readonly definition: Pick<AgentDefinition, 'mode'>;
  /** The grant of the user to the agent now. */
  readonly grant: ModeGrant | null;
}

/**
 * The rights of a task: those recorded for it, reduced to what the task above it may do now. The mode is reduced in
 * the same way, except that a grant of the user to the agent may make it wider than the mode above. A task that
 * was made in plan mode, or runs below one in plan mode, gets nothing from a grant.
 */
export function rightsBelow(
  recorded: Rights,
  above: Rights,
  { definition, grant }: ModeTerms,
): Rights {
  const cut = intersectRights(recorded, above);
  if (grant === null || recorded.mode === 'plan' || above.mode === 'plan') return cut;
  const wished = effectiveMode(definition, widerMode(recorded.mode, grant.mode));
  return { ...cut, mode: narrowerMode(wished, widerMode(above.mode, grant.mode)) };
}

/** The rights of a task that nobody stands above, where a grant that widened its mode is not given any more. */
export function rightsAlone(
  recorded: Rights,
  withoutGrant: PermissionMode | null,
  grant: ModeGrant | null,
): Rights {
  if (withoutGrant === null || grant !== null) return recorded;
  return { ...recorded, mode: narrowerMode(recorded.mode, withoutGrant) };
}

/** The grant that would give an agent the mode that its definition asks for. Null: none would, or none is needed. */
export function modeToGrant(
  definition: AgentDefinition,
  { mode, depth }: Pick<Rights, 'mode' | 'depth'>,
): ModeToGrant | null {
  if (depth === 0 || mode === 'plan' || definition.mode === null) return null;
  if (!isNarrower(mode, definition.mode)) return null;
  const { name } = definition;
  return { agent: name, mode: definition.mode, isOwn: isOwnDefinition(definition) };
}

/** Names the flag, and for the user's own agents the key of the configuration, that grant a mode. Ends a sentence. */
export function wayToGrant({ agent, mode, isOwn }: ModeToGrant): string {
  const pair = `${agent}=${mode}`;
  const flag = `--agent-mode ${/^[\w.=-]+$/.test(pair) ? pair : `'${pair.replaceAll("'", `'\\''`)}'`}`;
  if (!isOwn) return `${flag} (for one conversation)`;
  return `${flag}, or agent_modes = [${JSON.stringify(pair)}] under [permissions] of your configuration`;
}

/** The scope of a grant: one for a conversation is recorded in its log alone. */
export function grantScope({ source }: ModeGrant): Exclude<GrantScope, 'project'> {
  switch (source.kind) {
    case 'flag':
      return 'task';
    case 'answer':
      // Saved answers name their file.
      return isAbsolute(source.where) ? 'user' : 'task';
    case 'config':
    case 'env':
    case 'definition':
    case 'builtin':
      return 'user';
  }
}

interface Agent {
  readonly definition: AgentDefinition;
  /** As they are now. */
  readonly rights: Pick<Rights, 'mode' | 'depth'>;
}

/**
 * A question with the mode that its agent asks for and lacks, where that mode alone would answer it.
 *
 * @param decideIn the decision about the same call in another mode
 */
export function withModeToGrant(
  decision: Decision,
  { definition, rights }: Agent,
  decideIn: (mode: PermissionMode) => Decision,
): Decision {
  if (decision.verdict !== 'ask' || decision.step !== 'tool_default') return decision;
  const lacking = modeToGrant(definition, rights);
  if (lacking === null || decideIn(lacking.mode).verdict !== 'allow') return decision;
  return { ...decision, modeToGrant: lacking };
}
