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
import { effectiveMode, isNarrowerMode, narrowerMode, widerMode } from './modes.ts';

/**
 * Tells whether a grant may identify a definition by its name alone. This is safe only for definitions of the user and
 * of Muster, which no project or plugin can replace.
 */
export function canGrantByName({ origin }: Pick<AgentDefinition, 'origin'>): boolean {
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

/** Hashes (SHA-256, hex) all parts of a definition that have an effect, independently of its file. */
function hashDefinition(definition: AgentDefinition): string {
  const known = digests.get(definition);
  if (known !== undefined) return known;
  const text = JSON.stringify({
    ...actingPart(definition),
    description: definition.description,
  });
  const digest = createHash('sha256').update(text).digest('hex');
  digests.set(definition, digest);
  return digest;
}

/**
 * Returns the identity of a definition for a grant: its file and, if others may write to the file, a hash of its
 * present content. Files of the user may change without losing the grant, like trusted files of the user.
 */
export function identifyDefinition(definition: AgentDefinition): GrantedDefinition {
  const isBoundByPath = canGrantByName(definition) && definition.origin.scope !== 'session';
  return {
    path: definition.origin.path,
    sha256: isBoundByPath ? null : hashDefinition(definition),
  };
}

function isGrantedBy(
  definition: AgentDefinition,
  { agent, definition: bound }: ModeGrant,
): boolean {
  if (agent.toLowerCase() !== definition.name.toLowerCase()) return false;
  if (bound === null) return canGrantByName(definition);
  if (bound.path !== definition.origin.path) return false;
  return bound.sha256 === null || bound.sha256 === hashDefinition(definition);
}

/** Finds the widest grant for a definition. Returns null if the user has granted it nothing. */
export function findModeGrant(
  definition: AgentDefinition,
  grants: readonly ModeGrant[],
): ModeGrant | null {
  let widest: ModeGrant | null = null;
  for (const grant of grants) {
    if (!isGrantedBy(definition, grant)) continue;
    if (widest === null || isNarrowerMode(widest.mode, grant.mode)) widest = grant;
  }
  return widest;
}

/** An agent with the mode that the user grants it. */
export interface AgentGrant {
  readonly definition: Pick<AgentDefinition, 'mode'>;
  /** The user's present grant to the agent, or null. */
  readonly grant: ModeGrant | null;
}

/**
 * Reduces the recorded rights of a task to the present rights of its parent. The mode is reduced in the same way,
 * but a grant of the user to the agent may make the mode wider than the parent's. A grant has no effect on a task
 * that was created in plan mode or whose parent is in plan mode.
 */
export function limitRightsToParent(
  recorded: Rights,
  parent: Rights,
  { definition, grant }: AgentGrant,
): Rights {
  const rights = intersectRights(recorded, parent);
  if (grant === null || recorded.mode === 'plan' || parent.mode === 'plan') return rights;
  const requested = effectiveMode(definition, widerMode(recorded.mode, grant.mode));
  return { ...rights, mode: narrowerMode(requested, widerMode(parent.mode, grant.mode)) };
}

/**
 * Narrows the mode of a main task whose mode was widened by a grant that the user has taken back.
 *
 * @param withoutGrant the mode of the task without any grant, or null if no grant has widened the mode
 * @param grant the user's present grant, or null
 */
export function dropRevokedGrant(
  recorded: Rights,
  withoutGrant: PermissionMode | null,
  grant: ModeGrant | null,
): Rights {
  if (withoutGrant === null || grant !== null) return recorded;
  return { ...recorded, mode: narrowerMode(recorded.mode, withoutGrant) };
}

/**
 * Finds the grant that would give an agent the mode that its definition asks for. Returns null if no grant is needed or
 * possible.
 */
export function findModeToGrant(
  definition: AgentDefinition,
  { mode, depth }: Pick<Rights, 'mode' | 'depth'>,
): ModeToGrant | null {
  if (depth === 0 || mode === 'plan' || definition.mode === null) return null;
  if (!isNarrowerMode(mode, definition.mode)) return null;
  const { name } = definition;
  return { agent: name, mode: definition.mode, isOwn: canGrantByName(definition) };
}

/**
 * Names the flag that grants a mode, and for the user's own agents also the configuration key. The text fits at the end
 * of a sentence.
 */
export function explainGrant({ agent, mode, isOwn }: ModeToGrant): string {
  const pair = `${agent}=${mode}`;
  const flag = `--agent-mode ${/^[\w.=-]+$/.test(pair) ? pair : `'${pair.replaceAll("'", `'\\''`)}'`}`;
  if (!isOwn) return `${flag} (for one conversation)`;
  return `${flag}, or agent_modes = [${JSON.stringify(pair)}] under [permissions] of your configuration`;
}

/** Finds the scope of a grant by its source. A grant for one conversation (`task`) is recorded only in its log. */
export function findGrantScope({ source }: ModeGrant): Exclude<GrantScope, 'project'> {
  switch (source.kind) {
    case 'flag':
      return 'task';
    case 'answer':
      // The source of a saved answer is its file.
      return isAbsolute(source.where) ? 'user' : 'task';
    case 'config':
    case 'env':
    case 'definition':
    case 'builtin':
      return 'user';
  }
}

interface AskingAgent {
  readonly definition: AgentDefinition;
  /** Its present rights. */
  readonly rights: Pick<Rights, 'mode' | 'depth'>;
}

/**
 * Adds `modeToGrant` to a decision to ask, if granting the mode that the agent's definition asks for would allow the
 * call.
 *
 * @param decideIn decides about the same call in another mode
 */
export function addModeToGrant(
  decision: Decision,
  { definition, rights }: AskingAgent,
  decideIn: (mode: PermissionMode) => Decision,
): Decision {
  if (decision.verdict !== 'ask' || decision.step !== 'tool_default') return decision;
  const modeToGrant = findModeToGrant(definition, rights);
  if (modeToGrant === null || decideIn(modeToGrant.mode).verdict !== 'allow') return decision;
  return { ...decision, modeToGrant };
}
