import type { JsonObject } from '../base/json.ts';
import { writeOAuthSettings } from './oauth-settings.ts';
import {
  DEFAULT_MCP_LIMITS,
  type McpServerEntry,
  type McpServerLimits,
  type McpTransport,
} from './server-entry.ts';

/** Writes an entry as Muster's own files spell it. `readServerEntry` reads the result as the same entry. */
export function writeServerEntry(entry: McpServerEntry): JsonObject {
  const { transport, limits, isEnabled, sandbox, hasOwnConnection, tools } = entry;
  return {
    ...writeTransport(transport),
    ...writeLimits(limits),
    ...(isEnabled ? {} : { disabled: true }),
    ...(sandbox === null ? {} : { sandbox }),
    ...(hasOwnConnection ? { ownConnection: true } : {}),
    ...(tools.only === null ? {} : { tools: tools.only }),
    ...(tools.except.length === 0 ? {} : { excludeTools: tools.except }),
  };
}

function writeTransport(transport: McpTransport): JsonObject {
  if (transport.type === 'stdio') {
    const { command, args, env, cwd } = transport;
    return {
      command,
      args,
      ...(Object.keys(env).length === 0 ? {} : { env }),
      ...(cwd === null ? {} : { cwd }),
    };
  }
  const { type, url, headers, headersHelper, oauth } = transport;
  return {
    type,
    url,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(headersHelper === null ? {} : { headersHelper }),
    ...(oauth === undefined ? {} : { oauth: writeOAuthSettings(oauth) }),
  };
}

const LIMIT_FIELDS: Readonly<Record<keyof McpServerLimits, string>> = {
  startMs: 'startSeconds',
  silenceMs: 'callSeconds',
  callMs: 'maxCallSeconds',
  taskMs: 'maxTaskSeconds',
  idleMs: 'idleSeconds',
};

function writeLimits(limits: McpServerLimits): JsonObject {
  const fields = (['startMs', 'silenceMs', 'callMs', 'taskMs', 'idleMs'] as const)
    .filter((limit) => limits[limit] !== DEFAULT_MCP_LIMITS[limit])
    .map((limit) => [LIMIT_FIELDS[limit], limits[limit] / 1000]);
  return Object.fromEntries(fields);
}
