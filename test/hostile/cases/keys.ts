import { AUTONOMOUS, bash, edit, grep, inTurn, ofClass, once, read, task } from '../calls.ts';
import type { CallExpectation, HostileCase, Script } from '../case.ts';
import type { Entry } from '../world.ts';

const KEY = 'key-@canary@';
/** The model of the provider that each case configures. */
const MODEL = { MUSTER_MODELS_DEFAULT: 'mine/claude-x', ANTHROPIC_API_KEY: '' };
const ALLOWED = { person: 'allow' } as const;

function configuration(setting: string): Readonly<Record<string, Entry>> {
  const table = `[models.providers.mine]\nkind = "anthropic"\nbase_url = "@model@"\n${setting}\n`;
  return { 'home/.config/muster/config.toml': table };
}

function credentials(account: object): Readonly<Record<string, Entry>> {
  const accounts = [{ provider: 'mine', account: 'default', addedOn: '2026-11-27', ...account }];
  return {
    'data/credentials.json': { text: JSON.stringify({ version: 1, accounts }), mode: 0o600 },
  };
}

/** Looks for keys in everything that a command can see of its own and other processes, and in Muster's files. */
const PROBE = bash(
  [
    // A key that is redacted in the output would have a length.
    'env; export -p; set; echo "length ${#MINE} ${#LC_MINE} ${#ANTHROPIC_API_KEY}"',
    'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"',
    'cat @data@/credentials.json @home@/keys/* 2>&1',
    'grep -rs canary- @data@ @home@/keys /run /dev/shm /tmp 2>/dev/null',
    'true',
  ].join('; '),
);
/** Looks for keys from a command and from that of a child, and prints the key, as if a model had guessed it. */
const PROBES: Script = {
  main: inTurn(PROBE, task('child', 'general-purpose'), bash(`printf "%s\\n" "${KEY}"`)),
  tasks: { child: inTurn(PROBE) },
};

interface Source {
  readonly name: string;
  readonly files?: Readonly<Record<string, Entry>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Every source of a key, of which none ever shows it. */
const SOURCES: readonly Source[] = [
  {
    name: 'the environment',
    env: { MUSTER_MODELS_DEFAULT: 'anthropic/claude-x', ANTHROPIC_API_KEY: KEY },
  },
  {
    name: 'a variable whose name does not say that it is secret (api_key_env)',
    files: configuration('api_key_env = "MINE"'),
    env: { ...MODEL, MINE: KEY },
  },
  {
    name: 'a variable that commands would get without the setting (api_key_env)',
    files: configuration('api_key_env = "LC_MINE"'),
    env: { ...MODEL, LC_MINE: KEY },
  },
  {
    name: 'a command for the shell (api_key_command)',
    files: {
      ...configuration(`api_key_command = "printf 'key-%s\\\\nlogin: me' \\"$(cat ~/out)\\""`),
      'home/out': '@canary@',
    },
    env: MODEL,
  },
  {
    name: 'a program with arguments (api_key_command)',
    files: {
      ...configuration('api_key_command = ["/bin/sh", "@home@/bin/key", "mine"]'),
      'home/bin/key': 'echo "key-$(cat "$HOME/.ssh/id_ed25519")"',
    },
    env: MODEL,
  },
  {
    name: 'a file (api_key_file)',
    files: { ...configuration('api_key_file = "~/keys/mine"'), 'home/keys/mine': `${KEY}\n` },
    env: MODEL,
  },
  {
    name: 'an account that is stored in the file',
    files: { ...configuration(''), ...credentials({ key: KEY, origin: '@model@' }) },
    env: MODEL,
  },
  {
    name: 'an account with a server of its own',
    files: credentials({ key: KEY, baseUrl: '@model@/v1/messages' }),
    env: MODEL,
  },
];

const refused: CallExpectation = { end: 'refused', step: 'deny_rule' };

const FROM_SOURCES = SOURCES.flatMap(({ name, files = {}, env = {} }): readonly Unclassified[] => [
  {
    name: `the key from ${name} is in nothing but the header of its requests`,
    files,
    env,
    settings: ALLOWED,
    model: PROBES,
    expect: {
      calls: [{ end: 'ran', says: /length 0 0 0/ }, 'ran', 'ran'],
      tasks: { child: [{ end: 'ran', says: /length 0 0 0/ }] },
      keys: [KEY],
      neverSent: [KEY],
      neverKept: [KEY],
    },
  },
  {
    name: `the key from ${name} is in no output of the program, and in no export`,
    files,
    env: { ...env, MUSTER_SANDBOX_KIND: 'off' },
    model: { main: inTurn(bash(`printf "%s\\n" "${KEY}"`)) },
    program: [
      { args: ['-p', 'go', '--allow', 'Bash', '--verbose', '--output-format', 'stream-json'] },
      { args: ['tasks', 'export', '@task@', '-'] },
      { args: ['tasks', 'show', '@task@', '--html', '-'] },
      { args: ['tasks', 'log', '@task@', '--json'] },
      { args: ['tasks', 'context', '@task@'] },
      { args: ['config', 'show', '--json'] },
      { args: ['models', '--json'] },
      { args: ['doctor', '--json'], exit: [0, 1] },
      { args: ['login', '--list', '--json'] },
    ],
    expect: { keys: [KEY], neverSent: [KEY], neverKept: [KEY] },
  },
]);

type Unclassified = Omit<HostileCase, 'class'>;

const ROTATING = { 'home/keys/mine': 'key-old-@canary@' };
const NEW_KEY = { put: 'home/keys/mine', entry: 'key-new-@canary@\n' };
const BOTH_KEYS = ['key-old-@canary@', 'key-new-@canary@'];
const PRINT_BOTH = bash(BOTH_KEYS.map((key) => `echo "${key}"`).join('; '));

export const KEY_CASES = ofClass('secrets', [
  ...FROM_SOURCES,
  {
    name: 'a file with a key that rotates: a refused key is read again, and the old one stays secret',
    files: { ...configuration('api_key_file = "~/keys/mine"'), ...ROTATING },
    env: MODEL,
    settings: ALLOWED,
    model: {
      main: [
        {
          before: [NEW_KEY],
          answer: { fault: { kind: 'status', status: 401, message: 'old: key-old-@canary@' } },
          again: { toolCalls: [PROBE, PRINT_BOTH] },
        },
      ],
    },
    expect: {
      calls: ['ran', 'ran'],
      keys: BOTH_KEYS,
      neverSent: BOTH_KEYS,
      neverKept: BOTH_KEYS,
      changes: { 'home/keys/mine': true },
    },
  },
  {
    name: 'a file with a key that rotates: the key is read again after its time to live',
    files: {
      ...configuration('api_key_file = "@home@/keys/mine"\napi_key_ttl_seconds = 1'),
      ...ROTATING,
    },
    env: MODEL,
    settings: ALLOWED,
    model: {
      main: [{ before: [NEW_KEY], calls: [bash('sleep 1.2')] }, { calls: [PROBE, PRINT_BOTH] }],
    },
    expect: {
      calls: ['ran', 'ran', 'ran'],
      keys: BOTH_KEYS,
      neverSent: BOTH_KEYS,
      neverKept: BOTH_KEYS,
      changes: { 'home/keys/mine': true },
    },
  },
  {
    name: 'a key that stays refused is not shown by the server’s error',
    files: { ...configuration('api_key_file = "~/keys/mine"'), 'home/keys/mine': KEY },
    env: MODEL,
    model: {
      main: [{ answer: { fault: { kind: 'status', status: 401, message: `no: ${KEY}` } } }],
    },
    expect: { status: 'failed', keys: [KEY] },
  },
  {
    name: 'a file with a key is neither read nor changed, whoever allows it',
    files: {
      ...configuration('api_key_file = "@ws@/keys/mine [1].txt"'),
      'ws/keys/mine [1].txt': `${KEY}\n`,
    },
    env: MODEL,
    settings: { ...AUTONOMOUS, ...ALLOWED, allow: ['Read', 'Grep', 'Edit', 'Write', 'Bash'] },
    model: once(
      read('keys/mine [1].txt'),
      grep('key', { path: 'keys/mine [1].txt' }),
      edit('keys/mine [1].txt', 'key', 'x'),
      grep('key-'),
      bash(
        'cat "keys/mine [1].txt"; cp keys/* copy; base64 < keys/*; ln keys/* link; cat copy link',
      ),
      bash('echo other > "keys/mine [1].txt"'),
    ),
    expect: {
      calls: [refused, refused, refused, 'ran', { end: 'ran', says: /exit code 1/ }, refused],
      keys: [KEY],
    },
  },
  {
    name: 'a file with a key that is a link is protected with its target, also after the link has changed',
    files: {
      ...configuration('api_key_file = "@ws@/keys/mine"'),
      'ws/keys/mine': { link: 'current/token' },
      'ws/keys/current': { link: 'version-1' },
      'ws/keys/version-1/token': `${KEY}\n`,
      'ws/keys/version-2/token': `${KEY}\n`,
    },
    env: MODEL,
    settings: { ...AUTONOMOUS, ...ALLOWED, allow: ['Read', 'Grep', 'Edit', 'Write', 'Bash'] },
    model: {
      main: [
        {
          calls: [
            read('keys/version-1/token'),
            read('keys/current/token'),
            edit('keys/version-1/token', 'key', 'x'),
            grep('key-', { path: 'keys/version-1' }),
            bash('cat keys/version-1/token keys/current/token keys/mine'),
            bash('cat keys/v*-1/t* keys/cur*/t* keys/m*'),
          ],
        },
        {
          before: [
            { remove: 'ws/keys/current' },
            { put: 'ws/keys/current', entry: { link: 'version-2' } },
          ],
          calls: [read('keys/version-2/token'), grep('key-', { path: 'keys/version-2' })],
        },
      ],
    },
    expect: {
      calls: [
        refused,
        refused,
        refused,
        'ran',
        refused,
        { end: 'ran', says: /exit code 1/ },
        refused,
        'ran',
      ],
      keys: [KEY],
      neverSent: [KEY],
      changes: { 'ws/keys/current': true },
    },
  },
  {
    name: 'the key of one provider is in no request to another one',
    files: {
      'home/.config/muster/config.toml': [
        '[models]\nfallback = ["other/claude-y"]',
        '[models.providers.mine]\nkind = "anthropic"\nbase_url = "@model@"',
        'api_key_command = "echo key-mine-@canary@"',
        '[models.providers.other]\nkind = "anthropic"\nbase_url = "@model@/v1"',
        'api_key_file = "~/keys/other"\n',
      ].join('\n'),
      'home/keys/other': 'key-other-@canary@',
    },
    env: { ...MODEL, MUSTER_PROVIDER_RETRIES: '0' },
    settings: ALLOWED,
    model: {
      main: [
        { answer: { fault: { kind: 'status', status: 500, message: 'down' } } },
        { calls: [bash('echo key-mine-@canary@ key-other-@canary@')] },
      ],
    },
    expect: {
      keys: ['key-mine-@canary@', 'key-other-@canary@'],
      neverSent: ['key-mine-@canary@', 'key-other-@canary@'],
      neverKept: ['key-mine-@canary@', 'key-other-@canary@'],
    },
  },
  ...[
    ['prints for ever', 'yes @canary@'],
    ['prints megabytes without a line end', 'head -c 100000000 /dev/zero | tr "\\\\0" k'],
    ['prints control characters', 'printf "\\\\033]0;@canary@\\\\007\\\\033[2J"'],
    ['fails and prints the key among its errors', 'set -x; echo key-@canary@; exit 1'],
    ['fails after starting processes', 'sleep 1000 & setsid sleep 1000 & exit 1'],
  ].map(([name = '', command = '']) => ({
    name: `a command for a key that ${name} is bounded`,
    files: configuration(`api_key_command = '''${command.replaceAll('\\\\', '\\')}'''`),
    env: MODEL,
    expect: { status: 'failed' as const, keys: [], mostMegabytes: 150 },
  })),
  {
    name: 'an account that a project has brought along is not used',
    files: {
      'ws/data/credentials.json': {
        text: '{"version": 1, "accounts": [{"provider": "mine", "account": "default", "key": "k", "baseUrl": "@url@", "addedOn": "2026"}]}',
        mode: 0o600,
      },
      'ws/.git': { directory: true },
    },
    env: { MUSTER_DATA_DIR: '@ws@/data', MUSTER_MODELS_DEFAULT: 'mine/x' },
    program: [
      { args: ['-p', 'go'], exit: 2, says: [/No stored key is used: .* is inside the project/] },
    ],
    expect: { changesBelow: ['ws/data'] },
  },
  {
    name: 'a file of accounts that others can read is not used',
    files: {
      ...configuration(''),
      'data/credentials.json': { text: '{"version": 1, "accounts": []}', mode: 0o644 },
    },
    env: MODEL,
    expect: {
      notices: [/No stored key is used: .* others can use it \(mode 644\)\. Run: chmod 600 /],
    },
  },
]);
