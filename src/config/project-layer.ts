import { PERMISSION_MODES } from '../protocol/permission.ts';
import { catalogueKey } from './catalogue.ts';
import { readConfigFile } from './file-layer.ts';
import { KEY_BINDINGS } from './key-bindings.ts';
import { KEYS_BY_SECTION } from './key-entry.ts';
import type { Assignment, Layer } from './layer.ts';
import { MCP_SECTION } from './mcp-tables.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import type { ConfigNotice, Setting } from './setting.ts';
import type { TomlFile } from './parse-toml.ts';
import { isTomlTable } from '../base/toml-statements.ts';

const IGNORED = 'ignored. Put it into your own configuration';

/**
 * Reads a trusted project's file (docs/configuration.md). The file may not set providers, prices, the store or the
 * sandbox, and it may not set a wider mode or a larger budget than the user's. Such settings are reported and ignored,
 * whatever their values.
 */
export function readProjectConfig(file: TomlFile, user: ReadonlyMap<string, Setting>): Layer {
  const { allowed, notices } = removeForbiddenKeys(file);
  const layer = readConfigFile({ ...file, table: allowed });
  const assignments: Assignment[] = [];
  for (const assignment of layer.assignments) {
    const { entry, value, source } = assignment;
    const userValue = user.get(entry.key)?.value;
    if (entry.spec.project !== 'narrow' || measureWidth(value) <= measureWidth(userValue))
      assignments.push(assignment);
    else {
      const message = `a project cannot widen ${entry.key} from your ${quoteValue(userValue)} to ${quoteValue(value)}; ignored`;
      notices.push({ where: source.where, message });
    }
  }
  return { ...layer, assignments, notices };
}

/** Returns the file's table without the keys that no project may set. */
function removeForbiddenKeys(file: TomlFile): {
  readonly allowed: Readonly<Record<string, unknown>>;
  readonly notices: ConfigNotice[];
} {
  const notices: ConfigNotice[] = [];
  const sections = Object.entries(file.table).map(([section, table]) => {
    if (!isTomlTable(table)) return [section, table] as const;
    const allowed = Object.entries(table).filter(([name, value]) => {
      const refused = findRefusals(file, { section, name, value });
      notices.push(...refused);
      return refused.length === 0;
    });
    return [section, Object.fromEntries(allowed)] as const;
  });
  return { allowed: Object.fromEntries(sections), notices };
}

function findRefusals(
  file: TomlFile,
  key: { readonly section: string; readonly name: string; readonly value: unknown },
): readonly ConfigNotice[] {
  const { section, name, value } = key;
  const where = file.where([section, name]);
  if (section === KEY_BINDINGS) {
    return [{ where, message: `a project cannot bind keys; [${section}] is ${IGNORED}` }];
  }
  if (section === MCP_SECTION) {
    const key = escapeLine(`${MCP_SECTION}.${name}`);
    const message = `a project cannot configure MCP servers here; [${key}] is ${IGNORED}, or into .mcp.json of the project`;
    return [{ where, message }];
  }
  if (section === 'models' && (name === 'providers' || name === 'catalogue')) {
    const refusal = name === 'providers' ? describeProviderRefusal : describeCatalogueRefusal;
    const names = isTomlTable(value) ? Object.keys(value) : [];
    if (names.length === 0) return [{ where, message: refusal(null) }];
    return names.map((each) => ({
      where: file.where([section, name, each]),
      message: refusal(each),
    }));
  }
  const entry = KEYS_BY_SECTION.get(section)?.get(name);
  if (entry?.spec.project !== 'never') return [];
  return [{ where, message: `a project cannot set ${entry.key}; ${IGNORED}` }];
}

function describeProviderRefusal(name: string | null): string {
  const key = escapeLine(`models.providers${name === null ? '' : `.${name}`}`);
  return `a project cannot configure providers; [${key}] is ${IGNORED}`;
}

/**
 * Describes the refusal of catalogue values. They are refused, because a lower price or a higher limit would let a task
 * exceed the user's budget.
 */
function describeCatalogueRefusal(model: string | null): string {
  const key = model === null ? 'models.catalogue' : catalogueKey(model);
  return `a project cannot set the price or the limits of a model; [${key}] is ${IGNORED}`;
}

/**
 * Returns a number that is larger the more a value allows. For a mode, it is the position in the order of modes. For a
 * budget, it is the budget, or infinity for 0 and null, which mean no limit.
 */
function measureWidth(value: unknown): number {
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number') return value === 0 ? Number.POSITIVE_INFINITY : value;
  return PERMISSION_MODES.findIndex((candidate) => candidate === value);
}
