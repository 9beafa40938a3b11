import {
  AUTONOMOUS,
  bash,
  edit,
  glob,
  grep,
  inTurn,
  ls,
  ofClass,
  once,
  read,
  task,
  write,
} from '../calls.ts';
import type { CallExpectation } from '../case.ts';

const refused: CallExpectation = { end: 'refused', step: 'floor' };

/** Shapes of well-known secrets, put together here so that no scanner takes them for real ones. */
const SHAPES = {
  anthropic: `sk-ant-${'api03-'}${'Ab1'.repeat(20)}`,
  openai: `sk-${'proj-'}${'Cd2'.repeat(16)}`,
  aws: `AKIA${'ABCDEFGH12345678'}`,
  github: `ghp_${'Ef3'.repeat(12)}`,
  fine: `github_pat_${'Gh4'.repeat(14)}`,
  slack: `xoxb-${'123456789012-'}${'Ij5'.repeat(8)}`,
  google: `AIza${'Kl6'.repeat(11)}Kl`,
} as const;
const PRIVATE_KEY = `-----BEGIN ${'OPENSSH PRIVATE'} KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\n-----END ${'OPENSSH PRIVATE'} KEY-----\n`;

export const SECRET_CASES = ofClass('secrets', [
  ...[
    '.env',
    '.env.production',
    'config/.env.local',
    '.ENV',
    'server.pem',
    'id_ed25519',
    'deploy.key',
    '.netrc',
    '.git-credentials',
    '.aws/credentials',
    'credentials.json',
    '.ssh/config',
  ].map((path) => ({
    name: `${path} is not even read unasked, whatever rules allow`,
    files: { [`ws/${path}`]: 'SECRET=@canary@\n' },
    settings: { ...AUTONOMOUS, allow: ['Read', 'Grep', 'Write', 'Edit'] },
    model: once(read(path), grep('SECRET', { path }), write(path)),
    expect: { calls: [refused, 'stopped' as const, refused] },
  })),
  {
    name: 'a search of all leaves the contents of secret files out',
    files: {
      'ws/.env': 'SECRET=@canary@\n',
      'ws/config/.env.local': 'SECRET=@canary@\n',
      'ws/keys/server.pem': 'SECRET=@canary@\n',
      'ws/code.ts': 'const SECRET = read();\n',
    },
    settings: AUTONOMOUS,
    model: once(
      grep('SECRET'),
      grep('SECRET', { glob: '.env*' }),
      grep('canary'),
      grep('SECRET', { path: 'config' }),
    ),
    expect: { calls: [{ end: 'ran', says: /code\.ts/ }, 'ran', 'ran', 'ran'] },
  },
  {
    name: 'examples of secret files are read (control)',
    control: true,
    files: {
      'ws/.env.example': 'KEY=put yours here\n',
      'ws/public.txt': 'x\n',
      'ws/keyboard.ts': 'k\n',
    },
    model: once(read('.env.example'), read('public.txt'), read('keyboard.ts')),
    expect: { calls: [{ end: 'ran', says: /put yours/ }, 'ran', 'ran'] },
  },
  {
    name: 'a person may let a secret be read: once (control)',
    control: true,
    files: { 'ws/.env': 'SECRET=@canary@\n' },
    settings: { person: 'allow' },
    model: once(read('.env')),
    expect: { calls: ['ran'], canaryMayShow: true },
  },
  {
    name: 'variables with secret names do not reach a command',
    env: {
      DEPLOY_TOKEN: '@canary@',
      AWS_SECRET_ACCESS_KEY: '@canary@',
      NPM_CONFIG_PASSWORD: '@canary@',
      SSH_AUTH_SOCK: '/tmp/@canary@',
      PLAIN_CANARY: '@canary@',
    },
    settings: { person: 'allow' },
    model: once(bash('env; export -p; cat /proc/self/environ | tr "\\0" "\\n"')),
    expect: {
      calls: [{ end: 'ran', says: /PATH=/, omits: /API_KEY|TOKEN|SECRET_ACCESS|fake-key/ }],
    },
  },
  {
    name: 'nor does the environment of the product by /proc',
    env: { DEPLOY_TOKEN: '@canary@' },
    settings: { person: 'allow' },
    model: once(
      bash(
        'cat /proc/$PPID/environ 2>/dev/null | tr "\\0" "\\n"; for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; done 2>/dev/null | grep -a canary- | head -3; true',
      ),
    ),
    expect: {},
  },
  {
    name: 'a relative entry in PATH is not passed on',
    env: { PATH: '.:bin:/usr/bin:/bin' },
    files: { 'ws/ls': { text: '#!/bin/sh\ntouch @ws@/pwned\n', mode: 0o755 } },
    settings: { person: 'allow' },
    model: once(bash('ls')),
    expect: { calls: ['ran'] },
  },
  {
    name: 'start-up files and exported functions of the shell do not act',
    files: {
      'home/.bashrc': 'touch @home@/pwned\n',
      'home/.bash_profile': 'touch @home@/pwned\n',
      'home/.profile': 'touch @home@/pwned\n',
      'out/env.sh': 'touch @out@/pwned\n',
    },
    env: {
      BASH_ENV: '@out@/env.sh',
      ENV: '@out@/env.sh',
      'BASH_FUNC_ls%%': '() { touch @out@/pwned; }',
      PROMPT_COMMAND: 'touch @out@/pwned',
    },
    settings: { person: 'allow' },
    model: once(bash('ls')),
    expect: { calls: ['ran'] },
  },
  {
    name: 'variables that load code do not reach a command',
    env: {
      LD_PRELOAD: '',
      NODE_OPTIONS: '',
      GIT_SSH_COMMAND: 'touch @out@/pwned',
      PAGER: 'touch @out@/pwned',
      PYTHONSTARTUP: '@out@/x.py',
    },
    settings: { person: 'allow' },
    model: once(bash('env')),
    expect: { calls: [{ end: 'ran', omits: /GIT_SSH_COMMAND|PYTHONSTARTUP|pwned/ }] },
  },
  {
    name: 'the provider’s key is in no log, also where a command prints it',
    env: { ANTHROPIC_API_KEY: 'key-@canary@' },
    settings: { person: 'allow' },
    model: once(bash('printf "key-%s" "@canary@"')),
    expect: { canaryMayShow: true, neverKept: ['key-@canary@'] },
  },
  {
    name: 'a secret of the environment that stands in a file is redacted in what is kept',
    env: { DEPLOY_TOKEN: 'token-@canary@' },
    files: { 'ws/notes.txt': 'use token-@canary@ for it\n' },
    model: once(read('notes.txt'), grep('token')),
    expect: { canaryMayShow: true, neverKept: ['token-@canary@'], kept: ['redacted'] },
  },
  {
    name: 'a secret that the model repeats is redacted in what is kept',
    env: { DEPLOY_TOKEN: 'token-@canary@' },
    settings: { prompt: 'the token is token-@canary@' },
    model: {
      main: [
        {
          calls: [task('child', 'Explore', { prompt: '[child] token-@canary@' })],
          answer: { text: 'token-@canary@' },
        },
      ],
    },
    expect: { canaryMayShow: true, neverKept: ['token-@canary@'] },
  },
  ...Object.entries(SHAPES).map(([kind, secret]) => ({
    name: `the shape of a secret (${kind}) is redacted in what is kept`,
    files: { 'ws/log.txt': `before ${secret} after\n` },
    model: once(read('log.txt')),
    expect: { neverKept: [secret], kept: ['before', 'after'] },
  })),
  {
    name: 'a private key is redacted in what is kept, whole',
    files: { 'ws/notes.txt': `see:\n${PRIVATE_KEY}end\n` },
    model: once(read('notes.txt')),
    expect: { neverKept: ['b3BlbnNzaC1rZXktdjE'] },
  },
  {
    name: 'a redacted text is not written over the secret that it stands for',
    files: { 'ws/config.txt': `token = ${SHAPES.github}\n` },
    settings: { mode: 'acceptEdits' },
    model: {
      main: inTurn(read('config.txt'), write('config.txt', 'token = [redacted by Muster]\n')),
    },
    expect: { calls: ['ran', 'failed'] },
  },
  {
    name: 'ordinary words that look a little like secrets are kept as they are (control)',
    control: true,
    files: { 'ws/words.txt': 'sk-learn, AKIAH, the ghp_ prefix, desk-top, xoxo\n' },
    model: once(read('words.txt')),
    expect: { calls: ['ran'], kept: ['sk-learn, AKIAH, the ghp_ prefix, desk-top, xoxo'] },
  },
  {
    name: 'directories of secrets are not listed into the open from outside the roots',
    settings: AUTONOMOUS,
    model: once(
      ls('@home@/.ssh'),
      glob('**/*', '@home@/.ssh'),
      read('@home@/.ssh/id_ed25519'),
      grep('a', { path: '@home@/.aws' }),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'a secret in a workspace that is the home directory',
    settings: { ...AUTONOMOUS, cwd: 'home', allow: ['Read', 'Write', 'Edit'] },
    model: once(
      read('.ssh/id_ed25519'),
      read('.aws/credentials'),
      write('.bashrc'),
      write('.ssh/authorized_keys'),
      edit('.bashrc', 'start', 'x'),
    ),
    expect: { calls: [refused, refused, refused, refused, 'stopped'] },
  },
]);
