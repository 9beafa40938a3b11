import type { KeyReader } from '../../protocol/api-key.ts';
import type { A2aServer } from '../../protocol/remote-agent.ts';
import type { Environment } from '../../sys/env.ts';
import { A2aError } from './failure.ts';

/** The sources of the secrets to which definitions refer. */
export interface CredentialSources {
  readonly environment: Environment;
  /** The names of the variables that a project's definition cannot get. */
  readonly ownSecrets: ReadonlySet<string>;
  /** Runs the commands that print secrets. */
  readonly keys: KeyReader;
  /** Takes each secret before it is used, so that it is removed from logs. */
  readonly addSecret: (secret: string) => void;
}

const DEFAULT_KEY_HEADER = 'X-API-Key';
/** The time in milliseconds for which the output of a command is kept. */
const COMMAND_TTL_MS = 300_000;
/** Matches a text that can be sent as the value of a header. */
const HEADER_VALUE = /^[\t\x20-\x7e]+$/;

/**
 * Returns the headers with the credentials for a server. Rejects with an A2aError that names the field and never holds a
 * secret.
 *
 * @param isForeign true if somebody else wrote the definition, so that it gets no keys of the user and runs no command
 */
export async function readAuthHeaders(
  { auth }: A2aServer,
  isForeign: boolean,
  sources: CredentialSources,
): Promise<Readonly<Record<string, string>>> {
  if (auth === undefined) return {};
  const resolve = async (field: string, text: string): Promise<string> => {
    const value = await resolveText(text, `auth.${field}`, isForeign, sources);
    if (!HEADER_VALUE.test(value))
      throw new A2aError('auth', `auth.${field}: the value has characters that no header can hold`);
    if (field !== 'username') sources.addSecret(value);
    return value;
  };
  if (auth.type === 'apiKey')
    return { [auth.name ?? DEFAULT_KEY_HEADER]: await resolve('key', auth.key) };
  if ('value' in auth)
    return { Authorization: `${auth.scheme} ${await resolve('value', auth.value)}` };
  const username = await resolve('username', auth.username);
  const password = await resolve('password', auth.password);
  const encoded = Buffer.from(`${username}:${password}`).toString('base64');
  sources.addSecret(encoded);
  return { Authorization: `Basic ${encoded}` };
}

/** Matches `$NAME` and `${NAME}`. */
const VARIABLE = /^\$(?:(\w+)|\{(\w+)\})$/;

async function resolveText(
  text: string,
  field: string,
  isForeign: boolean,
  { environment, ownSecrets, keys }: CredentialSources,
): Promise<string> {
  if (/^(?:\$\$|!!)/.test(text)) return text.slice(1);
  const advice = 'define the agent among your own if you want that';
  if (text.startsWith('!')) {
    if (isForeign) throw refuse(field, `the agent of a project runs no command; ${advice}`);
    const command = text.slice(1).trim();
    return await keys.read({ kind: 'command', command, ttlMs: COMMAND_TTL_MS, setting: field });
  }
  if (!text.startsWith('$')) return text;
  const [, plain, braced] = VARIABLE.exec(text) ?? [];
  const name = plain ?? braced;
  if (name === undefined)
    throw refuse(field, 'it begins with $ and is no variable; write $NAME, or $$ for a $');
  if (isForeign && (ownSecrets.has(name) || name.startsWith('MUSTER_')))
    throw refuse(field, `the agent of a project cannot get ${name}, which is yours; ${advice}`);
  const value = environment[name]?.trim() ?? '';
  if (value === '') throw refuse(field, `the variable ${name} is not set; set it and run again`);
  return value;
}

function refuse(field: string, reason: string): A2aError {
  return new A2aError('auth', `${field}: ${reason}`);
}
