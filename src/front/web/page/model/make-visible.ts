import { sanitizeForTerminal, type TerminalContext } from '../../../../base/terminal-text.ts';

/** The fields whose texts a person decides about, so that nothing of them may be dropped. */
const EXACT_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'question',
  'commands',
  'paths',
  'cwd',
]);

/**
 * Makes all texts in data from the server visible: control and direction characters are shown as such, and escape
 * sequences are removed, or shown in commands and questions. Everything that the page shows passes through here first,
 * so no view can forget it. Objects and arrays are changed in place.
 *
 * @param value fresh data that nothing else uses
 */
export function makeVisible<T>(value: T, context: TerminalContext = 'prose'): T {
  // The type stays the same, because a text stays a text.
  return visible(value, context) as T;
}

function visible(value: unknown, context: TerminalContext): unknown {
  if (typeof value === 'string') return sanitizeForTerminal(value, context);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) visitItems(value, context);
  else visitFields(value, context);
  return value;
}

function visitItems(items: unknown[], context: TerminalContext): void {
  for (const [index, each] of items.entries()) {
    const shown = visible(each, context);
    if (shown !== each) items[index] = shown;
  }
}

function visitFields(value: object, context: TerminalContext): void {
  for (const name of Object.keys(value)) {
    const each: unknown = Reflect.get(value, name);
    const shownName = PLAIN_NAME.test(name) ? name : sanitizeForTerminal(name, 'exact');
    const shown = visible(each, EXACT_FIELDS.has(name) ? 'exact' : context);
    // Most texts are plain, and a list of 10,000 tasks has very many of them.
    if (shown === each && shownName === name) continue;
    if (shownName !== name) Reflect.deleteProperty(value, name);
    // A setter such as that of `__proto__` must not run, so the field is defined and not assigned.
    Object.defineProperty(value, shownName, {
      value: shown,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

const PLAIN_NAME = /^[\w-]*$/;
