import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyReader } from '../../../src/keys/key-reader.ts';
import { KeyUnavailableError } from '../../../src/protocol/api-key.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import { serveInTurn } from './token-server.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'muster-azure-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Installs a program `az` that runs a script. */
function installAz(script: string): string {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'az'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'az'), 0o755);
  return `${bin}:/usr/bin:/bin`;
}

function open(environment: Readonly<Record<string, string>> = {}) {
  const secrets: string[] = [];
  const time = { ms: NOW };
  const reader = createKeyReader({
    environment: { PATH: join(home, 'nothing'), HOME: home, ...environment },
    home,
    clock: { now: () => time.ms, monotonic: () => time.ms },
    fetch: createHttpFetch({}),
    onKey: (key) => void secrets.push(key),
  });
  return { read: () => reader.read({ kind: 'azure' }), secrets, time };
}

async function messageOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KeyUnavailableError);
  return error instanceof Error ? error.message : '';
}

const token = (name: string): string =>
  JSON.stringify({
    token_type: 'Bearer',
    expires_in: 3599,
    ext_expires_in: 3599,
    access_token: name,
  });

describe('the credentials of Azure', () => {
  it('of a service principal are exchanged for a token, and again before its end', async () => {
    await using authority = await serveInTurn([
      [200, token('one')],
      [200, token('two')],
    ]);
    const { read, secrets, time } = open({
      AZURE_TENANT_ID: 'tenant-1',
      AZURE_CLIENT_ID: 'client-1',
      AZURE_CLIENT_SECRET: 'secret-0123456789',
      AZURE_AUTHORITY_HOST: authority.url,
    });
    expect(await read()).toBe('one');
    time.ms += 3_298_000;
    expect(await read()).toBe('one');
    time.ms += 2_000;
    expect(await read()).toBe('two');
    expect(authority.requests[0]).toMatchObject({
      method: 'POST',
      url: '/tenant-1/oauth2/v2.0/token',
    });
    expect(Object.fromEntries(new URLSearchParams(authority.requests[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client-1',
      scope: 'https://ai.azure.com/.default',
      client_secret: 'secret-0123456789',
    });
    expect(secrets).toEqual(['one', 'secret-0123456789', 'two', 'secret-0123456789']);
  });

  it('of a workload are an assertion from a file', async () => {
    await using authority = await serveInTurn([[200, token('federated')]]);
    writeFileSync(join(home, 'token'), 'eyJ.workload.token\n');
    const { read } = open({
      AZURE_TENANT_ID: 'tenant-1',
      AZURE_CLIENT_ID: 'client-1',
      AZURE_FEDERATED_TOKEN_FILE: join(home, 'token'),
      AZURE_AUTHORITY_HOST: `${authority.url}/`,
    });
    expect(await read()).toBe('federated');
    expect(Object.fromEntries(new URLSearchParams(authority.requests[0]?.body))).toMatchObject({
      client_assertion: 'eyJ.workload.token',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
  });

  it('come from the identity of a host or a machine', async () => {
    await using host = await serveInTurn([
      [200, token('host')],
      [200, token('machine')],
    ]);
    const ofHost = open({
      IDENTITY_ENDPOINT: `${host.url}/msi/token`,
      IDENTITY_HEADER: 'header-1',
    });
    expect(await ofHost.read()).toBe('host');
    const ofMachine = open({
      AZURE_POD_IDENTITY_AUTHORITY_HOST: host.url,
      AZURE_CLIENT_ID: 'mine',
    });
    expect(await ofMachine.read()).toBe('machine');
    expect(
      host.requests.map(({ url, headers }) => [
        url,
        headers['x-identity-header'],
        headers['metadata'],
      ]),
    ).toEqual([
      [
        '/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fai.azure.com',
        'header-1',
        undefined,
      ],
      [
        '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fai.azure.com&client_id=mine',
        undefined,
        'true',
      ],
    ]);
  });

  it('come from the command line az', async () => {
    const answer = JSON.stringify({
      accessToken: 'eyJ.of.az',
      expires_on: 4_102_444_800,
      tenant: 't',
    });
    const { read } = open({ PATH: installAz(`echo "$@" > ${home}/args; echo '${answer}'`) });
    expect(await read()).toBe('eyJ.of.az');
  });

  it.each([
    [
      'echo "ERROR: Please run \'az login\' to setup account." >&2; exit 1',
      '"az account get-access-token" failed: ERROR: Please run \'az login\' to setup account. (run "az login")',
    ],
    [
      'echo "no json eyJ.secret.token"',
      '"az account get-access-token" prints no token: run "az login"',
    ],
  ])('that az does not give say what to do: %s', async (script, message) => {
    expect(await messageOf(open({ PATH: installAz(script) }).read())).toBe(message);
  });

  it('that are nowhere say what to set', async () => {
    expect(await messageOf(open().read())).toBe(
      'no credentials of Azure were found: set a key in AZURE_OPENAI_API_KEY or ANTHROPIC_FOUNDRY_API_KEY, or install the Azure command line and run "az login"',
    );
  });

  it('that are refused say why', async () => {
    const refusal = {
      error: 'invalid_client',
      error_description: 'AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1',
    };
    await using authority = await serveInTurn([[401, JSON.stringify(refusal)]]);
    const { read } = open({
      AZURE_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_CLIENT_SECRET: 'secret-0123456789',
      AZURE_AUTHORITY_HOST: authority.url,
    });
    expect(await messageOf(read())).toBe(
      'the credentials of Azure in AZURE_CLIENT_SECRET cannot be used: HTTP 401: AADSTS7000215: Invalid client secret provided. (check AZURE_TENANT_ID and AZURE_CLIENT_ID, or set a key in AZURE_OPENAI_API_KEY)',
    );
  });
});
