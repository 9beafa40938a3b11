import { dirname } from 'node:path';
import { agentText } from '../../agents/loader/read-text.ts';
import { readSkill } from '../../agents/skills/read.ts';
import { plural } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { cut, nothing, type Grants } from './grants.ts';

/** What a skill of a project would do once it is trusted. */
export async function skillGrants(path: string, bytes: Buffer): Promise<Grants> {
  const text = agentText(bytes);
  if (!text.ok) return nothing(text.reason);
  const directory = dirname(path);
  const read = await readSkill({ path, directory, scope: 'project', text: text.text });
  return read.ok ? { lines: skillLines(read.skill), problems: [] } : nothing(read.problem.message);
}

function skillLines(skill: SkillDefinition): readonly string[] {
  const { name, description, body, modelInvocable, allowedTools, extra, problems } = skill;
  return [
    `skill ${name}: ${cut(description)}`,
    ...(modelInvocable ? [] : ['the model may not call it']),
    ...forkLines(skill),
    ...(allowedTools === undefined
      ? []
      : [
          `allowed-tools: ${allowedTools.join(', ') || 'none'} (grants nothing; narrows its own task)`,
        ]),
    ...Object.entries(extra).map(
      ([field, value]) => `does nothing: ${field}: ${cut(JSON.stringify(value))}`,
    ),
    ...problems.map(({ message }) => `! ${message}`),
    `instructions that the model follows: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
}

function forkLines({ context, agent, model }: SkillDefinition): readonly string[] {
  if (context !== 'fork') return [];
  const type = agent === undefined ? '' : `, of type ${agent}`;
  return [`runs as a task${type}${model === undefined ? '' : `, on the model ${model}`}`];
}
