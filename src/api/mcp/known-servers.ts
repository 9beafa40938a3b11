import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { createUnavailableSandbox } from '../../sys/sandbox/sandbox.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ServerSearch } from './find-servers.ts';
import { openServers } from './open-servers.ts';

/** A configured and enabled server, and what is known about its tools without starting it. */
export interface KnownServer {
  /** The part of the names of its tools: `mcp__PART__TOOL`. */
  readonly part: string;
  /** The names of its tools; null if it was never used. */
  readonly tools: readonly string[] | null;
}

interface KnownServersRequest extends Omit<ServerSearch, 'project' | 'tables'> {
  /** The project: absolute, real. */
  readonly cwd: string;
  /** The state directory. */
  readonly directory: string;
  readonly loadedConfig: LoadedConfig;
}

/** Lists the configured and enabled servers. Starts nothing. Problems of their files are reported elsewhere. */
export async function listKnownServers({
  cwd,
  directory,
  loadedConfig,
  environment,
  home,
  trust,
}: KnownServersRequest): Promise<readonly KnownServer[]> {
  const servers = openServers({
    environment,
    home,
    project: cwd,
    trust,
    tables: loadedConfig.config.mcp,
    roots: [cwd],
    directory,
    providers: loadedConfig.config.models.providers,
    fetch: createHttpFetch(environment),
    sandbox: createUnavailableSandbox('nothing is started', ''),
    addSecret: () => {},
    onNotice: () => {},
  });
  if (servers === null) return [];
  const toolsByPart = new Map(
    servers.servers.map(({ part, tools, resources }) => [
      part,
      [...tools, ...(resources === null ? [] : [resources])].map(({ name }) => name),
    ]),
  );
  const known = servers.parts.map((part) => ({ part, tools: toolsByPart.get(part) ?? null }));
  await servers.close();
  return known;
}
