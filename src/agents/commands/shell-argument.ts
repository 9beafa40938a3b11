import { findCodePlace, findQuotation, isOptionPlace, type ShellPlace } from './shell-place.ts';

/** A text of these characters alone has no meaning of its own in a shell, in quotation marks and outside of them. */
const PLAIN = /^[\w./:=@%+,-]+$/;
/** Matches a text that is also no option, no assignment and no code of an interpreter. */
const HARMLESS = /^(?!-)[\w./:@%+,-]+$/;

/**
 * An argument as it stands in a shell command, or the reason, as the rest of a sentence, why it cannot stand there.
 * `refused`: `text` if it cannot be quoted, and `option` if it begins with `-`.
 */
export type QuotedArgument =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly refused: 'text' | 'option'; readonly place: string };

/**
 * Quotes a typed argument so that a shell takes it as text, whatever it contains. At a place where quoting is not enough,
 * only a harmless argument is accepted.
 */
export function quoteTypedArgument(argument: string, place: ShellPlace): QuotedArgument {
  // After a dollar sign, even plain characters would be the name of a variable.
  if (place.before.endsWith('$')) return refuseText('after a dollar sign');
  if (HARMLESS.test(argument)) return { ok: true, text: argument };
  const codePlace = argument === '' ? null : findCodePlace(place);
  if (codePlace !== null) return refuseText(codePlace);
  if (argument.startsWith('-') && isOptionPlace(place))
    return { ok: false, refused: 'option', place: 'where it would be an option' };
  const text = quoteShellText(argument, place.before);
  return text === null ? refuseText(UNQUOTABLE) : { ok: true, text };
}

/** Quotes a directory, which nobody has typed. */
export function quoteDirectory(directory: string, before: string): QuotedArgument {
  const text = quoteShellText(directory, before);
  return text === null ? refuseText(UNQUOTABLE) : { ok: true, text };
}

const UNQUOTABLE = 'where it cannot be quoted';

function refuseText(place: string): QuotedArgument {
  return { ok: false, refused: 'text', place };
}

/**
 * Quotes a text for its place in a shell command. Returns null if it cannot be quoted there.
 *
 * @param before the command up to the text, as in `ShellPlace`
 */
export function quoteShellText(text: string, before: string): string | null {
  if (text.includes('\0') || before.endsWith('$')) return null;
  if (PLAIN.test(text)) return text;
  switch (findQuotation(before)) {
    case 'none':
      return `'${text.replaceAll("'", String.raw`'\''`)}'`;
    case 'single':
      return text.replaceAll("'", String.raw`'\''`);
    case 'double':
      return text.replaceAll(/["\\$`]/g, String.raw`\$&`);
    case 'unclear':
      return null;
  }
}
