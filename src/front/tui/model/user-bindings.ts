import type { UiLibrary } from './ui-library.ts';
import { UsageError } from '../../../base/errors.ts';
import { sortByNearness } from '../../../base/name-suggestions.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import {
  ACTIONS,
  DEFAULT_BINDINGS,
  isEditingAction,
  type Action,
  type Bindings,
  type ActionBinding,
  type KeyScope,
} from './key-bindings.ts';
import { isText, isTyped, keyName, keyFromText } from './key-names.ts';

/** The `[keys]` section of the configuration by action; `where` is the file and line. */
export type WrittenBindings = UiLibrary['keyBindings'];

/** The actions that need a key, because nobody could send or stop anything, or leave, without one. */
const REQUIRED_ACTIONS: ReadonlySet<Action> = new Set(['interrupt', 'leave', 'send']);

/**
 * Returns the keys in force: the keys that the user configured for an action replace its default keys. Throws a
 * UsageError with a line for each problem.
 */
export function userBindings(written: WrittenBindings): Bindings {
  if (written.size === 0) return DEFAULT_BINDINGS;
  const problems: string[] = [];
  const bindings: Record<Action, ActionBinding> = { ...DEFAULT_BINDINGS };
  for (const [name, { keys, where }] of written) {
    const report = (problem: string) => void problems.push(`${where}: ${problem}`);
    const action = ACTIONS.find((each) => each === name);
    if (action === undefined) {
      report(unknownAction(name));
      continue;
    }
    const binding = bindings[action];
    const read = keys.flatMap((key) =>
      readKey(key, binding, (why) => report(`keys.${action}${why}`)),
    );
    if (keys.length === 0 && REQUIRED_ACTIONS.has(action))
      report(`keys.${action} needs at least one key`);
    bindings[action] = { ...binding, keys: [...new Set(read)] };
  }
  const yielded = yieldKeys(bindings, written);
  problems.push(...clashes(yielded, written));
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return yielded;
}

/** Takes the keys that the user configured from the editor's own actions, and from other actions that give way. */
function yieldKeys(bindings: Bindings, written: WrittenBindings): Bindings {
  const configured = ACTIONS.filter((action) => written.has(action));
  const yielding = ACTIONS.filter(
    (action) =>
      (isEditingAction(action) || bindings[action].givesWay === true) && !written.has(action),
  );
  const changed = yielding.map((action) => {
    const binding = bindings[action];
    const taking = configured.filter((each) => overlap(bindings[each], binding));
    const keys = binding.keys.filter(
      (key) => !taking.some((each) => bindings[each].keys.includes(key)),
    );
    return [action, { ...binding, keys }] as const;
  });
  return { ...bindings, ...Object.fromEntries(changed) };
}

/** Returns a key that may be bound; otherwise reports why it may not. */
function readKey(
  written: string,
  { scope, editorAction }: ActionBinding,
  report: (why: string) => void,
): readonly string[] {
  const key = keyFromText(written);
  const isForEditor = scope === 'anywhere' || scope === 'editor';
  const isTaken = editorAction === undefined ? isTyped : isText;
  if (key === null) {
    const examples = '"ctrl+g", "alt+enter", "shift+tab", "pgup", "f5", "esc", "x"';
    report(`: "${sanitizeLine(written)}" is not a key; keys are written like ${examples}`);
  } else if (isForEditor && isTaken(key)) {
    report(`: "${keyName(key)}" types text; add ctrl or alt, or take another key`);
  } else return [key];
  return [];
}

function unknownAction(name: string): string {
  const valid = sortByNearness(name, [...ACTIONS]).join(', ');
  return `unknown action "${sanitizeLine(name)}" in [keys]; valid: ${valid}`;
}

/** Reports keys with two actions in the same scope, where the user gave the key to one of them. */
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

/** Whether a key of both bindings would have two meanings at the same time. */
function overlap(one: ActionBinding, other: ActionBinding): boolean {
  if (!scopesMeet(one.scope, other.scope)) return false;
  // A key that needs an empty editor does not conflict with a key that edits text.
  const isEmptyOnly = one.needsEmptyEditor === true || other.needsEmptyEditor === true;
  return !(isEmptyOnly && (one.editorAction !== undefined || other.editorAction !== undefined));
}

function scopesMeet(one: KeyScope, other: KeyScope): boolean {
  // Completions and lists take their keys from everything else while they are open.
  const takesAll = (scope: KeyScope): boolean => scope === 'completion' || scope === 'picker';
  if (takesAll(one) || takesAll(other)) return one === other;
  return one === other || one === 'anywhere' || other === 'anywhere';
}
