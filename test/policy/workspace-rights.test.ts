import { describe, expect, it } from 'vitest';
import { attenuate, intersectRights } from '../../src/policy/attenuate.ts';
import { patternCouldMatchPath, patternMatchesPath } from '../../src/policy/rules/path-pattern.ts';
import { findDeniedPaths } from '../../src/policy/denied-paths.ts';
import { isProtectedPath } from '../../src/policy/protected-paths.ts';
import { moveRights } from '../../src/policy/workspace-rights.ts';
import { toSourcePath, toWorkspacePath } from '../../src/protocol/workspace-paths.ts';
import type { PermissionRule, Rights } from '../../src/protocol/permission.ts';

const WORKSPACE = { source: '/repo', tree: '/data/workspaces/abcd1234/tree' };
const RIGHTS: Rights = {
  mode: 'acceptEdits',
  rules: { allow: [], ask: [], deny: [] },
  disallowedTools: [],
  roots: ['/repo/packages/a', '/other'],
  network: false,
  depth: 0,
  maxDepth: 2,
};
const source = { kind: 'config', where: 'x' } as const;
const rule = (tool: string, specifier: string): PermissionRule => ({
  text: `${tool}(${specifier})`,
  tool,
  specifier,
  source,
});

describe('rights in a workspace', () => {
  it('have the roots of the parent in the same places, and no other', () => {
    const moved = moveRights(RIGHTS, WORKSPACE);
    expect(moved).toEqual({
      ...RIGHTS,
      roots: ['/data/workspaces/abcd1234/tree/packages/a'],
      workspace: WORKSPACE,
    });
  });

  it('stay when they are reduced to those of the parent, and follow its mode and rules', () => {
    const moved = moveRights(RIGHTS, WORKSPACE);
    const deny = [rule('Edit', 'secret/**')];
    const narrowed: Rights = { ...RIGHTS, mode: 'plan', rules: { allow: [], ask: [], deny } };
    expect(intersectRights(moved, narrowed)).toEqual({
      ...moved,
      mode: 'plan',
      rules: { allow: [], ask: [], deny },
    });
  });

  it('are lost when the parent loses the directory for which the workspace stands', () => {
    const moved = moveRights(RIGHTS, WORKSPACE);
    expect(intersectRights(moved, { ...RIGHTS, roots: ['/other'] }).roots).toEqual([]);
  });

  it('keep the rules about the first source in a workspace that is made of a workspace', () => {
    const inner = {
      source: `${WORKSPACE.tree}/packages/a`,
      tree: '/data/workspaces/efgh5678/tree',
    };
    const moved = moveRights(moveRights(RIGHTS, WORKSPACE), inner);
    expect(moved).toEqual({
      ...RIGHTS,
      roots: [inner.tree],
      workspace: { ...inner, outer: WORKSPACE },
    });
    const { workspace } = moved;
    const bases = { roots: moved.roots, home: '/repo/packages', workspace };
    const path = `${inner.tree}/secret/key`;
    for (const pattern of ['//repo/packages/a/secret/**', '~/a/secret/**']) {
      expect(
        patternCouldMatchPath(pattern, { asked: path, real: path, insideRoots: true }, bases),
      ).toBe(true);
    }
    const deny = [rule('Read', '//repo/packages/a/secret/**')];
    const narrowed = { ...RIGHTS, rules: { allow: [], ask: [], deny } };
    expect(findDeniedPaths({ ...moved, rules: narrowed.rules }, { home: '/h' }).hidden).toEqual([
      `${WORKSPACE.tree}/packages/a/secret`,
      `${inner.tree}/secret`,
      '/repo/packages/a/secret',
    ]);
    // The rights of a session that resumes the task know no workspace.
    expect(intersectRights(moved, narrowed)).toEqual({ ...moved, rules: narrowed.rules });
  });

  it('are those of a child that works in the same workspace', () => {
    const moved = moveRights(RIGHTS, WORKSPACE);
    const agent = {
      name: 'a',
      aliases: [],
      description: '',
      prompt: '',
      tools: { mode: 'all', names: [] },
      disallowedTools: [],
      limits: {},
      origin: { scope: 'user', vendor: 'muster', path: '/a.md' },
      extra: {},
      problems: [],
    } as unknown as Parameters<typeof attenuate>[1];
    const child = attenuate(moved, agent);
    expect(child.roots).toEqual(moved.roots);
    expect(intersectRights(child, moved)).toEqual(child);
  });
});

describe('rules about the source of a workspace', () => {
  const bases = { roots: [`${WORKSPACE.tree}/packages/a`], home: '/home/me', workspace: WORKSPACE };
  const path = `${WORKSPACE.tree}/packages/a/secret/key`;
  const callPath = { asked: path, real: path, insideRoots: true };

  it.each(['//repo/packages/a/secret/**', '//repo/**/key', 'secret/**'])(
    '%s also concern the workspace',
    (pattern) => {
      expect(patternCouldMatchPath(pattern, callPath, bases)).toBe(true);
      expect(patternMatchesPath(pattern, callPath, bases)).toBe(true);
    },
  );

  it('do not concern other paths', () => {
    expect(patternCouldMatchPath('//repo/packages/b/**', callPath, bases)).toBe(false);
  });

  it('hide the same paths from commands', () => {
    const rules = { allow: [], ask: [], deny: [rule('Read', '//repo/packages/a/secret/**')] };
    const rights = { ...moveRights(RIGHTS, WORKSPACE), rules };
    expect(findDeniedPaths(rights, { home: '/home/me' }).hidden).toEqual([
      `${WORKSPACE.tree}/packages/a/secret`,
      '/repo/packages/a/secret',
    ]);
  });

  it('protect the data directory except for the workspace itself', () => {
    const scope = { roots: bases.roots, stateDirectories: ['/data'], workspace: WORKSPACE };
    expect(isProtectedPath(`${WORKSPACE.tree}/packages/a/x`, scope)).toBe(false);
    expect(isProtectedPath('/data/workspaces/abcd1234/workspace.json', scope)).toBe(true);
    expect(isProtectedPath('/data/workspaces/other/tree/x', scope)).toBe(true);
    expect(isProtectedPath(`${WORKSPACE.tree}/packages/a/.git/config`, scope)).toBe(true);
  });
});

describe('paths of a workspace and its source', () => {
  it('correspond', () => {
    expect(toWorkspacePath('/repo/a', WORKSPACE)).toBe(`${WORKSPACE.tree}/a`);
    expect(toWorkspacePath('/repo2/a', WORKSPACE)).toBe('/repo2/a');
    expect(toSourcePath(`${WORKSPACE.tree}/a`, WORKSPACE)).toBe('/repo/a');
    expect(toSourcePath('/repo/a', WORKSPACE)).toBe(undefined);
  });
});
