import { findAgent } from '../agents/find-agent.ts';
import { UsageError } from '../base/errors.ts';
import type { ModeGrantStore } from '../engine/task/inbox.ts';
import { GRANTABLE_MODES, parseAgentMode, isNarrowerMode } from '../policy/modes.ts';
import { identifyDefinition, canGrantByName } from '../policy/mode-grants.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ModeGrant, PermissionMode } from '../protocol/permission.ts';
import type { LoadedConfig } from '../config/load.ts';
import { escapeLine } from '../config/message-text.ts';
import type { ConfigNotice, ValueSource } from '../config/setting.ts';
import type { SavedModes } from './saved-modes.ts';

interface ConfiguredModes {
  readonly grants: readonly ModeGrant[];
  readonly notices: readonly ConfigNotice[];
}

interface WrittenGrant {
  readonly agent: string;
  readonly mode: PermissionMode;
  readonly source: ValueSource;
}

/**
 * The modes that `permissions.agent_modes` grants to agents. A flag means the very definition that is in use at the
 * start; a file or a variable means the user's own definitions of that name, never one that came with a project.
 * Throws UsageError where a flag names no agent, or grants what its definition does not ask for.
 */
export function configuredModes(
  { settings }: Pick<LoadedConfig, 'settings'>,
  agents: readonly AgentDefinition[],
): ConfiguredModes {
  const items = settings.get('permissions.agent_modes')?.items ?? [];
  const read = items.flatMap(({ value, source }) => {
    const parsed = parseAgentMode(value);
    return parsed === null ? [] : [readGrant({ ...parsed, source }, agents)];
  });
  return {
    grants: read.flatMap(({ grant }) => (grant === null ? [] : [grant])),
    notices: read.flatMap(({ notice }) => (notice === null ? [] : [notice])),
  };
}

interface ReadGrant {
  readonly grant: ModeGrant | null;
  readonly notice: ConfigNotice | null;
}

function readGrant(written: WrittenGrant, agents: readonly AgentDefinition[]): ReadGrant {
  const { source, mode, agent: given } = written;
  const found = findAgent(given, agents);
  if (source.kind === 'flag') {
    if (!found.ok) throw new UsageError(`${source.where}: ${found.error.message}`);
    const { agent } = found;
    const mistake = grantBeyondDefinition(agent, mode);
    if (mistake !== null)
      throw new UsageError(`${source.where} ${shownGrant(written)}: ${mistake}`);
    return {
      grant: { agent: agent.name, mode, definition: identifyDefinition(agent), source },
      notice: null,
    };
  }
  // A grant stays in force for an agent that is not there yet: its file may be written while this process runs.
  const name = found.ok ? found.agent.name : given;
  const grant: ModeGrant = { agent: name, mode, definition: null, source };
  if (!found.ok) return { grant, notice: ignoredGrant(written, found.error.message) };
  if (!canGrantByName(found.agent))
    return { grant, notice: grantToOtherFile(found.agent, written) };
  const mistake = grantBeyondDefinition(found.agent, mode);
  return { grant, notice: mistake === null ? null : ignoredGrant(written, mistake) };
}

function shownGrant({ agent, mode }: Pick<WrittenGrant, 'agent' | 'mode'>): string {
  return `${escapeLine(agent)}=${mode}`;
}

/** A notice that a grant in a file or a variable has no effect, and why. */
function ignoredGrant(written: WrittenGrant, reason: string): ConfigNotice {
  const message = `permissions.agent_modes ${shownGrant(written)} has no effect: ${reason}`;
  return { where: written.source.where, message };
}

/** Says that a definition asks for a mode that no grant can widen to this one. Returns null if the grant may have an effect. */
function grantBeyondDefinition(
  { name, mode: requested }: AgentDefinition,
  mode: PermissionMode,
): string | null {
  if (requested !== 'plan' && (requested !== 'default' || mode === 'default')) return null;
  return `the definition of ${escapeLine(name)} asks for ${requested} mode, and a grant gives no agent more than its definition asks for`;
}

/**
 * A notice that a definition of a project or a plugin has taken the name of the user's own agent, for which alone
 * a grant in a file or a variable holds. Returns null if the definition asks for no more than it gets without a grant.
 */
function grantToOtherFile(
  agent: AgentDefinition,
  { mode, source }: WrittenGrant,
): ConfigNotice | null {
  if (agent.mode !== null && !isNarrowerMode('default', agent.mode)) return null;
  const message = `permissions.agent_modes grants ${mode} mode to your own agent ${escapeLine(agent.name)}, and not to ${escapeLine(agent.origin.path)}, which takes its place here; --agent-mode ${escapeLine(agent.name)}=${mode} grants it to that one, for one conversation`;
  return { where: source.where, message };
}

/** The grants, as `NAME=MODE`, that would give an agent more than the default mode. */
export function grantableModes({ name, mode: requested }: AgentDefinition): readonly string[] {
  return GRANTABLE_MODES.filter(
    (mode) => mode !== 'default' && (requested === null || !isNarrowerMode(requested, mode)),
  ).map((mode) => `${name}=${mode}`);
}

/** The grants that no log of a task holds: those at the start of this process, and those answered since. */
export function createModeGrantStore(
  configured: readonly ModeGrant[],
  saved: SavedModes,
): ModeGrantStore {
  let grants: readonly ModeGrant[] | null = null;
  const inForce = () => (grants ??= [...configured, ...saved.all()]);
  return {
    listGrants: inForce,
    add(grant) {
      const before = inForce();
      const kept = saved.add(grant);
      grants = [...before, kept];
      return kept;
    },
  };
}
