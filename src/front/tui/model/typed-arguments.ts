import type { ServerPrompt } from '../../../api/index.ts';

/** The argument of a prompt that is being typed. */
export interface TypedArgument {
  readonly name: string;
  /** The beginning of its value. */
  readonly value: string;
  /** The text that a completion replaces: the value, with `name=` if that is typed. */
  readonly word: string;
  /** The values that are typed before it. */
  readonly known: Readonly<Record<string, string>>;
}

/**
 * Finds the argument that is being typed at the end of a text after the name of a prompt. Returns null if every argument
 * has a value already.
 */
export function findTypedArgument(
  { arguments: args }: Pick<ServerPrompt, 'arguments'>,
  text: string,
): TypedArgument | null {
  const words = text.split(/\s+/);
  const word = words.pop() ?? '';
  const known = new Map<string, string>();
  const positional: string[] = [];
  for (const each of words.filter((typed) => typed !== '')) {
    const named = args.find(({ name }) => each.startsWith(`${name}=`));
    if (named === undefined) positional.push(each);
    else known.set(named.name, each.slice(named.name.length + 1));
  }
  const open = () => args.find(({ name }) => !known.has(name));
  for (const value of positional) {
    const argument = open();
    if (argument !== undefined) known.set(argument.name, value);
  }
  const named = args.find(({ name }) => word.startsWith(`${name}=`));
  const argument = named ?? open();
  if (argument === undefined) return null;
  const { name } = argument;
  const value = named === undefined ? word : word.slice(name.length + 1);
  return { name, value, word, known: Object.fromEntries(known) };
}

/** The variable of a template of resources that is being typed. */
export interface TypedVariable {
  readonly name: string;
  readonly value: string;
  /** The typed URI before the value. */
  readonly before: string;
  /** The fixed text after the variable, up to the next one. */
  readonly after: string;
  /** Whether the URI is complete after that text. */
  readonly isLast: boolean;
  readonly known: Readonly<Record<string, string>>;
}

const VARIABLE = /\{\+?([A-Za-z_]\w*)\}/;

/** Returns the fixed text at the beginning of a template. */
export function startOfTemplate(template: string): string {
  const at = template.indexOf('{');
  return at === -1 ? template : template.slice(0, at);
}

/**
 * Finds the variable of a template (RFC 6570) that is being typed at the end of a URI. Returns null if the URI does not fit
 * the template, and for expressions other than `{name}` and `{+name}`.
 */
export function findTypedVariable(template: string, typed: string): TypedVariable | null {
  const known = new Map<string, string>();
  let [rest, remaining, before] = [template, typed, ''];
  for (;;) {
    const [expression, name] = VARIABLE.exec(rest) ?? [];
    const fixed = startOfTemplate(rest);
    if (
      expression === undefined ||
      name === undefined ||
      !rest.startsWith(expression, fixed.length)
    ) {
      return null;
    }
    if (!remaining.startsWith(fixed)) return null;
    before += fixed;
    remaining = remaining.slice(fixed.length);
    rest = rest.slice(fixed.length + expression.length);
    const after = startOfTemplate(rest);
    const end = after === '' ? -1 : remaining.indexOf(after);
    if (end === -1) {
      const isLast = after.length === rest.length;
      return { name, value: remaining, before, after, isLast, known: Object.fromEntries(known) };
    }
    const value = remaining.slice(0, end);
    known.set(name, value);
    before += value;
    remaining = remaining.slice(end);
  }
}
