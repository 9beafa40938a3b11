import { byteLength } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** Matches a command that some products run before the model gets the text. */
const COMMAND = /(?:^|\s)!`[^`\n]+`|^```!/m;

/** Whether a text holds commands that another product would run before the model gets it. */
export function holdsCommands(body: string): boolean {
  return (body.includes('!`') || body.includes('```!')) && COMMAND.test(body);
}

/**
 * Returns the instructions of a skill for the model: its name, the folder of its files, and its text with the
 * arguments in place of the placeholders. Without a placeholder, the arguments are at the end.
 */
export function formatSkillText(skill: SkillDefinition, args = ''): string {
  const { name, directory } = skill;
  const { text, usedArguments } = substituteArguments(skill, args);
  const rest = args.trim() === '' || usedArguments ? [] : [`ARGUMENTS: ${args}`];
  return [
    `Skill ${name}. Its files are in ${JSON.stringify(directory)}: paths in its text are relative to that folder, and Read opens them.`,
    ...(holdsCommands(skill.body)
      ? ['Commands written as !`…` in it have not been run: run those that you need yourself.']
      : []),
    text,
    ...rest,
  ].join('\n\n');
}

/** Returns the same text, cut at the end of a line, with a note, if it is longer than `maxBytes`. */
export function formatSkillTextWithin(
  skill: SkillDefinition,
  args: string,
  maxBytes: number,
): string {
  const text = formatSkillText(skill, args);
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes || byteLength(text) <= maxBytes) return text;
  const fitting = Buffer.from(text, 'utf8').subarray(0, Math.max(0, maxBytes - NOTE_BYTES));
  const whole = new TextDecoder().decode(fitting, { stream: true });
  const end = whole.lastIndexOf('\n');
  const kept = whole.slice(0, end > whole.length / 2 ? end : whole.length);
  return `${kept}\n\n[Cut at ${byteLength(kept)} of ${byteLength(text)} bytes. Read the rest in ${JSON.stringify(skill.path)}.]`;
}

/** The maximum number of bytes of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** The most bytes of the note at the end. A path is at most 4,096 bytes long. */
const NOTE_BYTES = 4_400;

/** A text in which placeholders have been replaced. */
interface Substitution {
  readonly text: string;
  /** Whether the text had a placeholder for an argument. */
  readonly usedArguments: boolean;
}

/**
 * Replaces the placeholders of instructions, in one pass, so that no text of an argument is a placeholder:
 * `$ARGUMENTS` (all arguments, as given), `$ARGUMENTS[N]` and `$N` (counted from 0), `$NAME` for a name in
 * `argumentNames`, and `${CLAUDE_SKILL_DIR}`. A number without an argument is not replaced; a name without one
 * becomes empty. A placeholder after a backslash is not replaced.
 */
export function substituteArguments(
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
  // The longest name comes first: `$issue` must not match in `$issue-number`.
  const named = names.toSorted((a, b) => b.length - a.length).join('|');
  // Without names, the group matches nothing, but it still exists.
  const name = named === '' ? '((?!))' : String.raw`(${named})(?!\w)`;
  return new RegExp(
    String.raw`(?<!\\)(\\*)\$(?:ARGUMENTS\[(\d{1,4})\]|ARGUMENTS(?![\w\[])|(\d{1,4})(?!\w)|\{CLAUDE_SKILL_DIR\}|${name})`,
    'g',
  );
}

/** The characters that a backslash escapes inside double quotation marks. */
const ESCAPABLE = '"\\$`';

/** Splits arguments like a shell: at spaces that are neither in quotation marks nor after a backslash. */
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
