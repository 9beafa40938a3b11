import { TEMPLATES } from '../../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectTrust } from '../../../src/sys/files/project-file.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-templates-')));
  mkdirSync(join(root, 'project/.git'), { recursive: true });
  mkdirSync(join(root, 'home'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, name: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `---\nname: ${name}\n---\n{{item}}`);
}

const TRUSTED: ProjectTrust = { judge: () => ({ state: 'trusted' }) };
const NEW: ProjectTrust = { judge: () => ({ state: 'new' }) };

function options(trust: ProjectTrust = TRUSTED, cwd = 'project/deep') {
  mkdirSync(join(root, cwd), { recursive: true });
  return { cwd: join(root, cwd), environment: { HOME: join(root, 'home') }, trust };
}

describe('templates', () => {
  it('of the project come first, the nearest before the others, then those of the user and the built-in ones', async () => {
    write('project/deep/.muster/templates/near.md', 'one');
    write('project/.muster/templates/far.md', 'One');
    write('project/.muster/templates/README.md', 'readme');
    write('home/.config/muster/templates/mine.md', 'test-file');
    const found = await discoverDefinitions(TEMPLATES, options());
    expect(
      found.items.map(({ name, scope, path }) => [name, scope, path.replace(root, '')]),
    ).toEqual([
      ['one', 'project', '/project/deep/.muster/templates/near.md'],
      ['test-file', 'user', '/home/.config/muster/templates/mine.md'],
      ['refactor-module', 'builtin', 'builtin:refactor-module'],
      ['best-of-n', 'builtin', 'builtin:best-of-n'],
    ]);
    expect(
      found.shadowed.map(({ item: template, by }) => [
        template.path.replace(root, ''),
        by.replace(root, ''),
      ]),
    ).toEqual([
      ['/project/.muster/templates/far.md', '/project/deep/.muster/templates/near.md'],
      ['builtin:test-file', '/home/.config/muster/templates/mine.md'],
    ]);
  });

  it('of an untrusted project are not read, and links out of the project never are', async () => {
    write('project/.muster/templates/a.md', 'a');
    write('elsewhere.md', 'b');
    const untrusted = await discoverDefinitions(TEMPLATES, options(NEW));
    expect(untrusted.skipped.map(({ code }) => code)).toEqual(['untrusted']);
    expect(untrusted.items.map(({ scope }) => scope)).toEqual(['builtin', 'builtin', 'builtin']);
    symlinkSync(join(root, 'elsewhere.md'), join(root, 'project/.muster/templates/b.md'));
    const trusted = await discoverDefinitions(TEMPLATES, options());
    expect(trusted.items.map(({ name }) => name)).toEqual([
      'a',
      'test-file',
      'refactor-module',
      'best-of-n',
    ]);
    expect(trusted.skipped.map(({ path }) => path.replace(root, ''))).toEqual([
      '/project/.muster/templates/b.md',
    ]);
  });

  it('are loaded together with the built-in templates only if there are others and the caller asks for that', async () => {
    const offered = async (): Promise<readonly string[]> => {
      const found = await discoverDefinitions(TEMPLATES, { ...options(), builtins: 'with-others' });
      return found.items.map(({ name }) => name);
    };
    expect(await offered()).toEqual([]);
    write('project/.muster/templates/a.md', 'a');
    expect(await offered()).toEqual(['a', 'test-file', 'refactor-module', 'best-of-n']);
  });
});
