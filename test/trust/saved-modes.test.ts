import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSavedModes } from '../../src/trust/saved-modes.ts';
import type { ModeGrant } from '../../src/protocol/permission.ts';
import { Project } from './project.ts';

function open(project: Project, dataDir = project.state) {
  const onProblem = (message: string): void => void project.problems.push(message);
  return openSavedModes({ ...project.place(), dataDir, onProblem });
}

function grant(agent: string, path: string, mode: ModeGrant['mode'] = 'acceptEdits'): ModeGrant {
  return {
    agent,
    mode,
    definition: { path, sha256: null },
    source: { kind: 'answer', where: "the user's answer to question q1" },
  };
}

describe('a mode that an answer gave for every conversation', () => {
  it('is stored with its definition, and replaces the earlier mode', () => {
    using project = new Project();
    const modes = open(project);
    expect(modes.all()).toEqual([]);
    const where = join(project.state, 'agent-modes.json');
    const source = { kind: 'answer', where };
    modes.add(grant('coder', '/a/coder.md'));
    modes.add(grant('coder', '/b/coder.md'));
    expect(modes.add(grant('coder', '/a/coder.md', 'autonomous'))).toEqual({
      ...grant('coder', '/a/coder.md', 'autonomous'),
      source,
    });
    expect(open(project).all()).toEqual([
      { ...grant('coder', '/b/coder.md'), source },
      { ...grant('coder', '/a/coder.md', 'autonomous'), source },
    ]);
    expect(statSync(where).mode & 0o777).toBe(0o600);
  });

  it('is listed with its date, and revoked by agent and mode, or with its project', async () => {
    using project = new Project();
    const modes = open(project);
    modes.add(grant('coder', '/a/coder.md'));
    modes.add(grant('tester', '/a/tester.md', 'autonomous'));
    modes.add(grant('own', join(project.repo, '.muster/agents/own.md')));
    const listed = (await project.approvals().list()).modes;
    expect(listed.map(({ agent, mode }) => [agent, mode])).toEqual([
      ['coder', 'acceptEdits'],
      ['tester', 'autonomous'],
      ['own', 'acceptEdits'],
    ]);
    expect(listed[0]?.answeredOn).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(project.approvals().revoke(['coder=acceptEdits']).modes).toHaveLength(1);
    expect(() => project.approvals().revoke(['coder=acceptEdits'])).toThrow(/AGENT=MODE/);
    expect((await project.approvals().revokeAll()).modes.map(({ agent }) => agent)).toEqual([
      'own',
    ]);
    expect(
      open(project)
        .all()
        .map(({ agent }) => agent),
    ).toEqual(['tester']);
  });

  it.each([
    ['{', 'it does not hold a JSON object'],
    ['{"version": 2, "modes": []}', 'its version is not 1'],
    ['{"version": 1}', 'no list of modes'],
    [
      '{"version": 1, "modes": [{"agent": "coder", "mode": "root", "path": "/a", "sha256": null, "answeredOn": ""}]}',
      'entry 1 is not a valid mode grant',
    ],
    [
      '{"version": 1, "modes": [{"agent": "coder", "mode": "autonomous", "sha256": null, "answeredOn": ""}]}',
      'entry 1 is not a valid mode grant',
    ],
  ])('is ignored in a damaged file: %s', (text, how) => {
    using project = new Project();
    mkdirSync(project.state, { mode: 0o700 });
    writeFileSync(join(project.state, 'agent-modes.json'), text, { mode: 0o600 });
    expect(open(project).all()).toEqual([]);
    expect(project.problems).toEqual([expect.stringContaining(how)]);
    expect(() => open(project).add(grant('coder', '/a'))).toThrow(how);
  });

  it('is ignored in a file that others can write to, or that is in the project', () => {
    using project = new Project();
    open(project).add(grant('coder', '/a'));
    chmodSync(join(project.state, 'agent-modes.json'), 0o666);
    expect(open(project).all()).toEqual([]);
    expect(project.problems).toEqual([expect.stringContaining('others can write to it')]);
    const inside = join(project.repo, 'state');
    expect(open(project, inside).all()).toEqual([]);
    expect(() => open(project, inside).add(grant('coder', '/a'))).toThrow(/project/);
  });
});
