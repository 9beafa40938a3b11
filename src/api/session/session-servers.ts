import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { userConfigDirectory } from '../../config/paths.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import type { SessionServers } from '../mcp/open-servers.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { listSecretForms } from '../setup/secrets.ts';
import type { SessionConfig } from './session-config.ts';
import type { SessionModels } from './session-models.ts';

/** The parts of a session that its servers need. */
interface ServerNeeds {
  readonly models: Pick<SessionModels, 'listing'>;
  readonly sandbox: Sandbox;
  readonly canWriteDataDir: boolean;
  /** True if a person is present. */
  readonly isAttended: boolean;
  /** The agent of the first task. */
  readonly mainAgent: AgentDefinition;
}

/**
 * Opens the MCP servers of a session. Servers that were never used before and that the main agent may use are asked for
 * their tools: a run without a person waits for that, with a notice if it takes long, and in the terminal UI they become
 * known a moment later. Returns null if there are no servers;
 * the code for them is then not loaded.
 */
export async function openSessionServers(
  { environment, roots, state, directory, loaded, trust, secrets, onNotice }: SessionConfig,
  { models, sandbox, canWriteDataDir, isAttended, mainAgent }: ServerNeeds,
): Promise<SessionServers | null> {
  const user = { environment, home: state.home };
  const files = [join(userConfigDirectory(user), 'mcp.json'), join(roots[0], '.mcp.json')];
  const tables = loaded.config.mcp;
  if (tables === null && !files.some((file) => existsSync(file))) return null;
  const [{ openServers }, { openLogins }] = await Promise.all([
    import('../mcp/open-servers.ts'),
    import('../mcp/open-logins.ts'),
  ]);
  const addSecret = (value: string): void => void secrets.push(...listSecretForms(value));
  const servers = openServers({
    ...user,
    project: roots[0],
    trust,
    tables,
    roots,
    directory: canWriteDataDir ? directory : null,
    logins: openLogins(state, {
      onSecret: addSecret,
      onNotice,
      storesDemands: canWriteDataDir,
    }),
    providers: loaded.config.models.providers,
    fetch: models.listing.fetch,
    sandbox,
    rules: loaded.rules,
    addSecret,
    onNotice,
  });
  const known = servers?.prepare(mainAgent, (names) => {
    if (isAttended) return;
    const quoted = names.map((name) => `"${name}"`).join(', ');
    onNotice(`waiting for the MCP ${names.length === 1 ? 'server' : 'servers'} ${quoted} …`);
  });
  if (!isAttended) await known;
  return servers;
}

/** Finds the agent of the first task. A name that no agent has is reported when the task starts. */
export function findMainAgent(
  name: string | undefined,
  agents: readonly AgentDefinition[],
): AgentDefinition {
  const found = name === undefined ? null : findAgent(name, agents);
  return found?.ok === true ? found.agent : MAIN_AGENT;
}
