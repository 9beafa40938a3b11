import type { ConfigNotice, ConfigProblem, ValueSource } from './setting.ts';
import type { KeyEntry } from './key-entry.ts';
import type { CatalogueConfig } from './catalogue.ts';
import type { KeyBinding } from './key-bindings.ts';
import type { McpTables } from './mcp-tables.ts';
import type { ProviderConfig } from './providers.ts';
import { quoteValue } from './message-text.ts';

/** A valid value that one layer sets for one key. */
export interface Assignment {
  readonly entry: KeyEntry;
  readonly value: unknown;
  readonly source: ValueSource;
}

/** The settings from one source: a file, the environment or the flags. */
export interface Layer {
  readonly assignments: readonly Assignment[];
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly catalogue: ReadonlyMap<string, CatalogueConfig>;
  /** The key bindings of the terminal UI by action. */
  readonly keyBindings: ReadonlyMap<string, KeyBinding>;
  /** The MCP servers; null if there are none. */
  readonly mcp: McpTables | null;
  readonly problems: readonly ConfigProblem[];
  readonly notices: readonly ConfigNotice[];
}

export const EMPTY_LAYER: Layer = {
  assignments: [],
  providers: new Map(),
  catalogue: new Map(),
  keyBindings: new Map(),
  mcp: null,
  problems: [],
  notices: [],
};

/** Describes a value that a key does not accept. The text follows the name of the key or flag. */
export function describeWrongValue(
  entry: KeyEntry,
  value: unknown,
  expects = entry.spec.expects,
): string {
  const hint = typeof value === 'string' ? findHint(entry, value) : undefined;
  const expected = `must be ${entry.spec.choices === undefined ? '' : 'one of '}${expects}`;
  return `${expected}, not ${quoteValue(value)}${hint === undefined ? '' : `. ${hint}`}`;
}

function findHint(entry: KeyEntry, value: string): string | undefined {
  const { wrongValueHints } = entry.spec;
  return Object.hasOwn(wrongValueHints, value) ? wrongValueHints[value] : undefined;
}
