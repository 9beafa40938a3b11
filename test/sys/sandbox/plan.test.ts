import { describe, expect, test } from 'vitest';
import { buildBubblewrapArguments } from '../../../src/sys/sandbox/bubblewrap.ts';
import { isWritable, layerRules, type PathRule } from '../../../src/sys/sandbox/plan.ts';
import { buildSeatbeltArguments } from '../../../src/sys/sandbox/seatbelt.ts';

function rules(...texts: readonly string[]): readonly PathRule[] {
  return texts.map((text) => {
    const [kind = '', path = ''] = text.split(' ');
    return { kind: kindOf(kind), path };
  });
}

const KINDS = [
  'private',
  'shown',
  'writable',
  'held',
  'protected',
  'absent',
  'hidden',
  'masked',
] as const;

function kindOf(text: string): PathRule['kind'] {
  const kind = KINDS.find((each) => each === text);
  if (kind === undefined) throw new Error(`no kind ${text}`);
  return kind;
}

function texts(laid: readonly PathRule[]): readonly string[] {
  return laid.map(({ kind, path }) => `${kind} ${path}`);
}

describe('rules apply from the top down', () => {
  test.each([
    [
      'a root below a private directory is visible',
      ['writable /tmp/w', 'private /tmp'],
      ['private /tmp', 'writable /tmp/w'],
    ],
    [
      'a private directory hides the secrets in it',
      ['hidden /tmp/home/.ssh', 'masked /tmp/.env', 'private /tmp'],
      ['private /tmp'],
    ],
    ['a root that is private is a root', ['private /tmp', 'writable /tmp'], ['writable /tmp']],
    [
      'a root that is only shown is visible where it would not be otherwise',
      ['shown /tmp/w', 'shown /home/w', 'private /tmp'],
      ['private /tmp', 'shown /tmp/w'],
    ],
    [
      'nothing is protected that is not writable',
      ['protected /etc/x', 'absent /w/.git', 'held /srv/repo'],
      [],
    ],
    [
      'files in a held directory are protected',
      ['protected /w/.git/hooks', 'held /w/.git', 'writable /w', 'absent /w/.git/config'],
      ['writable /w', 'held /w/.git', 'absent /w/.git/config', 'protected /w/.git/hooks'],
    ],
    [
      'secrets in a root are hidden, even if they are also protected',
      ['writable /w', 'masked /w/.envrc', 'protected /w/.envrc', 'hidden /w/.ssh'],
      ['writable /w', 'masked /w/.envrc', 'hidden /w/.ssh'],
    ],
    [
      'nothing is created in a missing directory',
      ['writable /w', 'absent /w/.git', 'absent /w/.git/hooks', 'masked /w/.git/x.pem'],
      ['writable /w', 'absent /w/.git'],
    ],
    [
      'a root in a hidden directory is visible',
      ['hidden /h/.aws', 'writable /h/.aws/w'],
      ['hidden /h/.aws', 'writable /h/.aws/w'],
    ],
    [
      'a name that begins like another is another name',
      ['private /tmp', 'masked /tmpfile'],
      ['private /tmp', 'masked /tmpfile'],
    ],
    [
      'a root that is a repository is a root',
      ['held /w', 'writable /w', 'protected /w/hooks'],
      ['writable /w', 'protected /w/hooks'],
    ],
    [
      'directories on the way to something protected or secret stay where they are',
      ['writable /w', 'protected /w/.github/agents', 'hidden /w/a/b/.ssh', 'masked /o/p/.env'],
      [
        'writable /w',
        'held /w/.github',
        'held /w/a',
        'masked /o/p/.env',
        'protected /w/.github/agents',
        'held /w/a/b',
        'hidden /w/a/b/.ssh',
      ],
    ],
    [
      'the full disk is above everything',
      ['writable /', 'private /tmp', 'protected /.git'],
      ['writable /', 'protected /.git', 'private /tmp'],
    ],
  ])('%s', (_, given, expected) => {
    expect(texts(layerRules(rules(...given)))).toEqual(expected);
    expect(texts(layerRules(rules(...given.toReversed())))).toEqual(expected);
    expect(texts(layerRules(layerRules(rules(...given))))).toEqual(expected);
  });

  test('a list says where a command can write', () => {
    const laid = layerRules(rules('writable /w', 'protected /w/.git', 'writable /w/.git/in'));
    const paths = ['/w', '/w/a', '/w/.git', '/w/.git/x', '/w/.git/in/y', '/', '/wide'];
    expect(paths.filter((path) => isWritable(path, laid))).toEqual(['/w', '/w/a', '/w/.git/in/y']);
  });
});

const PLAN = { rules: [], scratch: '/tmp', network: false, cwd: '/w', asRoot: false };
const ALWAYS = '--unshare-all --die-with-parent --new-session --cap-drop ALL --ro-bind / /';

describe('bubblewrap', () => {
  test.each([
    [rules(), false, `${ALWAYS} --dev /dev --proc /proc`],
    [rules(), true, `${ALWAYS} --dev /dev --proc /proc`.replace('-all', '-all --share-net')],
    [
      rules('private /tmp', 'writable /w', 'held /w/.git', 'protected /w/.git/hooks'),
      false,
      `${ALWAYS} --dev /dev --proc /proc --size 2147483648 --tmpfs /tmp --bind /w /w --bind /w/.git /w/.git --ro-bind /w/.git/hooks /w/.git/hooks`,
    ],
    [
      rules('shown /w', 'absent /w/.npmrc', 'hidden /h/.ssh', 'masked /w/.env'),
      false,
      `${ALWAYS} --dev /dev --proc /proc --ro-bind /w /w --perms 0555 --tmpfs /h/.ssh --ro-bind /dev/null /w/.env`,
    ],
    [
      rules('writable /', 'private /tmp'),
      false,
      `${ALWAYS} --bind / / --dev /dev --proc /proc --size 2147483648 --tmpfs /tmp`,
    ],
  ])('%j, network %s', (given, network, expected) => {
    const args = buildBubblewrapArguments({ ...PLAN, rules: given, network }, [
      '/bin/echo',
      '--help',
    ]);
    expect(args.join(' ')).toBe(`${expected} --chdir /w -- /bin/echo --help`);
  });

  test('paths that configure the kernel are closed to root', () => {
    const args = buildBubblewrapArguments({ ...PLAN, asRoot: true }, ['true']).join(' ');
    expect(args).toContain('--proc /proc --ro-bind-try /proc/acpi /proc/acpi ');
    expect(args).toContain('--ro-bind-try /proc/sys /proc/sys ');
  });

  test('no name of a directory becomes an option', () => {
    const path = '/w/--bind / "\n:$(x)';
    const plan = { ...PLAN, rules: [{ kind: 'writable', path }] as const, cwd: path };
    const args = buildBubblewrapArguments(plan, ['true']);
    expect(args.slice(-6)).toEqual([path, path, '--chdir', path, '--', 'true']);
  });
});

describe('seatbelt', () => {
  const path = '/w/") (allow default) ("\n';
  const given: readonly PathRule[] = [
    { kind: 'writable', path },
    { kind: 'protected', path: '/w/.git/hooks' },
    { kind: 'hidden', path: '/h/.ssh' },
  ];

  test('paths are parameters, and not part of the profile', () => {
    const [p, profile = '', ...rest] = buildSeatbeltArguments(
      { ...PLAN, rules: given, scratch: '/t/s' },
      ['/bin/ls', '-D'],
    );
    expect(p).toBe('-p');
    expect(profile).toMatchInlineSnapshot(`
      "(version 1)
      (allow default)
      (deny file-write*)
      (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/stdout") (literal "/dev/stderr") (subpath (param "PATH_0")))
      (deny network*)
      (deny process-info* (target others))
      (allow process-info* (target same-sandbox))
      (deny signal)
      (allow signal (target same-sandbox))
      (deny mach-priv-task-port)
      (allow file-read* file-write* (subpath (param "PATH_1")))
      (deny file-write-unlink (literal (param "PATH_1")))
      (deny file-write* (subpath (param "PATH_2")))
      (deny file-read* file-write* (subpath (param "PATH_3")))
      (deny network-outbound (subpath (param "PATH_3")))"
    `);
    const parameters = ['/t/s', path, '/w/.git/hooks', '/h/.ssh'].flatMap((each, index) => [
      '-D',
      `PATH_${index}=${each}`,
    ]);
    expect(rest.slice(0, parameters.length)).toEqual(parameters);
    const command = rest.slice(parameters.length);
    expect(command).toEqual(['--', '/bin/ls', '-D']);
  });

  test('the network is denied unless it is allowed', () => {
    const [, profile = ''] = buildSeatbeltArguments({ ...PLAN, network: true }, ['true']);
    expect(profile).not.toContain('network');
  });
});
