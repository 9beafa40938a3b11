import { isJsonObject, type JsonObject } from '../base/json.ts';
import { listNames } from '../base/text.ts';
import { parseJsonc } from '../base/jsonc.ts';
import { isPluginName, NAME_RULE, NO_MARKETPLACE, readRelativePath } from './plugin-paths.ts';
import { ProblemCollector, warnUnknownFields, type PluginProblem } from './plugin-problem.ts';
import { readEntrySource, type MarketplacePlace, type PluginSource } from './plugin-source.ts';

/** The path of the file of a marketplace in its directory or repository. */
export const MARKETPLACE_FILE = '.claude-plugin/marketplace.json';
/** The maximum size of the file of a marketplace, in bytes. */
export const MAX_MARKETPLACE_BYTES = 4 * 1024 * 1024;

/** The maximum number of plugins in a marketplace. */
const MAX_ENTRIES = 2_000;
/** The longest description that is kept, in characters. */
const MAX_DESCRIPTION = 1_000;
const MARKETPLACE_FIELDS = new Set(
  listNames(`
    $schema name version description owner metadata plugins homepage
    forceRemoveDeletedPlugins renames allowCrossMarketplaceDependenciesOn
  `),
);

/** A plugin in a marketplace. */
export interface MarketplaceEntry {
  readonly name: string;
  readonly version: string | null;
  readonly description: string | null;
  /** The place of the files. Null if it cannot be used; a problem then says why. */
  readonly source: PluginSource | null;
  /** The fields of the entry, which add to the manifest of the plugin. */
  readonly fields: JsonObject;
  /** Whether the plugin's own manifest counts. Otherwise the entry stands in its place. */
  readonly isStrict: boolean;
}

/** The content of the file of a marketplace. */
export interface Marketplace {
  readonly name: string;
  readonly description: string | null;
  readonly entries: readonly MarketplaceEntry[];
}

/** A marketplace, unless its file has an error, with the problems of the file. */
export interface MarketplaceReading {
  readonly marketplace: Marketplace | null;
  readonly problems: readonly PluginProblem[];
}

/** Reads the file of a marketplace. An entry with an error is left out, and the others remain. Never throws. */
export function readMarketplace(
  text: string,
  place: Omit<MarketplacePlace, 'pluginRoot'>,
): MarketplaceReading {
  const problems = new ProblemCollector(MARKETPLACE_FILE);
  const parsed = parseJsonc(text);
  if (!parsed.ok) problems.error(null, `it is not valid JSON: ${parsed.message}`);
  else if (!isJsonObject(parsed.value)) problems.error(null, 'it must contain a JSON object');
  if (!parsed.ok || !isJsonObject(parsed.value))
    return { marketplace: null, problems: problems.list };
  const { value } = parsed;
  warnUnknownFields(value, MARKETPLACE_FIELDS, { prefix: '', problems });
  const { name, plugins } = value;
  if (!isPluginName(name) || name === NO_MARKETPLACE) {
    problems.error('name', `it must be a name other than ${NO_MARKETPLACE}: ${NAME_RULE}`);
  }
  if (!Array.isArray(plugins)) problems.error('plugins', 'it must be a list');
  if (!isPluginName(name) || name === NO_MARKETPLACE || !Array.isArray(plugins)) {
    return { marketplace: null, problems: problems.list };
  }
  if (plugins.length > MAX_ENTRIES) {
    problems.warn('plugins', `only its first ${MAX_ENTRIES} plugins are used`);
  }
  const fullPlace = { ...place, pluginRoot: readPluginRoot(value, problems) };
  const byName = new Map<string, MarketplaceEntry>();
  for (const [index, item] of plugins.slice(0, MAX_ENTRIES).entries()) {
    const entry = readEntry(item, { field: `plugins[${index}]`, place: fullPlace, problems });
    if (entry === null) continue;
    if (byName.has(entry.name)) {
      problems.warn(
        `plugins[${index}].name`,
        `${entry.name} is there already; this entry is left out`,
      );
    } else byName.set(entry.name, entry);
  }
  const entries = [...byName.values()];
  return {
    marketplace: { name, description: readDescription(value), entries },
    problems: problems.list,
  };
}

function readPluginRoot({ metadata }: JsonObject, problems: ProblemCollector): string {
  const root = isJsonObject(metadata) ? metadata['pluginRoot'] : undefined;
  if (root === undefined) return '';
  const path = typeof root === 'string' ? readRelativePath(root) : null;
  if (path !== null) return path;
  problems.warn('metadata.pluginRoot', 'it must be a path in the marketplace; it has no effect');
  return '';
}

function readDescription({ description, metadata }: JsonObject): string | null {
  const text = description ?? (isJsonObject(metadata) ? metadata['description'] : undefined);
  return typeof text === 'string' ? text.slice(0, MAX_DESCRIPTION) : null;
}

function readEntry(
  item: unknown,
  {
    field,
    place,
    problems,
  }: {
    readonly field: string;
    readonly place: MarketplacePlace;
    readonly problems: ProblemCollector;
  },
): MarketplaceEntry | null {
  if (!isJsonObject(item)) {
    problems.error(field, 'it must be an object; the entry is left out');
    return null;
  }
  const { name, version, strict } = item;
  if (!isPluginName(name)) {
    problems.error(`${field}.name`, `it must be a name: ${NAME_RULE}; the entry is left out`);
    return null;
  }
  const read = readEntrySource(item['source'], place);
  if (!read.ok) problems.warn(`${field}.source`, `${read.reason}; ${name} cannot be installed`);
  return {
    name,
    version: typeof version === 'string' ? version : null,
    description: readDescription(item),
    source: read.ok ? read.source : null,
    fields: item,
    isStrict: strict !== false,
  };
}
