import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/policy/decide.ts';
import { parseRule } from '../../../src/policy/rules/rules.ts';
import { call, CONTEXT, rights, type RuleTexts } from '../support.ts';

const deploy = call('Skill', 'delegate', { skill: 'deploy' });
const ofPlugin = call('Skill', 'delegate', { skill: 'kit:deploy' });
/** Runs as a task of type Bash. */
const fork = call('Skill', 'delegate', { skill: 'ship', agent: 'Bash' });

function verdict(made: typeof deploy, texts: RuleTexts = {}): string {
  const { verdict: said, step } = decide(made, rights('default', texts), CONTEXT);
  return `${said} ${step}`;
}

describe('a skill', () => {
  const cases: readonly (readonly [made: typeof deploy, texts: RuleTexts, said: string])[] = [
    [deploy, {}, 'allow tool_default'],
    [deploy, { deny: ['Skill'] }, 'deny deny_rule'],
    [deploy, { deny: ['Skill(deploy)'] }, 'deny deny_rule'],
    [deploy, { deny: ['Skill(DEPLOY *)'] }, 'deny deny_rule'],
    [deploy, { deny: ['Skill(deploy:*)'] }, 'deny deny_rule'],
    [deploy, { deny: ['Skill(de*)'] }, 'deny deny_rule'],
    [ofPlugin, { deny: ['Skill(kit:*)'] }, 'deny deny_rule'],
    [ofPlugin, { ask: ['Skill(KIT:*)'] }, 'ask ask_rule'],
    [ofPlugin, { deny: ['Skill(kit:deploy:*)'] }, 'deny deny_rule'],
    [ofPlugin, { deny: ['Skill(deploy)'] }, 'allow tool_default'],
    [ofPlugin, { allow: ['Skill(kit:*)'] }, 'allow tool_default'],
    [ofPlugin, { allow: ['Skill(kit:deploy)'] }, 'allow allow_rule'],
    [deploy, { deny: ['Skill(other)'] }, 'allow tool_default'],
    [deploy, { ask: ['Skill(deploy)'] }, 'ask ask_rule'],
    [deploy, { allow: ['Skill(deploy)'] }, 'allow allow_rule'],
    [deploy, { deny: ['Task'] }, 'allow tool_default'],
    [fork, {}, 'allow tool_default'],
    [fork, { deny: ['Task'] }, 'deny deny_rule'],
    [fork, { deny: ['Task(Bash)'] }, 'deny deny_rule'],
    [fork, { deny: ['Task(Explore)'] }, 'allow tool_default'],
    [fork, { ask: ['Task(Bash)'], allow: ['Skill'] }, 'ask ask_rule'],
  ];
  it.each(cases)('%j %j', (made, texts, said) => {
    expect(verdict(made, texts)).toBe(said);
  });

  it('that runs as a task is refused if Task is disallowed', () => {
    const denied = { ...rights('autonomous'), disallowedTools: ['Task'] };
    expect(decide(fork, denied, CONTEXT)).toMatchObject({ verdict: 'deny', step: 'deny_rule' });
    expect(decide(deploy, denied, CONTEXT)).toMatchObject({ verdict: 'allow' });
  });

  it('may be named in a rule', () => {
    const source = { kind: 'flag', where: '--deny' } as const;
    expect(parseRule({ text: 'Skill(deploy *)', source })).toMatchObject({
      ok: true,
      rule: { tool: 'Skill', specifier: 'deploy *' },
    });
  });
});
