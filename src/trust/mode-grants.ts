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

/** A grant as it is written in the configuration, before its agent is looked up. */
interface WrittenGrant {
  readonly agent: string;
  readonly mode: PermissionMode;
  readonly source: ValueSource;
}

/**
 * Returns the modes that `permissions.agent_modes` grants to agents. A grant by a flag applies to the definition that
 * is in use at the start. A grant by a file or an environment variable applies to the user's own definitions with that
 * name, and never to a definition of a project. Throws UsageError if a flag names an unknown agent, or grants more than
 * the agent's definition asks for.
 */
export function readConfiguredModes(
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
  const { source, mode, agent: writtenName } = written;
  const found = findAgent(writtenName, agents);
  if (source.kind === 'flag') {
    if (!found.ok) throw new UsageError(`${source.where}: ${found.error.message}`);
    const { agent } = found;
    const mistake = describeExcessiveGrant(agent, mode);
    if (mistake !== null)
      throw new UsageError(`${source.where} ${formatGrant(written)}: ${mistake}`);
    return {
      grant: { agent: agent.name, mode, definition: identifyDefinition(agent), source },
      notice: null,
    };
  }
  // A grant for an unknown agent is kept, because the agent's file may be written while this process runs.
  const name = found.ok ? found.agent.name : writtenName;
  const grant: ModeGrant = { agent: name, mode, definition: null, source };
  if (!found.ok) return { grant, notice: createIgnoredNotice(written, found.error.message) };
  if (!canGrantByName(found.agent))
    return { grant, notice: createReplacedAgentNotice(found.agent, written) };
  const mistake = describeExcessiveGrant(found.agent, mode);
  return { grant, notice: mistake === null ? null : createIgnoredNotice(written, mistake) };
}

function formatGrant({ agent, mode }: Pick<WrittenGrant, 'agent' | 'mode'>): string {
  return `${escapeLine(agent)}=${mode}`;
}

/** Creates a notice that a grant in a file or an environment variable has no effect, with the reason. */
function createIgnoredNotice(written: WrittenGrant, reason: string): ConfigNotice {
  const message = `permissions.agent_modes ${formatGrant(written)} has no effect: ${reason}`;
  return { where: written.source.where, message };
}

/**
 * Describes the mistake if a grant gives a mode that the agent's definition does not ask for. Returns null if the grant
 * can have an effect.
 */
function describeExcessiveGrant(
  { name, mode: requested }: AgentDefinition,
  mode: PermissionMode,
): string | null {
  if (requested !== 'plan' && (requested !== 'default' || mode === 'default')) return null;
  return `the definition of ${escapeLine(name)} asks for ${requested} mode, and a grant cannot give an agent more than its definition asks for`;
}

/**
 * Creates a notice that a definition of a project or a plugin replaces the user's own agent. A grant in a file or an
 * environment variable applies only to the user's own agent. Returns null if the definition asks for no more than it
 * gets without a grant.
 */
function createReplacedAgentNotice(
  agent: AgentDefinition,
  { mode, source }: WrittenGrant,
): ConfigNotice | null {
  if (agent.mode !== null && !isNarrowerMode('default', agent.mode)) return null;
  const message = `permissions.agent_modes grants ${mode} mode to your own agent ${escapeLine(agent.name)}, and not to ${escapeLine(agent.origin.path)}, which replaces it in this project; --agent-mode ${escapeLine(agent.name)}=${mode} grants the mode to that definition, for one conversation`;
  return { where: source.where, message };
}

/** Returns the grants, as `NAME=MODE`, that would give an agent more than the default mode. */
export function listGrantableModes({ name, mode: requested }: AgentDefinition): readonly string[] {
  return GRANTABLE_MODES.filter(
    (mode) => mode !== 'default' && (requested === null || !isNarrowerMode(requested, mode)),
  ).map((mode) => `${name}=${mode}`);
}

/**
 * Creates the store of grants that are not in the log of a task: the configured grants, the saved ones, and those that
 * the user gives while this process runs.
 */
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
      const added = saved.add(grant);
      grants = [...before, added];
      return added;
    },
  };
}
