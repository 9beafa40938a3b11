/** A text of these characters alone has no meaning of its own in a shell, in quotation marks and outside of them. */
const PLAIN = /^[\w./:=@%+,-]+$/;

/**
 * Quotes a typed argument so that a shell takes it as text, whatever it contains. Returns null if it cannot be quoted
 * safely at its place in the command.
 *
 * @param before the command up to the argument, with plain words in the place of earlier arguments
 */
export function quoteShellArgument(argument: string, before: string): string | null {
  // After a dollar sign, even plain characters would be the name of a variable.
  if (argument.includes('\0') || before.endsWith('$')) return null;
  if (PLAIN.test(argument)) return argument;
  switch (findQuotation(before)) {
    case 'none':
      return `'${argument.replaceAll("'", String.raw`'\''`)}'`;
    case 'single':
      return argument.replaceAll("'", String.raw`'\''`);
    case 'double':
      return argument.replaceAll(/["\\$`]/g, String.raw`\$&`);
    case 'unclear':
      return null;
  }
}

/** Syntax after which the quotation marks of a command do not follow the simple rules of `findQuotation`. */
const UNCLEAR = /`|<<|\$'|\$"|\$\{|\$\(\(|(?:^|[\s;&|()])#/;

/** Finds out in which quotation marks the end of a part of a shell command stands. */
function findQuotation(before: string): 'none' | 'single' | 'double' | 'unclear' {
  if (UNCLEAR.test(before)) return 'unclear';
  let state: 'none' | 'single' | 'double' = 'none';
  for (let at = 0; at < before.length; at += 1) {
    const char = before[at];
    if (char === '\\' && state !== 'single') {
      // A backslash at the end would escape the first character of the argument.
      if (at === before.length - 1) return 'unclear';
      at += 1;
    } else if (char === "'" && state !== 'double') state = state === 'none' ? 'single' : 'none';
    else if (char === '"' && state !== 'single') state = state === 'none' ? 'double' : 'none';
    // A command inside double quotation marks has quotation marks of its own.
    else if (char === '$' && before[at + 1] === '(' && state === 'double') return 'unclear';
  }
  return state;
}
