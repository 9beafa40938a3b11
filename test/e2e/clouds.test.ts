import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFakeCloud, reply } from '../model/clouds/fake-cloud.ts';
import { runMuster, Sandbox } from './muster.ts';

const STS_ANSWER = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
  <AccessKeyId>ASIAWEB</AccessKeyId><SecretAccessKey>secret-of-role</SecretAccessKey>
  <SessionToken>token-of-role</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

it('the built program signs in to each cloud and answers with its models', async () => {
  await using cloud = await startFakeCloud({
    script: [{ answer: { text: 'It works.' } }],
    intercept: ({ path, body }, response) => {
      if (path === '/' && body.includes('AssumeRoleWithWebIdentity')) {
        response.writeHead(200, { 'content-type': 'text/xml' }).end(STS_ANSWER);
        return true;
      }
      if (path === '/subject') return reply(response, 200, { id: 'eyJ.subject.token' });
      if (path === '/token') {
        const token = { access_token: 'ya29.of-google', expires_in: 3600, token_type: 'Bearer' };
        return reply(response, 200, token);
      }
      if (path === '/tenant/oauth2/v2.0/token') {
        return reply(response, 200, { access_token: 'eyJ.of.azure', expires_in: 3600 });
      }
      return false;
    },
  });
  using sandbox = new Sandbox({
    '../home/web-identity': 'eyJ.web.identity',
    '../home/google.json': JSON.stringify({
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${cloud.url}/token`,
      credential_source: {
        url: `${cloud.url}/subject`,
        format: { type: 'json', subject_token_field_name: 'id' },
      },
    }),
  });
  const runs: readonly (readonly [model: string, env: Readonly<Record<string, string>>])[] = [
    [
      'bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0',
      {
        CLAUDE_CODE_USE_BEDROCK: '1',
        ANTHROPIC_BEDROCK_BASE_URL: cloud.url,
        AWS_REGION: 'eu-central-1',
        AWS_ENDPOINT_URL_STS: cloud.url,
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ci',
        AWS_WEB_IDENTITY_TOKEN_FILE: join(sandbox.home, 'web-identity'),
      },
    ],
    [
      'vertex/claude-haiku-4-5@20251001',
      {
        CLAUDE_CODE_USE_VERTEX: '1',
        ANTHROPIC_VERTEX_BASE_URL: `${cloud.url}/v1`,
        ANTHROPIC_VERTEX_PROJECT_ID: 'my-project',
        GOOGLE_APPLICATION_CREDENTIALS: join(sandbox.home, 'google.json'),
      },
    ],
    [
      'azure/claude-haiku-4-5',
      {
        CLAUDE_CODE_USE_FOUNDRY: '1',
        ANTHROPIC_FOUNDRY_BASE_URL: `${cloud.url}/anthropic`,
        AZURE_AUTHORITY_HOST: cloud.url,
        AZURE_TENANT_ID: 'tenant',
        AZURE_CLIENT_ID: 'client',
        AZURE_CLIENT_SECRET: 'secret-of-azure-0123456789',
      },
    ],
  ];
  for (const [model, env] of runs) {
    const run = await runMuster(sandbox, ['-p', 'Does it work?', '--model', model], { env });
    expect({ model, ...run }).toMatchObject({
      model,
      code: 0,
      stdout: 'It works.\n',
      stderr: expect.not.stringContaining('failed'),
    });
  }
  const asked = cloud.requests.filter(({ path }) => /publishers|messages|invoke/.test(path));
  expect(asked.map(({ headers }) => headers.authorization?.replace(/\/.*/s, ''))).toEqual([
    'AWS4-HMAC-SHA256 Credential=ASIAWEB',
    'Bearer ya29.of-google',
    'Bearer eyJ.of.azure',
  ]);
  expect(asked[0]?.headers['x-amz-security-token']).toBe('token-of-role');
  expect(cloud.model.violations).toEqual([]);
});
