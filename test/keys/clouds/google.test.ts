import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyReader } from '../../../src/keys/key-reader.ts';
import { KeyUnavailableError } from '../../../src/protocol/api-key.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import type { HttpFetch } from '../../../src/sys/http/http-types.ts';
import { serveInTurn } from './token-server.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const SERVICE_ACCOUNT = {
  type: 'service_account',
  project_id: 'my-project',
  private_key_id: 'key-1',
  private_key: privateKey,
  client_email: 'ci@my-project.iam.gserviceaccount.com',
  client_id: '1',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const PERSON = {
  type: 'authorized_user',
  client_id: 'client.apps.googleusercontent.com',
  client_secret: 'client-secret-0123456789',
  refresh_token: 'refresh-token-0123456789',
};
const TOKEN = JSON.stringify({
  access_token: 'ya29.first',
  expires_in: 3600,
  token_type: 'Bearer',
});

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'muster-google-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const USUAL = '.config/gcloud/application_default_credentials.json';

function write(path: string, content: object | string): string {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, typeof content === 'string' ? content : JSON.stringify(content));
  return full;
}

/** A reader whose requests to Google go to a server on loopback. */
function open(url: string, environment: Readonly<Record<string, string>> = {}) {
  const secrets: string[] = [];
  const asked: string[] = [];
  const direct = createHttpFetch({});
  const fetch: HttpFetch = (address, request) => {
    const { origin, pathname, search } = new URL(address);
    asked.push(`${origin}${pathname}`);
    return direct(`${url}${pathname}${search}`, request);
  };
  const time = { ms: Date.now() };
  const reader = createKeyReader({
    environment: { HOME: home, ...environment },
    home,
    clock: { now: () => time.ms, monotonic: () => time.ms },
    fetch,
    onKey: (key) => void secrets.push(key),
  });
  return {
    read: (refused?: string) =>
      reader.read({ kind: 'google' }, refused === undefined ? {} : { refused }),
    secrets,
    asked,
    time,
  };
}

async function messageOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KeyUnavailableError);
  return error instanceof Error ? error.message : '';
}

describe('the credentials of Google', () => {
  it('of a service account are a signed assertion, which is exchanged for a token', async () => {
    await using server = await serveInTurn([[200, TOKEN]]);
    const file = write('keys/ci.json', SERVICE_ACCOUNT);
    const { read, secrets, asked } = open(server.url, { GOOGLE_APPLICATION_CREDENTIALS: file });
    expect(await read()).toBe('ya29.first');
    expect(asked).toEqual(['https://oauth2.googleapis.com/token']);
    const form = Object.fromEntries(new URLSearchParams(server.requests[0]?.body));
    expect(form['grant_type']).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    // https://developers.google.com/identity/protocols/oauth2/service-account#jwt-auth
    const [head = '', claims = '', signature = ''] = (form['assertion'] ?? '').split('.');
    const decode = (part: string): object => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(decode(head)).toEqual({ alg: 'RS256' });
    const issued: { iat?: number; exp?: number } = decode(claims);
    expect(issued).toMatchObject({
      iss: SERVICE_ACCOUNT.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
    });
    expect((issued.exp ?? 0) - (issued.iat ?? 0)).toBe(3600);
    const verified = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verified.verify(publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(secrets).toEqual(['ya29.first', privateKey]);
  });

  it('of a person are refreshed five minutes before their end, and when a server refuses them', async () => {
    const token = (name: string) =>
      JSON.stringify({ access_token: name, expires_in: 3600, token_type: 'Bearer' });
    await using server = await serveInTurn([
      [200, token('one')],
      [200, token('two')],
      [200, token('three')],
    ]);
    write(USUAL, PERSON);
    const { read, secrets, time } = open(server.url);
    expect(await Promise.all([read(), read()])).toEqual(['one', 'one']);
    time.ms += 3_290_000;
    expect(await read()).toBe('one');
    time.ms += 20_000;
    expect(await read()).toBe('two');
    expect(await read('two')).toBe('three');
    expect(Object.fromEntries(new URLSearchParams(server.requests[0]?.body))).toEqual({
      grant_type: 'refresh_token',
      client_id: PERSON.client_id,
      client_secret: PERSON.client_secret,
      refresh_token: PERSON.refresh_token,
    });
    expect(secrets).toContain(PERSON.refresh_token);
    expect(secrets).toContain(PERSON.client_secret);
  });

  it('of a person that have ended say how to sign in again', async () => {
    const refusal = {
      error: 'invalid_grant',
      error_description: 'Bad Request',
      error_subtype: 'invalid_rapt',
    };
    await using server = await serveInTurn([[400, JSON.stringify(refusal)]]);
    write(USUAL, PERSON);
    expect(await messageOf(open(server.url).read())).toBe(
      `the credentials of Google in ${join(home, USUAL)} cannot be used: invalid_grant (run "gcloud auth application-default login")`,
    );
  });

  it('of a workload are exchanged at the token service', async () => {
    const exchanged = {
      access_token: 'ya29.federated',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 3600,
    };
    await using server = await serveInTurn([[200, JSON.stringify(exchanged)]]);
    const file = write('wif.json', {
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: 'https://sts.googleapis.com/v1/token',
      credential_source: { file: write('subject', 'eyJ.subject.token') },
    });
    const { read } = open(server.url, { GOOGLE_APPLICATION_CREDENTIALS: file });
    expect(await read()).toBe('ya29.federated');
    expect(server.requests[0]?.url).toBe('/v1/token');
    expect(Object.fromEntries(new URLSearchParams(server.requests[0]?.body))).toMatchObject({
      subject_token: 'eyJ.subject.token',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
  });

  it('come from the metadata server of a machine if a variable names it', async () => {
    await using server = await serveInTurn([[200, TOKEN]]);
    const { read, asked } = open(server.url, { GCE_METADATA_HOST: 'metadata.test' });
    expect(await read()).toBe('ya29.first');
    expect(asked).toEqual([
      'http://metadata.test/computeMetadata/v1/instance/service-accounts/default/token',
    ]);
    expect(server.requests[0]?.headers['metadata-flavor']).toBe('Google');
  });

  it('that are nowhere say where they were looked for, and no server is asked', async () => {
    const { read, asked } = open('http://127.0.0.1:9');
    expect(await messageOf(read())).toBe(
      `no credentials of Google were found (looked at GOOGLE_APPLICATION_CREDENTIALS and ${join(home, USUAL)}): run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account`,
    );
    expect(asked).toEqual([]);
  });

  it.each([
    ['{"private_key": "-----BEGIN PRIVATE KEY----- oops', 'holds no credentials of Google'],
    ['{"type":"gdch"}', 'credentials of the type "gdch" are unknown or incomplete'],
  ])('that are damaged are not shown: %s', async (text, message) => {
    write(USUAL, text);
    const shown = await messageOf(open('http://127.0.0.1:9').read());
    expect(shown).toContain(message);
    expect(shown).not.toContain('PRIVATE KEY');
  });
});
