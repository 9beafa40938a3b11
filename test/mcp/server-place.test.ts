import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInside } from '../../src/base/path-inside.ts';
import { moveTransport, placeInWorkspace } from '../../src/mcp/server-place.ts';
import type { StdioTransport } from '../../src/mcp/server-entry.ts';

const SESSION = { cwd: '/repo/app', roots: ['/repo/app', '/other'], workspace: null };
const TREE = '/data/workspaces/abcd1234/tree';
const INNER = '/data/workspaces/efgh5678/tree';
const WHOLE = { source: '/repo', tree: TREE, branch: 'muster/abcd1234/x' };

describe('the place of a server for a workspace', () => {
  it.each([
    ['of the directory of the session', { source: '/repo/app', tree: TREE }, TREE, [TREE]],
    ['of a directory above it', WHOLE, `${TREE}/app`, [`${TREE}/app`]],
    ['of a directory below it', { source: '/repo/app/lib', tree: TREE }, TREE, [TREE]],
    ['of another root', { source: '/other', tree: TREE }, TREE, [TREE]],
    ['of a directory outside of the session', { source: '/else', tree: TREE }, TREE, [TREE]],
    [
      'in a workspace',
      { source: TREE, tree: INNER, outer: WHOLE },
      `${INNER}/app`,
      [`${INNER}/app`],
    ],
  ])('%s', (_, workspace, cwd, roots) => {
    expect(placeInWorkspace(SESSION, workspace)).toEqual({ cwd, roots, workspace });
  });

  it('lies in the workspace, whatever the directories of the session are', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'c'), { maxLength: 4 })
      .map((names) => `/${names.join('/')}`);
    fc.assert(
      fc.property(path, fc.array(path, { maxLength: 4 }), path, fc.boolean(), (...drawn) => {
        const [cwd, roots, source, isNested] = drawn;
        const outer = { source, tree: TREE };
        const workspace = isNested ? { source: TREE, tree: INNER, outer } : outer;
        const place = placeInWorkspace({ cwd, roots, workspace: null }, workspace);
        expect(place.roots.length).toBeGreaterThan(0);
        for (const each of [place.cwd, ...place.roots])
          expect(isInside(workspace.tree, each)).toBe(true);
      }),
    );
  });
});

describe('the program of a server', () => {
  const place = placeInWorkspace(SESSION, WHOLE);
  const FILES = new Set(['/repo/app/tools/server.mjs', '/repo/app/data.db']);
  const start = (transport: Partial<StdioTransport>, at = place) =>
    moveTransport(
      { type: 'stdio', command: 'node', args: [], env: {}, cwd: null, ...transport },
      { session: SESSION, place: at },
      (path) => FILES.has(path),
    );
  const started = { type: 'stdio', command: 'node', args: [], env: {}, cwd: `${TREE}/app` };

  it.each<[string, Partial<StdioTransport>, object]>([
    ['runs in the workspace', {}, {}],
    [
      'gets paths of the workspace',
      { args: ['/repo/app', '--root=/repo/app/src', '/other', '/repository'] },
      { args: [`${TREE}/app`, `--root=${TREE}/app/src`, '/other', '/repository'] },
    ],
    [
      'gets variables of the workspace',
      { env: { ROOT: '/repo', PLAIN: 'x' } },
      { env: { ROOT: TREE, PLAIN: 'x' } },
    ],
    [
      'is code of the session, named by its place there',
      { args: ['-r', 'tools/server.mjs', '/repo/app/tools/server.mjs'] },
      { args: ['-r', '/repo/app/tools/server.mjs', '/repo/app/tools/server.mjs'] },
    ],
    [
      'leaves data and missing files to the workspace',
      { args: ['data.db', '/repo/app/data.db', 'missing.mjs'] },
      { args: ['data.db', `${TREE}/app/data.db`, 'missing.mjs'] },
    ],
    [
      'is the relative command of the session',
      { command: './bin/x' },
      { command: '/repo/app/bin/x' },
    ],
    ['is an absolute command', { command: '/repo/bin/x' }, { command: '/repo/bin/x' }],
    ['runs in the directory of its entry', { cwd: 'lib' }, { cwd: `${TREE}/app/lib` }],
    ['runs in a directory elsewhere', { cwd: '/opt/x' }, { cwd: '/opt/x' }],
  ])('%s', (_, transport, expected) => {
    expect(start(transport)).toEqual({ ...started, ...expected });
  });

  it('is unchanged in the directories of the session', () => {
    const transport = { command: './x', args: ['tools/server.mjs', '/repo/app'], cwd: 'lib' };
    expect(start(transport, SESSION)).toEqual({
      ...started,
      ...transport,
      cwd: '/repo/app/lib',
    });
  });
});
