import type { SkillDefinition } from '../../protocol/skill.ts';

/** What the placeholders of a text are replaced by. */
interface Substitution {
  readonly text: string;
  /** Whether an argument stood somewhere in the text. */
  readonly usedArguments: boolean;
}

/**
 * Puts arguments into instructions, in one pass, so that nothing in an argument is a placeholder:
 * `$ARGUMENTS` (all, as given), `$ARGUMENTS[N]` and `$N` (counted from 0), `$NAME` of `argumentNames`,
 * and `${CLAUDE_SKILL_DIR}`. A number without an argument stays as it stands, a name without one is
 * empty. One backslash before a placeholder keeps it.
 */
export function substitute(
  { body, directory, argumentNames }: Pick<SkillDefinition, 'body' | 'directory' | 'argumentNames'>,
  args: string,
): Substitution {
  const words = splitArguments(args);
  let usedArguments = false;
  const valueOf = (whole: string, index: string | undefined, name: string | undefined): string => {
    if (whole.endsWith('CLAUDE_SKILL_DIR}')) return directory;
    usedArguments = true;
    if (index !== undefined) return words[Number(index)] ?? whole;
    return name === undefined ? args : (words[argumentNames.indexOf(name)] ?? '');
  };
  const text = body.replace(
    placeholders(argumentNames),
    (
      found: string,
      slashes: string,
      indexed: string | undefined,
      short: string | undefined,
      name?: string,
    ) => {
      const whole = found.slice(slashes.length);
      if (slashes.length === 1) return whole;
      return `${slashes}${valueOf(whole, indexed ?? short, name)}`;
    },
  );
  return { text, usedArguments };
}

function placeholders(names: readonly string[]): RegExp {
  // The longest first: `$issue` must not be found in `$issue-number`.
  const named = names.toSorted((a, b) => b.length - a.length).join('|');
  // Without names the group matches nothing, and stays one.
  const name = named === '' ? '((?!))' : String.raw`(${named})(?!\w)`;
  return new RegExp(
    String.raw`(?<!\\)(\\*)\$(?:ARGUMENTS\[(\d{1,4})\]|ARGUMENTS(?![\w\[])|(\d{1,4})(?!\w)|\{CLAUDE_SKILL_DIR\}|${name})`,
    'g',
  );
}

/** What a backslash takes its meaning from within double quotes. */
const ESCAPABLE = '"\\$`';

/** Arguments as a shell parts them: by blanks, but for those in quotes or behind a backslash. */
export function splitArguments(args: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < args.length; at += 1) {
    const char = args.charAt(at);
    const next = args.charAt(at + 1);
    if (char === quote) {
      quote = '';
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === '\\' && next !== '' && isEscaped(next, quote)) {
      word = `${word ?? ''}${next}`;
      at += 1;
    } else {
      word = `${word ?? ''}${char}`;
    }
  }
  return word === null ? words : [...words, word];
}

function isEscaped(char: string, quote: string): boolean {
  return quote === '' || (quote === '"' && ESCAPABLE.includes(char));
}
