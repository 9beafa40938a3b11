import { readCatalogue, type CatalogueReading } from './catalogue.ts';
import type { ConfigProblem, ValueSource } from './setting.ts';
import { KEY_BINDINGS, readKeyBindings, type KeyBindingsReading } from './key-bindings.ts';
import { describeWrongValue, type Assignment, type Layer } from './layer.ts';
import { MCP_SECTION, readMcpTables, type McpTablesReading } from './mcp-tables.ts';
import { sortByNearness } from '../base/name-suggestions.ts';
import { readProviders, type ProvidersReading } from './providers.ts';
import { escapeLine } from './message-text.ts';
import type { TomlFile } from './parse-toml.ts';
import { isTomlTable } from '../base/toml-statements.ts';
import { KEYS_BY_SECTION, type KeyEntry } from './key-entry.ts';

const NO_PROVIDERS: ProvidersReading = { providers: new Map(), problems: [] };
const NO_MODELS: CatalogueReading = { models: new Map(), problems: [] };
const NO_BINDINGS: KeyBindingsReading = { bindings: new Map(), problems: [] };
const NO_SERVERS: McpTablesReading = { tables: null, problems: [] };

/** Reads a configuration file, and checks each section, key and value against the table of keys. */
export function readConfigFile(file: TomlFile): Layer {
  const assignments: Assignment[] = [];
  const problems: ConfigProblem[] = [];
  let providers = NO_PROVIDERS;
  let catalogue = NO_MODELS;
  let keyBindings = NO_BINDINGS;
  let mcp = NO_SERVERS;
  for (const [section, table] of Object.entries(file.table)) {
    const keys = KEYS_BY_SECTION.get(section);
    if (section === KEY_BINDINGS) keyBindings = readKeyBindings(table, file);
    else if (section === MCP_SECTION) mcp = readMcpTables(table, file);
    else if (keys === undefined) problems.push(createUnknownSectionProblem(section, file));
    else if (!isTomlTable(table)) {
      problems.push({
        where: file.where([section]),
        message: `write it as a section: [${section}]`,
      });
    } else {
      for (const [name, value] of Object.entries(table)) {
        if (section === 'models' && name === 'providers') providers = readProviders(value, file);
        else if (section === 'models' && name === 'catalogue') {
          catalogue = readCatalogue(value, file);
        } else addKey({ section, name, value, entry: keys.get(name), file }, assignments, problems);
      }
    }
  }
  return {
    assignments,
    providers: providers.providers,
    catalogue: catalogue.models,
    keyBindings: keyBindings.bindings,
    mcp: mcp.tables,
    problems: [
      ...problems,
      ...[providers, catalogue, keyBindings, mcp].flatMap((reading) => reading.problems),
    ],
    notices: [],
  };
}

interface FileKey {
  readonly section: string;
  readonly name: string;
  readonly value: unknown;
  readonly entry: KeyEntry | undefined;
  readonly file: TomlFile;
}

function addKey(key: FileKey, assignments: Assignment[], problems: ConfigProblem[]): void {
  const where = key.file.where([key.section, key.name]);
  const source: ValueSource = { kind: 'config', where };
  if (key.entry === undefined) {
    problems.push({ where, message: describeUnknownKey(key.section, key.name) });
  } else if (key.value === null || !key.entry.spec.accepts(key.value)) {
    problems.push({
      where,
      message: `${key.entry.key} ${describeWrongValue(key.entry, key.value)}`,
    });
  } else {
    assignments.push({ entry: key.entry, value: key.value, source });
  }
}

function describeUnknownKey(section: string, name: string): string {
  const names = [...(KEYS_BY_SECTION.get(section)?.keys() ?? [])];
  if (section === 'models') names.push('providers.NAME', 'catalogue."PROVIDER/MODEL"');
  return `unknown key "${escapeLine(name)}" in [${section}]; valid: ${sortByNearness(name, names).join(', ')}`;
}

function createUnknownSectionProblem(section: string, file: TomlFile): ConfigProblem {
  const names = [...KEYS_BY_SECTION.keys(), KEY_BINDINGS, MCP_SECTION];
  const sections = sortByNearness(section, names).map((name) => `[${name}]`);
  return {
    where: file.where([section]),
    message: `unknown section [${escapeLine(section)}]; valid: ${sections.join(', ')}`,
  };
}
