import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startKeyServer } from './key-server.ts';
import { runMuster, Sandbox, type RunOptions } from './muster.ts';

const KEY = 'sk-of-the-first-server-0123456789';

/** A home, and two servers of which only the first one may get the key. */
async function openWorld() {
  const right = await startKeyServer({ keys: new Set([KEY]) });
  const other = await startKeyServer({ keys: new Set([KEY]) });
  const sandbox = new Sandbox();
  return {
    right,
    other,
    sandbox,
    configure: (text: string) => sandbox.write('../home/.config/muster/config.toml', text),
    run: (args: readonly string[], options: RunOptions = {}) => runMuster(sandbox, args, options),
    async [Symbol.asyncDispose]() {
      sandbox[Symbol.dispose]();
      await right[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

function table(name: string, url: string, more = ''): string {
  return `[models.providers.${name}]\nbase_url = "${url}"\n${more}`;
}

describe.concurrent('a key is sent to no other server', () => {
  it('when the address of its provider changes in the configuration', async () => {
    await using world = await openWorld();
    const { right, other, configure, run, sandbox } = world;
    configure(table('mine', right.url));
    expect((await run(['login', 'mine'], { stdin: KEY })).code).toBe(0);
    const { origin } = new URL(right.url);
    const stored = JSON.parse(readFileSync(join(sandbox.data, 'credentials.json'), 'utf8'));
    expect(stored.accounts).toEqual([
      { provider: 'mine', account: 'default', key: KEY, origin, addedOn: expect.any(String) },
    ]);
    expect((await run(['login', '--list'])).stdout).toContain(`only for ${origin}`);
    configure(table('mine', other.url));
    const problem = `the account "default" of mine is for ${origin}, and is not sent to ${new URL(other.url).origin}: sign in again with "muster login mine"`;
    for (const args of [
      ['models', 'mine'],
      ['-p', 'hi', '--model', 'mine/x'],
      ['doctor', '--provider', 'mine', '--yes'],
      ['doctor', '--provider', other.url, '--yes'],
    ]) {
      const { code, stdout, stderr } = await run(args);
      expect(code).not.toBe(0);
      expect((stdout + stderr).replace(/\s+/g, ' ')).toContain(problem);
    }
    expect(other.seen.filter(({ key }) => key !== null)).toEqual([]);
    expect((await run(['login', 'mine'], { stdin: KEY })).code).toBe(0);
    expect((await run(['-p', 'hi', '--model', 'mine/x'])).stdout).toBe('ok\n');
  });

  it('when doctor guesses the name of its provider for another server', async () => {
    await using world = await openWorld();
    const { right, other, configure, run } = world;
    configure(table('local', right.url));
    expect((await run(['login', 'local'], { stdin: KEY })).code).toBe(0);
    configure('');
    await run(['doctor', '--provider', other.url, '--yes']);
    expect(other.seen.map(({ key }) => key)).not.toContain(KEY);
    expect(other.seen.length).toBeGreaterThan(0);
  });

  it.each([
    ['vllm', 'VLLM_API_KEY'],
    ['litellm', 'LITELLM_API_KEY'],
    ['lmstudio', 'LM_API_TOKEN'],
  ])('that is configured with the protocol of %s', async (kind, variable) => {
    await using world = await openWorld();
    const { other, configure, run } = world;
    configure(table('gw2', other.url, `kind = "${kind}"\n`));
    const env = { [variable]: KEY };
    await run(['models', 'gw2'], { env });
    await run(['-p', 'hi', '--model', 'gw2/x'], { env });
    expect(other.seen.map(({ key }) => key)).not.toContain(KEY);
    expect(other.seen.length).toBeGreaterThan(0);
  });
});

it.each(['api_key', 'access_token', 'key'])(
  'an address with a key in its query is neither stored nor shown: %s',
  async (name) => {
    await using world = await openWorld();
    const { right, run } = world;
    const address = `${right.url}?${name}=${KEY}`;
    const refused = await run(['login', 'x', '--base-url', address], { stdin: KEY });
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `muster: --base-url must not hold a key ("${name}"); muster login asks for the key\n`,
    });
    expect((await run(['login', '--list'])).stdout).toMatch(/^No account is stored/);
    expect(right.seen).toEqual([]);
  },
);
