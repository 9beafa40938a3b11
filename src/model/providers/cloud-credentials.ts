import type { Environment } from '../../sys/env.ts';
import type { CloudKind } from '../settings/clouds.ts';
import type { CloudDetails } from './cloud-address.ts';
import type { ProviderKey } from './provider-key.ts';

/** Returns where the credentials of a cloud come from, without reading them. The first request reads them. */
export function findCredentials(
  kind: CloudKind,
  { profile, region }: CloudDetails,
  env: Environment,
): ProviderKey {
  switch (kind) {
    case 'bedrock': {
      const source = { kind: 'aws', region: region ?? null, profile: profile ?? null } as const;
      return {
        apiKey: null,
        keyFrom: describeAws(profile, env),
        keySource: source,
        keyHeader: 'aws-signature',
      };
    }
    case 'vertex':
      return {
        apiKey: null,
        keyFrom: describeGoogle(env),
        keySource: { kind: 'google' },
        keyHeader: 'authorization',
      };
    case 'azure':
      return {
        apiKey: null,
        keyFrom: describeAzure(env),
        keySource: { kind: 'azure' },
        keyHeader: 'authorization',
      };
  }
}

function isSet(env: Environment, name: string): boolean {
  return Boolean(env[name]?.trim());
}

function describeAws(profile: string | undefined, env: Environment): string {
  if (profile !== undefined) return `the AWS profile "${profile}"`;
  if (isSet(env, 'AWS_ACCESS_KEY_ID')) return 'AWS_ACCESS_KEY_ID';
  if (isSet(env, 'AWS_WEB_IDENTITY_TOKEN_FILE')) return 'AWS_WEB_IDENTITY_TOKEN_FILE';
  return 'the credentials of AWS';
}

function describeGoogle(env: Environment): string {
  if (isSet(env, 'GOOGLE_APPLICATION_CREDENTIALS')) return 'GOOGLE_APPLICATION_CREDENTIALS';
  return "Google's application default credentials";
}

function describeAzure(env: Environment): string {
  if (isSet(env, 'AZURE_CLIENT_SECRET')) return 'AZURE_CLIENT_SECRET';
  if (isSet(env, 'AZURE_FEDERATED_TOKEN_FILE')) return 'AZURE_FEDERATED_TOKEN_FILE';
  return 'the credentials of Azure';
}
