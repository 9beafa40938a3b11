import { isJsonObject, type JsonObject } from '../base/json.ts';
import { EntryFields } from './entry-fields.ts';

/** The settings of an entry for the login to its server. Texts may contain `${VAR}`. */
export interface OAuthSettings {
  /** The id under which the authorization server knows Muster. Null if Muster introduces itself. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** The private key of a program that logs in by itself, as PEM. */
  readonly privateKey: string | null;
  /** The only authorization server that is accepted. Null for any that the server names. */
  readonly issuer: string | null;
  /** Whether the entry is for a program that logs in with its own key, without a person. */
  readonly isProgram: boolean;
  /** The address of a document that describes Muster to authorization servers. */
  readonly clientMetadataUrl: string | null;
  /** The only scopes that are requested, apart from those that the server demands later. Null for the server's choice. */
  readonly scopes: readonly string[] | null;
  /** The address on this machine to which the browser returns. Null for a free port of 127.0.0.1. */
  readonly redirectUrl: string | null;
}

const NO_SETTINGS: OAuthSettings = {
  clientId: null,
  clientSecret: null,
  privateKey: null,
  issuer: null,
  isProgram: false,
  clientMetadataUrl: null,
  scopes: null,
  redirectUrl: null,
};

const MAX_PORT = 65_535;
const VARIABLE_NAME = /^(?!MUSTER_)[A-Za-z_]\w*$/;
/** A scope of RFC 6749. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
/** The addresses to which a browser may return: each of them is this machine. */
const LOOPBACK_REDIRECT = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d{1,5})?\/[^?#]*$/;

/**
 * Reads the login of an entry, in Muster's spelling and in those of other products: `oauth` (Claude Code, Gemini CLI,
 * OpenCode), `auth` (Cursor) and `scopes` (Codex). Returns null if the entry says nothing about it.
 */
export function readOAuthSettings(
  fields: EntryFields,
  toVariableSyntax: (text: string) => string,
): OAuthSettings | null {
  const field = fields.take('oauth', 'auth');
  const outerScopes = readScopes(fields);
  // OpenCode writes `false` for a server without a login.
  if (field === undefined || typeof field.value === 'boolean') {
    return outerScopes === null ? null : { ...NO_SETTINGS, scopes: outerScopes };
  }
  if (!isJsonObject(field.value)) {
    fields.error(field.name, 'it must be an object');
    return null;
  }
  const own = new EntryFields(field.value);
  const text = (...keys: readonly string[]): string | null => {
    const value = own.text(...keys);
    return value === undefined ? null : toVariableSyntax(value);
  };
  own.take('enabled');
  const settings: OAuthSettings = {
    clientId: text('clientid'),
    clientSecret: readSecret(own, text, 'clientsecret'),
    privateKey: readSecret(own, text, 'privatekey'),
    issuer: text('issuer'),
    isProgram: readGrant(own),
    clientMetadataUrl: text('clientmetadataurl'),
    scopes: readScopes(own) ?? outerScopes,
    redirectUrl: readRedirectUrl(own),
  };
  checkProgram(settings, own);
  for (const name of own.remaining()) own.warn(name, 'this field has no effect in Muster');
  for (const problem of own.problems) {
    fields.problems.push({ ...problem, field: `${field.name}.${problem.field ?? ''}` });
  }
  return settings;
}

/** Reads a secret, or the name of the variable that holds it. */
function readSecret(
  fields: EntryFields,
  text: (...keys: readonly string[]) => string | null,
  key: string,
): string | null {
  const field = fields.take(`${key}env`);
  const secret = text(key);
  if (field === undefined) return secret;
  const variable = String(field.value);
  if (!VARIABLE_NAME.test(variable)) {
    fields.error(field.name, 'it must be the name of a variable that a server may get');
  }
  return `\${${variable}}`;
}

/** Tells whether a program logs in without a person. */
function readGrant(fields: EntryFields): boolean {
  const grant = fields.text('granttype');
  if (grant === undefined || grant === 'authorization_code') return false;
  if (grant === 'client_credentials') return true;
  fields.error('grant_type', 'it must be authorization_code or client_credentials');
  return false;
}

/** Without the issuer, the server would decide who gets the secret of a program. */
function checkProgram(settings: OAuthSettings, fields: EntryFields): void {
  const { isProgram, clientId, clientSecret, privateKey, issuer } = settings;
  if (!isProgram) return;
  const isComplete = clientId !== null && issuer !== null && (clientSecret ?? privateKey) !== null;
  if (isComplete) return;
  fields.error(
    'grant_type',
    'client_credentials needs client_id, issuer, and client_secret_env or private_key_env',
  );
}

/** Reads scopes as a list, or as one text with blanks or commas between them. */
function readScopes(fields: EntryFields): readonly string[] | null {
  const field = fields.take('scopes', 'scope');
  if (field === undefined) return null;
  const { name, value } = field;
  const list: readonly unknown[] =
    typeof value === 'string'
      ? value.split(/[\s,]+/).filter((scope) => scope !== '')
      : [value].flat();
  const scopes = list.filter((scope) => typeof scope === 'string' && SCOPE.test(scope));
  if (scopes.length === list.length) return scopes as readonly string[];
  fields.error(name, 'it must be a list of scopes');
  return null;
}

function readRedirectUrl(fields: EntryFields): string | null {
  const port = fields.number('callbackport');
  const url = fields.text('redirecturi', 'redirecturl');
  if (url !== undefined) {
    if (LOOPBACK_REDIRECT.test(url) && URL.canParse(url)) return url;
    fields.error('redirect_uri', 'it must be like http://127.0.0.1:8080/callback, without a query');
    return null;
  }
  if (port === undefined) return null;
  if (Number.isInteger(port) && port <= MAX_PORT) return `http://127.0.0.1:${port}/callback`;
  fields.error('callback_port', `it must be a port from 1 to ${MAX_PORT}`);
  return null;
}

/** Writes settings as Muster's own files spell them. */
export function writeOAuthSettings(settings: OAuthSettings): JsonObject {
  const { clientId, clientSecret, privateKey, issuer, isProgram } = settings;
  const { clientMetadataUrl, scopes, redirectUrl } = settings;
  return {
    ...(isProgram ? { grantType: 'client_credentials' } : {}),
    ...(clientId === null ? {} : { clientId }),
    ...(clientSecret === null ? {} : { clientSecret }),
    ...(privateKey === null ? {} : { privateKey }),
    ...(issuer === null ? {} : { issuer }),
    ...(clientMetadataUrl === null ? {} : { clientMetadataUrl }),
    ...(scopes === null ? {} : { scopes }),
    ...(redirectUrl === null ? {} : { redirectUri: redirectUrl }),
  };
}
