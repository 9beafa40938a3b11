import { describe, expect, it } from 'vitest';
import { mapPaths } from '../../src/protocol/workspace-paths.ts';

const TREES = { source: '/home/me/app', tree: '/data/workspaces/abcd1234/tree' };

describe('paths in the prompt of a task in a workspace', () => {
  it.each([
    ['Read /home/me/app/src/a.ts.', 'Read /data/workspaces/abcd1234/tree/src/a.ts.'],
    ['Look at /home/me/app.', 'Look at /data/workspaces/abcd1234/tree.'],
    ['`/home/me/app`', '`/data/workspaces/abcd1234/tree`'],
    [
      '/home/me/app/a, /home/me/app/b',
      '/data/workspaces/abcd1234/tree/a, /data/workspaces/abcd1234/tree/b',
    ],
    ['/home/me/app2/a and /home/me/app.bak', '/home/me/app2/a and /home/me/app.bak'],
    ['/mnt/home/me/app/a', '/mnt/home/me/app/a'],
    ['~/home/me/app', '~/home/me/app'],
    ['src/a.ts', 'src/a.ts'],
  ])('%s', (text, expected) => {
    expect(mapPaths(text, TREES)).toBe(expected);
  });

  it('are not replaced twice where the workspace lies in its source', () => {
    const nested = { source: '/app', tree: '/app/.muster/workspaces/abcd1234/tree' };
    const text = 'See /app/a and /app/.muster/workspaces/abcd1234/tree/b';
    expect(mapPaths(text, nested)).toBe(
      'See /app/.muster/workspaces/abcd1234/tree/a and /app/.muster/workspaces/abcd1234/tree/b',
    );
  });

  it('are left alone if the source is the root directory', () => {
    expect(mapPaths('/etc/hosts', { source: '/', tree: '/data/t' })).toBe('/etc/hosts');
  });
});
