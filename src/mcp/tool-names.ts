import { createHash } from 'node:crypto';
import {
  cleanServerPart,
  cleanToolPart,
  MAX_SERVER_PART_LENGTH,
  MAX_TOOL_NAME_LENGTH,
} from '../protocol/server-tool-names.ts';
import { RESOURCE_TOOL } from '../protocol/tool-names.ts';

const PREFIX = 'mcp__';
const HASH_LENGTH = 8;

/** A tool by the server's own names. */
export interface McpToolId {
  readonly server: string;
  readonly tool: string;
}

/** The names under which models see the tools of servers, in both directions. */
export interface McpToolNames {
  /** Returns `mcp__SERVER__TOOL`; undefined for a tool that is not in the table. */
  toName(id: McpToolId): string | undefined;
  /** Returns the tool of a name; undefined for a name that is not in the table. */
  fromName(name: string): McpToolId | undefined;
  /** Returns the part of the names that stands for a server; undefined for a server that is not in the table. */
  serverPart(server: string): string | undefined;
}

/**
 * Builds the names of all tools of all servers. A name has 1 to 64 letters, digits, `_` and `-`, as every provider
 * accepts, and begins with `mcp__SERVER__`. The part for the server contains no `__`, so a permission rule for one
 * server never matches the tools of another. A name that is too long, or that equals another one after its characters
 * were replaced, ends with a hash of the original names. The names do not depend on the order of servers and tools, and
 * the servers of a project never change the names of the user's servers, for which the user may have written rules.
 */
export function buildMcpToolNames(servers: readonly NamedServer[]): McpToolNames {
  const serverNames = (isOfProject: boolean) =>
    servers.filter((each) => each.isOfProject === isOfProject).map(({ server }) => server);
  const rules = { clean: cleanServerPart, maxLength: MAX_SERVER_PART_LENGTH, salt: '' };
  const ofUser = assignNames(serverNames(false), rules);
  const ofProject = assignNames(serverNames(true), { ...rules, taken: [...ofUser.values()] });
  const serverParts = new Map([...ofUser, ...ofProject]);
  const byName = new Map<string, McpToolId>();
  const byId = new Map<string, string>();
  for (const [server, part] of serverParts) {
    const prefix = `${PREFIX}${part}__`;
    const tools = servers.filter((each) => each.server === server).flatMap((each) => each.tools);
    const maxLength = MAX_TOOL_NAME_LENGTH - prefix.length;
    const toolRules = { clean: cleanToolPart, maxLength, salt: server, taken: [RESOURCE_TOOL] };
    for (const [tool, name] of assignNames(tools, toolRules)) {
      byName.set(prefix + name, { server, tool });
      byId.set(toKey({ server, tool }), prefix + name);
    }
  }
  return {
    toName: (id) => byId.get(toKey(id)),
    fromName: (name) => byName.get(name),
    serverPart: (server) => serverParts.get(server),
  };
}

/** A server with the names of its tools. */
interface NamedServer {
  readonly server: string;
  /** Whether the entry comes from a project. */
  readonly isOfProject: boolean;
  readonly tools: readonly string[];
}

interface NameRules {
  readonly clean: (name: string) => string;
  readonly maxLength: number;
  /** A text that is part of the hash. */
  readonly salt: string;
  /** The names that are in use already. Default: none. */
  readonly taken?: readonly string[];
}

/** Assigns a unique name to each original name. A name that needs no change is kept. */
function assignNames(
  originals: readonly string[],
  { clean, maxLength, salt, taken: inUse = [] }: NameRules,
): ReadonlyMap<string, string> {
  const distinct = [...new Set(originals)].toSorted();
  const fits = (original: string): boolean => {
    const name = clean(original);
    // A name of nothing but `_`, which other scripts become, says less than a hash.
    return name.length <= maxLength && (/[^_]/.test(name) || (name !== '' && name === original));
  };
  const counts = Map.groupBy(distinct.filter(fits), clean);
  const kept = new Set(
    distinct.filter(
      (original) => fits(original) && clean(original) === original && !inUse.includes(original),
    ),
  );
  const taken = new Set([...inUse, ...kept]);
  const assigned = distinct.map((original) => {
    const name = clean(original);
    if (kept.has(original)) return [original, original] as const;
    if (fits(original) && !taken.has(name) && counts.get(name)?.length === 1) {
      taken.add(name);
      return [original, name] as const;
    }
    return [original, null] as const;
  });
  const withHash = (original: string): string => {
    const start = clean(original)
      .slice(0, maxLength - HASH_LENGTH - 1)
      .replace(/_+$/, '');
    // A server could have given another tool the name that comes out here.
    for (let round = 0; ; round += 1) {
      const hash = createHash('sha256').update(`${salt}\0${original}\0${round}`).digest('hex');
      const name = [start, hash.slice(0, HASH_LENGTH)].filter((part) => part !== '').join('_');
      if (taken.has(name)) continue;
      taken.add(name);
      return name;
    }
  };
  return new Map(assigned.map(([original, name]) => [original, name ?? withHash(original)]));
}

function toKey({ server, tool }: McpToolId): string {
  return `${server}\0${tool}`;
}
