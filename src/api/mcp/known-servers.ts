import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { createUnavailableSandbox } from '../../sys/sandbox/sandbox.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ServerSearch } from './find-servers.ts';
import type { ActivePlugins } from '../../plugins/active-plugins.ts';
import { openServers } from './open-servers.ts';

/** A configured and enabled server, and what is known about its tools without starting it. */
export interface KnownServer {
  /** The part of the names of its tools: `mcp__PART__TOOL`. */
  readonly part: string;
  /** The names of its tools; null if it was never used. */
  readonly tools: readonly string[] | null;
  /** The reason why it cannot be used, as a sentence. Default: it can. */
  readonly problem?: string;
}

interface KnownServersRequest extends Omit<ServerSearch, 'project' | 'tables' | 'pluginServers'> {
  /** The project: absolute, real. */
  readonly cwd: string;
  /** The state directory. */
  readonly directory: string;
  readonly loadedConfig: LoadedConfig;
  readonly plugins: ActivePlugins;
  /** The agents that are asked about. */
  readonly agents: readonly AgentDefinition[];
}

/** Finds the servers of agents without starting any. */
export interface KnownServers {
  /** Lists the servers of an agent: the configured and enabled ones, and those of its definition. */
  ofAgent(agent: AgentDefinition): readonly KnownServer[];
}

/** Finds the servers of agents, also of those that are not trusted. Problems of their files are reported elsewhere. */
export async function findKnownServers({
  cwd,
  directory,
  loadedConfig,
  environment,
  home,
  trust,
  plugins,
  agents,
}: KnownServersRequest): Promise<KnownServers> {
  const servers = openServers({
    environment,
    home,
    project: cwd,
    trust,
    tables: loadedConfig.config.mcp,
    pluginServers: plugins.servers,
    roots: [cwd],
    directory,
    logins: null,
    providers: loadedConfig.config.models.providers,
    fetch: createHttpFetch(environment),
    sandbox: createUnavailableSandbox('nothing is started', ''),
    rules: loadedConfig.rules,
    agents: () => agents,
    addSecret: () => {},
    onNotice: () => {},
  });

  await servers.close();
  return {
    ofAgent: (agent) => {
      const own = servers.ofAgent(agent);
      const toolsByPart = new Map(
        own.servers.map(({ part, tools, resources }) => [
          part,
          [...tools, ...(resources === null ? [] : [resources])].map(({ name }) => name),
        ]),
      );
      return [
        ...own.parts.map((part) => ({ part, tools: toolsByPart.get(part) ?? null })),
        ...Array.from(own.unusable, ([part, problem]) => ({ part, tools: [], problem })),
      ];
    },
  };
}
