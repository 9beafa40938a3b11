import { describe, expect, it } from 'vitest';
import { routeModel } from '../../../src/model/providers/cloud-route.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { loadModelDetails } from '../../../src/model/catalogue/catalogue.ts';
import type { Environment } from '../../../src/sys/env.ts';

/** Returns the first provider that settings and variables give. */
function discover(env: Environment, settings: Readonly<Record<string, ProviderSettings>> = {}) {
  const [provider] = discoverProviders({ providers: settings }, env);
  if (provider === undefined) throw new Error('no provider');
  return provider;
}

const SONNET = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

describe("Claude Code's variables", () => {
  it.each([
    [
      { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'us-west-2' },
      {
        name: 'bedrock',
        source: 'CLAUDE_CODE_USE_BEDROCK',
        baseUrl: 'https://bedrock-runtime.us-west-2.amazonaws.com',
        keyHeader: 'aws-signature',
        keySource: { kind: 'aws', region: 'us-west-2', profile: null },
        keyFrom: 'the credentials of AWS',
        tiers: {
          fast: 'global.anthropic.claude-haiku-4-5-20251001-v1:0',
          balanced: 'global.anthropic.claude-sonnet-5',
          powerful: 'global.anthropic.claude-opus-5-5',
        },
      },
    ],
    [
      {
        CLAUDE_CODE_USE_BEDROCK: 'true',
        AWS_REGION: 'us-gov-west-1',
        AWS_PROFILE: 'work',
        ANTHROPIC_MODEL: `${SONNET}[1m]`,
        ANTHROPIC_SMALL_FAST_MODEL: 'us.anthropic.claude-3-5-haiku-20241022-v1:0',
        ANTHROPIC_API_KEY: 'sk-ant-0123456789',
      },
      {
        name: 'bedrock',
        keyFrom: 'the AWS profile "work"',
        keySource: { kind: 'aws', region: 'us-gov-west-1', profile: 'work' },
        tiers: {
          fast: 'us.anthropic.claude-3-5-haiku-20241022-v1:0',
          balanced: SONNET,
          powerful: 'global.anthropic.claude-opus-5-5',
        },
      },
    ],
    [
      {
        CLAUDE_CODE_USE_VERTEX: '1',
        CLOUD_ML_REGION: 'us-east5',
        ANTHROPIC_VERTEX_PROJECT_ID: 'my-project',
        ANTHROPIC_MODEL: 'opus',
        ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-4-6',
      },
      {
        name: 'vertex',
        baseUrl:
          'https://us-east5-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east5/publishers/google',
        keySource: { kind: 'google' },
        keyHeader: 'authorization',
        tiers: {
          fast: 'claude-haiku-4-5@20251001',
          balanced: 'claude-opus-4-6',
          powerful: 'claude-opus-4-6',
        },
      },
    ],
    [
      {
        CLAUDE_CODE_USE_FOUNDRY: '1',
        ANTHROPIC_FOUNDRY_RESOURCE: 'my-resource',
        ANTHROPIC_FOUNDRY_API_KEY: 'foundry-key-0123456789',
      },
      {
        name: 'azure',
        apiKey: 'foundry-key-0123456789',
        keyFrom: 'ANTHROPIC_FOUNDRY_API_KEY',
        keyHeader: 'api-key',
        tiers: {
          fast: 'claude-haiku-4-5',
          balanced: 'claude-sonnet-5',
          powerful: 'claude-opus-5-5',
        },
      },
    ],
    [
      {
        CLAUDE_CODE_USE_FOUNDRY: '1',
        ANTHROPIC_FOUNDRY_BASE_URL: 'https://me.services.ai.azure.com/anthropic',
      },
      { name: 'azure', keySource: { kind: 'azure' }, keyHeader: 'authorization' },
    ],
  ])('%j', (env, expected) => {
    expect(discover(env)).toMatchObject(expected);
  });

  it('with a value that switches them off have no effect', () => {
    const env = { CLAUDE_CODE_USE_BEDROCK: '0', CLAUDE_CODE_USE_VERTEX: 'false' };
    expect(discoverProviders({ providers: {} }, env)).toEqual([]);
  });

  it.each([
    [{ CLAUDE_CODE_USE_BEDROCK: '1' }, 'Amazon Bedrock needs a region: set AWS_REGION'],
    [{ CLAUDE_CODE_USE_VERTEX: '1' }, 'Google Vertex AI needs a project: set GOOGLE_CLOUD_PROJECT'],
    [
      { CLAUDE_CODE_USE_FOUNDRY: '1' },
      'Azure needs a resource: set AZURE_RESOURCE_NAME (for Claude: ANTHROPIC_FOUNDRY_RESOURCE)',
    ],
  ])('%j alone say what is missing', (env, problem) => {
    expect(discover(env).keyProblem).toBe(problem);
  });
});

describe("the clouds' own variables", () => {
  it.each([
    [
      { AWS_BEARER_TOKEN_BEDROCK: 'token-0123456789', AWS_DEFAULT_REGION: 'eu-west-1' },
      ['bedrock'],
    ],
    [{ GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_PROJECT: 'my-project' }, ['vertex']],
    [
      {
        AZURE_OPENAI_API_KEY: 'key-0123456789',
        AZURE_OPENAI_ENDPOINT: 'https://me.openai.azure.com',
      },
      ['azure'],
    ],
    // Credentials for other work do not make a cloud a provider of models.
    [{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'us-east-1' }, []],
    [{ GOOGLE_APPLICATION_CREDENTIALS: '/x.json', GOOGLE_CLOUD_PROJECT: 'my-project' }, []],
    [{ AZURE_CLIENT_ID: 'x', AZURE_TENANT_ID: 'y', AZURE_CLIENT_SECRET: 'z' }, []],
    // The keys of other providers come first.
    [
      {
        AWS_BEARER_TOKEN_BEDROCK: 'token-0123456789',
        AWS_REGION: 'eu-west-1',
        OPENAI_API_KEY: 'sk-0123456789',
      },
      ['openai', 'bedrock'],
    ],
  ])('%j', (env: Environment, names) => {
    expect(discoverProviders({ providers: {} }, env).map(({ name }) => name)).toEqual(names);
  });
});

describe('a cloud in the configuration', () => {
  const route = (settings: ProviderSettings, model: string, env: Environment = {}) => {
    const { protocol, vendor, baseUrl } = routeModel(discover(env, { mine: settings }), model);
    return { protocol, vendor, baseUrl };
  };

  it.each([
    [
      { kind: 'bedrock', region: 'cn-north-1' },
      'anthropic.claude-sonnet-5',
      'anthropic',
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    ],
    [
      { kind: 'bedrock', region: 'us-east-1' },
      'arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-5',
      'anthropic',
      'https://bedrock-runtime.us-east-1.amazonaws.com',
    ],
    [
      { kind: 'bedrock', region: 'us-east-1' },
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3',
      'bedrock-converse',
      'https://bedrock-runtime.us-east-1.amazonaws.com',
    ],
    [
      { kind: 'bedrock', baseUrl: 'https://vpce-1.bedrock-runtime.us-east-2.vpce.amazonaws.com/' },
      'openai.gpt-oss-120b-1:0',
      'bedrock-converse',
      'https://vpce-1.bedrock-runtime.us-east-2.vpce.amazonaws.com',
    ],
    [
      { kind: 'vertex', project: 'my-project' },
      'claude-sonnet-4-5@20250929',
      'anthropic',
      'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/anthropic',
    ],
    [
      { kind: 'vertex', project: 'my-project', region: 'eu' },
      'gemini-3.8-flash',
      'google',
      'https://aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu/publishers/google',
    ],
    [
      { kind: 'azure', resource: 'me' },
      'gpt-6-sol',
      'openai-responses',
      'https://me.openai.azure.com/openai/v1',
    ],
    [
      { kind: 'azure', resource: 'me' },
      'claude-opus-5-5',
      'anthropic',
      'https://me.services.ai.azure.com/anthropic/v1',
    ],
    [
      { kind: 'azure', baseUrl: 'https://me.services.ai.azure.com/api/projects/p1' },
      'grok-4',
      'openai-chat',
      'https://me.services.ai.azure.com/openai/v1',
    ],
  ] as const)('%j: %s', (settings, model, protocol, baseUrl) => {
    expect(route(settings, model)).toMatchObject({ protocol, baseUrl });
  });

  it('finds the region in the address', () => {
    const baseUrl = 'https://bedrock-runtime.ap-southeast-2.amazonaws.com';
    expect(discover({}, { mine: { kind: 'bedrock', baseUrl } }).cloud).toMatchObject({
      region: 'ap-southeast-2',
    });
  });

  it('takes the name of the provider as its kind, but not if it has an address of its own', () => {
    expect(discover({}, { vertex: { project: 'my-project' } }).cloud?.kind).toBe('vertex');
    expect(
      discover({}, { azure: { baseUrl: 'https://gateway.example/v1' } }).cloud,
    ).toBeUndefined();
  });

  it('has a chosen profile in place of a token for all programs', () => {
    const settings = { kind: 'bedrock', region: 'us-east-1', profile: 'work' } as const;
    expect(
      discover({ AWS_BEARER_TOKEN_BEDROCK: 'token-0123456789' }, { mine: settings }),
    ).toMatchObject({
      keySource: { kind: 'aws', region: 'us-east-1', profile: 'work' },
    });
  });

  it.each([
    [{ kind: 'vertex' }, 'set models.providers.mine.project or GOOGLE_CLOUD_PROJECT'],
    [{ kind: 'bedrock' }, 'set models.providers.mine.region or AWS_REGION'],
  ] as const)('%j lacks something', (settings, problem) => {
    expect(discover({}, { mine: settings }).keyProblem).toContain(problem);
  });

  it('refuses settings of a cloud for another server', () => {
    const settings = { baseUrl: 'https://x.example/v1', region: 'us-east-1' };
    expect(() => discover({}, { mine: settings })).toThrow(
      'models.providers.mine.region has a meaning only for a cloud: set kind to bedrock, vertex or azure, or remove it',
    );
  });
});

describe('the prices of the clouds', () => {
  const REGION = { kind: 'bedrock', region: 'us-east-1' } as const;
  it.each([
    [REGION, SONNET, { input: 3.3, output: 16.5, cacheRead: 0.33, cacheWrite: 4.125 }, 200_000],
    [REGION, 'global.anthropic.claude-sonnet-5', { input: 2, output: 10 }, 1_000_000],
    [REGION, 'us.amazon.nova-2-lite-v1:0', { input: 0.33, output: 2.75 }, 1_000_000],
    [
      { kind: 'vertex', project: 'my-project' },
      'claude-haiku-4-5@20251001',
      { input: 1, output: 5 },
      200_000,
    ],
    [
      { kind: 'vertex', project: 'my-project' },
      'gemini-3.8-flash',
      { input: 0.75, output: 3.75 },
      1_000_000,
    ],
    [{ kind: 'azure', resource: 'me' }, 'gpt-5.2', { input: 1.75, output: 14 }, 400_000],
    [{ kind: 'azure', resource: 'me' }, 'claude-sonnet-5', { input: 2, output: 10 }, 1_000_000],
  ] as const)('%j: %s', async (settings, id, price, contextWindow) => {
    const provider = routeModel(discover({}, { mine: settings }), id);
    expect(await loadModelDetails(provider, id)).toMatchObject({ price, contextWindow });
  });

  it.each(['us.anthropic.claude-sonnet-5-9', 'us.anthropic.claude-opus-9'])(
    'does not take the price of an older model: %s',
    async (id) => {
      const provider = routeModel(discover({}, { mine: REGION }), id);
      expect((await loadModelDetails(provider, id)).price).toBeNull();
    },
  );
});
