import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import type { VariablePort } from '../../../src/protocol/tool.ts';
import {
  isPassableToCommands,
  isSettableByTask,
} from '../../../src/sys/processes/command-environment.ts';
import { holdsCredentials, isSecretVariable } from '../../../src/sys/secret-variables.ts';
import { setEnvTool } from '../../../src/tools/utility/environment.ts';
import { makeWorkspace } from '../workspace.ts';

function port(
  seen: Readonly<Record<string, string>>,
  own: readonly string[] = [],
): { readonly variables: VariablePort } {
  return {
    variables: {
      seen: () => seen,
      own: () => new Set(own),
      keeps: (value) => !value.includes('hunter2hunter2'),
    },
  };
}

const SEEN = {
  LANG: 'C.UTF-8',
  PATH: '/usr/bin:/bin',
  API_TOKEN: 'short',
  KEY_FILE: '/etc/key.pem',
  DATABASE_URL: 'postgres://app:pw@db/x',
  PLAIN_URL: 'https://example.com/x',
  NOTE: 'holds hunter2hunter2 within',
  MODE: 'test',
};

describe('GetEnv', () => {
  test.each([
    ['LANG', 'LANG=C.UTF-8'],
    ['KEY_FILE', 'KEY_FILE=/etc/key.pem'],
    ['PLAIN_URL', 'PLAIN_URL=https://example.com/x'],
    ['API_TOKEN', 'API_TOKEN is set. Its value is hidden: it is a secret.'],
    ['DATABASE_URL', 'DATABASE_URL is set. Its value is hidden: it is a secret.'],
    ['NOTE', 'NOTE is set. Its value is hidden: it is a secret.'],
  ])('%s: %s', async (name, text) => {
    expect(await makeWorkspace().call('GetEnv', { name }, port(SEEN))).toEqual({ text });
  });

  test.each([
    [
      'MISSING',
      'MISSING is not passed on to commands. SetEnv sets it, or the user passes it on with sandbox.env.',
    ],
    [
      'NODE_OPTIONS',
      'NODE_OPTIONS is not passed on to commands. The user passes it on with sandbox.env.',
    ],
    [
      'constructor',
      'constructor is not passed on to commands. SetEnv sets it, or the user passes it on with sandbox.env.',
    ],
    ['a b', '"a b" is not a valid variable name'],
  ])('%s is not found', async (name, text) => {
    expect(await makeWorkspace().call('GetEnv', { name }, port(SEEN))).toEqual({
      text,
      error: 'NOT_FOUND',
    });
  });

  test('lists names without values when called without a name', async () => {
    expect(await makeWorkspace().call('GetEnv', {}, port(SEEN, ['MODE']))).toEqual({
      text: [
        'API_TOKEN (hidden)',
        'DATABASE_URL (hidden)',
        'KEY_FILE',
        'LANG',
        'MODE (set by this task)',
        'NOTE (hidden)',
        'PATH',
        'PLAIN_URL',
      ].join('\n'),
    });
  });

  test('long lists and values are cut with a note', async () => {
    const caps = { resultBytes: 500, readBytes: 500, spillBytes: 500, toolMs: 1 };
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`NAME_${100 + index}`, 'x']),
    );
    const listed = await makeWorkspace().call('GetEnv', {}, { ...port(many), caps });
    expect(listed.text).toMatch(/^NAME_100\nNAME_101\n[^]*\n\[\d+ more names\]$/);
    const long = { LONG: 'x'.repeat(1000) };
    const cut = await makeWorkspace().call('GetEnv', { name: 'LONG' }, { ...port(long), caps });
    expect(cut.text).toBe(`LONG=${'x'.repeat(300)}\n[cut at 300 characters]`);
  });
});

describe('SetEnv', () => {
  test('a variable that it sets is recorded with the call', async () => {
    const at = makeWorkspace();
    expect(await at.call('SetEnv', { name: 'MODE', value: 'a b\n"c"' })).toEqual({
      text: 'MODE is set for your later commands, not for those of other tasks.',
      facts: { variables: { MODE: 'a b\n"c"' } },
    });
    expect(await at.call('SetEnv', { key: 'MODE', value: '' })).toMatchObject({
      facts: { variables: { MODE: '' } },
    });
    expect(await at.call('SetEnv', { name: 'MODE' }, port({}, ['MODE']))).toEqual({
      text: 'MODE is unset.',
      facts: { variables: { MODE: null } },
    });
    expect(await at.call('SetEnv', { name: 'MODE' })).toEqual({
      text: 'MODE was not set by this task',
      error: 'NOT_FOUND',
    });
  });

  test.each([
    ['1A', 'x', 'INVALID_PARAM', 'name: is not a valid variable name'],
    ['A=B', 'x', 'INVALID_PARAM', 'name: is not a valid variable name'],
    ['A\nB', 'x', 'INVALID_PARAM', 'name: is not a valid variable name'],
    ['A'.repeat(101), 'x', 'INVALID_PARAM', 'name: is not a valid variable name'],
    ['A', 'x\0y', 'INVALID_PARAM', 'value: contains a NUL character'],
    ['A', 'x'.repeat(8193), 'LIMIT_EXCEEDED', 'value: is longer than 8192 bytes'],
    ['A', 'hunter2hunter2', 'INVALID_PARAM', 'value: contains a secret or its redaction mark'],
    ['A', `x ${REDACTED}`, 'INVALID_PARAM', 'value: contains a secret or its redaction mark'],
  ])('%j = %j: %s', async (name, value, error, says) => {
    expect(await makeWorkspace().call('SetEnv', { name, value }, port({}))).toEqual({
      text: expect.stringContaining(says),
      error,
    });
  });

  test('the decision about a call gets the name of the variable, unless no variable has such a name', () => {
    const variables = (name: string) =>
      setEnvTool.describe?.({ name }, { cwd: '/' }).variables ?? [];
    expect(['MODE', 'PATH', 'BASH_ENV'].map(variables)).toEqual([['MODE'], ['PATH'], ['BASH_ENV']]);
    expect(['1A', 'A=B', 'A\nB', '', 'A'.repeat(101)].map(variables)).toEqual([[], [], [], [], []]);
  });

  test('a task can set only a limited number of variables', async () => {
    const own = Array.from({ length: 64 }, (_, index) => `V${index}`);
    const at = makeWorkspace();
    expect(await at.call('SetEnv', { name: 'MORE', value: '' }, port({}, own))).toEqual({
      text: 'a task sets at most 64 variables',
      error: 'LIMIT_EXCEEDED',
    });
    expect(await at.call('SetEnv', { name: 'V7', value: '' }, port({}, own))).not.toHaveProperty(
      'error',
    );
  });
});

test.each([
  'MODE',
  'NODE_ENV',
  'TZ',
  'LANG',
  'LC_ALL',
  'DEBUG',
  'CI',
  'DATABASE_URL',
  'RUST_LOG',
  'PYTHONUNBUFFERED',
  'PORT',
  'GIT_AUTHOR_NAME',
  'GOOD',
])('a task may set %s', (name) => expect(isSettableByTask(name)).toBe(true));

test.each(
  `PATH Path HOME SHELL USER TERM TMPDIR IFS ENV BASH_ENV BASH_FUNC_x PS4 PROMPT_COMMAND CDPATH _ __proto__
  LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH GCONV_PATH LOCPATH
  NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT
  RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH GOFLAGS GOPATH CGO_CFLAGS CC CFLAGS
  MAKEFLAGS RUSTC_WRAPPER RUSTFLAGS CARGO_HOME npm_config_script_shell NPM_CONFIG_REGISTRY PIP_INDEX_URL
  GIT_DIR GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_EXTERNAL_DIFF GIT_PAGER PAGER MANPAGER LESSOPEN EDITOR VISUAL
  BROWSER SSH_AUTH_SOCK SSH_ASKPASS SUDO_ASKPASS HTTP_PROXY https_proxy NO_PROXY all_proxy XDG_CONFIG_HOME
  XDG_DATA_DIRS AWS_CONFIG_FILE KUBECONFIG DOCKER_HOST PSQLRC PGSERVICEFILE SSL_CERT_FILE CURL_CA_BUNDLE
  GOAUTH GOVCS GOSUMDB GONOSUMDB GOWORK PYTEST_ADDOPTS PYTEST_PLUGINS AWKPATH AWKLIBPATH CONFIG_SITE
  CCACHE_PREFIX RSYNC_RSH SVN_SSH HGRCPATH VIMINIT EMACSLOADPATH GDBINIT MANPATH ERL_LIBS OPAMSWITCH COMPOSER
  CHROME_BIN GCC_EXEC_PREFIX CPATH GTK_MODULES TS_NODE_COMPILER ELECTRON_RUN_AS_NODE PKG_CONFIG_SYSROOT_DIR
  DBUS_SESSION_BUS_ADDRESS ANY_CMD ANY_HOOK RIPGREP_CONFIG_PATH MUSTER_TASK MUSTER_X TAR_OPTIONS GREP_OPTIONS ANYTHING_PATH ANYTHING_HOME`
    .trim()
    .split(/\s+/),
)('a task may not set %s', (name) => expect(isSettableByTask(name)).toBe(false));

test('a task cannot set a variable that the user may not pass on, in any case', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z_]\w{0,12}$/), (name) => {
      if (!isPassableToCommands(name)) expect(isSettableByTask(name)).toBe(false);
      expect(isSettableByTask(name.toLowerCase())).toBe(isSettableByTask(name.toUpperCase()));
    }),
  );
});

test.each([
  ['API_KEY', true],
  ['github_token', true],
  ['DB_PASSWORD', true],
  ['KEY_FILE', false],
  ['AWS_SECRET_KEY_ID', false],
  ['PATH', false],
  ['MUSTER_TASK_TOOL_MAX_TOKENS', false],
  ['MUSTER_BUDGET_TREE_TOKENS', false],
])('the variable %s holds a secret: %s', (name, secret) => {
  expect(isSecretVariable(name)).toBe(secret);
});

test.each([
  ['postgres://u:p@h/d', true],
  ['http://:token@proxy:3128', true],
  ['https://user@host/', false],
  ['https://host:80/a@b', false],
  ['a:b@c', false],
])('%s holds credentials: %s', (text, does) => expect(holdsCredentials(text)).toBe(does));
