import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ListedModelsReport } from '../../src/api/index.ts';
import { serve, type TestServer } from '../model/adapters/support.ts';
import { openModelLists } from '../../src/api/setup/model-lists.ts';
import { hashAccount } from '../../src/model/listing/stored-list.ts';
import { discoverProviders } from '../../src/model/providers/providers.ts';
import { unknownModel } from '../../src/protocol/listed-model.ts';
import { envelopeOf, runMuster, Sandbox, type Finished, type RunOptions } from './muster.ts';
import { startProxy } from './proxy.ts';
import { openWorld } from './world.ts';

const KEY = 'sk-SECRET-OF-THE-USER';

/** A server whose list has these models. */
function modelServer(models: readonly object[] | number): Promise<TestServer> {
  return serve((response, { url }) => {
    const isList = new URL(url, 'http://x').pathname === '/v1/models';
    const status = !isList ? 404 : typeof models === 'number' ? models : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { data: models } : { error: 'not for you' }));
  });
}

const MODELS = [
  {
    id: 'vendor/large-2',
    context_length: 200_000,
    pricing: { prompt: '0.000003', completion: '0.00001' },
  },
  { id: 'vendor/large-10', context_length: 1_000_000, supports_tools: true },
  { id: 'vendor/small', context_length: 32_000 },
];

/** A home with providers in its configuration, each with its base URL. */
function configured(providers: Readonly<Record<string, string>>): Sandbox {
  const sandbox = new Sandbox();
  const file = join(sandbox.home, '.config/muster/config.toml');
  mkdirSync(dirname(file), { recursive: true });
  const tables = Object.entries(providers).map(
    ([name, url]) =>
      `[models.providers.${name}]\nkind = "openai-compatible"\nbase_url = "${url}/v1"\napi_key_env = "THE_KEY"\n`,
  );
  const [first = ''] = Object.keys(providers);
  writeFileSync(file, `[models]\ndefault = "${first}/vendor/small"\n\n${tables.join('\n')}`);
  return sandbox;
}

async function models(sandbox: Sandbox, args: readonly string[], options: RunOptions = {}) {
  const env = { THE_KEY: KEY, ...options.env };
  const run = await runMuster(sandbox, ['models', ...args], { ...options, env });
  expect(`${run.stdout}${run.stderr}`).not.toContain(KEY);
  return run;
}

function report({ stdout }: Finished): ListedModelsReport {
  return JSON.parse(stdout);
}

describe.concurrent('muster models', () => {
  it('lists the models of each provider below what is configured, sorted', async () => {
    await using server = await modelServer(MODELS);
    using sandbox = configured({ mine: server.url });
    const { code, stdout, stderr } = await models(sandbox, []);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.slice(stdout.indexOf('mine: '))).toBe(
      [
        'mine: 3 models, listed just now',
        'MODEL            CONTEXT  OUTPUT  $ IN/OUT  TOOLS  IMAGES  PDF  REASONING',
        'vendor/large-2      200k       -      3/10  -      -       -    -',
        'vendor/large-10       1M       -         -  yes    -       -    -',
        'vendor/small         32k       -         -  -      -       -    -',
        '',
      ].join('\n'),
    );
    const { headers } = server.requests[0]!;
    expect(headers['authorization']).toBe(`Bearer ${KEY}`);
  });

  it('asks once a day, or with --refresh, and stores no key', async () => {
    await using server = await modelServer(MODELS);
    // The address is one that Muster takes for a public one.
    using sandbox = configured({ mine: server.url.replace('127.0.0.1', '0.0.0.0') });
    const list = async (...args: readonly string[]) =>
      report(await models(sandbox, ['--json', ...args])).providers[0]!;
    const first = await list();
    expect(first.models?.map(({ id }) => id)).toEqual([
      'vendor/large-2',
      'vendor/large-10',
      'vendor/small',
    ]);
    expect(await list()).toEqual(first);
    expect(server.requests.length).toBe(1);
    const path = join(sandbox.data, 'model-lists.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).not.toContain(KEY);
    const again = await list('--refresh');
    expect(server.requests.length).toBe(2);
    expect(again.listedAt! > first.listedAt!).toBe(true);
  });

  it('asks another account again', async () => {
    await using server = await modelServer(MODELS);
    using sandbox = configured({ mine: server.url.replace('127.0.0.1', '0.0.0.0') });
    await models(sandbox, []);
    await models(sandbox, [], { env: { THE_KEY: `${KEY}-2` } });
    expect(server.requests.length).toBe(2);
  });

  it('shows the last list of a server that is gone, with its age and the error', async () => {
    const server = await modelServer(MODELS);
    using sandbox = configured({ mine: server.url });
    await models(sandbox, []);
    const path = join(sandbox.data, 'model-lists.json');
    const aged = readFileSync(path, 'utf8').replace(/"askedAt":"[^"]+"/, () => {
      return `"askedAt":"${new Date(Date.now() - 50 * 3_600_000).toISOString()}"`;
    });
    writeFileSync(path, aged);
    await server[Symbol.asyncDispose]();
    const { code, stdout } = await models(sandbox, []);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^mine: 3 models, listed 2 days ago\nAsking again failed: no connection: connect ECONNREFUSED .*\nMODEL /m,
    );
    expect(stdout).toMatch(/^vendor\/small +32k /m);
  });

  it('names the reason of each provider that gives no list, and lists the others', async () => {
    await using good = await modelServer(MODELS);
    await using refusing = await modelServer(401);
    using sandbox = configured({ good: good.url, bad: refusing.url });
    const run = await models(sandbox, ['--json']);
    const { providers, choices } = report(run);
    expect(run.code).toBe(0);
    expect(choices[0]).toMatchObject({ wish: 'main', model: 'good/vendor/small' });
    expect(providers).toMatchObject([
      { name: 'good', modelCount: 3, listProblem: null },
      { name: 'bad', models: [], listedAt: null },
    ]);
    expect(providers[1]?.listProblem).toMatch(/^HTTP 401: not for you \(sent to .* in THE_KEY\)$/);
  });

  it('asks only the named provider, and finds models by words', async () => {
    await using first = await modelServer(MODELS);
    await using second = await modelServer(MODELS);
    using sandbox = configured({ one: first.url, two: second.url });
    const { stdout } = await models(sandbox, ['two', '--search', 'LARGE vendor']);
    expect(stdout).toMatch(/^two: 2 of 3 models with "LARGE vendor" in the id, listed just now$/m);
    expect(stdout).not.toMatch(/^one: |vendor\/small +32k/m);
    expect([first.requests.length, second.requests.length]).toEqual([0, 1]);
    const { providers } = report(await models(sandbox, ['two', '--json']));
    expect(providers.map((one) => one.models?.length ?? null)).toEqual([null, 3]);
    const wrong = await models(sandbox, ['three']);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'muster: the provider "three" is not configured (configured: one, two)\n',
    ]);
    const known = await models(sandbox, ['groq']);
    expect(known.stderr).toContain('set GROQ_API_KEY, or run "muster login groq"');
  });

  it('asks with the key that a command prints, and survives hostile names', async () => {
    const hostile = [{ id: '\u001B]0;owned\u0007evil\u202E' }, { id: `echo ${KEY}` }];
    await using server = await modelServer(hostile);
    using sandbox = configured({});
    const file = join(sandbox.home, '.config/muster/config.toml');
    writeFileSync(
      file,
      `[models.providers.mine]\nkind = "openai-compatible"\nbase_url = "${server.url}/v1"\napi_key_command = ["echo", "${KEY}"]\n`,
    );
    const { stdout } = await models(sandbox, ['mine', '--model', 'mine/x']);
    expect(server.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(stdout).toMatch(/^mine: 1 model, listed just now\n.*\n\]0;ownedevil /m);
    expect(readFileSync(join(sandbox.data, 'model-lists.json'), 'utf8')).not.toContain(KEY);
  });

  it('asks through a proxy', async () => {
    await using server = await modelServer(MODELS);
    await using proxy = await startProxy(new URL(server.url));
    using sandbox = configured({ mine: 'http://models.example.test' });
    const { code, stdout } = await models(sandbox, ['mine'], { env: { HTTP_PROXY: proxy.url } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^mine: 3 models, listed just now$/m);
    expect(proxy.asked.length).toBeGreaterThan(0);
  });

  it('lists what it can when nothing can be stored', async () => {
    await using server = await modelServer(MODELS);
    using sandbox = configured({ mine: server.url });
    writeFileSync(sandbox.data, 'a file in the way');
    const { code, stdout } = await models(sandbox, []);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^No list of models is stored: .* is not a directory$/m);
    expect(stdout).toMatch(/^mine: 3 models, listed just now$/m);
  });

  it('asks no server with an account that the project has brought along', async () => {
    await using server = await modelServer(MODELS);
    using sandbox = new Sandbox();
    const directory = join(sandbox.workspace, 'state');
    mkdirSync(directory, { mode: 0o700 });
    const named = { provider: 'corp', account: 'default', addedOn: new Date().toISOString() };
    const account = { ...named, baseUrl: `${server.url}/v1`, key: KEY };
    const file = join(directory, 'credentials.json');
    writeFileSync(file, JSON.stringify({ version: 1, accounts: [account] }), { mode: 0o600 });
    for (const command of ['models', 'doctor']) {
      const run = await runMuster(sandbox, [command, '--data-dir', directory]);
      expect(run.stdout).toContain('No stored key is used: the data directory');
      expect(run.stdout).toContain('is inside the project and may have come with it');
    }
    expect(server.requests).toEqual([]);
  });
});

it('a run takes from a stored list what nothing else states about a model', async () => {
  await using world = await openWorld({ protocol: 'chat', script: () => ({ text: 'done' }) });
  const env = world.model.env('chat');
  const args = ['-p', 'hi', '--max-cost-usd', '5', '--output-format', 'json'];
  const before = await world.run(args);
  expect([before.code, before.stdout]).toEqual([3, expect.stringContaining('no price is known')]);
  const price = { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 };
  const model = { ...unknownModel(env['LLM_MODEL_ID'] ?? ''), price };
  const [provider] = discoverProviders({ providers: {} }, env);
  const list = { baseUrl: provider!.baseUrl, account: hashAccount(provider!), models: [model] };
  openModelLists(world.sandbox.data).save([{ ...list, askedAt: Date.now(), isCut: false }]);
  const after = await world.run(args);
  expect([after.code, after.stderr]).toEqual([0, '']);
  expect(envelopeOf(after).data.cost_usd).toBeGreaterThan(0);
});
