import { dirname } from 'node:path';
import type { SkillDefinition } from '../../../src/protocol/skill.ts';
import { readSkill } from '../../../src/agents/skills/read.ts';

/** A file with this front matter and the body `Do it.` */
export function skillFile(...lines: readonly string[]): string {
  return ['---', ...lines, '---', '', 'Do it.', ''].join('\n');
}

/** Reads `text` as `/skills/deploy/SKILL.md` of a user. */
export async function readOne(text: string, path = '/skills/deploy/SKILL.md') {
  const read = await readSkill({ path, directory: dirname(path), scope: 'user', text });
  if (!read.ok) throw new Error(JSON.stringify(read.problem));
  return read.skill;
}

export function codesOf({ problems }: Pick<SkillDefinition, 'problems'>): readonly string[] {
  return problems.map(({ code }) => code);
}

export function skillNamed(name: string, parts: Partial<SkillDefinition> = {}): SkillDefinition {
  const directory = `/skills/${name}`;
  return {
    name,
    description: `Does ${name}.`,
    body: 'Do it.',
    directory,
    path: `${directory}/SKILL.md`,
    scope: 'user',
    disallowedTools: [],
    modelInvocable: true,
    argumentNames: [],
    extra: {},
    problems: [],
    ...parts,
  };
}
