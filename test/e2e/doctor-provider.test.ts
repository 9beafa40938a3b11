import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FakeModel } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { startGateway, startProbedModel, type Abilities } from '../model/probe/probed-server.ts';
import { CERTIFICATE } from './key-server.ts';
import { runMuster, Sandbox, type Finished, type RunOptions } from './muster.ts';
import { startProxy } from './proxy.ts';
import { TmuxTerminal } from './tmux.ts';

const KEY = 'sk-acme-0123456789abcdef';
const REMOTE = 'http://api.acme.example/v1';

/** A sandbox and a model to probe, both gone when it is disposed of. */
async function openProbe(abilities: Abilities = {}) {
  const model = await startProbedModel({ chunkMs: 2, ...abilities });
  const sandbox = new Sandbox();
  return {
    model,
    sandbox,
    file: join(sandbox.home, '.config/muster/config.toml'),
    run: (args: readonly string[], options: RunOptions = {}): Promise<Finished> =>
      runMuster(sandbox, args, options),
    [Symbol.asyncDispose]: async () => {
      await model.close();
      sandbox[Symbol.dispose]();
    },
  };
}

function lineOf({ stdout }: Finished, name: string): string {
  const found = stdout.split('\n').find((line) => line.slice(6).startsWith(name));
  return found?.replaceAll(/ {2,}/g, ' ') ?? '';
}

function paths({ requests }: FakeModel): readonly string[] {
  return requests.map(({ path }) => path);
}

describe.concurrent('muster doctor --provider URL', () => {
  it('prints the configuration, and writes nothing', async () => {
    await using probe = await openProbe();
    const { url } = probe.model;
    const run = await probe.run(['doctor', '--provider', url]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lineOf(run, 'streaming')).toMatch(/^ok streaming 10 pieces of text/);
    expect(run.stdout).toMatch(/^\d+ requests to the model used \d+ tokens in and \d+ out\.$/m);
    expect(run.stdout).toContain(
      `# The configuration to keep, for ${probe.file}:
[models.providers.local]
base_url = "${url}/v1"
kind = "openai-compatible"

[models.catalogue."local/fake-model"]
attachments = ["image"]

next: add the configuration to ${probe.file} (or probe again with --write), then: muster --model local/fake-model -p "…"
`,
    );
    expect([existsSync(probe.file), existsSync(probe.sandbox.data)]).toEqual([false, false]);
  });

  it('writes a configuration that works from the first request on', async () => {
    const refusedParameters = ['stream_options', 'max_tokens'];
    await using probe = await openProbe({ protocols: ['chat'], strict: { refusedParameters } });
    const { model, file } = probe;
    const args = ['doctor', '--provider', `${model.url}/v1/chat/completions`, '--write'];
    const written = await probe.run([...args, '--json']);
    expect([written.code, written.stderr]).toEqual([0, '']);
    const report = JSON.parse(written.stdout);
    expect(report).toMatchObject({
      ok: true,
      provider: { name: 'local', baseUrl: `${model.url}/v1`, protocol: 'openai-chat' },
      model: 'fake-model',
      isUsageComplete: false,
      written: file,
      next: 'muster --model local/fake-model -p "…"',
    });
    expect(report.requests).toBe(model.requests.length);
    expect(readFileSync(file, 'utf8')).toBe(report.config);
    expect(report.config).toContain('omit = ["stream_options", "max_tokens"]');
    const before = model.requests.length;
    const run = await probe.run(['--model', 'local/fake-model', '-p', 'Say that you are ready.']);
    expect([run.code, run.stdout]).toEqual([0, 'ready\n']);
    expect(model.requests.slice(before).map(({ outcome }) => outcome.status)).toEqual([200]);
    // The table is there now: nothing is written a second time.
    const again = await probe.run(args);
    expect([again.code, again.stderr]).toEqual([0, '']);
    expect(again.stdout).toContain('There is no configuration to write.');
    expect(readFileSync(file, 'utf8')).toBe(report.config);
  });

  it('does not write over a table of the same name', async () => {
    await using probe = await openProbe({ protocols: ['chat'] });
    const before = '[models.providers.acme]\napi_key_env = "ACME_KEY"\n';
    mkdirSync(dirname(probe.file), { recursive: true });
    writeFileSync(probe.file, `${before}base_url = "${probe.model.url}/wrong"\n`);
    await using gateway = await startGateway(probe.model.url, {
      map: (path) => (path.startsWith('/x/v1/') ? path.slice(2) : null),
    });
    const text = `${before}base_url = "${gateway.url}/x"\n`;
    writeFileSync(probe.file, text);
    const run = await probe.run(['doctor', '--provider', 'acme', '--write'], {
      env: { ACME_KEY: KEY },
    });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      /^muster: CONFLICT: .*config\.toml:1: \[models\.providers\.acme\] is there already; nothing was written/,
    );
    expect(readFileSync(probe.file, 'utf8')).toBe(text);
  });

  it('shows no key, and sends it to this server only', async () => {
    await using probe = await openProbe();
    const args = ['doctor', '--provider', probe.model.url, '--api-key-env', 'ACME_KEY'];
    const env = { ACME_KEY: KEY, OPENAI_API_KEY: 'sk-other-0123456789abcdef' };
    for (const more of [[], ['--json']]) {
      const run = await probe.run([...args, ...more], { env });
      expect([run.code, run.stderr]).toEqual([0, '']);
      expect(run.stdout).toContain('api_key_env = ');
      expect(run.stdout).not.toMatch(/sk-(?:acme|other)/);
    }
    const headers = JSON.stringify(probe.model.requests.map((request) => request.headers));
    expect(headers).toContain(KEY);
    expect(headers).not.toContain('sk-other');
  });

  it('shows no key that the server sends back, and no control characters', async () => {
    const message = `Incorrect API key provided: ${KEY}\u001b]0;gotcha\u0007\n\u202Eend`;
    await using probe = await openProbe({
      before: () => ({ fault: { kind: 'status', status: 401, message } }),
    });
    const run = await probe.run(
      ['doctor', '--provider', probe.model.url, '--api-key-env', 'ACME_KEY'],
      { env: { ACME_KEY: KEY } },
    );
    expect(run.code).toBe(1);
    expect(lineOf(run, 'protocol')).toMatch(
      /^fail protocol HTTP 401: Incorrect API key provided: \[key\].* → check the key: sign in/,
    );
    // oxlint-disable-next-line no-control-regex -- these are the characters
    expect(run.stdout).not.toMatch(/sk-acme|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it.each([
    [['--provider', 'http://me:secret-word@h/v1'], 'must not hold a user name or password'],
    [['--provider', 'https://h/v1?token=secret-word'], 'must not hold a key ("token")'],
    [['--provider', 'opnrouter'], 'is neither a provider nor a URL'],
    [['--provider', 'groq', '--api-key-env', 'secret-word'], 'must be the name of a variable'],
    [['--write'], '--write needs --provider URL|NAME'],
  ])('refuses %j', async (args, message) => {
    await using probe = await openProbe();
    const run = await probe.run(['doctor', ...args]);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain(message);
    expect(run.stderr).not.toContain('secret-word');
  });

  it('is for people, and not for the commands of agents', async () => {
    await using probe = await openProbe();
    const run = await probe.run(['doctor', '--provider', probe.model.url], {
      env: { MUSTER_TASK: 'tk_1' },
    });
    expect([run.code, run.stdout, paths(probe.model)]).toEqual([2, '', []]);
    expect(run.stderr).toContain('an agent cannot send requests to a provider with your keys');
  });

  it('trusts a certificate of its own only if the user does', async () => {
    await using probe = await openProbe({ protocols: ['chat'] });
    await using gateway = await startGateway(probe.model.url, { tls: true });
    const args = ['doctor', '--provider', `${gateway.url}/v1`];
    const unknown = await probe.run(args);
    expect(unknown.code).toBe(1);
    expect(lineOf(unknown, 'address')).toMatch(
      /^fail address https:.* no trusted connection: .* → for your own certificates, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE$/,
    );
    expect(unknown.stdout).toMatch(/\nNo request was sent to a model\.\n\nnext: address: for your/);
    const plain = await probe.run(['doctor', '--provider', gateway.url.replace('https', 'http')]);
    expect(lineOf(plain, 'address')).toMatch(/^fail address .* → should the URL begin with https/);
    const wrong = await probe.run([
      'doctor',
      '--provider',
      probe.model.url.replace('http', 'https'),
    ]);
    expect(lineOf(wrong, 'address')).toMatch(
      /^fail address .* should its base URL begin with http/,
    );
    for (const name of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']) {
      const known = await probe.run(args, { env: { [name]: CERTIFICATE } });
      expect([known.code, lineOf(known, 'tool call').slice(0, 2)]).toEqual([0, 'ok']);
    }
  });

  it('goes through the proxy of the environment, and names it without its password', async () => {
    await using probe = await openProbe({ protocols: ['chat'] });
    await using proxy = await startProxy(new URL(probe.model.url));
    const address = proxy.url.replace('http://', 'http://me:pass-word@');
    const run = await probe.run(['doctor', '--provider', REMOTE], { env: { HTTP_PROXY: address } });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lineOf(run, 'address')).toContain(`through the proxy ${new URL(proxy.url).host})`);
    expect(run.stdout).toContain('[models.providers.acme]');
    expect(run.stdout).not.toContain('pass-word');
    // A long prompt would cost.
    expect(lineOf(run, 'long prompt')).toBe('');
  });

  it('sees what the list of a local server states', async () => {
    await using probe = await openProbe({ protocols: ['chat'], models: ['qwen3:4b'] });
    const loaded = {
      models: [
        {
          key: 'small-8b',
          type: 'llm',
          loaded_instances: [{ id: 'small-8b', config: { context_length: 4096 } }],
          max_context_length: 32_768,
          capabilities: { vision: false, trained_for_tool_use: true },
        },
      ],
    };
    await using gateway = await startGateway(probe.model.url, {
      map: (path) => (path.startsWith('/api/') ? null : path),
      page: [200, JSON.stringify(loaded)],
    });
    mkdirSync(dirname(probe.file), { recursive: true });
    const table = `[models.providers.lmstudio]\nbase_url = "${gateway.url}/v1"\n`;
    writeFileSync(probe.file, table);
    const run = await probe.run(['doctor', '--provider', 'lmstudio']);
    expect(lineOf(run, 'models')).toBe(
      'ok models 2 models; small-8b is asked, because the server has loaded it',
    );
    expect(lineOf(run, 'images')).toBe('warn images none, by the list of models');
    expect(lineOf(run, 'context window')).toMatch(
      /^warn context window only 4096 tokens → enlarge/,
    );
    expect(run.stdout).toContain('[models.catalogue."lmstudio/small-8b"]\ncontext_window = 4096\n');
    expect(run.stdout).not.toContain('[models.providers.lmstudio]');
  });
});

describe.runIf(needs('tmux', 'tmux'))('muster doctor --provider on a terminal', () => {
  it.each([
    ['n', /^warn {2}protocol +not tested: no request was sent$/m, 0],
    ['y', /^ok {4}tool call/m, 7],
  ])('asks before it sends requests that cost: %s', async (answer, expected, count) => {
    await using probe = await openProbe({ protocols: ['chat'] });
    await using proxy = await startProxy(new URL(probe.model.url));
    using terminal = new TmuxTerminal(probe.sandbox, ['doctor', '--provider', REMOTE], {
      env: { HTTP_PROXY: proxy.url },
      size: [150, 50],
    });
    const asked = await terminal.sees('Continue? [y/N]');
    expect(asked.replaceAll('\n', '')).toContain(
      'So far, no request was sent to a model, and no token was used. At most 12 small requests to fake-model at api.acme.example follow',
    );
    expect(paths(probe.model)).toEqual([]);
    terminal.type(answer);
    terminal.press('Enter');
    expect(await terminal.sees('next: ')).toMatch(expected);
    expect(probe.model.requests.length).toBeGreaterThanOrEqual(count);
  });

  it.each([
    ['with --yes', ['--yes'], REMOTE],
    ['at a local server', [], null],
  ])('does not ask %s', async (_, args, url) => {
    await using probe = await openProbe({ protocols: ['chat'] });
    await using proxy = await startProxy(new URL(probe.model.url));
    using terminal = new TmuxTerminal(
      probe.sandbox,
      ['doctor', '--provider', url ?? probe.model.url, ...args],
      { env: { HTTP_PROXY: proxy.url }, size: [150, 50] },
    );
    expect(await terminal.sees('next: ')).not.toContain('Continue?');
  });
});
