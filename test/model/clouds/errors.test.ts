import { describe, expect, it } from 'vitest';
import { userMessage } from '../../../src/protocol/message.ts';
import { collect, failed, finished, request } from '../adapters/support.ts';
import { connectClouds } from './connect-cloud.ts';
import { reply, startFakeCloud } from './fake-cloud.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const SESSION = 'FwoGZXIvYXdzEXAMPLE-session-token';
const AWS = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE0123',
  AWS_SECRET_ACCESS_KEY: SECRET,
  AWS_SESSION_TOKEN: SESSION,
  AWS_REGION: 'eu-central-1',
};

function ask(provider: string, id: string) {
  return request([userMessage('Hi')], { model: { provider, id, chain: [] } });
}

/** The refusals of each cloud as it documents or sends them, with the meaning and the advice. */
const REFUSALS: readonly (readonly [
  provider: 'bedrock' | 'vertex' | 'azure',
  status: number,
  type: string,
  body: object,
  kind: string,
  advice: string,
])[] = [
  [
    'bedrock',
    403,
    'ExpiredTokenException',
    { message: 'The security token included in the request is expired' },
    'auth',
    'the credentials have expired: run "aws sso login", or renew them',
  ],
  [
    'bedrock',
    403,
    'UnrecognizedClientException',
    { message: 'The security token included in the request is invalid.' },
    'auth',
    'check them with "aws sts get-caller-identity"',
  ],
  [
    'bedrock',
    403,
    'AccessDeniedException',
    {
      message:
        'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModelWithResponseStream on resource: arn:aws:bedrock:…',
    },
    'auth',
    'allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream for this identity',
  ],
  [
    'bedrock',
    403,
    'AccessDeniedException',
    { message: "You don't have access to the model with the specified model ID." },
    'auth',
    'request access to the model in the console of Bedrock, in the region eu-central-1',
  ],
  [
    'bedrock',
    400,
    'ValidationException',
    {
      message:
        'Invocation of model ID anthropic.claude-sonnet-5 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
    },
    'not_found',
    'name an inference profile',
  ],
  [
    'bedrock',
    400,
    'ValidationException',
    { message: 'The provided model identifier is invalid.' },
    'not_found',
    'the region eu-central-1 may not have this model',
  ],
  [
    'bedrock',
    429,
    'ThrottlingException',
    { message: 'Too many tokens per day, please wait before trying again.' },
    'rate_limit',
    'the quota of the day is used up',
  ],
  [
    'vertex',
    401,
    '',
    {
      error: {
        code: 401,
        message: 'Request had invalid authentication credentials.',
        status: 'UNAUTHENTICATED',
      },
    },
    'auth',
    'run "gcloud auth application-default login"',
  ],
  [
    'vertex',
    403,
    '',
    {
      error: {
        code: 403,
        message: "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform…'",
        status: 'PERMISSION_DENIED',
      },
    },
    'auth',
    'grant this identity the role "Vertex AI User"',
  ],
  [
    'vertex',
    403,
    '',
    {
      error: {
        code: 403,
        message: 'Vertex AI API has not been used in project 1 before or it is disabled.',
        status: 'PERMISSION_DENIED',
        details: [{ reason: 'SERVICE_DISABLED' }],
      },
    },
    'auth',
    'gcloud services enable aiplatform.googleapis.com',
  ],
  [
    'vertex',
    404,
    '',
    {
      error: {
        code: 404,
        message:
          'Publisher Model `projects/p/…/claude-x` was not found or your project does not have access to it.',
        status: 'NOT_FOUND',
      },
    },
    'not_found',
    'the region global may not have this model',
  ],
  [
    'azure',
    404,
    '',
    {
      error: {
        code: 'DeploymentNotFound',
        message: 'The API deployment for this resource does not exist.',
      },
    },
    'not_found',
    'the id of the model must be the name of a deployment of the resource',
  ],
  [
    'azure',
    401,
    '',
    {
      error: {
        code: '401',
        message: 'Access denied due to invalid subscription key or wrong API endpoint.',
      },
    },
    'auth',
    'check the key and the resource, or run "az login"',
  ],
  [
    'azure',
    401,
    '',
    {
      error: {
        code: 'PermissionDenied',
        message: 'The principal lacks the required data action Microsoft.CognitiveServices/…',
      },
    },
    'auth',
    'grant this identity the role "Foundry User"',
  ],
];

const MODELS = {
  bedrock: 'eu.anthropic.claude-sonnet-5',
  vertex: 'claude-sonnet-5',
  azure: 'gpt-6-sol',
};

describe('a refusal of a cloud says what to do', () => {
  it.each(REFUSALS)('%s: %i %s %j', async (provider, status, type, body, kind, advice) => {
    await using cloud = await startFakeCloud({
      intercept: (_request, response) =>
        reply(
          response,
          status,
          body,
          type === '' ? {} : { 'x-amzn-errortype': `${type}:http://x` },
        ),
    });
    const { port } = connectClouds({
      settings: {
        bedrock: { kind: 'bedrock', baseUrl: cloud.url },
        vertex: { kind: 'vertex', baseUrl: cloud.url, project: 'p1', apiKeyEnv: 'TOKEN' },
        azure: { kind: 'azure', baseUrl: cloud.url, apiKeyEnv: 'TOKEN' },
      },
      env: { ...AWS, TOKEN: 'token-0123456789' },
    });
    const failure = failed(await collect(port, ask(provider, MODELS[provider])));
    expect(failure).toMatchObject({ kind, retryable: false });
    expect(failure.message).toContain(advice);
  });
});

it('throttling is waited for', async () => {
  await using cloud = await startFakeCloud({
    intercept: (_request, response) =>
      reply(
        response,
        429,
        { message: 'Too many requests' },
        { 'x-amzn-errortype': 'ThrottlingException' },
      ),
  });
  const { port } = connectClouds({
    settings: { bedrock: { kind: 'bedrock', baseUrl: cloud.url } },
    env: AWS,
  });
  expect(failed(await collect(port, ask('bedrock', MODELS.bedrock)))).toMatchObject({
    kind: 'rate_limit',
    retryable: true,
  });
});

it('no part of the credentials is in the message of a server that sends them back', async () => {
  const canonical = `The Canonical String for this request should have been 'POST\n/model/x\n\nx-amz-security-token:${SESSION}' ${SECRET} ${AWS.AWS_ACCESS_KEY_ID}`;
  await using cloud = await startFakeCloud({
    intercept: (_request, response) =>
      reply(
        response,
        403,
        { message: `The request signature we calculated does not match. ${canonical}` },
        { 'x-amzn-errortype': 'InvalidSignatureException' },
      ),
  });
  const { port } = connectClouds({
    settings: { bedrock: { kind: 'bedrock', baseUrl: cloud.url } },
    env: AWS,
  });
  const failure = failed(await collect(port, ask('bedrock', MODELS.bedrock)));
  expect(failure.message).toContain('the secret access key is wrong');
  for (const secret of [SECRET, SESSION, AWS.AWS_ACCESS_KEY_ID]) {
    expect(failure.message).not.toContain(secret);
  }
});

describe('credentials that a cloud refuses', () => {
  it('are read again once, and the request is sent again with the new ones', async () => {
    const home = mkdtempSync(join(tmpdir(), 'muster-renew-'));
    try {
      const script = join(home, 'print.sh');
      writeFileSync(
        script,
        `echo x >> ${home}/runs\nprintf '{"Version":1,"AccessKeyId":"AKID%s","SecretAccessKey":"s","SessionToken":"t"}' $(wc -l < ${home}/runs)\n`,
      );
      const config = join(home, 'config');
      writeFileSync(config, `[profile made]\ncredential_process = /bin/sh ${script}\n`);
      await using cloud = await startFakeCloud({
        script: [{ answer: { text: 'ok' } }],
        intercept: ({ headers }, response) =>
          headers.authorization?.includes('Credential=AKID1/') === true &&
          reply(
            response,
            403,
            { message: 'The security token included in the request is expired' },
            { 'x-amzn-errortype': 'ExpiredTokenException' },
          ),
      });
      const { port } = connectClouds({
        settings: {
          bedrock: { kind: 'bedrock', baseUrl: cloud.url, region: 'eu-central-1', profile: 'made' },
        },
        env: { AWS_CONFIG_FILE: config },
        home,
      });
      finished(await collect(port, ask('bedrock', MODELS.bedrock)));
      const used = cloud.requests.map(
        ({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1],
      );
      expect(used).toEqual(['AKID1', 'AKID2']);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it('are not read again for a right that is missing', async () => {
    await using cloud = await startFakeCloud({
      intercept: (_request, response) =>
        reply(
          response,
          403,
          { message: 'is not authorized to perform: bedrock:InvokeModel' },
          { 'x-amzn-errortype': 'AccessDeniedException' },
        ),
    });
    const { port } = connectClouds({
      settings: { bedrock: { kind: 'bedrock', baseUrl: cloud.url } },
      env: AWS,
    });
    failed(await collect(port, ask('bedrock', MODELS.bedrock)));
    expect(cloud.requests).toHaveLength(1);
  });
});
