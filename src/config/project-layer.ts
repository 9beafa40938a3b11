import { PERMISSION_MODES } from '../protocol/permission.ts';
import { catalogueKey } from './catalogue.ts';
import { readConfigFile } from './file-layer.ts';
import { KEY_BINDINGS } from './key-bindings.ts';
import { KEYS_BY_SECTION } from './key-entry.ts';
import type { Assignment, Layer } from './layer.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import type { ConfigNotice, Setting } from './setting.ts';
import type { TomlFile } from './parse-toml.ts';
import { isTomlTable } from '../base/toml-statements.ts';

const OWN_CONFIGURATION = 'ignored. Put it into your own configuration';

/**
 * Reads a trusted project's file (docs/configuration.md). It may never set providers, prices, state or the sandbox,
 * nor a wider mode or a larger budget than the user's. Such settings are reported and left out, whatever their
 * values.
 */
export function readProjectConfig(file: TomlFile, user: ReadonlyMap<string, Setting>): Layer {
  const { allowed, notices } = withoutForbidden(file);
  const layer = readConfigFile({ ...file, table: allowed });
  const assignments: Assignment[] = [];
  for (const assignment of layer.assignments) {
    const { entry, value, source } = assignment;
    const own = user.get(entry.key)?.value;
    if (entry.spec.project !== 'narrow' || width(value) <= width(own)) assignments.push(assignment);
    else {
      const message = `a project cannot widen ${entry.key} from your ${quoteValue(own)} to ${quoteValue(value)}; ignored`;
      notices.push({ where: source.where, message });
    }
  }
  return { ...layer, assignments, notices };
}

/** Returns the file's table without the keys that no project may set. */
function withoutForbidden(file: TomlFile): {
  readonly allowed: Readonly<Record<string, unknown>>;
  readonly notices: ConfigNotice[];
} {
  const notices: ConfigNotice[] = [];
  const sections = Object.entries(file.table).map(([section, table]) => {
    if (!isTomlTable(table)) return [section, table] as const;
    const kept = Object.entries(table).filter(([name, value]) => {
      const refused = refusals(file, { section, name, value });
      notices.push(...refused);
      return refused.length === 0;
    });
    return [section, Object.fromEntries(kept)] as const;
  });
  return { allowed: Object.fromEntries(sections), notices };
}

function refusals(
  file: TomlFile,
  key: { readonly section: string; readonly name: string; readonly value: unknown },
): readonly ConfigNotice[] {
  const { section, name, value } = key;
  const where = file.where([section, name]);
  if (section === KEY_BINDINGS) {
    return [{ where, message: `a project cannot bind keys; [${section}] is ${OWN_CONFIGURATION}` }];
  }
  if (section === 'models' && (name === 'providers' || name === 'catalogue')) {
    const refusal = name === 'providers' ? providerRefusal : catalogueRefusal;
    const names = isTomlTable(value) ? Object.keys(value) : [];
    if (names.length === 0) return [{ where, message: refusal(null) }];
    return names.map((each) => ({
      where: file.where([section, name, each]),
      message: refusal(each),
    }));
  }
  const entry = KEYS_BY_SECTION.get(section)?.get(name);
  if (entry?.spec.project !== 'never') return [];
  return [{ where, message: `a project cannot set ${entry.key}; ${OWN_CONFIGURATION}` }];
}

function providerRefusal(name: string | null): string {
  const key = escapeLine(`models.providers${name === null ? '' : `.${name}`}`);
  return `a project cannot configure providers; [${key}] is ${OWN_CONFIGURATION}`;
}

/**
 * Explains why the setting is refused: a lower price or a higher limit would raise the user's budget.
 */
function catalogueRefusal(model: string | null): string {
  const key = model === null ? 'models.catalogue' : catalogueKey(model);
  return `a project cannot say what a model costs or how much it may answer; [${key}] is ${OWN_CONFIGURATION}`;
}

/**
 * Returns how much a value allows: a mode by its position in the order of modes, a budget by its size, where 0 and
 * null mean no limit.
 */
function width(value: unknown): number {
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number') return value === 0 ? Number.POSITIVE_INFINITY : value;
  return PERMISSION_MODES.findIndex((candidate) => candidate === value);
}
