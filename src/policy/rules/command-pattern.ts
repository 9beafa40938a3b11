import { findDoubt, type ShellParser, type SimpleCommand } from '../shell/parsed-line.ts';

/** A parsed command specifier, in one of three forms. */
export type CommandPattern =
  /** `npm run:*` and `npm run *`: these words, followed by any other words. */
  | { readonly form: 'prefix'; readonly words: readonly string[] }
  /** `git * --stat`: matched against the words of one command, joined by single blanks. */
  | { readonly form: 'glob'; readonly glob: string }
  /** `npm test`: exactly these words. */
  | { readonly form: 'exact'; readonly text: string };

export function parseCommandPattern(specifier: string): CommandPattern {
  const prefix = /^(.*?)(?::\*| \*)$/s.exec(specifier)?.[1];
  if (prefix !== undefined && !prefix.includes('*')) {
    return { form: 'prefix', words: splitAtBlanks(prefix) };
  }
  if (specifier.includes('*')) return { form: 'glob', glob: collapseBlanks(specifier) };
  return { form: 'exact', text: specifier };
}

/** Parses a text that consists of one plain command. Returns undefined for any other text. */
export function parseSingleCommand(text: string, parser: ShellParser): SimpleCommand | undefined {
  const reading = parser(text);
  const isPlain = findDoubt(reading) === undefined && reading.commands.length === 1;
  return isPlain ? reading.commands[0] : undefined;
}

export function splitAtBlanks(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

export function collapseBlanks(text: string): string {
  return splitAtBlanks(text).join(' ');
}
