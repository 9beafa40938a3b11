import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKeychain } from '../../src/keys/keychain.ts';
import { newId } from '../../src/base/ids.ts';
import { sendJson, startKeyServer } from '../e2e/key-server.ts';
import { runMuster, Sandbox, startMuster, type Finished, type RunOptions } from '../e2e/muster.ts';
import { bash, callsInTurn, lastResults, openWorld } from '../e2e/world.ts';
import { needs } from '../needs.ts';
import { KeychainSession } from './keychain-session.ts';

const HAS_KEYCHAIN = [
  needs('dbus-run-session', 'dbus-daemon'),
  needs('gnome-keyring-daemon', 'gnome-keyring'),
].every(Boolean);

/** No test shares its key with another one. */
function newKey(): string {
  return `sk-keychain-${newId()}-${newId()}`;
}

function variables(session: KeychainSession): Record<string, string> {
  const { DBUS_SESSION_BUS_ADDRESS: bus = '', XDG_RUNTIME_DIR: run = '' } = session.environment;
  return { DBUS_SESSION_BUS_ADDRESS: bus, XDG_RUNTIME_DIR: run };
}

async function muster(
  sandbox: Sandbox,
  session: KeychainSession,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return runMuster(sandbox, args, {
    ...options,
    env: { ...variables(session), ...options.env },
  });
}

/** All that the data directory holds. */
function keptIn({ data }: Sandbox): string {
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** The arguments and environments of all processes. */
function processTexts(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => ['cmdline', 'environ'].map((file) => `/proc/${pid}/${file}`))
    .map((path) => {
      try {
        return readFileSync(path, 'latin1');
      } catch {
        // The process has ended.
        return '';
      }
    })
    .join('\n');
}

describe.runIf(HAS_KEYCHAIN)('the keychain', () => {
  it('gets a key that is stored without any choice, which is in no file and no argument', async () => {
    const key = newKey();
    await using server = await startKeyServer({ keys: new Set([key]) });
    using sandbox = new Sandbox();
    await using session = await KeychainSession.open(sandbox.home, 'unlocked');
    const login = startMuster(sandbox, ['login', 'corp', '--base-url', server.url], {
      stdin: key,
      env: variables(session),
    });
    let seen = '';
    const watcher = setInterval(() => (seen += processTexts()), 5);
    const { code, stdout, stderr } = await login.finished.finally(() => clearInterval(watcher));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('The key is in the keychain of the system.');
    // The helper was seen, but not the key.
    expect(seen).toContain('corp/default');
    expect(seen).not.toContain(key);
    expect(await createKeychain(session.environment).read('corp', 'default')).toBe(key);
    const run = await muster(sandbox, session, ['-p', `the key is ${key}`, '--model', 'corp/x']);
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    const last = server.seen.at(-1);
    expect([last?.key, last?.body.includes(key)]).toEqual([key, false]);
    expect(keptIn(sandbox)).not.toContain(key);
    const list = await muster(sandbox, session, ['login', '--list', '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject([{ provider: 'corp', store: 'keychain' }]);
    const logout = await muster(sandbox, session, ['logout', 'corp']);
    expect(logout.stdout).toContain('and its key from the keychain.');
    expect(await createKeychain(session.environment).read('corp', 'default')).toBeNull();
  });

  it('no longer has a key that is stored in the file instead', async () => {
    const [old, key] = [newKey(), newKey()];
    await using server = await startKeyServer({ keys: new Set([old, key]) });
    using sandbox = new Sandbox();
    await using session = await KeychainSession.open(sandbox.home, 'unlocked');
    const login = ['login', 'corp', '--base-url', server.url];
    await muster(sandbox, session, login, { stdin: old });
    const run = await muster(sandbox, session, [...login, '--store', 'file'], { stdin: key });
    expect(run.code).toBe(0);
    expect(await createKeychain(session.environment).read('corp', 'default')).toBeNull();
    expect(keptIn(sandbox)).toContain(key);
  });

  it('is asked again for a key that the server refuses', async () => {
    const [old, key] = [newKey(), newKey()];
    const keys = new Set([old]);
    using sandbox = new Sandbox();
    await using session = await KeychainSession.open(sandbox.home, 'unlocked');
    const keychain = createKeychain(session.environment);
    await using server = await startKeyServer({
      keys,
      answer: (request, response) => {
        if (request.method !== 'POST' || request.key !== old) return false;
        // Meanwhile, the person signs in again.
        keys.add(key);
        void keychain
          .write('corp', 'default', key)
          .then(() => sendJson(response, 401, { error: { message: `revoked: ${old}` } }));
        return true;
      },
    });
    await muster(sandbox, session, ['login', 'corp', '--base-url', server.url], { stdin: old });
    const run = await muster(sandbox, session, ['-p', `was ${old}`, '--model', 'corp/x']);
    expect([run.code, run.stdout, run.stderr]).toEqual([0, 'ok\n', '']);
    expect(server.seen.slice(-2).map((request) => request.key)).toEqual([old, key]);
    expect(server.seen.at(-1)?.body).not.toContain(old);
    expect(keptIn(sandbox)).not.toContain(old);
  });

  it('is out of reach of commands in the sandbox', async () => {
    const canary = newKey();
    const reversed = canary.split('').toReversed().join('');
    const keyring = resolve(import.meta.dirname, '../../node_modules/@napi-rs/keyring');
    const program = `const { Entry } = require('${keyring}'); console.log(new Entry('muster', 'anthropic/default').getPassword().split('').reverse().join(''))`;
    const addresses = '"$BUS" unix:path=/run/user/$(id -u)/bus';
    const attack = `for bus in ${addresses}; do DBUS_SESSION_BUS_ADDRESS=$bus '${process.execPath}' -e "${program}"; done; true`;
    for (const isConfined of [true, false]) {
      await using world = await openWorld({
        script: (request) => callsInTurn([bash(attack)])(request),
        ...(isConfined ? {} : { bare: true }),
      });
      const { sandbox } = world;
      await using session = await KeychainSession.open(sandbox.home, 'unlocked');
      // Commands get the address of the bus, as if a model had guessed it.
      const bus = variables(session)['DBUS_SESSION_BUS_ADDRESS'] ?? '';
      sandbox.write('../home/.config/muster/config.toml', '[sandbox]\nenv = ["BUS"]\n');
      const env = { ...variables(session), BUS: bus, ANTHROPIC_API_KEY: '' };
      const args = ['login', 'anthropic', '--store', 'keychain'];
      const stored = await runMuster(sandbox, args, {
        stdin: canary,
        env: { ...world.model.env('anthropic'), ...env },
      });
      expect([stored.code, stored.stderr]).toEqual([0, '']);
      const run = await world.run(['-p', 'go', '--permission-mode', 'autonomous'], { env });
      expect([run.code, run.stdout]).toEqual([0, 'done\n']);
      const [result] = lastResults(world.model);
      // Outside of the sandbox, commands have all rights of the user (control).
      expect([result?.text.includes(reversed), isConfined]).toEqual([!isConfined, isConfined]);
      expect(world.model.requests.at(-1)?.headers['x-api-key']).toBe(canary);
    }
  });

  it('that is locked is not used without being asked for, and a run says what to do', async () => {
    const [old, key] = [newKey(), newKey()];
    await using server = await startKeyServer({ keys: new Set([old, key]) });
    using sandbox = new Sandbox();
    const login = ['login', 'corp', '--base-url', server.url];
    {
      await using session = await KeychainSession.open(sandbox.home, 'unlocked');
      await muster(sandbox, session, login, { stdin: old });
    }
    await using session = await KeychainSession.open(sandbox.home, 'locked');
    const run = await muster(sandbox, session, ['-p', 'go', '--model', 'corp/x']);
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(
      /the keychain cannot be used for the account "default" of corp: .*\. Unlock it, or sign in with "muster login corp --account default --store file"/,
    );
    const strict = await muster(sandbox, session, [...login, '--store', 'keychain'], {
      stdin: key,
    });
    expect([strict.code, strict.stderr.includes('the keychain cannot be used')]).toEqual([1, true]);
    const auto = await muster(sandbox, session, login, { stdin: key });
    expect([auto.code, auto.stderr]).toEqual([0, '']);
    expect(auto.stdout).toMatch(
      /The keychain is not used: .*\.\nThe key is in .*credentials\.json/,
    );
    expect(auto.stdout).toContain('The earlier key of this account is still in the keychain.');
    const again = await muster(sandbox, session, ['-p', 'go', '--model', 'corp/x']);
    expect([again.code, again.stdout, server.seen.at(-1)?.key]).toEqual([0, 'ok\n', key]);
  });

  it('that does not answer stops nothing for ever', async () => {
    using sandbox = new Sandbox();
    await using session = await KeychainSession.open(sandbox.home, 'unlocked');
    session.freeze();
    const keychain = createKeychain(session.environment, { unlockMs: 500 });
    await expect(keychain.read('corp', 'default')).rejects.toThrow('no answer within 0.5 s');
  });
});
