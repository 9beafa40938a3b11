import type { SkillDefinition } from '../../../src/protocol/skill.ts';
import { readSkill } from '../../../src/agents/skills/read-skill.ts';

/** A file with this front matter and the body `Do it.` */
export function skillFile(...lines: readonly string[]): string {
  return ['---', ...lines, '---', '', 'Do it.', ''].join('\n');
}

/** Reads `text` as `/skills/deploy/SKILL.md` of a user. */
export async function readOne(text: string, path = '/skills/deploy/SKILL.md') {
  const { items, problems } = await readSkill({ path, scope: 'user', text });
  if (items[0] === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  return items[0];
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
