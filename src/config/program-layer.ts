import { readConfigFile } from './file-layer.ts';
import { EMPTY_LAYER, type Layer } from './layer.ts';

/**
 * Reads the configuration that a program gives as an object, with the sections and keys of `config.toml`. A mistake is
 * reported with the path of its field, such as `config.task_tool.max_depth`.
 */
export function readProgramLayer(config: Readonly<Record<string, unknown>>): Layer {
  if (Object.keys(config).length === 0) return EMPTY_LAYER;
  return readConfigFile({
    path: 'config',
    table: config,
    where: (path) => ['config', ...path].join('.'),
  });
}

/** Adds the tables of a program's configuration, such as its providers, to those of the user's own file. */
export function addTables(user: Layer, program: Layer): Layer {
  return {
    ...user,
    providers: new Map([...user.providers, ...program.providers]),
    catalogue: new Map([...user.catalogue, ...program.catalogue]),
    keyBindings: new Map([...user.keyBindings, ...program.keyBindings]),
    mcp: addServers(user.mcp, program.mcp),
  };
}

/** Adds the MCP servers of a program to those of the user's own file. The program's take precedence over those of the same name. */
function addServers(user: Layer['mcp'], program: Layer['mcp']): Layer['mcp'] {
  if (user === null || program === null) return program ?? user;
  return { ...user, servers: new Map([...user.servers, ...program.servers]) };
}
