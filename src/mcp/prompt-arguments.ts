import { splitArguments } from '../base/split-arguments.ts';
import type { McpPrompt, McpPromptArgument } from './server-data.ts';

/** The arguments of a prompt, or the reason why the typed text does not give them, as one line. */
export type BoundArguments =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the arguments of a prompt from the text after its name. `name=value` gives the argument of that name; each other
 * word is the value of the next argument that has none yet, and the last such argument takes all words that remain. Words
 * are split like those of a shell, so quotation marks keep spaces.
 *
 * @param typed the name of the prompt as the user types it: `/server:prompt`
 */
export function bindPromptArguments(
  typed: string,
  { arguments: args }: Pick<McpPrompt, 'arguments'>,
  text: string,
): BoundArguments {
  const values = new Map<string, string>();
  const words: string[] = [];
  for (const word of splitArguments(text)) {
    const named = findNamedArgument(args, word);
    if (named === null) words.push(word);
    else if (values.has(named.name)) {
      return { ok: false, problem: `${typed}: the argument ${named.name} is given twice` };
    } else values.set(named.name, named.value);
  }
  const open = args.filter(({ name }) => !values.has(name));
  for (const [index, { name }] of open.entries()) {
    const isLast = index === open.length - 1;
    const [word] = words;
    if (word === undefined) break;
    values.set(name, isLast ? words.splice(0).join(' ') : word);
    if (!isLast) words.shift();
  }
  const usage = formatPromptUsage(typed, args);
  const [extra] = words;
  if (extra !== undefined) {
    const problem = `${typed} has no argument for ${JSON.stringify(extra)}; usage: ${usage}`;
    return { ok: false, problem };
  }
  const missing = args.filter(({ name, isRequired }) => isRequired && !values.has(name));
  if (missing.length === 0) return { ok: true, values: Object.fromEntries(values) };
  const names = missing.map(describeArgument).join(', ');
  const noun = missing.length === 1 ? 'the argument' : 'the arguments';
  return { ok: false, problem: `${typed} needs ${noun} ${names}; usage: ${usage}` };
}

/** Finds the argument that a word such as `name=value` names. Returns null for any other word. */
function findNamedArgument(
  args: readonly McpPromptArgument[],
  word: string,
): { readonly name: string; readonly value: string } | null {
  const found = args.find(({ name }) => word.startsWith(`${name}=`));
  return found === undefined
    ? null
    : { name: found.name, value: word.slice(found.name.length + 1) };
}

function describeArgument({ name, description = '' }: McpPromptArgument): string {
  return description === '' ? name : `${name} (${description})`;
}

/** Formats how a prompt is typed: `/server:prompt FILE [STYLE]`. */
export function formatPromptUsage(typed: string, args: readonly McpPromptArgument[]): string {
  return [typed, ...args.map(({ name, isRequired }) => formatArgument(name, isRequired))].join(' ');
}

function formatArgument(name: string, isRequired: boolean): string {
  return isRequired ? name.toUpperCase() : `[${name.toUpperCase()}]`;
}
