import { errorMessage } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { KeyUnavailableError } from '../../protocol/api-key.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import {
  describeReason,
  firstLine,
  METADATA_MS,
  readBeginning,
  TOKEN_REQUEST_MS,
  type CloudDeps,
  type CloudKey,
} from './cloud-deps.ts';
import { runAzureCli } from './azure-cli.ts';

/** The service for which a token is requested: https://learn.microsoft.com/azure/foundry/concepts/authentication-authorization-foundry */
const RESOURCE = 'https://ai.azure.com';
const SCOPE = `${RESOURCE}/.default`;
const AUTHORITY = 'https://login.microsoftonline.com';
/** The maximum size of a file with a token. */
const MAX_FILE_BYTES = 100_000;

/**
 * Reads an access token of Microsoft Entra ID, in the order of Azure's own libraries: a service principal, a workload
 * identity, the identity of the machine, and the command line `az`. Certificates are not supported.
 */
export async function readAzureToken(deps: CloudDeps): Promise<CloudKey> {
  const { environment: env } = deps;
  const has = (...names: readonly string[]): boolean => names.every((name) => Boolean(env[name]));
  if (has('AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET')) {
    return requestToken('AZURE_CLIENT_SECRET', deps, {
      client_secret: env['AZURE_CLIENT_SECRET'] ?? '',
    });
  }
  if (has('AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE')) {
    const source = 'AZURE_FEDERATED_TOKEN_FILE';
    return requestToken(source, deps, {
      client_assertion: await readTokenFile(env[source] ?? ''),
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
  }
  if (has('IDENTITY_ENDPOINT', 'IDENTITY_HEADER')) return readFromHost(deps);
  return isMachineOfAzure(deps) ? readFromMachineOrCli(deps) : runAzureCli(RESOURCE, deps);
}

async function readTokenFile(path: string): Promise<string> {
  try {
    const limits = { maxBytes: MAX_FILE_BYTES, signal: AbortSignal.timeout(TOKEN_REQUEST_MS) };
    return (await readNamedFile(path, limits)).toString('utf8').trim();
  } catch (thrown) {
    throw new KeyUnavailableError(
      `AZURE_FEDERATED_TOKEN_FILE cannot be read: ${errorMessage(thrown)}`,
    );
  }
}

/** Requests a token for a service principal: https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
async function requestToken(
  source: string,
  deps: CloudDeps,
  proof: Readonly<Record<string, string>>,
): Promise<CloudKey> {
  const { environment: env, fetch } = deps;
  const authority = (env['AZURE_AUTHORITY_HOST'] || AUTHORITY).replace(/\/$/, '');
  const url = `${authority}/${encodeURIComponent(env['AZURE_TENANT_ID'] ?? '')}/oauth2/v2.0/token`;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: env['AZURE_CLIENT_ID'] ?? '',
    scope: SCOPE,
    ...proof,
  });
  const answer = await ask(`the credentials of Azure in ${source}`, async () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      signal: AbortSignal.timeout(TOKEN_REQUEST_MS),
    }),
  );
  return toKey(answer, deps, Object.values(proof));
}

/** Reads the identity of App Service, Functions and Container Apps. */
function readFromHost(deps: CloudDeps): Promise<CloudKey> {
  const { environment: env } = deps;
  const endpoint = env['IDENTITY_ENDPOINT'] ?? '';
  return readIdentity(deps, `${endpoint}?api-version=2019-08-01`, {
    'x-identity-header': env['IDENTITY_HEADER'] ?? '',
  });
}

const HOST_VARIABLE = 'AZURE_POD_IDENTITY_AUTHORITY_HOST';
const METADATA_HOST = 'http://169.254.169.254';
/** The tag of every machine of Azure. */
const MACHINE_TAG = '7783-7084-3265-9085-8269-3286-77';

/**
 * Returns true if the machine may have an identity: it is one of Azure's, or a variable names its metadata server.
 * Elsewhere, the address of that server would only cost time, or belong to somebody else.
 */
function isMachineOfAzure({ environment: env }: CloudDeps): boolean {
  if (env[HOST_VARIABLE]) return true;
  return readBeginning('/sys/class/dmi/id/chassis_asset_tag') === MACHINE_TAG;
}

/** Reads the identity of a virtual machine. Most machines have none, and somebody may have signed in there. */
async function readFromMachineOrCli(deps: CloudDeps): Promise<CloudKey> {
  try {
    return await readFromMachine(deps);
  } catch (thrown) {
    return runAzureCli(RESOURCE, deps).catch(() => {
      throw thrown;
    });
  }
}

function readFromMachine(deps: CloudDeps): Promise<CloudKey> {
  const host = (deps.environment[HOST_VARIABLE] || METADATA_HOST).replace(/\/$/, '');
  const url = `${host}/metadata/identity/oauth2/token?api-version=2018-02-01`;
  return readIdentity(deps, url, { metadata: 'true' });
}

async function readIdentity(
  deps: CloudDeps,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<CloudKey> {
  const client = deps.environment['AZURE_CLIENT_ID'];
  const own = client ? `&client_id=${encodeURIComponent(client)}` : '';
  const address = `${url}&resource=${encodeURIComponent(RESOURCE)}${own}`;
  const signal = AbortSignal.timeout(METADATA_MS * 5);
  const answer = await ask('the managed identity of Azure', async () =>
    deps.fetch(address, { headers, signal }),
  );
  return toKey(answer, deps, []);
}

type Response = Awaited<ReturnType<CloudDeps['fetch']>>;

/** Sends a request for a token. `what`: the credentials, for messages. */
async function ask(what: string, send: () => Promise<Response>): Promise<JsonObject> {
  let reason: string;
  try {
    const response = await send();
    const answer: unknown = JSON.parse(await response.text());
    if (isJsonObject(answer) && response.ok && typeof answer['access_token'] === 'string') {
      return answer;
    }
    reason = `HTTP ${response.status}: ${describeRefusal(answer)}`;
  } catch (thrown) {
    reason = describeReason(thrown);
  }
  throw new KeyUnavailableError(
    `${what} cannot be used: ${firstLine(reason)} (check AZURE_TENANT_ID and AZURE_CLIENT_ID, or set a key in AZURE_OPENAI_API_KEY)`,
  );
}

function describeRefusal(answer: unknown): string {
  if (!isJsonObject(answer)) return 'no token';
  const { error_description: description, error } = answer;
  if (typeof description === 'string') return description;
  return typeof error === 'string' ? error : 'no token';
}

function toKey(answer: JsonObject, { clock }: CloudDeps, secrets: readonly string[]): CloudKey {
  const token = String(answer['access_token']);
  const seconds = Number(answer['expires_in'] ?? Number.NaN);
  return {
    key: token,
    secrets: [token, ...secrets],
    expiresAt: Number.isFinite(seconds) ? clock.now() + seconds * 1000 : null,
  };
}
