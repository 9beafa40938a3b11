import { join } from 'node:path';
import { fromHttp, fromIni, fromInstanceMetadata, fromTokenFile } from './aws-library.ts';
import { KeyUnavailableError } from '../../protocol/api-key.ts';
import { formatAwsKey } from '../../protocol/aws-key.ts';
import {
  describeReason,
  METADATA_MS,
  readBeginning,
  type CloudDeps,
  type CloudKey,
  type CloudKeySource,
} from './cloud-deps.ts';
import { createAwsHandler } from './aws-handler.ts';

type AwsSource = Extract<CloudKeySource, { kind: 'aws' }>;

/** Credentials as the providers of AWS's own library return them. */
interface AwsIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
}

/** One place in which credentials of AWS are looked for. */
interface Place {
  /** The place, for messages. */
  readonly title: string;
  read(): Promise<AwsIdentity>;
}

/**
 * Reads credentials of AWS from the first place that has some, in the order of AWS's own libraries. The places are read
 * again each time, since another program may have signed in meanwhile.
 */
export async function readAwsKey(source: AwsSource, deps: CloudDeps): Promise<CloudKey> {
  const places = listPlaces(source, deps);
  for (const { title, read } of places) {
    try {
      return toKey(await read());
    } catch (thrown) {
      if (!isMissing(thrown)) throw describeFailure(thrown, title, source);
    }
  }
  const names = places.map(({ title }) => title).join(', ');
  throw new KeyUnavailableError(
    `no credentials of AWS were found (looked in ${names}): run "aws sso login" or "aws configure", or set AWS_BEARER_TOKEN_BEDROCK`,
  );
}

function toKey({ accessKeyId, secretAccessKey, sessionToken, expiration }: AwsIdentity): CloudKey {
  const token = sessionToken === undefined || sessionToken === '' ? null : sessionToken;
  return {
    key: formatAwsKey({ accessKeyId, secretAccessKey, sessionToken: token }),
    secrets: [accessKeyId, secretAccessKey, ...(token === null ? [] : [token])],
    expiresAt: expiration?.getTime() ?? null,
  };
}

/** Lists the places for credentials. A chosen profile is the only place: other credentials are those of somebody else. */
function listPlaces(source: AwsSource, deps: CloudDeps): readonly Place[] {
  const { environment: env } = deps;
  const variables = fromVariables(deps);
  if (source.profile !== null) return [fromProfile(source.profile, source, deps)];
  return [
    variables,
    fromProfile('default', source, deps),
    ...(env['AWS_WEB_IDENTITY_TOKEN_FILE'] ? [fromWebIdentity(source, deps)] : []),
    ...(isContainer(env) ? [fromContainer(env)] : []),
    ...(isMachineOfAws(env) ? [FROM_MACHINE] : []),
  ];
}

function fromVariables({ environment: env }: CloudDeps): Place {
  return {
    title: 'AWS_ACCESS_KEY_ID',
    read: () => {
      const accessKeyId = env['AWS_ACCESS_KEY_ID']?.trim() ?? '';
      const secretAccessKey = env['AWS_SECRET_ACCESS_KEY']?.trim() ?? '';
      if (accessKeyId === '' || secretAccessKey === '') return Promise.reject(new NothingFound());
      const sessionToken = env['AWS_SESSION_TOKEN']?.trim();
      return Promise.resolve({ accessKeyId, secretAccessKey, sessionToken });
    },
  };
}

/** A place has no credentials. */
class NothingFound extends Error {
  override readonly name = 'NothingFound';
}

/** A profile, which may lead to a sign-in, a role, a program, or keys. */
function fromProfile(profile: string, { region }: AwsSource, deps: CloudDeps): Place {
  const { environment: env, home } = deps;
  return {
    title: `the profile "${profile}"`,
    read: fromIni({
      profile,
      ignoreCache: true,
      filepath: env['AWS_SHARED_CREDENTIALS_FILE'] || join(home, '.aws', 'credentials'),
      configFilepath: env['AWS_CONFIG_FILE'] || join(home, '.aws', 'config'),
      // The client for the sign-in has the region of its profile, and others that of the model.
      clientConfig: { requestHandler: createAwsHandler(deps) },
      ...(region !== null && { parentClientConfig: { region } }),
    }),
  };
}

function fromWebIdentity({ region }: AwsSource, deps: CloudDeps): Place {
  const { environment: env } = deps;
  const roleSessionName = env['AWS_ROLE_SESSION_NAME'];
  return {
    title: 'AWS_WEB_IDENTITY_TOKEN_FILE',
    read: fromTokenFile({
      webIdentityTokenFile: env['AWS_WEB_IDENTITY_TOKEN_FILE'] ?? '',
      roleArn: env['AWS_ROLE_ARN'] ?? '',
      ...(roleSessionName !== undefined && { roleSessionName }),
      clientConfig: { requestHandler: createAwsHandler(deps), ...(region !== null && { region }) },
    }),
  };
}

type Variables = CloudDeps['environment'];

function isContainer(env: Variables): boolean {
  return Boolean(
    env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] || env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'],
  );
}

function fromContainer(env: Variables): Place {
  const names = {
    awsContainerCredentialsFullUri: 'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    awsContainerCredentialsRelativeUri: 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    awsContainerAuthorizationToken: 'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    awsContainerAuthorizationTokenFile: 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  };
  const given = Object.entries(names).flatMap(([option, name]) => {
    const value = env[name];
    return value ? [[option, value] as const] : [];
  });
  return {
    title: 'the role of the container',
    read: fromHttp({ ...Object.fromEntries(given), timeout: METADATA_MS, maxRetries: 1 }),
  };
}

const FROM_MACHINE: Place = {
  title: 'the role of the machine',
  read: fromInstanceMetadata({ timeout: METADATA_MS, maxRetries: 1 }),
};

/** Files that say that a machine is one of AWS's. */
const MACHINE_FILES = ['/sys/devices/virtual/dmi/id/sys_vendor', '/sys/hypervisor/uuid'];

/**
 * Returns true if the machine may have a role: it is one of AWS's, or a variable asks for it. Elsewhere, the address of
 * the metadata server would only cost time, or belong to somebody else.
 */
function isMachineOfAws(env: Variables): boolean {
  if (/^true$/i.test(env['AWS_EC2_METADATA_DISABLED'] ?? '')) return false;
  if (env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || env['AWS_EC2_METADATA_DISABLED']) return true;
  return MACHINE_FILES.some((path) => /^(?:Amazon EC2|ec2)/i.test(readBeginning(path)));
}

/** Returns true for the error of a place that has no credentials, after which the next place is tried. */
function isMissing(thrown: unknown): boolean {
  if (thrown instanceof NothingFound) return true;
  return thrown instanceof Error && 'tryNextLink' in thrown && thrown.tryNextLink === true;
}

/** Matches the reasons of AWS's library that a new sign-in removes. */
const ENDED_SIGN_IN = /\bSSO\b|sso-session|aws sso login/i;

/** Creates the error for credentials that exist but cannot be used, and says what to do. */
function describeFailure(thrown: unknown, title: string, { profile }: AwsSource): Error {
  const reason = describeReason(thrown);
  const option = profile === null ? '' : ` --profile ${profile}`;
  if (ENDED_SIGN_IN.test(reason)) {
    return new KeyUnavailableError(
      `the sign-in to AWS of ${title} has ended or is missing: run "aws sso login${option}"`,
    );
  }
  return new KeyUnavailableError(
    `the credentials of AWS in ${title} cannot be used: ${reason} (check them with "aws sts get-caller-identity${option}")`,
  );
}
