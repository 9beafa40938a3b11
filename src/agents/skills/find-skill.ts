import { suggestNames } from '../../base/name-suggestions.ts';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** The maximum number of names in a message. */
const MAX_NAMES = 20;
/** The maximum number of characters of a name. A model can send a name of any length. */
const MAX_NAME_LENGTH = 80;

/** The result of finding a skill by name. */
export type FoundSkill =
  | { readonly ok: true; readonly skill: SkillDefinition }
  | { readonly ok: false; readonly message: string };

/**
 * Finds a skill by its name. Case is ignored, and so is a slash before the name. For an unknown name, the message lists
 * similar names and skills whose descriptions contain the name. No other skill is ever used instead.
 */
export function findSkill(name: string, skills: readonly SkillDefinition[]): FoundSkill {
  const wanted = truncate(name.trim().replace(/^\//, ''), MAX_NAME_LENGTH).toLowerCase();
  const skill = skills.find((each) => each.name.toLowerCase() === wanted);
  if (skill !== undefined) return { ok: true, skill };
  const shown = sanitizeForTerminal(truncate(name.trim(), MAX_NAME_LENGTH), 'exact');
  return { ok: false, message: `There is no skill \`${shown}\`.${suggestSkills(wanted, skills)}` };
}

function suggestSkills(wanted: string, skills: readonly SkillDefinition[]): string {
  const names = skills.map(({ name }) => name);
  if (names.length === 0) return ' There are none.';
  const near = suggestNames(wanted, names);
  const mentioning = wanted === '' ? [] : skills.filter((skill) => mentions(skill, wanted));
  const fitting = [...new Set([...near, ...mentioning.map(({ name }) => name)])];
  if (fitting.length > 0) return ` Similar: ${formatNames(fitting)}.`;
  return ` Valid: ${formatNames(names)}.`;
}

function mentions({ name, description }: SkillDefinition, word: string): boolean {
  return name.toLowerCase().includes(word) || description.toLowerCase().includes(word);
}

function formatNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  return `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}
