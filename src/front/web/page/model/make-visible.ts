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
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const each: unknown = value[index];
      if (isWorthVisiting(each)) value[index] = visible(each, context);
    }
    return value;
  }
  if (typeof value === 'object' && value !== null) visitFields(value, context);
  return value;
}

function visitFields(value: object, context: TerminalContext): void {
  for (const [name, each] of Object.entries(value)) {
    const shown = sanitizeForTerminal(name, 'exact');
    if (shown !== name) Reflect.deleteProperty(value, name);
    else if (!isWorthVisiting(each)) continue;
    // A setter such as `__proto__` must not run, so the field is defined and not assigned.
    Object.defineProperty(value, shown, {
      value: visible(each, EXACT_FIELDS.has(name) ? 'exact' : context),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

function isWorthVisiting(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}
