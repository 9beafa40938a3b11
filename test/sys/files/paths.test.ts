import { mkdirSync, symlinkSync, writeFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { suggestNames } from '../../../src/base/name-suggestions.ts';
import { firstDirectoryNames } from '../../../src/sys/files/directory-names.ts';
import { isInside } from '../../../src/base/path-inside.ts';
import {
  toAbsolutePath,
  displayPath,
  isSystemPath,
  findPathProblem,
  findRoot,
} from '../../../src/sys/files/paths.ts';
import { plainText } from '../../../src/sys/plain-text.ts';
import { resolveInRoots } from '../../../src/sys/files/real-path.ts';
import { isSecretPath } from '../../../src/sys/files/secret-paths.ts';
import { buildCommandEnvironment } from '../../../src/sys/processes/command-environment.ts';
import { buildGitEnvironment } from '../../../src/sys/git/git-environment.ts';
import { UNATTENDED } from '../../../src/sys/processes/command-environment.ts';
import { tempDirectory } from '../temp.ts';

test.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/a', '/a/..b', true],
  ['/a', '/b', false],
  ['/', '/x', true],
])('isInside(%s, %s)', (directory, path, expected) => {
  expect(isInside(directory, path)).toBe(expected);
});

test('the innermost root contains a path', () => {
  expect(findRoot('/a/b/c', ['/a', '/a/b', '/z'])).toBe('/a/b');
  expect(findRoot('/y', ['/a'])).toBeUndefined();
});

test.each([
  ['x', '/w/x'],
  ['../x', '/x'],
  ['/y', '/y'],
  ['~', homedir()],
  ['~/z', join(homedir(), 'z')],
  ['~other', '/w/~other'],
])('absolutePath(%s)', (path, expected) => {
  expect(toAbsolutePath(path, '/w')).toBe(expected);
});

test.each([
  ['a', undefined],
  ['  ', 'is empty'],
  ['a\0', 'contains a NUL character'],
  ['FILE:///x', 'is a URL: give a plain path'],
  ['é'.repeat(2049), 'is longer than 4096 bytes'],
])('pathProblem %#', (path, expected) => {
  expect(findPathProblem(path)).toBe(expected);
});

test('paths are shown as a person reads them', () => {
  expect(displayPath('/w/a', '/w')).toBe('a');
  expect(displayPath('/w', '/w')).toBe('.');
  expect(displayPath('/x', '/w')).toBe('/x');
  expect(displayPath('/w/a\u202e\n', '/w')).toBe('"a\u202e\\n"');
  expect(['/proc', '/sys/x', '/dev/null', '/devel'].map(isSystemPath)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

describe('resolveInRoots', () => {
  test('resolves links, missing names and loops', () => {
    const at = tempDirectory();
    const root = join(at, 'root');
    mkdirSync(join(root, 'dir'), { recursive: true });
    writeFileSync(join(root, 'dir/file'), '');
    symlinkSync('dir', join(root, 'link'));
    symlinkSync('../outside/new', join(root, 'dangling'));
    symlinkSync(at, join(root, 'up'));
    symlinkSync('loop', join(root, 'loop'));
    symlinkSync(join(root, 'dir'), join(at, 'into'));
    const resolve = (path: string) => resolveInRoots(path, [root]);
    expect(resolve(`${root}/link/file`)).toEqual({
      real: `${root}/dir/file`,
      inside: true,
      exists: true,
    });
    expect(resolve(`${root}/link/new/x`)).toEqual({
      real: `${root}/dir/new/x`,
      inside: true,
      exists: false,
    });
    expect(resolve(`${root}/dangling`)).toEqual({
      real: `${at}/outside/new`,
      inside: false,
      exists: false,
    });
    expect(resolve(`${root}/up`)).toEqual({ real: at, inside: false, exists: true });
    expect(resolve(`${root}/up/root/dir`)).toEqual({
      real: `${root}/dir`,
      inside: true,
      exists: true,
    });
    expect(resolve(`${at}/into/file`)).toEqual({
      real: `${root}/dir/file`,
      inside: true,
      exists: true,
    });
    expect(resolve(`${root}/loop/x`)).toMatchObject({
      inside: false,
      exists: false,
      problem: 'link_loop',
    });
    expect(resolve(`${root}/dir/file/x`)).toEqual({
      real: `${root}/dir/file/x`,
      inside: true,
      exists: false,
      problem: 'not_a_directory',
    });
    expect(resolve(root)).toEqual({ real: root, inside: true, exists: true });
  });

  test('agrees with the kernel on what exists', () => {
    const at = tempDirectory();
    mkdirSync(join(at, 'a/b'), { recursive: true });
    writeFileSync(join(at, 'a/b/f'), '');
    symlinkSync('b', join(at, 'a/l'));
    symlinkSync('../..', join(at, 'a/b/up'));
    symlinkSync(join(at, 'a'), join(at, 'abs'));
    const name = fc.constantFrom('a', 'b', 'l', 'up', 'abs', 'f', '..', '.');
    fc.assert(
      fc.property(fc.array(name, { maxLength: 8 }), (names) => {
        const path = [at, ...names].join('/');
        const resolved = resolveInRoots(path, [at]);
        let real: string | undefined;
        try {
          real = realpathSync.native(path);
        } catch {
          // The kernel finds nothing there.
        }
        if (real === undefined) expect(resolved.exists).toBe(false);
        else expect(resolved).toEqual({ real, exists: true, inside: isInside(at, real) });
      }),
    );
  });
});

test.each([
  '/w/.env',
  '/w/.env.local',
  '/w/.ENV',
  '/w/a/id_rsa',
  '/w/server.key',
  '/w/x.pem',
  '/home/u/.ssh/config',
  '/home/u/.aws/credentials',
  '/home/u/.config/gh/hosts.yml',
  '/home/u/.netrc',
  '/etc/shadow',
  '/w/.envrc',
  '/home/u/.docker/config.json',
  '/w/service-account-prod.json',
  '/w/.git-credentials',
  '/w/prod.env',
  '/w/.env-prod',
  '/w/.e\u200cnv',
  '/w/.env.',
  '/w/id_ed25519_work',
  '/w/AuthKey.p8',
  '/w/.dev.vars',
  '/w/config/secrets.yml',
  '/w/terraform.tfstate',
  '/home/u/.cargo/credentials.toml',
  '/home/u/.m2/settings.xml',
  '/home/u/.codex/auth.json',
  '/home/u/.claude/.credentials.json',
  '/d/credentials.json.01KB2V3W4X.new',
  '/d/mcp-credentials.json',
  '/d/mcp-credentials.json.01KB2V3W4X.new',
  '/home/u/.bash_history',
  '/home/u/.mozilla/firefox/x/cookies.sqlite',
  '/home/u/Library/Keychains/login.keychain-db',
  '/home/u/.local/share/keyrings/login.keyring',
  '/etc/sudoers.d/x',
  '/etc/ssh/ssh_host_rsa_key',
])('secret: %s', (path) => {
  expect(isSecretPath(path)).toBe(true);
});

test.each([
  '/',
  '/w/.env.example',
  '/w/.env.local.sample',
  '/w/env.ts',
  '/w/environment',
  '/w/id_rsa.pub',
  '/w/keys.ts',
  '/w/monkey',
  '/w/config.json',
  '/w/.github/workflows/ci.yml',
  '/w/sshd.md',
  '/w/.environment',
  '/w/example.env',
  '/w/.env.template',
  '/w/.env.dist',
  '/w/.env.defaults',
  '/w/src/secrets.ts',
  '/w/src/credentials.py',
  '/w/id_ed25519_work.pub',
  '/w/ssh_host_rsa_key.pub',
  '/w/auth.json',
  '/w/.npmrc',
])('not secret: %s', (path) => {
  expect(isSecretPath(path)).toBe(false);
});

test('suggests names that may have been meant', () => {
  const names = ['config.ts', 'confog.js', 'README.md', 'Config.js', 'x'];
  expect(suggestNames('config.js', names)).toEqual(['Config.js', 'config.ts', 'confog.js']);
  expect(suggestNames('zzzzzz', names)).toEqual([]);
  expect(firstDirectoryNames('/no/such/directory')).toEqual([]);
});

test.each([
  ['a\u001b[1;31mb\u001b[0mc', 'abc'],
  ['\u001b]0;title\u0007x\u001b]8;;http://h\u001b\\y', 'xy'],
  ['\u001bPq#0\u001b\\z', 'z'],
  ['\u001b]unterminated', ''],
  ['1%\r2%\r3%\r\nnext\r\n', '3%\nnext\n'],
  ['a\tb\n\u0000\u0008\u0085c', 'a\tb\nc'],
  ['last\r', 'last'],
])('plainText(%j)', (text, expected) => {
  expect(plainText(text)).toBe(expected);
});

test('plain text has no control characters left', () => {
  const piece = fc.constantFrom(
    '\u001b',
    '[',
    ']',
    '0',
    ';',
    'm',
    '\u0007',
    '\r',
    '\n',
    'a',
    '\u009b',
    '\\',
    'P',
  );
  fc.assert(
    fc.property(
      fc.array(piece).map((parts) => parts.join('')),
      (text) => {
        // oxlint-disable-next-line no-control-regex -- what is looked for
        expect(plainText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      },
    ),
  );
});

test('the environment of a command is an allow-list', () => {
  const own = {
    HOME: '/h',
    LANG: 'C',
    LC_ALL: 'C',
    USER: 'u',
    PATH: '.:/bin:rel:',
    API_KEY: 'k',
    LD_PRELOAD: 'x',
    TERM: 'xterm',
  };
  const git = { access: 'workspace', confined: true } as const;
  expect(buildCommandEnvironment(own, { taskId: 't1', git })).toEqual({
    ...buildGitEnvironment(git),
    ...UNATTENDED,
    HOME: '/h',
    LANG: 'C',
    LC_ALL: 'C',
    USER: 'u',
    PATH: '/bin',
    TERM: 'dumb',
    MUSTER_TASK: 't1',
  });
  expect(
    buildCommandEnvironment(own, { taskId: 't1', git, extraNames: ['API_KEY', 'MISSING'] }),
  ).toMatchObject({ API_KEY: 'k' });
  const chosen = { AWS_PAGER: 'less', DEBIAN_FRONTEND: 'dialog', NO_UPDATE_NOTIFIER: '' };
  expect(
    buildCommandEnvironment(
      { ...own, ...chosen },
      { taskId: 't1', git, extraNames: Object.keys(chosen) },
    ),
  ).toMatchObject(chosen);
  expect(buildCommandEnvironment({ ...own, ...chosen }, { taskId: 't1', git })).toMatchObject(
    UNATTENDED,
  );
  expect(buildCommandEnvironment({}, { taskId: 't1', git })['PATH']).toBe(
    '/usr/local/bin:/usr/bin:/bin',
  );
});
