import type { ConfigTables } from '../config/config-tables.ts';

export type { ConfigTables } from '../config/config-tables.ts';

/** Tables of `config.toml` by a name that the user chooses, such as that of a provider, a model or a server. */
export type NamedTables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * The configuration, with the sections and keys of `config.toml` (docs/configuration.md). Wrong sections, keys and values are
 * errors.
 *
 * @example
 * import type { MusterConfig } from 'muster-agent';
 *
 * const config: MusterConfig = { task_tool: { max_depth: 3 }, sandbox: { network: true } };
 */
export interface MusterConfig extends Omit<ConfigTables, 'models'> {
  /** The section `[models]`, with the providers and the models that you add. Default: that of the user or of Muster. */
  readonly models?: NonNullable<ConfigTables['models']> & {
    /** Providers by name, with the fields of a table `[models.providers.NAME]` (docs/providers.md). Default: none. */
    readonly providers?: NamedTables;
    /** Windows and prices of models by their names, as in `[models.catalogue.'PROVIDER/ID']` (docs/models.md). Default: none. */
    readonly catalogue?: NamedTables;
  };
  /** MCP servers by name, with the fields of an entry of `mcp.json` (docs/mcp.md). Default: none. */
  readonly mcp?: NamedTables;
}
