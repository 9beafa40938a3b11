import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { openSavedAnswers, type SavedAnswers } from '../../src/trust/saved-answers.ts';
import { Project } from './project.ts';

function open(project: Project, dataDir = project.state): SavedAnswers {
  const onProblem = (message: string): void => void project.problems.push(message);
  return openSavedAnswers({ ...project.place(), dataDir, onProblem });
}

function rules(project: Project, root = project.repo): readonly string[] {
  return open(project)
    .rules(root)
    .map(({ text }) => text);
}

describe('an answer "always"', () => {
  it('applies in its project, or everywhere', () => {
    using project = new Project();
    const answers = open(project);
    expect(answers.rules(project.repo)).toEqual([]);
    const projectRoot = project.repo;
    answers.add({ rule: 'Bash(npm test)', scope: 'project', projectRoot });
    answers.add({ rule: 'WebFetch(domain:example.com)', scope: 'user', projectRoot });
    answers.add({ rule: 'Bash(npm test)', scope: 'project', projectRoot });
    const where = join(project.state, 'answers.json');
    const source = { kind: 'answer', where };
    expect(answers.rules(project.repo)).toEqual([
      { text: 'WebFetch(domain:example.com)', source, scope: 'user' },
      { text: 'Bash(npm test)', source, scope: 'project' },
    ]);
    expect(rules(project, '/other')).toEqual(['WebFetch(domain:example.com)']);
    expect(statSync(where).mode & 0o777).toBe(0o600);
  });

  it('is a rule', () => {
    using project = new Project();
    const add = (): void =>
      open(project).add({ rule: 'Bash(rm', scope: 'user', projectRoot: project.repo });
    expect(add).toThrow(UsageError);
  });

  it('is listed with its date, and revoked by its rule', async () => {
    using project = new Project();
    const projectRoot = project.repo;
    const answers = open(project);
    answers.add({ rule: 'Bash(make)', scope: 'project', projectRoot });
    answers.add({ rule: 'Bash(make)', scope: 'project', projectRoot: '/other' });
    answers.add({ rule: 'Bash(ls)', scope: 'user', projectRoot });
    const answeredOn = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect((await project.approvals().list()).answers).toEqual([
      { rule: 'Bash(make)', project: projectRoot, answeredOn },
      { rule: 'Bash(ls)', project: null, answeredOn },
    ]);
    expect(project.approvals().revoke(['Bash(make)']).answers).toHaveLength(1);
    expect(rules(project)).toEqual(['Bash(ls)']);
    expect(rules(project, '/other')).toEqual(['Bash(make)', 'Bash(ls)']);
    await project.approvals().revokeAll();
    expect(rules(project)).toEqual(['Bash(ls)']);
    project.approvals().revoke(['Bash(ls)']);
    expect(rules(project)).toEqual([]);
  });

  it.each([
    '{',
    '{"version": 1}',
    '{"version": 1, "answers": [{"rule": "Bash(rm", "project": null, "answeredOn": ""}]}',
    '{"version": 1, "answers": [{"rule": "Bash"}]}',
  ])('allows nothing if its file is damaged: %s', (text) => {
    using project = new Project();
    mkdirSync(project.state, { mode: 0o700 });
    writeFileSync(join(project.state, 'answers.json'), text, { mode: 0o600 });
    expect(rules(project)).toEqual([]);
    expect(project.problems).toEqual([
      expect.stringMatching(/^no saved answer applies: .* is damaged/),
    ]);
  });

  it('allows nothing from a file that others can write, or that came with the project', () => {
    using project = new Project();
    const projectRoot = project.repo;
    open(project).add({ rule: 'Bash', scope: 'user', projectRoot });
    const file = join(project.state, 'answers.json');
    chmodSync(file, 0o602);
    expect(rules(project)).toEqual([]);
    chmodSync(file, 0o600);
    expect(rules(project)).toEqual(['Bash']);
    const inside = join(project.repo, 'data');
    renameSync(project.state, inside);
    expect(open(project, inside).rules(projectRoot)).toEqual([]);
    const add = (): void => open(project, inside).add({ rule: 'Bash', scope: 'user', projectRoot });
    expect(add).toThrow(/is inside the project/);
  });
});
