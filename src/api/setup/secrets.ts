import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { createRedactor } from '../../store/redact/redactor.ts';
import { parseKey } from '../../model/providers/provider-key.ts';
import type { Environment } from '../../sys/env.ts';
import { isSecretVariable, listUrlCredentials } from '../../sys/secret-variables.ts';

/** Matches the beginning of a path, which is not a secret. */
const PATH_START = /^[.~]?\//;
/** The minimum length of a secret. Shorter values occur in ordinary texts. */
const MIN_SECRET_LENGTH = 8;

/**
 * Lists the values of those environment variables whose names suggest a secret, and the passwords in URLs that variables
 * hold, such as `SEARXNG_URL` and `HTTPS_PROXY`. These values must not get into logs.
 */
export function listSecretValues(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const forms = isSecret(name, value) ? listSecretForms(value) : [];
    return forms.concat(listUrlSecrets(value));
  });
}

/**
 * Lists the passwords in the URLs of a text: as written, decoded, with the user as in the URL, and in the form in which
 * they are sent.
 */
export function listUrlSecrets(text: string): readonly string[] {
  const secrets = listUrlCredentials(text).flatMap(({ user, password }) => {
    const [plainUser = '', plainPassword = ''] = [user, password].map(decodePercent);
    const sent = Buffer.from(`${plainUser}:${plainPassword}`).toString('base64');
    const passwords = [password, plainPassword].filter((each) => each.length >= MIN_SECRET_LENGTH);
    return passwords.concat(`${user}:${password}@`, sent);
  });
  return [...new Set(secrets)];
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A `%` that does not begin an encoded character stands for itself.
    return text;
  }
}

/** Returns the value as written, and the API key that `parseKey` reads from the value if the two differ. */
export function listSecretForms(value: string): readonly string[] {
  const read = parseKey(value);
  return read === value || read.length < MIN_SECRET_LENGTH ? [value] : [value, read];
}

/** Checks whether the value of a variable or field with this name is a secret. */
export function isSecret(name: string, value: string): boolean {
  if (value.length < MIN_SECRET_LENGTH || PATH_START.test(value)) return false;
  return isSecretVariable(name);
}

/**
 * Matches placeholders of secrets: `${TOKEN}`, `$TOKEN`, `<your key>`, `YOUR_KEY`, `xxxx`, `...`.
 */
const PLACEHOLDER = /^\$|[{<[]|^(?:your|my|example|test|dummy|changeme|replace)|^(.)\1*$|\.\.\./i;

/** Matches the value of a header that contains a credential, such as `Bearer …`. */
const CREDENTIAL = /^(?:bearer|basic|token)\s+(\S{8,})$/i;

/** Matches the name of an environment variable, which is not a secret itself. */
const VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** Finds values at any depth whose names suggest a secret. */
export function findNamedSecrets(value: JsonValue, name = ''): readonly NamedSecret[] {
  if (typeof value === 'string') {
    const [, secret = value] = CREDENTIAL.exec(value) ?? [];
    const isNamedSecret =
      isSecret(name, secret) || (/^authorization$/i.test(name) && secret !== value);
    return isNamedSecret && !PLACEHOLDER.test(secret) && !VARIABLE.test(secret)
      ? [{ name, value }]
      : [];
  }
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => findNamedSecrets(item, name));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => findNamedSecrets(item ?? null, key));
}

/** Creates a redactor for texts that are not redacted otherwise, such as errors at the start of a session. */
export function createEnvironmentRedactor(environment: Environment): (text: string) => string {
  return createRedactor({ secrets: listSecretValues(environment) });
}
