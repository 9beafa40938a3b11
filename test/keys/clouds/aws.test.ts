import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeyReader } from '../../../src/keys/key-reader.ts';
import { KeyUnavailableError } from '../../../src/protocol/api-key.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import { serveInTurn as serve } from './token-server.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const EXPIRATION = '2026-11-28T13:00:00Z';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'muster-aws-'));
  // AWS's own library finds the files of a sign-in below the home of the process.
  vi.stubEnv('HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

function write(path: string, text: string): string {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

function open(environment: Readonly<Record<string, string>> = {}) {
  const secrets: string[] = [];
  const time = { ms: NOW };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const reader = createKeyReader({
    environment: {
      PATH: process.env['PATH'],
      HOME: home,
      AWS_EC2_METADATA_DISABLED: 'true',
      ...environment,
    },
    home,
    clock: { now: () => time.ms, monotonic: () => time.ms },
    fetch: createHttpFetch({}),
    onKey: (key) => void secrets.push(key),
  });
  const read = (profile: string | null = null, options?: { readonly refused: string }) =>
    reader.read({ kind: 'aws', region: 'us-east-1', profile }, options);
  return { read, secrets, time };
}

async function messageOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KeyUnavailableError);
  return error instanceof Error ? error.message : '';
}

const STS_ANSWER = (
  id: string,
) => `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult><Credentials>
    <AccessKeyId>${id}</AccessKeyId><SecretAccessKey>secret-of-role</SecretAccessKey>
    <SessionToken>token-of-role</SessionToken><Expiration>${EXPIRATION}</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

describe('the credentials of AWS', () => {
  it('come from variables first, and each part of them is a secret', async () => {
    write(
      '.aws/credentials',
      '[default]\naws_access_key_id = OTHER\naws_secret_access_key = other\n',
    );
    const { read, secrets } = open({
      AWS_ACCESS_KEY_ID: 'AKIDENV',
      AWS_SECRET_ACCESS_KEY: 'secret-of-env',
      AWS_SESSION_TOKEN: 'token-of-env',
    });
    expect(await read()).toBe('AKIDENV:secret-of-env:token-of-env');
    expect(secrets).toEqual(['AKIDENV', 'secret-of-env', 'token-of-env']);
  });

  it('come from a chosen profile and from nowhere else', async () => {
    write('.aws/credentials', '[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = s1\n');
    const { read } = open({ AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 's2' });
    expect(await read('work')).toBe('AKIDWORK:s1');
    expect(await messageOf(read('nobody'))).toBe(
      'no credentials of AWS were found (looked in the profile "nobody"): run "aws sso login" or "aws configure", or set AWS_BEARER_TOKEN_BEDROCK',
    );
  });

  it('come from a program that a profile names, again after its half life', async () => {
    const counter = join(home, 'runs');
    const script = write(
      'print.sh',
      `echo x >> ${counter}\nprintf '{"Version":1,"AccessKeyId":"AKID%s","SecretAccessKey":"s","SessionToken":"t","Expiration":"2099-01-01T00:00:00Z"}' $(wc -l < ${counter})\n`,
    );
    write('.aws/config', `[profile made]\ncredential_process = /bin/sh ${script}\n`);
    const { read, time } = open();
    expect(await Promise.all([read('made'), read('made')])).toEqual(['AKID1:s:t', 'AKID1:s:t']);
    time.ms = Date.parse('2098-12-31T23:54:59Z');
    expect(await read('made')).toBe('AKID1:s:t');
    time.ms = Date.parse('2098-12-31T23:55:01Z');
    expect(await read('made')).toBe('AKID2:s:t');
    // A refused key is read again before its end.
    expect(await read('made', { refused: 'AKID2:s:t' })).toBe('AKID3:s:t');
  });

  it('come from the token of a workload, which the token service exchanges', async () => {
    await using sts = await serve([[200, STS_ANSWER('ASIAWEB'), 'text/xml']]);
    const { read } = open({
      AWS_WEB_IDENTITY_TOKEN_FILE: write('token', 'eyJ.web.identity'),
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ci',
      AWS_ROLE_SESSION_NAME: 'ci',
      AWS_ENDPOINT_URL_STS: sts.url,
    });
    expect(await read()).toBe('ASIAWEB:secret-of-role:token-of-role');
    const form = Object.fromEntries(new URLSearchParams(sts.requests[0]?.body));
    expect(form).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: 'arn:aws:iam::123456789012:role/ci',
      RoleSessionName: 'ci',
      WebIdentityToken: 'eyJ.web.identity',
    });
  });

  it('come from a container, with its token', async () => {
    const body = {
      AccessKeyId: 'ASIACON',
      SecretAccessKey: 's',
      Token: 't',
      Expiration: EXPIRATION,
    };
    await using container = await serve([[200, JSON.stringify(body)]]);
    const { read } = open({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${container.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'container-token',
    });
    expect(await read()).toBe('ASIACON:s:t');
    expect(container.requests[0]).toMatchObject({
      url: '/v1/credentials',
      headers: { authorization: 'container-token' },
    });
  });

  it('come from a sign-in with SSO', async () => {
    const body = {
      roleCredentials: {
        accessKeyId: 'ASIASSO',
        secretAccessKey: 's',
        sessionToken: 't',
        expiration: Date.parse(EXPIRATION),
      },
    };
    await using portal = await serve([[200, JSON.stringify(body)]]);
    signIn('2099-01-01T00:00:00Z');
    const { read } = open({ AWS_ENDPOINT_URL_SSO: portal.url });
    expect(await read('sso')).toBe('ASIASSO:s:t');
    expect(portal.requests[0]).toMatchObject({
      url: '/federation/credentials?role_name=dev&account_id=123456789012',
      headers: { 'x-amz-sso_bearer_token': 'sso-access-token' },
    });
  });

  it('of an expired sign-in say how to sign in again', async () => {
    signIn('2020-01-01T00:00:00Z');
    const message =
      'the sign-in to AWS of the profile "sso" has ended or is missing: run "aws sso login --profile sso"';
    expect(await messageOf(open().read('sso'))).toBe(message);
  });

  it('that a portal refuses say why', async () => {
    const body = { __type: 'ForbiddenException', message: 'No access' };
    await using portal = await serve([[403, JSON.stringify(body)]]);
    signIn('2099-01-01T00:00:00Z');
    const { read } = open({ AWS_ENDPOINT_URL_SSO: portal.url });
    expect(await messageOf(read('sso'))).toBe(
      'the credentials of AWS in the profile "sso" cannot be used: ForbiddenException: No access (check them with "aws sts get-caller-identity --profile sso")',
    );
  });

  it('are not asked for at the metadata server of a machine that is none of AWS', async () => {
    expect(await messageOf(open().read())).toBe(
      'no credentials of AWS were found (looked in AWS_ACCESS_KEY_ID, the profile "default"): run "aws sso login" or "aws configure", or set AWS_BEARER_TOKEN_BEDROCK',
    );
  });

  it('come from the metadata server of a machine if a variable names it', async () => {
    const role = {
      Code: 'Success',
      AccessKeyId: 'ASIAEC2',
      SecretAccessKey: 's',
      Token: 't',
      Expiration: '2099-01-01T00:00:00Z',
    };
    await using metadata = await serve([
      [200, 'metadata-token', 'text/plain'],
      [200, 'my-role', 'text/plain'],
      [200, JSON.stringify(role)],
    ]);
    const { read } = open({
      AWS_EC2_METADATA_DISABLED: 'false',
      AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url,
    });
    expect(await read()).toBe('ASIAEC2:s:t');
    expect(metadata.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/my-role',
    ]);
  });
});

/** Writes a profile with SSO, and the token of its sign-in as the AWS command line keeps it. */
function signIn(expiresAt: string): void {
  write(
    '.aws/config',
    [
      '[profile sso]',
      'sso_session = corp',
      'sso_account_id = 123456789012',
      'sso_role_name = dev',
      '[sso-session corp]',
      'sso_region = us-east-1',
      'sso_start_url = https://corp.awsapps.com/start',
    ].join('\n'),
  );
  const name = createHash('sha1').update('corp').digest('hex');
  const token = {
    accessToken: 'sso-access-token',
    expiresAt,
    region: 'us-east-1',
    startUrl: 'https://corp.awsapps.com/start',
  };
  write(`.aws/sso/cache/${name}.json`, JSON.stringify(token));
}
