import { byteLength } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { substituteArguments } from './substitute.ts';

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
export function skillText(skill: SkillDefinition, args = ''): string {
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
export function skillTextWithin(skill: SkillDefinition, args: string, maxBytes: number): string {
  const text = skillText(skill, args);
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes || byteLength(text) <= maxBytes) return text;
  const fitting = Buffer.from(text, 'utf8').subarray(0, Math.max(0, maxBytes - NOTE_BYTES));
  const whole = new TextDecoder().decode(fitting, { stream: true });
  const end = whole.lastIndexOf('\n');
  const kept = whole.slice(0, end > whole.length / 2 ? end : whole.length);
  return `${kept}\n\n[Cut at ${byteLength(kept)} of ${byteLength(text)} bytes. Read the rest in ${JSON.stringify(skill.path)}.]`;
}

/** The most bytes of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** The most bytes of the note at the end. A path is at most 4,096 bytes long. */
const NOTE_BYTES = 4_400;
