import { byteLength } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { substitute } from './substitute.ts';

/** Matches a command that some products run before the model gets the text. */
const COMMAND = /(?:^|\s)!`[^`\n]+`|^```!/m;

/** Whether a text holds commands that another product would run before the model gets it. */
export function holdsCommands(body: string): boolean {
  return (body.includes('!`') || body.includes('```!')) && COMMAND.test(body);
}

/**
 * The instructions of a skill for whoever is to follow them: its name, where its files lie, and its text
 * with the arguments in their places; at the end where it has no place for them. Pure.
 */
export function skillText(skill: SkillDefinition, args = ''): string {
  const { name, directory } = skill;
  const { text, usedArguments } = substitute(skill, args);
  const rest = args.trim() === '' || usedArguments ? [] : [`ARGUMENTS: ${args}`];
  return [
    `Skill ${name}. Its files lie in ${JSON.stringify(directory)}: paths in it count from there, and Read opens them.`,
    ...(holdsCommands(skill.body)
      ? ['Commands written as !`…` in it have not been run: run what you need of them yourself.']
      : []),
    text,
    ...rest,
  ].join('\n\n');
}

/** The same, ended at a line where it is longer than so many bytes, and saying so. */
export function skillTextWithin(skill: SkillDefinition, args: string, maxBytes: number): string {
  const text = skillText(skill, args);
  if (text.length * BYTES_A_UNIT <= maxBytes || byteLength(text) <= maxBytes) return text;
  const fitting = Buffer.from(text, 'utf8').subarray(0, Math.max(0, maxBytes - NOTE_BYTES));
  const whole = new TextDecoder().decode(fitting, { stream: true });
  const end = whole.lastIndexOf('\n');
  const kept = whole.slice(0, end > whole.length / 2 ? end : whole.length);
  return `${kept}\n\n[Cut at ${byteLength(kept)} of ${byteLength(text)} bytes. Read the rest in ${JSON.stringify(skill.path)}.]`;
}

/** A UTF-16 unit takes at most so many bytes in UTF-8. */
const BYTES_A_UNIT = 3;
/** For the note at the end; a path is at most 4,096 bytes long. */
const NOTE_BYTES = 4_400;
