import { withoutQuotes } from '../../base/text.ts';
import type { KeySource, StoredAccount } from '../../protocol/api-key.ts';
import type { Environment } from '../../sys/env.ts';
import type { ProviderSettings } from '../settings/model-settings.ts';

/**
 * The way in which a key is sent, other than the default of the protocol. In the header `authorization` it is a bearer
 * token. `aws-signature`: the key is never sent, but signs the request.
 */
export type KeyHeader = 'authorization' | 'api-key' | 'aws-signature';

/** The API key of a provider, or the reason why the provider has none. */
export interface ProviderKey {
  /** The API key; null: no key is sent. */
  readonly apiKey: string | null;
  /** The source of the key for messages, such as the name of an environment variable. Default: there is no key. */
  readonly keyFrom?: string;
  /** The source from which the key is read when the first request needs it. Default: `apiKey` is the key. */
  readonly keySource?: KeySource;
  /** The header in which the key is sent. Default: that of the protocol. */
  readonly keyHeader?: KeyHeader;
  /** The environment variable that must be set before the provider can be used. Default: no variable is missing. */
  readonly missingKey?: string;
  /** The reason why the key can't be used or sent, without the key itself. If present, the provider can't be used. */
  readonly keyProblem?: string;
}

/**
 * Reads the API key from the first of these environment variables that is set. Blanks, quotes and the text of a header
 * are removed from its value. `requiredVariable`: the variable that the user is asked to set if none is set; null: the
 * provider needs no key.
 */
export function readProviderKey(
  names: readonly string[],
  env: Environment,
  { requiredVariable }: { readonly requiredVariable: string | null },
): ProviderKey {
  for (const name of names) {
    const key = parseKey(env[name] ?? '');
    if (key === '') continue;
    const problem = findKeyProblem(key);
    if (problem !== null) return { apiKey: null, keyFrom: name, keyProblem: `${name} ${problem}` };
    return { apiKey: key, keyFrom: name };
  }
  return { apiKey: null, ...(requiredVariable !== null && { missingKey: requiredVariable }) };
}

/** The time after which a command or file is asked again for the key, if the settings name none. */
const DEFAULT_TTL_SECONDS = 300;

/**
 * Returns the key that the settings of a provider name; null: they name none. `setting`: the table of the provider,
 * for messages.
 */
export function configuredKey(
  setting: string,
  settings: ProviderSettings,
  env: Environment,
): ProviderKey | null {
  const { apiKeyEnv, apiKeyCommand, apiKeyFile, apiKeyTtlSeconds = DEFAULT_TTL_SECONDS } = settings;
  if (apiKeyEnv !== undefined)
    return readProviderKey([apiKeyEnv], env, { requiredVariable: apiKeyEnv });
  const ttlMs = apiKeyTtlSeconds * 1000;
  if (apiKeyCommand !== undefined) {
    const keyFrom = `${setting}.api_key_command`;
    const keySource = { kind: 'command', command: apiKeyCommand, ttlMs, setting: keyFrom } as const;
    return { apiKey: null, keyFrom, keySource };
  }
  if (apiKeyFile !== undefined) {
    const keyFrom = `${setting}.api_key_file`;
    const keySource = { kind: 'file', path: apiKeyFile, ttlMs, setting: keyFrom } as const;
    return { apiKey: null, keyFrom, keySource };
  }
  return null;
}

/** The maximum length of a key in bytes. A longer text, or the output of a command, is no key. */
export const MAX_KEY_BYTES = 65_536;

/** The name of the account of a provider if `muster login` is given none. */
export const DEFAULT_ACCOUNT = 'default';

/** Names an account in messages. */
export function describeAccount({ provider, account }: StoredAccount): string {
  return `the account "${account}" of ${provider}`;
}

/** Finds an account of a provider. `wanted`: the name of the account; null: the default account, or else the first one. */
export function findAccount(
  wanted: string | null,
  stored: readonly StoredAccount[],
): StoredAccount | undefined {
  const found = stored.find(({ account }) => account === (wanted ?? DEFAULT_ACCOUNT));
  return found ?? (wanted === null ? stored[0] : undefined);
}

/** Returns the key of the account that `findAccount` finds. */
export function accountKey(
  provider: string,
  wanted: string | null,
  stored: readonly StoredAccount[],
): ProviderKey {
  const found = findAccount(wanted, stored);
  if (found === undefined) {
    const option = wanted === null ? '' : ` --account ${wanted}`;
    const problem = `${provider} has no account "${wanted ?? DEFAULT_ACCOUNT}": run "muster login ${provider}${option}"`;
    return { apiKey: null, keyProblem: problem };
  }
  const keyFrom = describeAccount(found);
  if (found.key !== null) return { apiKey: found.key, keyFrom };
  const keySource = { kind: 'keychain', provider: found.provider, account: found.account } as const;
  return { apiKey: null, keyFrom, keySource };
}

/**
 * Extracts the API key from the value of a variable. Removes blanks, quotes, and the name and scheme of a request
 * header, because people copy keys from headers.
 */
export function parseKey(text: string): string {
  const value = withoutQuotes(text.trim()).replace(
    /^(?:(?:proxy-)?authorization|(?:x-)?api-key|x-goog-api-key)\s*:\s*/i,
    '',
  );
  return withoutQuotes(value.replace(/^bearer(?:\s*:\s*|\s+|$)/i, '').trim());
}

/** The names of the characters that get into keys when people copy them from documents, chats and files. */
const CHARACTER_NAMES: Readonly<Record<string, string>> = {
  '\t': 'a tab',
  '\n': 'a line break',
  '\r': 'a carriage return',
  '\u00A0': 'a no-break space',
  '\u00AD': 'a soft hyphen',
  '\u200B': 'a zero-width space',
  '\u200C': 'a zero-width non-joiner',
  '\u200D': 'a zero-width joiner',
  '\u200E': 'a left-to-right mark',
  '\u2010': 'a typographic hyphen',
  '\u2011': 'a no-break hyphen',
  '\u2013': 'an en dash',
  '\u2014': 'an em dash',
  '\u2018': 'a typographic quote',
  '\u2019': 'a typographic quote',
  '\u201C': 'a typographic quote',
  '\u201D': 'a typographic quote',
  '\u2026': 'an ellipsis',
  '\u202F': 'a narrow no-break space',
  '\u2060': 'a word joiner',
  '\uFEFF': 'a byte order mark',
};

/** Describes the first character of a key that no header can hold; null: all can be sent. */
export function findKeyProblem(key: string): string | null {
  const characters = [...key];
  const index = characters.findIndex((character) => !/^[\x20-\x7e]$/.test(character));
  const found = characters[index];
  if (found === undefined) return null;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = CHARACTER_NAMES[found];
  const character = name === undefined ? `U+${code}` : `${name} (U+${code})`;
  return `contains a key that can't be sent: its character ${index + 1} of ${characters.length} is ${character}; copy the key again`;
}

/** Shorter keys are no secrets: local servers accept any text as a key, which may be a common word. */
const MIN_SECRET_LENGTH = 8;
/** A part of a key as servers show it in errors, such as `sk-ab****wxyz` and `sk-...wxyz`. */
const MASKED = /([\w-]*)(?:\*{2,}|\.{3}|…)([\w-]*)/gu;
/** The minimum length of a part that is recognized. */
const MIN_PART = 3;

/** Replaces the key of a provider in a text of a server. Each part of a key of AWS is a secret of its own. */
export function hideKeys(
  text: string,
  { apiKey, keyHeader }: Pick<ProviderKey, 'apiKey' | 'keyHeader'>,
): string {
  if (apiKey === null || keyHeader !== 'aws-signature') return hideKey(text, apiKey);
  return apiKey.split(':').reduce(hideKey, text);
}

/** Replaces a key in a text of a server, and the parts of it that some servers show. */
export function hideKey(text: string, key: string | null): string {
  if (key === null || key.length < MIN_SECRET_LENGTH) return text;
  const unmasked = text
    .replaceAll(key, '[key]')
    .replace(MASKED, (shown, start: string, end: string) => {
      const isStart = start.length >= MIN_PART && key.startsWith(start);
      const isEnd = end.length >= MIN_PART && key.endsWith(end);
      return isStart || isEnd ? '[key]' : shown;
    });
  return hideBeginnings(unmasked, key);
}

/** A shorter beginning of a key before other letters may be a plain word, such as the name of the provider. */
const MIN_BEGINNING = 12;

/** Replaces each beginning of a key that is long enough to be a part of the secret. */
function hideBeginnings(text: string, key: string): string {
  const shortest = key.slice(0, MIN_SECRET_LENGTH);
  const [before = '', ...following] = text.split(shortest);
  const hidden = following.map((rest) => {
    let length = 0;
    while (length < rest.length && rest[length] === key[MIN_SECRET_LENGTH + length]) length += 1;
    const isWord = /^[\w-]/.test(rest.slice(length));
    const isShown = !isWord || MIN_SECRET_LENGTH + length >= MIN_BEGINNING;
    return isShown ? `[key]${rest.slice(length)}` : shortest + rest;
  });
  return before + hidden.join('');
}

/** Returns true if the provider has a key that can be sent, or needs none. */
export function hasUsableKey({ missingKey, keyProblem: problem }: ProviderKey): boolean {
  return missingKey === undefined && problem === undefined;
}
