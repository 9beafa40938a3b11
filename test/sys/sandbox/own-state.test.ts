import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { determineAccess } from '../../../src/sys/sandbox/access-rules.ts';
import { Place } from './support.ts';

/** The rules about two directories with logins, of which one is the program's own; paths relative to the base. */
function rulesFor(access: 'workspace' | 'read-only'): readonly string[] {
  const at = new Place();
  at.write('home/.claude/.credentials.json');
  at.write('home/.codex/auth.json');
  const host = {
    homes: [join(at.base, 'home')],
    stateDirectories: [],
    runtimeDirectories: [],
    sockets: [],
  };
  const ownState = [join(at.base, 'home/.claude')];
  const { rules } = determineAccess({ access, roots: [at.root], network: true, ownState }, host);
  return rules
    .map(({ kind, path }) => `${kind} ${path.slice(at.base.length + 1)}`)
    .filter((rule) => rule.includes('home/.c'));
}

describe('the state of a program itself', () => {
  test('is visible with its logins, and can be changed, and that of others is hidden', () => {
    expect(rulesFor('workspace')).toEqual([
      'writable home/.claude',
      'masked home/.codex/auth.json',
    ]);
  });

  test('cannot be changed if the program may only read', () => {
    expect(rulesFor('read-only')).toEqual(['masked home/.codex/auth.json']);
  });
});
