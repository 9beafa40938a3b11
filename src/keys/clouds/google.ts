import { join } from 'node:path';
import {
  AwsClient,
  ExternalAccountAuthorizedUserClient,
  IdentityPoolClient,
  Impersonated,
  JWT,
  PluggableAuthClient,
  UserRefreshClient,
  type AuthClient,
} from './google-library.ts';
import { errorMessage } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { KeyUnavailableError } from '../../protocol/api-key.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import { statIfPresent } from '../../sys/files/path-lookup.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import {
  describeReason,
  METADATA_MS,
  readBeginning,
  TOKEN_REQUEST_MS,
  type CloudDeps,
  type CloudKey,
} from './cloud-deps.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const FILE_VARIABLE = 'GOOGLE_APPLICATION_CREDENTIALS';
/** The maximum size of a file with credentials. */
const MAX_FILE_BYTES = 1_000_000;
const SIGN_IN = 'run "gcloud auth application-default login"';

/**
 * Reads an access token of Google with the application default credentials: the file that a variable names, the one of
 * the command line `gcloud`, or the account of the machine. https://docs.cloud.google.com/docs/authentication/application-default-credentials
 */
export async function readGoogleToken(deps: CloudDeps): Promise<CloudKey> {
  const file = findFile(deps);
  if (file !== null) return readFromFile(file, deps);
  if (isMachineOfGoogle(deps)) return readFromMachine(deps);
  throw new KeyUnavailableError(
    `no credentials of Google were found (looked at ${FILE_VARIABLE} and ${defaultFile(deps)}): ${SIGN_IN}, or set ${FILE_VARIABLE} to the file of a service account`,
  );
}

function defaultFile({ environment: env, home }: CloudDeps): string {
  const directory = env['CLOUDSDK_CONFIG'] || join(home, '.config', 'gcloud');
  return join(directory, 'application_default_credentials.json');
}

/** Returns the path of the file with the credentials; null: there is none. */
function findFile(deps: CloudDeps): string | null {
  const named = deps.environment[FILE_VARIABLE]?.trim();
  if (named !== undefined && named !== '') return named;
  const usual = defaultFile(deps);
  return statIfPresent(usual) === undefined ? null : usual;
}

async function readFromFile(path: string, deps: CloudDeps): Promise<CloudKey> {
  const credentials = await readCredentials(path);
  const type = credentials['type'];
  const secrets = ['private_key', 'refresh_token', 'client_secret'].flatMap((name) => {
    const value = credentials[name];
    return typeof value === 'string' ? [value] : [];
  });
  try {
    const client = createClient(credentials, toFetch(deps.fetch));
    const { token } = await client.getAccessToken();
    if (typeof token !== 'string' || token === '') throw new Error('Google sent no token');
    const { expiry_date: expiresAt = null } = client.credentials;
    return { key: token, secrets: [token, ...secrets], expiresAt };
  } catch (thrown) {
    throw describeFailure(thrown, { path, type: typeof type === 'string' ? type : 'unknown' });
  }
}

/** The credentials as the library takes them. It checks their fields itself. */
type AwsOptions = ConstructorParameters<typeof AwsClient>[0];
type PluggableOptions = ConstructorParameters<typeof PluggableAuthClient>[0];
type PoolOptions = ConstructorParameters<typeof IdentityPoolClient>[0];
type ExternalUserOptions = ConstructorParameters<typeof ExternalAccountAuthorizedUserClient>[0];

/** Creates the client of Google's own library for the credentials in a file. Throws for an unknown type. */
function createClient(json: JsonObject, fetchImplementation: typeof globalThis.fetch): AuthClient {
  const transporterOptions = { fetchImplementation };
  const text = (name: string): string => {
    const value = json[name];
    return typeof value === 'string' ? value : '';
  };
  switch (json['type']) {
    case 'service_account': {
      const email = text('client_email');
      const key = text('private_key');
      const keyId = text('private_key_id');
      return new JWT({ email, key, keyId, scopes: [SCOPE], transporterOptions });
    }
    case 'authorized_user':
      return new UserRefreshClient({
        clientId: text('client_id'),
        clientSecret: text('client_secret'),
        refreshToken: text('refresh_token'),
        transporterOptions,
      });
    case 'external_account':
      return createWorkloadClient(json, { ...json, transporterOptions, scopes: [SCOPE] });
    case 'external_account_authorized_user': {
      const options: object = { ...json, transporterOptions };
      return new ExternalAccountAuthorizedUserClient(options as ExternalUserOptions);
    }
    case 'impersonated_service_account': {
      const source = json['source_credentials'];
      const target = /([^/]+):generateAccessToken$/.exec(text('service_account_impersonation_url'));
      if (!isJsonObject(source) || target?.[1] === undefined) break;
      return new Impersonated({
        sourceClient: createClient(source, fetchImplementation),
        targetPrincipal: target[1],
        targetScopes: [SCOPE],
        transporterOptions,
      });
    }
    default:
      break;
  }
  throw new Error(`credentials of the type "${text('type')}" are unknown or incomplete`);
}

/** Creates the client for a workload outside of Google, whose token comes from AWS, a program, a file or an address. */
function createWorkloadClient(json: JsonObject, options: object): AuthClient {
  const source = json['credential_source'];
  const names = isJsonObject(source) ? Object.keys(source) : [];
  if (names.includes('environment_id')) return shareTransport(new AwsClient(options as AwsOptions));
  if (names.includes('executable')) {
    return shareTransport(new PluggableAuthClient(options as PluggableOptions));
  }
  return shareTransport(new IdentityPoolClient(options as PoolOptions));
}

/** Lets the exchange of a token use the client of the rest: the library gives it another one, which knows no proxy. */
function shareTransport(client: AuthClient): AuthClient {
  const exchange: unknown = Reflect.get(client, 'stsCredential');
  const hasTransport =
    typeof exchange === 'object' && exchange !== null && 'transporter' in exchange;
  if (hasTransport) Reflect.set(exchange, 'transporter', client.transporter);
  return client;
}

async function readCredentials(path: string): Promise<JsonObject> {
  let text: string;
  try {
    const limits = { maxBytes: MAX_FILE_BYTES, signal: AbortSignal.timeout(TOKEN_REQUEST_MS) };
    text = (await readNamedFile(path, limits)).toString('utf8');
  } catch (thrown) {
    throw new KeyUnavailableError(
      `the credentials of Google cannot be read: ${errorMessage(thrown)}`,
    );
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The text may hold a key, so that no message repeats it.
    parsed = null;
  }
  if (isJsonObject(parsed) && typeof parsed['type'] === 'string') return parsed;
  throw new KeyUnavailableError(
    `${path} holds no credentials of Google: expected JSON with "type", such as "service_account" or "authorized_user"`,
  );
}

interface FileDetails {
  readonly path: string;
  readonly type: string;
}

const EXPIRED = /invalid_grant|invalid_rapt|reauth|expired|revoked/i;

/** Creates the error for credentials that cannot be used, and says what to do. */
function describeFailure(thrown: unknown, { path, type }: FileDetails): Error {
  const reason = describeReason(thrown);
  const isPerson = type === 'authorized_user';
  const advice = isPerson
    ? EXPIRED.test(reason)
      ? SIGN_IN
      : `${SIGN_IN} if this happens again`
    : `check the ${type.replaceAll('_', ' ')} in that file`;
  return new KeyUnavailableError(
    `the credentials of Google in ${path} cannot be used: ${reason} (${advice})`,
  );
}

/** Adapts the client of Muster to the one that Google's own library expects. */
function toFetch(fetch: HttpFetch): typeof globalThis.fetch {
  return async (input, init) => {
    const body = init?.body;
    const response = await fetch(String(input instanceof Request ? input.url : input), {
      method: init?.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init?.headers)),
      ...(body instanceof URLSearchParams && { body: body.toString() }),
      ...(typeof body === 'string' && { body }),
      signal: AbortSignal.timeout(TOKEN_REQUEST_MS),
    });
    return new Response(await response.text(), {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
    });
  };
}

const METADATA_HOST = 'metadata.google.internal';
const METADATA_PATH = '/computeMetadata/v1/instance/service-accounts/default/token';

/**
 * Returns true if the machine may have an account: it is one of Google's, or a variable asks for it. Elsewhere, the name
 * of the metadata server would only cost time, or belong to somebody else.
 */
function isMachineOfGoogle({ environment: env }: CloudDeps): boolean {
  if (env['GCE_METADATA_HOST'] || env['K_SERVICE'] || env['CLOUD_RUN_JOB']) return true;
  return readBeginning('/sys/class/dmi/id/product_name').startsWith('Google');
}

async function readFromMachine({ environment: env, fetch, clock }: CloudDeps): Promise<CloudKey> {
  const host = env['GCE_METADATA_HOST'] || METADATA_HOST;
  try {
    const response = await fetch(`http://${host}${METADATA_PATH}`, {
      headers: { 'metadata-flavor': 'Google' },
      signal: AbortSignal.timeout(METADATA_MS),
    });
    const answer = await response.json();
    const token = isJsonObject(answer) ? answer['access_token'] : undefined;
    if (!response.ok || typeof token !== 'string') throw new Error(`HTTP ${response.status}`);
    const seconds = isJsonObject(answer) ? Number(answer['expires_in'] ?? 0) : 0;
    return { key: token, secrets: [token], expiresAt: clock.now() + seconds * 1000 };
  } catch (thrown) {
    throw new KeyUnavailableError(
      `the account of this machine gives no token of Google: ${describeReason(thrown)} (attach a service account to it, or ${SIGN_IN})`,
    );
  }
}
