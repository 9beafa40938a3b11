import { MusterError } from '../../base/errors.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { userConfigDirectory } from '../../config/paths.ts';
import type { Restriction } from '../../protocol/state/questions.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { NO_SERVERS, type ServerBoard } from '../mcp/server-status.ts';
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
  /** The agent of the first task; null if no task begins by itself. */
  readonly mainAgent: AgentDefinition | null;
  /** Returns the definitions that can be used now. */
  readonly agents: () => readonly AgentDefinition[];
}

/**
 * Opens the MCP servers of a session, and asks those for their tools that have to be asked at its start. If there are
 * none, their code is loaded when a definition that contains a server is used for the first time.
 */
export async function openSessionServers(
  session: SessionConfig,
  needs: ServerNeeds,
): Promise<SessionServers> {
  const { environment, roots, state, loaded } = session;
  const { isAttended, mainAgent, agents } = needs;
  const user = { environment, home: state.home };
  const files = [join(userConfigDirectory(user), 'mcp.json'), join(roots[0], '.mcp.json')];
  const isConfigured =
    loaded.config.mcp !== null ||
    files.some((file) => existsSync(file)) ||
    session.plugins.servers.length > 0;
  const hasServers = isConfigured || agents().some(({ servers }) => servers !== undefined);
  const open = () => loadServers(session, needs);
  if (!hasServers) return new LateServers(open);
  const servers = await open();
  await servers.prepareFor({ kind: 'open', isAttended, agent: mainAgent });
  return servers;
}

async function loadServers(
  {
    environment,
    roots,
    state,
    directory,
    loaded,
    plugins,
    trust,
    secrets,
    onNotice,
  }: SessionConfig,
  { models, sandbox, canWriteDataDir, agents }: ServerNeeds,
): Promise<SessionServers> {
  const [{ openServers }, { openLogins }] = await Promise.all([
    import('../mcp/open-servers.ts'),
    import('../mcp/open-logins.ts'),
  ]);
  const addSecret = (value: string): void => void secrets.push(...listSecretForms(value));
  return openServers({
    environment,
    home: state.home,
    project: roots[0],
    trust,
    tables: loaded.config.mcp,
    pluginServers: plugins.servers,
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
    agents,
    addSecret,
    onNotice,
  });
}

/** The servers of a session that has none at its start. They are opened when an agent has servers of its own. */
class LateServers implements SessionServers {
  private readonly open: () => Promise<SessionServers>;
  private opening: Promise<SessionServers> | null = null;
  private opened: SessionServers | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly restrictions = new Map<string, readonly Restriction[]>();

  constructor(open: () => Promise<SessionServers>) {
    this.open = open;
  }

  get parts(): readonly string[] {
    return this.opened?.parts ?? [];
  }

  get allParts(): readonly string[] {
    return this.opened?.allParts ?? [];
  }

  get servers(): SessionServers['servers'] {
    return this.opened?.servers ?? [];
  }

  get board(): ServerBoard {
    return this.opened?.board ?? { ...NO_SERVERS, watch: (listener) => this.keep(listener) };
  }

  get content(): SessionServers['content'] {
    return this.opened?.content ?? null;
  }

  readResource(...args: Parameters<SessionServers['readResource']>) {
    return this.opened?.readResource(...args) ?? rejectUnknown(args[0].server);
  }

  getPrompt(...args: Parameters<SessionServers['getPrompt']>) {
    return this.opened?.getPrompt(...args) ?? rejectUnknown(args[0].server);
  }

  prepare(agent: Parameters<SessionServers['prepare']>[0]): Promise<void> {
    return this.prepareFor({ kind: 'spawn', agent });
  }

  async prepareFor(moment: Parameters<SessionServers['prepareFor']>[0]): Promise<void> {
    if (moment.agent?.servers === undefined && this.opened === null) return;
    this.opening ??= this.open();
    this.opened ??= await this.opening;
    for (const [conversation, rules] of this.restrictions)
      this.opened.restrict(conversation, rules);
    this.restrictions.clear();
    for (const listener of this.listeners) this.opened.board.watch(listener);
    this.listeners.clear();
    await this.opened.prepareFor(moment);
  }

  /** Keeps a listener until the servers are opened. */
  private keep(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  listAwaited(agent: Parameters<SessionServers['listAwaited']>[0]): readonly string[] {
    return this.opened?.listAwaited(agent) ?? Object.keys(agent.servers ?? {});
  }

  ofAgent(agent: Parameters<SessionServers['ofAgent']>[0]): ReturnType<SessionServers['ofAgent']> {
    return this.opened?.ofAgent(agent) ?? { parts: [], servers: [], unusable: new Map() };
  }

  endTask(id: string): void {
    this.opened?.endTask(id);
  }

  async endWorkspace(tree: string): Promise<void> {
    await this.opened?.endWorkspace(tree);
  }

  restrict(conversation: string, restrictions: readonly Restriction[]): void {
    if (this.opened === null) this.restrictions.set(conversation, restrictions);
    else this.opened.restrict(conversation, restrictions);
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }
}

function rejectUnknown(server: string): Promise<never> {
  return Promise.reject(new MusterError('NOT_FOUND', `no MCP server "${server}" is configured`));
}

/**
 * Finds the agent of the first task; null if no task begins by itself. A name that no agent has is reported when the task
 * starts.
 */
export function findMainAgent(
  name: string | null | undefined,
  agents: readonly AgentDefinition[],
): AgentDefinition | null {
  if (name === null) return null;
  const found = name === undefined ? null : findAgent(name, agents);
  return found?.ok === true ? found.agent : MAIN_AGENT;
}
