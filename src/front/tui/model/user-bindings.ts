import { UsageError } from '../../../base/errors.ts';
import { nearestFirst } from '../../../base/near-names.ts';
import { exactLine } from '../../../base/terminal-text.ts';
import {
  type Binding,
  type Place,
  ACTIONS,
  DEFAULT_BINDINGS,
  type Action,
  type Bindings,
  isEditingAction,
} from './key-bindings.ts';
import { isText, isTyped, keyName, readKey } from './key-names.ts';

/** `[keys]` as it is written, by action. */
export type WrittenBindings = ReadonlyMap<
  string,
  { readonly keys: readonly string[]; readonly where: string }
>;

/** Without these nobody could say or stop anything, or get out. */
const NEEDED: ReadonlySet<Action> = new Set(['interrupt', 'leave', 'send']);

/**
 * The keys in force: the user's, and for what they say nothing of the default ones. Throws UsageError with a
 * line for each thing that is wrong.
 */
export function ownBindings(written: WrittenBindings): Bindings {
  if (written.size === 0) return DEFAULT_BINDINGS;
  const problems: string[] = [];
  const bindings: Record<Action, Binding> = { ...DEFAULT_BINDINGS };
  for (const [name, { keys, where }] of written) {
    const action = ACTIONS.find((each) => each === name);
    if (action === undefined) {
      problems.push(`${where}: ${unknownAction(name)}`);
      continue;
    }
    const binding = bindings[action];
    const read = keys.map((key) => readBinding(key, { action, binding }));
    problems.push(
      ...read.flatMap(({ problem }) => (problem === null ? [] : [`${where}: ${problem}`])),
    );
    if (keys.length === 0 && NEEDED.has(action)) {
      problems.push(`${where}: keys.${action} needs at least one key`);
    }
    const own = [...new Set(read.flatMap(({ key }) => key ?? []))];
    bindings[action] = { ...binding, keys: own };
  }
  const yielded = yieldKeys(bindings, written);
  problems.push(...clashes(yielded, written));
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return yielded;
}

/** What the editor does by default gives way to what the user has said. */
function yieldKeys(bindings: Bindings, written: WrittenBindings): Bindings {
  const said = ACTIONS.filter((action) => written.has(action));
  const yielding = ACTIONS.filter((action) => isEditingAction(action) && !written.has(action));
  const left = yielding.map((action) => {
    const binding = bindings[action];
    const taken = said.filter((each) => overlap(bindings[each], binding));
    const keys = binding.keys.filter(
      (key) => !taken.some((each) => bindings[each].keys.includes(key)),
    );
    return [action, { ...binding, keys }] as const;
  });
  return { ...bindings, ...Object.fromEntries(left) };
}

interface ReadBinding {
  readonly key: string | null;
  readonly problem: string | null;
}

function readBinding(
  written: string,
  { action, binding }: { readonly action: Action; readonly binding: Binding },
): ReadBinding {
  const key = readKey(written);
  if (key === null) {
    const problem = `keys.${action}: "${exactLine(written)}" is no key; keys are written like "ctrl+g", "alt+enter", "shift+tab", "pgup", "f5", "esc", "x"`;
    return { key, problem };
  }
  const isForEditor = binding.place === 'anywhere' || binding.place === 'editor';
  const isTaken = binding.isEditors === true ? isText : isTyped;
  if (isForEditor && isTaken(key)) {
    const problem = `keys.${action}: "${keyName(key)}" types text; add ctrl or alt, or take another key`;
    return { key: null, problem };
  }
  return { key, problem: null };
}

function unknownAction(name: string): string {
  const valid = nearestFirst(name, [...ACTIONS]).join(', ');
  return `unknown action "${exactLine(name)}" in [keys]; valid: ${valid}`;
}

/** Two actions that one key would have at the same place. Told where the user has given it to one of them. */
function clashes(bindings: Bindings, written: WrittenBindings): readonly string[] {
  return ACTIONS.flatMap((action, at) =>
    ACTIONS.slice(at + 1).flatMap((other) => {
      if (!overlap(bindings[action], bindings[other])) return [];
      const shared = bindings[action].keys.filter((key) => bindings[other].keys.includes(key));
      const where = (written.get(action) ?? written.get(other))?.where;
      if (where === undefined) return [];
      return shared.map(
        (key) =>
          `${where}: "${keyName(key)}" would be ${action} and ${other}; give one of them another key`,
      );
    }),
  );
}

/** Whether a key of both would have two meanings at a time. */
function overlap(one: Binding, other: Binding): boolean {
  if (!meet(one.place, other.place)) return false;
  // With nothing typed there is nothing to do to a text.
  const isEmptyOnly = one.needsEmptyEditor === true || other.needsEmptyEditor === true;
  return !(isEmptyOnly && (one.isEditors === true || other.isEditors === true));
}

function meet(one: Place, other: Place): boolean {
  // While completions are offered, the keys for them are theirs.
  if (one === 'completion' || other === 'completion') return one === other;
  return one === other || one === 'anywhere' || other === 'anywhere';
}
