import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { KeyUnavailableError } from '../protocol/api-key.ts';
import type { KnownLogin, LoginDemand, McpLogin, McpLoginStore } from '../protocol/mcp-login.ts';
import { withAsyncLock } from '../store/locks/async-lock.ts';
import { StateList, type ListFormat } from '../store/state/state-list.ts';
import { KeychainError, type Keychain } from './keychain.ts';

/** The name of the provider under which the keychain keeps logins to MCP servers. */
const KEYCHAIN_PROVIDER = 'mcp';
/** The longest wait for another process that renews the same tokens. A request to renew takes 30 s at most. */
const RENEWAL_MS = 45_000;

type SecretField = 'accessToken' | 'refreshToken' | 'clientSecret';
type LoginSecrets = Pick<McpLogin, SecretField>;

/** A login whose secrets are in the file, or in the keychain if they are null here. */
interface StoredLogin extends Omit<McpLogin, 'server' | SecretField> {
  readonly secrets: LoginSecrets | null;
}

interface ServerRecord {
  readonly server: string;
  readonly login: StoredLogin | null;
  readonly demand: LoginDemand | null;
}

/** The file of the logins, which only the user can read (0600). */
const LOGINS: ListFormat<ServerRecord> = {
  // The name is one that no tool reads or writes (sys/files/secret-paths.ts).
  fileName: 'mcp-credentials.json',
  remedy: 'log in again with "muster mcp login NAME"',
  isSecret: true,
  listName: 'servers',
  keyOf: ({ server }) => server,
  describeInvalid: (position) => `entry ${position} is no login`,
  read({ server, login = null, demand = null }) {
    const read = readNullable(login, readLogin);
    const demanded = readNullable(demand, readDemand);
    if (typeof server !== 'string' || read === undefined || demanded === undefined) {
      return undefined;
    }
    return { server, login: read, demand: demanded };
  },
};

function readNullable<T>(
  value: JsonValue,
  read: (value: JsonObject) => T | undefined,
): T | null | undefined {
  if (value === null) return null;
  return isJsonObject(value) ? read(value) : undefined;
}

function readDemand({ scope = null, resourceMetadataUrl = null }: JsonObject) {
  return isTextOrNull(scope) && isTextOrNull(resourceMetadataUrl)
    ? { scope, resourceMetadataUrl }
    : undefined;
}

function readLogin(value: JsonObject): StoredLogin | undefined {
  const { issuer, clientId, authMethod, tokenEndpoint } = value;
  const { revocationEndpoint = null, resource = null, scope = null, expiresAt = null } = value;
  const secrets = readNullable(value['secrets'] ?? null, readSecrets);
  if (
    typeof issuer !== 'string' ||
    typeof clientId !== 'string' ||
    typeof authMethod !== 'string' ||
    typeof tokenEndpoint !== 'string' ||
    !isTextOrNull(revocationEndpoint) ||
    !isTextOrNull(resource) ||
    !isTextOrNull(scope) ||
    (typeof expiresAt !== 'number' && expiresAt !== null) ||
    secrets === undefined
  ) {
    return undefined;
  }
  return {
    issuer,
    clientId,
    authMethod,
    tokenEndpoint,
    revocationEndpoint,
    resource,
    scope,
    expiresAt,
    secrets,
  };
}

function readSecrets({ accessToken, refreshToken = null, clientSecret = null }: JsonObject) {
  return typeof accessToken === 'string' && isTextOrNull(refreshToken) && isTextOrNull(clientSecret)
    ? { accessToken, refreshToken, clientSecret }
    : undefined;
}

function isTextOrNull(value: JsonValue): value is string | null {
  return typeof value === 'string' || value === null;
}

/** A stored login without its secrets. */
export interface LoginSummary {
  readonly server: string;
  /** The authorization server; null if there is only a demand. */
  readonly issuer: string | null;
  /** Whether the server demands a login that nobody has made yet. */
  readonly isDemanded: boolean;
}

/** The logins to MCP servers, one for each address of a server. */
export class LoginStore implements McpLoginStore {
  readonly #list: StateList<ServerRecord>;
  readonly #directory: string;
  readonly #keychain: Keychain;

  /** `directory`: the state directory. */
  constructor(directory: string, keychain: Keychain) {
    this.#list = new StateList(directory, LOGINS);
    this.#directory = directory;
    this.#keychain = keychain;
  }

  get path(): string {
    return this.#list.path;
  }

  /** Lists the logins. Asks the keychain for nothing. */
  list(): readonly LoginSummary[] {
    return this.#list.all().map(({ server, login, demand }) => ({
      server,
      issuer: login?.issuer ?? null,
      isDemanded: demand !== null,
    }));
  }

  /** Lists the secrets that are in the file. */
  listSecrets(): readonly string[] {
    return this.#list.all().flatMap(({ login }) => {
      const { accessToken, refreshToken, clientSecret } = login?.secrets ?? {};
      return [accessToken, refreshToken, clientSecret].flatMap((secret) => secret ?? []);
    });
  }

  async read(server: string): Promise<KnownLogin> {
    const record = this.#find(server);
    if (record === undefined) return { login: null, demand: null };
    const { login, demand } = record;
    if (login === null) return { login, demand };
    const { secrets: inFile, ...rest } = login;
    const secrets = inFile ?? (await this.#readFromKeychain(server, login.issuer));
    return { login: { server, ...rest, ...secrets }, demand };
  }

  /** Stores a new login in the keychain if it works, otherwise in the file. */
  async add(login: McpLogin): Promise<void> {
    await this.addTo('auto', login);
  }

  /**
   * Stores a new login. Returns the reason why the keychain is not used; null if it is used or was not wanted. Rejects
   * with KeychainError if only the keychain was wanted and cannot be used.
   */
  async addTo(place: 'auto' | 'keychain' | 'file', login: McpLogin): Promise<string | null> {
    const before = this.#find(login.server)?.login ?? null;
    let problem: string | null = null;
    let isInKeychain = false;
    if (place !== 'file') {
      try {
        await this.#writeToKeychain(login);
        isInKeychain = true;
      } catch (thrown) {
        if (!(thrown instanceof KeychainError)) throw thrown;
        if (place === 'keychain') throw describeKeychainError(thrown);
        problem = thrown.reason;
      }
    }
    this.#list.update(login.server, () => ({
      server: login.server,
      login: toStored(login, isInKeychain),
      demand: null,
    }));
    const isReplaced = isInKeychain && before?.issuer === login.issuer;
    if (before !== null && before.secrets === null && !isReplaced) {
      await this.#deleteFromKeychain(login.server, before.issuer);
    }
    return problem;
  }

  async renew(login: McpLogin): Promise<void> {
    const isSame = (record: ServerRecord | undefined): boolean =>
      record?.login?.issuer === login.issuer && record.login.clientId === login.clientId;
    const before = this.#find(login.server);
    if (!isSame(before)) return;
    const isInKeychain = before?.login?.secrets === null;
    if (isInKeychain) await this.#writeToKeychain(login);
    this.#list.update(login.server, (record) =>
      record !== undefined && isSame(record)
        ? { ...record, login: toStored(login, isInKeychain) }
        : record,
    );
  }

  noteDemand(server: string, demand: LoginDemand): void {
    const known = this.#find(server)?.demand;
    if (known !== null && known !== undefined && JSON.stringify(known) === JSON.stringify(demand)) {
      return;
    }
    this.#list.update(server, (record) => ({ server, login: record?.login ?? null, demand }));
  }

  /** Removes everything that is known about the login to a server. Does nothing if there is nothing. */
  async remove(server: string): Promise<void> {
    const [removed] = this.#list.remove((each) => each.server === server);
    const login = removed?.login ?? null;
    if (login !== null && login.secrets === null) {
      await this.#deleteFromKeychain(server, login.issuer);
    }
  }

  withLock<T>(server: string, work: () => Promise<T>): Promise<T> {
    const path = join(this.#directory, `mcp-login-${shortHash(server)}.lock`);
    return withAsyncLock({ directory: this.#directory, path, waitMs: RENEWAL_MS }, work);
  }

  #find(server: string): ServerRecord | undefined {
    return this.#list.all().find((each) => each.server === server);
  }

  async #readFromKeychain(server: string, issuer: string): Promise<LoginSecrets> {
    const text = await withKeychain(() =>
      this.#keychain.read(KEYCHAIN_PROVIDER, nameInKeychain(server, issuer)),
    );
    const value = text === null ? undefined : parseJsonLine(text);
    const secrets = isJsonObject(value) ? readSecrets(value) : undefined;
    if (secrets !== undefined) return secrets;
    throw new KeyUnavailableError(
      'the login is no longer in the keychain: run "muster mcp login" for this server again',
    );
  }

  async #writeToKeychain({ server, issuer, ...login }: McpLogin): Promise<void> {
    const { accessToken, refreshToken, clientSecret } = login;
    const text = JSON.stringify({ accessToken, refreshToken, clientSecret });
    await this.#keychain.write(KEYCHAIN_PROVIDER, nameInKeychain(server, issuer), text);
  }

  async #deleteFromKeychain(server: string, issuer: string): Promise<void> {
    await withKeychain(() =>
      this.#keychain.delete(KEYCHAIN_PROVIDER, nameInKeychain(server, issuer)),
    );
  }
}

/** Returns a login as the file holds it, with its secrets unless they are in the keychain. */
function toStored(login: McpLogin, isInKeychain: boolean): StoredLogin {
  const { issuer, clientId, authMethod, tokenEndpoint, revocationEndpoint } = login;
  const { resource, scope, expiresAt, accessToken, refreshToken, clientSecret } = login;
  return {
    issuer,
    clientId,
    authMethod,
    tokenEndpoint,
    revocationEndpoint,
    resource,
    scope,
    expiresAt,
    secrets: isInKeychain ? null : { accessToken, refreshToken, clientSecret },
  };
}

/** Returns the name of a login in the keychain, which also shows the host to a person. */
function nameInKeychain(server: string, issuer: string): string {
  return `${URL.parse(server)?.host ?? 'server'}/${shortHash(JSON.stringify([server, issuer]))}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

async function withKeychain<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof KeychainError ? describeKeychainError(thrown) : thrown;
  }
}

function describeKeychainError({ reason }: KeychainError): KeyUnavailableError {
  return new KeyUnavailableError(
    `the keychain cannot be used: ${reason}. Unlock it, or log in with "muster mcp login NAME --store file"`,
  );
}
