import { PERMISSION_MODES } from '../protocol/permission.ts';
import { catalogueKey } from './catalogue.ts';
import { fileLayer } from './file-layer.ts';
import { KEY_BINDINGS } from './key-bindings.ts';
import { KEYS_BY_SECTION } from './keys.ts';
import type { Assignment, Layer } from './layer.ts';
import { oneLine, quoted } from './quote.ts';
import type { ConfigNotice, Setting } from './source.ts';
import type { TomlFile } from './toml-file.ts';
import { isTomlTable } from '../base/toml-statements.ts';

const OWN_CONFIGURATION = 'ignored. Put it into your own configuration';

/**
 * What a trusted project's file may set (docs/configuration.md): never providers, prices, state
 * or the sandbox, no wider mode than the user's and no larger budget. The rest is named and left out,
 * whatever value it has.
 */
export function projectLayer(file: TomlFile, user: ReadonlyMap<string, Setting>): Layer {
  const { allowed, notices } = withoutForbidden(file);
  const layer = fileLayer({ ...file, table: allowed });
  const assignments: Assignment[] = [];
  for (const assignment of layer.assignments) {
    const { entry, value, source } = assignment;
    const own = user.get(entry.key)?.value;
    if (entry.spec.project !== 'narrow' || width(value) <= width(own)) assignments.push(assignment);
    else {
      const message = `a project cannot widen ${entry.key} from your ${quoted(own)} to ${quoted(value)}; ignored`;
      notices.push({ where: source.where, message });
    }
  }
  return { ...layer, assignments, notices };
}

/** The file's table without what no project may set. */
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
  const key = oneLine(`models.providers${name === null ? '' : `.${name}`}`);
  return `a project cannot configure providers; [${key}] is ${OWN_CONFIGURATION}`;
}

/** A lower price or a higher limit would lift the user's budget. */
function catalogueRefusal(model: string | null): string {
  const key = model === null ? 'models.catalogue' : catalogueKey(model);
  return `a project cannot say what a model costs or how much it may answer; [${key}] is ${OWN_CONFIGURATION}`;
}

/** How much a value allows: a mode by its place on the ladder, a budget by its size, 0 and null being none. */
function width(value: unknown): number {
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number') return value === 0 ? Number.POSITIVE_INFINITY : value;
  return PERMISSION_MODES.findIndex((candidate) => candidate === value);
}
