import { isTomlTable } from '../base/toml-statements.ts';
import { quoteValue } from './message-text.ts';
import type { ConfigProblem } from './setting.ts';
import type { TomlFile } from './parse-toml.ts';

/** The section of the user's configuration file that binds keys to actions of the terminal UI. */
export const KEY_BINDINGS = 'keys';

/** The keys of one action as they are written in the file. The terminal UI checks the names of the actions. */
export interface KeyBinding {
  readonly keys: readonly string[];
  /** The location of the setting, as `FILE:LINE`. */
  readonly where: string;
}

export interface KeyBindingsReading {
  /** The bindings, by the name of their action. */
  readonly bindings: ReadonlyMap<string, KeyBinding>;
  readonly problems: readonly ConfigProblem[];
}

/** Reads `[keys]` of a file: `ACTION = ["ctrl+g"]`, or one key without the list. */
export function readKeyBindings(value: unknown, file: TomlFile): KeyBindingsReading {
  if (!isTomlTable(value)) {
    const where = file.where([KEY_BINDINGS]);
    return {
      bindings: new Map(),
      problems: [{ where, message: `write it as a section: [${KEY_BINDINGS}]` }],
    };
  }
  const bindings = new Map<string, KeyBinding>();
  const problems: ConfigProblem[] = [];
  for (const [action, written] of Object.entries(value)) {
    const where = file.where([KEY_BINDINGS, action]);
    const keys = typeof written === 'string' ? [written] : written;
    if (isStringList(keys)) bindings.set(action, { keys, where });
    else {
      const message = `${KEY_BINDINGS}.${action} must be a list of keys like ["ctrl+g"], not ${quoteValue(written)}`;
      problems.push({ where, message });
    }
  }
  return { bindings, problems };
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
