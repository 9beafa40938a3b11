import type { ConfigTables } from '../config/config.ts';

/** A table of `config.toml` whose keys are names of the user: those of providers, models and servers. */
type NamedTables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * The configuration, with the sections and keys of `config.toml` (docs/configuration.md), such as
 * `{ task_tool: { max_depth: 3 }, sandbox: { network: true } }`. Wrong sections, keys and values are errors.
 */
export type MusterConfig = Omit<ConfigTables, 'models'> & {
  readonly models?: ConfigTables['models'] & {
    readonly providers?: NamedTables;
    readonly catalogue?: NamedTables;
  };
  /** MCP servers by name, with the fields of an entry of `mcp.json` (docs/mcp.md). */
  readonly mcp?: NamedTables;
};
