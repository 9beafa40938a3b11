import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CERTIFICATE, sendJson, startKeyServer, type KeyServer } from './key-server.ts';
import { runMuster, Sandbox, type Finished, type RunOptions } from './muster.ts';
import { startProxy } from './proxy.ts';

const RIGHT = 'sk-right-key-0123456789';
const WRONG = 'sk-wrong-key-9876543210';

/** Runs a command, and checks that no key is shown. */
async function muster(
  sandbox: Sandbox,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const run = await runMuster(sandbox, args, options);
  for (const key of [RIGHT, WRONG]) expect(run.stdout + run.stderr).not.toContain(key);
  return run;
}

function login(sandbox: Sandbox, server: KeyServer, key: string, ...flags: readonly string[]) {
  const args = ['login', 'corp', '--base-url', server.url, ...flags];
  return muster(sandbox, args, { stdin: `${key}\n` });
}

function storedKeys(sandbox: Sandbox): readonly (string | null)[] {
  const text = readFileSync(join(sandbox.data, 'credentials.json'), 'utf8');
  return JSON.parse(text).accounts.map(({ key }: { readonly key: string | null }) => key);
}

async function accountsOf(sandbox: Sandbox, env: Record<string, string> = {}): Promise<unknown> {
  const run = await muster(sandbox, ['login', '--list', '--json'], { env });
  expect([run.code, run.stderr]).toEqual([0, '']);
  return JSON.parse(run.stdout);
}

describe.concurrent('muster login', () => {
  it('tries a key from stdin, stores it, and the next run uses it', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    const run = await login(sandbox, server, ` Bearer ${RIGHT} `);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toBe(
      [
        'corp accepts the key.',
        'The keychain is not used: no Secret Service, such as GNOME Keyring or KWallet, runs in this session.',
        `The key is in ${sandbox.data}/credentials.json, which only you can read.`,
        '',
        'Next: "muster models" lists the models, and this asks one of them:',
        '  muster -p "What does this project do?" --model corp/MODEL',
        '',
      ].join('\n'),
    );
    expect(statSync(join(sandbox.data, 'credentials.json')).mode & 0o777).toBe(0o600);
    // The list costs nothing, and without a key it is refused: so the key was tried.
    expect(server.seen.map(({ method, path, key }) => [method, path, key])).toEqual([
      ['GET', '/v1/models', RIGHT],
      ['GET', '/v1/models', null],
    ]);
    const answer = await muster(sandbox, ['-p', 'hi']);
    expect([answer.code, answer.stdout]).toEqual([0, 'ok\n']);
    expect(server.seen.at(-1)).toMatchObject({ path: '/v1/chat/completions', key: RIGHT });
  });

  it('keeps the earlier key if the provider refuses the new one', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    await login(sandbox, server, RIGHT);
    const run = await login(sandbox, server, WRONG);
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toBe(
      'muster: corp refuses the key: HTTP 401: Incorrect API key provided: [key]\nmuster: Nothing was stored; an earlier key stays as it was.\n',
    );
    expect(storedKeys(sandbox)).toEqual([RIGHT]);
  });

  it('tries a key with a small request if everybody may read the list of models', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]), isListPublic: true });
    using sandbox = new Sandbox();
    expect((await login(sandbox, server, WRONG)).code).toBe(1);
    expect((await login(sandbox, server, RIGHT)).code).toBe(0);
    const { path, body, key } = server.seen.at(-1) ?? {};
    expect([path, key]).toEqual(['/v1/chat/completions', RIGHT]);
    expect(JSON.parse(body ?? '')).toMatchObject({ model: 'model-of-test', max_tokens: 16 });
  });

  it.each<[title: string, status: number, message: string, code: number, said: string]>([
    [
      'without credit',
      402,
      'Insufficient credits',
      0,
      'accepts the key. It adds: HTTP 402: Insuff',
    ],
    [
      'out of credit with 401',
      401,
      'You exceeded your quota',
      0,
      'It adds: HTTP 401: You exceeded',
    ],
    ['with too many requests', 429, 'Slow down', 1, 'could not be tried: HTTP 429: Slow down'],
    [
      'wrong with 400',
      400,
      'API key not valid.',
      1,
      'refuses the key: HTTP 400: API key not valid.',
    ],
    [
      'that shows its end',
      401,
      'Bad key sk-...3210',
      1,
      'refuses the key: HTTP 401: Bad key [key]',
    ],
  ])('understands an answer about a key %s', async (_, status, message, code, said) => {
    await using server = await startKeyServer({
      keys: new Set(),
      answer: (_request, response) => {
        sendJson(response, status, { error: { message } });
        return true;
      },
    });
    using sandbox = new Sandbox();
    const run = await login(sandbox, server, WRONG);
    expect(run.code).toBe(code);
    expect(run.stdout + run.stderr).toContain(said);
  });

  it('stores a key that could not be tried only with --no-check', async () => {
    using sandbox = new Sandbox();
    const server = await startKeyServer({ keys: new Set() });
    await server[Symbol.asyncDispose]();
    const run = await login(sandbox, server, RIGHT);
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(
      /^muster: The key could not be tried: corp: no connection: .*ECONNREFUSED.*\nmuster: Nothing was stored. To store a key without trying it, add --no-check.\n$/,
    );
    expect(await accountsOf(sandbox)).toEqual([]);
    expect((await login(sandbox, server, RIGHT, '--no-check')).code).toBe(0);
    expect(storedKeys(sandbox)).toEqual([RIGHT]);
  });

  it('does not take a page of a proxy for the provider', async () => {
    await using server = await startKeyServer({
      keys: new Set(),
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end('<!doctype html><title>Sign in to the guest network</title>');
        return true;
      },
    });
    using sandbox = new Sandbox();
    const run = await login(sandbox, server, RIGHT);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('The key could not be tried: ');
  });

  it('works behind a proxy, and with the certificate of a company', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]), tls: true });
    const url = 'https://models.test/v1';
    await using proxy = await startProxy(new URL(server.url));
    using sandbox = new Sandbox();
    const args = ['login', 'corp', '--base-url', url];
    const env = { HTTPS_PROXY: proxy.url };
    const untrusted = await muster(sandbox, args, { stdin: RIGHT, env });
    expect(untrusted.code).toBe(1);
    expect(untrusted.stderr).toMatch(
      /no trusted connection: .*set NODE_EXTRA_CA_CERTS or SSL_CERT/,
    );
    const trusting = { ...env, SSL_CERT_FILE: CERTIFICATE };
    expect((await muster(sandbox, args, { stdin: RIGHT, env: trusting })).code).toBe(0);
    expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT models.test:443']));
  });

  it.each<[provider: string, variable: string, path: string, header: string]>([
    ['anthropic', 'ANTHROPIC_BASE_URL', '/v1/models', 'x-api-key'],
    ['google', 'GOOGLE_GEMINI_BASE_URL', '/v1beta/models', 'x-goog-api-key'],
    ['openrouter', 'OPENROUTER_BASE_URL', '/v1/models', 'authorization'],
  ])('asks %s at the address that %s names', async (provider, variable, path, header) => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    const address = server.url.replace(/\/v1$/, provider === 'openrouter' ? '/v1' : '');
    const env = { [variable]: address };
    const run = await muster(sandbox, ['login', provider], { stdin: RIGHT, env });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(server.seen[0]).toMatchObject({ path, key: RIGHT });
    expect(server.seen[0]?.all).toContain(`"${header}"`);
  });

  it('signs in to a provider of the configuration', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    const config = `[models.providers.mine]\nbase_url = "${server.url}"\n`;
    sandbox.write('../home/.config/muster/config.toml', config);
    const run = await muster(sandbox, ['login', 'mine'], { stdin: RIGHT });
    expect([run.code, run.stderr]).toEqual([0, '']);
    const answer = await muster(sandbox, ['-p', 'hi', '--model', 'mine/x']);
    expect([answer.code, answer.stdout]).toEqual([0, 'ok\n']);
    const other = ['login', 'mine', '--base-url', 'https://other.example/v1'];
    const refused = await muster(sandbox, other, { stdin: RIGHT });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'the account "default" of mine is for https://other.example/v1, and is not sent to',
    );
  });

  it('keeps several accounts, and says which one is used', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT, WRONG]) });
    using sandbox = new Sandbox();
    const env = { OPENROUTER_BASE_URL: server.url };
    await muster(sandbox, ['login', 'openrouter'], { stdin: RIGHT, env });
    const work = ['login', 'openrouter', '--account', 'work'];
    const run = await muster(sandbox, work, { stdin: WRONG, env });
    expect(run.stdout).toContain(
      'the account "default" of openrouter comes first: to use this account, set account = "work" in [models.providers.openrouter].',
    );
    const account = {
      provider: 'openrouter',
      store: 'file',
      addedOn: expect.any(String),
      // The key was tried with the server in the variable.
      baseUrl: new URL(server.url).origin,
    };
    const first = 'the account "default" of openrouter';
    expect(await accountsOf(sandbox, env)).toEqual([
      { ...account, account: 'default', overriddenBy: null },
      { ...account, account: 'work', overriddenBy: first },
    ]);
    const variable = { ...env, OPENROUTER_API_KEY: 'sk-of-the-environment' };
    expect(await accountsOf(sandbox, variable)).toEqual([
      { ...account, account: 'default', overriddenBy: 'OPENROUTER_API_KEY' },
      { ...account, account: 'work', overriddenBy: 'OPENROUTER_API_KEY' },
    ]);
    const shown = await muster(sandbox, ['login', '--list'], { env });
    expect(shown.stdout).toMatch(
      /^openrouter {2}default {2}key in the file {2}since \d{4}-\d\d-\d\d {2}only for http:\S+\nopenrouter {2}work {5}key in the file {2}since \d{4}-\d\d-\d\d {2}only for http:\S+; not used: the account "default" of openrouter comes first\n\nThe list is in .*credentials\.json\n$/,
    );
    const config = '[models.providers.openrouter]\naccount = "work"\n';
    sandbox.write('../home/.config/muster/config.toml', config);
    await muster(sandbox, ['-p', 'hi', '--model', 'openrouter/x'], { env });
    expect(server.seen.at(-1)?.key).toBe(WRONG);
  });

  it.each<[title: string, args: readonly string[], stdin: string, message: RegExp]>([
    [
      'an unknown provider',
      ['opnrouter'],
      RIGHT,
      /there is no provider "opnrouter"; known, nearest first: openrouter/,
    ],
    ['no provider', [], RIGHT, /name the provider: muster login PROVIDER < key\.txt/],
    ['no key', ['openrouter'], '\n', /no key was given, so nothing is stored/],
    [
      'a key with a quote of a document',
      ['openrouter'],
      'sk-\u201Ckey',
      /character 4 of 7 is a typographic quote/,
    ],
    [
      'a name with a slash',
      ['openrouter', '--account', 'a/b'],
      RIGHT,
      /--account "a\/b": the name has/,
    ],
    ['an address without a host', ['x', '--base-url', 'nothing'], RIGHT, /must be a URL such as/],
    ['--json without --list', ['openrouter', '--json'], RIGHT, /--json goes with --list/],
    ['a provider and --list', ['openrouter', '--list'], RIGHT, /leave the provider out/],
    ['an unknown store', ['openrouter', '--store', 'cloud'], RIGHT, /auto, keychain, file/],
  ])('refuses %s', async (_, args, stdin, message) => {
    using sandbox = new Sandbox();
    const run = await muster(sandbox, ['login', ...args], { stdin });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(message);
  });

  it('says what to do if nothing can be stored', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    const run = await login(sandbox, server, RIGHT, '--data-dir', '/proc/muster');
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      /cannot create directory .*The key is not stored: it needs a data directory that can be written, or a variable of the environment\n$/,
    );
    const keychain = await login(sandbox, server, RIGHT, '--store', 'keychain');
    expect(keychain.code).toBe(1);
    expect(keychain.stderr).toContain(
      'sign in with "muster login corp --account default --store file"',
    );
    expect(await accountsOf(sandbox)).toEqual([]);
  });

  it('stores no key in a project, and for no agent', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    const inside = await login(
      sandbox,
      server,
      RIGHT,
      '--data-dir',
      join(sandbox.workspace, 'data'),
    );
    expect(inside.code).toBe(2);
    expect(inside.stderr).toContain('is inside the project');
    const args = ['login', 'corp', '--base-url', server.url];
    const agent = await muster(sandbox, args, { stdin: RIGHT, env: { MUSTER_TASK: 'abc' } });
    expect([agent.code, agent.stderr]).toEqual([
      2,
      'muster: an agent cannot store a key; run this in a shell of your own\n',
    ]);
    expect(server.seen).toEqual([]);
  });
});

describe.concurrent('muster logout', () => {
  it('removes one account, or all', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    const out = (...args: readonly string[]) => muster(sandbox, ['logout', ...args]);
    expect(await out()).toMatchObject({ code: 2, stderr: 'muster: no account is signed in\n' });
    expect(await out('--all')).toMatchObject({ code: 0, stdout: 'No account is stored.\n' });
    for (const name of ['a', 'b']) await login(sandbox, server, RIGHT, '--account', name);
    await muster(sandbox, ['login', 'groq', '--no-check'], { stdin: RIGHT });
    const signedIn = 'signed in: corp --account a, corp --account b, groq --account default';
    expect((await out('corp')).stderr).toBe(
      `muster: name one account, or add --all; ${signedIn}\n`,
    );
    expect((await out('nobody')).stderr).toBe(`muster: there is no such account; ${signedIn}\n`);
    expect(await out('corp', '--account', 'a')).toMatchObject({
      code: 0,
      stdout: 'Removed the account "a" of corp, and its key from the file.\n',
    });
    const env = { GROQ_API_KEY: 'gsk-of-the-environment' };
    expect((await muster(sandbox, ['logout', 'groq'], { env })).stdout).toBe(
      [
        'Removed the account "default" of groq, and its key from the file.',
        'GROQ_API_KEY is set, so Groq can still be used.',
        'The key itself is still valid. To withdraw it, delete it on https://console.groq.com/keys',
        '',
      ].join('\n'),
    );
    await out('--all');
    expect(storedKeys(sandbox)).toEqual([]);
    expect(readFileSync(join(sandbox.data, 'credentials.json'), 'utf8')).not.toContain(RIGHT);
  });

  it('works with a wrong configuration', async () => {
    await using server = await startKeyServer({ keys: new Set([RIGHT]) });
    using sandbox = new Sandbox();
    await login(sandbox, server, RIGHT);
    sandbox.write('../home/.config/muster/config.toml', '[models]\nnonsense = 1\n');
    expect((await muster(sandbox, ['logout', 'corp'])).code).toBe(0);
  });
});
