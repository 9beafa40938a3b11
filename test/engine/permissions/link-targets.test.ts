import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { denyLinkTargets } from '../../../src/engine/permissions/link-targets.ts';
import type { PermissionRule } from '../../../src/protocol/permission.ts';
import { tempDirectory } from '../../sys/temp.ts';

const SOURCE = { kind: 'config', where: 'config.toml:1' } as const;

function rule(tool: string, specifier: string): PermissionRule {
  return { text: `${tool}(${specifier})`, tool, specifier, source: SOURCE };
}

it('a deny rule for a link is one for its target, at each moment', () => {
  const home = tempDirectory();
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(home, version));
    writeFileSync(join(home, version, 'token [1]'), 'key');
  }
  const point = (version: string) => symlinkSync(version, join(home, 'current'));
  point('v1');
  symlinkSync('current/token [1]', join(home, 'key'));
  const deny = [rule('Read', '~/key'), rule('Edit', `/${home}/key`), rule('Read', '~/v1/other')];
  const rights = { roots: [join(home, 'v1')], rules: { allow: [], ask: [], deny } };
  const denied = () =>
    denyLinkTargets(rights, home).rules.deny.map(({ tool, specifier }) => [tool, specifier]);
  const asWritten = deny.map(({ tool, specifier }) => [tool, specifier]);
  const target = (version: string) => `/${home}/${version}/token \\[1\\]`;
  expect(denied()).toEqual([...asWritten, ['Read', target('v1')], ['Edit', target('v1')]]);
  rmSync(join(home, 'current'));
  point('v2');
  expect(denied()).toEqual([...asWritten, ['Read', target('v2')], ['Edit', target('v2')]]);
  rmSync(join(home, 'key'));
  expect(denyLinkTargets(rights, home)).toBe(rights);
});

it('rules with wildcards, and those that depend on the workspace, are not followed', () => {
  const home = tempDirectory();
  writeFileSync(join(home, 'file'), '');
  symlinkSync('file', join(home, 'link'));
  const deny = ['link', './link', '~/lin*', '~/link/**', '//**/link'].map((each) =>
    rule('Read', each),
  );
  const rights = { roots: [home], rules: { allow: [], ask: [], deny } };
  expect(denyLinkTargets(rights, home)).toBe(rights);
});
