import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSavedAnswers } from '../../src/trust/saved-answers.ts';
import { parseRule } from '../../src/policy/rules/rules.ts';
import { createStandingRules } from '../../src/trust/standing-rules.ts';
import type { StandingRule } from '../../src/engine/task/inbox.ts';
import type { PermissionRule } from '../../src/protocol/permission.ts';
import { Project } from './project.ts';

function rule(text: string): PermissionRule {
  const parsed = parseRule({ text, source: { kind: 'answer', where: 'an answer' } });
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.rule;
}

const bySpelling = (a: StandingRule, b: StandingRule): number =>
  a.rule.text.localeCompare(b.rule.text);

it('a rule is saved for the project of the task that asked, wherever the process was started', () => {
  using project = new Project();
  const open = () => {
    const onProblem = (message: string): void => void project.problems.push(message);
    const saved = openSavedAnswers({ ...project.place(), dataDir: project.state, onProblem });
    return createStandingRules({ saved, onNotice: onProblem });
  };
  const below = join(project.repo, 'below');
  const other = join(project.home, 'other');
  for (const path of [below, other]) mkdirSync(path, { recursive: true });
  const standing = open();
  const texts = (directory: string | null, rules = standing) =>
    rules.rules(directory).map(({ text }) => text);
  expect(texts(project.repo)).toEqual([]);
  standing.add(rule('Bash(make)'), { scope: 'project', directory: other });
  standing.add(rule('Bash(ls)'), { scope: 'user', directory: below });
  for (const rules of [standing, open()]) {
    expect([texts(other, rules).toSorted(), texts(below, rules), texts(null, rules)]).toEqual([
      ['Bash(ls)', 'Bash(make)'],
      ['Bash(ls)'],
      [],
    ]);
  }
  expect(standing.list(other).toSorted(bySpelling)).toMatchObject([
    { rule: { text: 'Bash(ls)' }, scope: 'user' },
    { rule: { text: 'Bash(make)' }, scope: 'project' },
  ]);
  // A rule is removed only where it was saved, and by its meaning.
  expect(standing.remove(rule('Bash(make)'), { scope: 'user', directory: other })).toBe(false);
  expect(standing.remove(rule(' Bash( make )'), { scope: 'project', directory: other })).toBe(true);
  expect(standing.remove(rule('Bash(make)'), { scope: 'project', directory: other })).toBe(false);
  expect(standing.remove(rule('Bash(ls)'), { scope: 'user', directory: below })).toBe(true);
  for (const rules of [standing, open()]) {
    expect([texts(other, rules), texts(below, rules)]).toEqual([[], []]);
  }
  expect(() => standing.add(rule('Bash(x)'), { scope: 'project', directory: null })).toThrow(
    /no working directory/,
  );
  expect(project.problems).toEqual([]);
});
