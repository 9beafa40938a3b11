import { byteLength } from '../../base/text.ts';
import { splitArguments } from '../../base/split-arguments.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** Matches a command that some products run before the model gets the text. */
const COMMAND = /(?:^|\s)!`[^`\n]+`|^```!/m;

/** Returns whether a text contains commands that another product would run before the model gets the text. */
export function holdsCommands(body: string): boolean {
  return (body.includes('!`') || body.includes('```!')) && COMMAND.test(body);
}

/**
 * Returns the instructions of a skill for the model: the name, the directory of the skill's files, and the text with
 * the arguments inserted for its placeholders. If there is no placeholder, the arguments are appended.
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

/**
 * Returns the same text as `formatSkillText`. If it is longer than `maxBytes`, it is truncated at the end of a line,
 * and a note is appended.
 */
export function formatSkillTextWithin(
  skill: SkillDefinition,
  args: string,
  maxBytes: number,
): string {
  const text = formatSkillText(skill, args);
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes || byteLength(text) <= maxBytes) return text;
  const fitting = Buffer.from(text, 'utf8').subarray(0, Math.max(0, maxBytes - NOTE_BYTES));
  const fullText = new TextDecoder().decode(fitting, { stream: true });
  const end = fullText.lastIndexOf('\n');
  const shortened = fullText.slice(0, end > fullText.length / 2 ? end : fullText.length);
  return `${shortened}\n\n[Cut at ${byteLength(shortened)} of ${byteLength(text)} bytes. Read the rest in ${JSON.stringify(skill.path)}.]`;
}

/** The maximum number of bytes in UTF-8 of a UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
/** The maximum number of bytes of the note at the end. It contains a path, which has at most 4,096 bytes. */
const NOTE_BYTES = 4_400;

/** A text in which placeholders have been replaced. */
interface Substitution {
  readonly text: string;
  /** Whether the text had a placeholder for an argument. */
  readonly usedArguments: boolean;
}

/**
 * Replaces the placeholders of instructions: `$ARGUMENTS` (the text of all arguments), `$ARGUMENTS[N]` and `$N`
 * (counted from 0), `$NAME` for a name in `argumentNames`, and `${CLAUDE_SKILL_DIR}`. This happens in one pass, so that
 * placeholders in an argument are not replaced. A number without an argument is not replaced, and a name without an
 * argument becomes empty. A placeholder after a backslash is not replaced.
 */
export function substituteArguments(
  { body, directory, argumentNames }: Pick<SkillDefinition, 'body' | 'directory' | 'argumentNames'>,
  args: string,
): Substitution {
  const words = splitArguments(args);
  let usedArguments = false;
  const findValue = (
    fullText: string,
    index: string | undefined,
    name: string | undefined,
  ): string => {
    if (fullText.endsWith('CLAUDE_SKILL_DIR}')) return directory;
    usedArguments = true;
    if (index !== undefined) return words[Number(index)] ?? fullText;
    return name === undefined ? args : (words[argumentNames.indexOf(name)] ?? '');
  };
  const text = body.replace(
    createPlaceholderPattern(argumentNames),
    (
      found: string,
      slashes: string,
      indexed: string | undefined,
      short: string | undefined,
      name?: string,
    ) => {
      const fullText = found.slice(slashes.length);
      if (slashes.length === 1) return fullText;
      return `${slashes}${findValue(fullText, indexed ?? short, name)}`;
    },
  );
  return { text, usedArguments };
}

function createPlaceholderPattern(names: readonly string[]): RegExp {
  // The longest name comes first, so that `$issue` does not match in `$issue-number`.
  const named = names.toSorted((a, b) => b.length - a.length).join('|');
  // Without names, the group matches nothing, but it still exists.
  const name = named === '' ? '((?!))' : String.raw`(${named})(?!\w)`;
  return new RegExp(
    String.raw`(?<!\\)(\\*)\$(?:ARGUMENTS\[(\d{1,4})\]|ARGUMENTS(?![\w\[])|(\d{1,4})(?!\w)|\{CLAUDE_SKILL_DIR\}|${name})`,
    'g',
  );
}
