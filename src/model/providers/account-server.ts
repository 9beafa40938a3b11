import type { StoredAccount } from '../../protocol/api-key.ts';
import { isPreset, PRESETS, type PresetName } from '../settings/presets.ts';
import { parseBaseUrl, type ParsedBaseUrl } from './base-url.ts';
import { DEFAULT_ACCOUNT, describeAccount } from './provider-key.ts';

/** Returns true if the key of an account may be sent to a server. `preset`: the known provider to which it belongs. */
export function isForServer(
  account: StoredAccount,
  { preset, url }: { readonly preset: PresetName | null; readonly url: ParsedBaseUrl },
): boolean {
  const own = account.baseUrl ?? account.origin;
  if (own === undefined) return account.provider === preset && isForOwnHosts(account);
  return parseAccountUrl(own, account).url.origin === url.url.origin;
}

/** Returns true if an account is for the hosts of a known provider, so that it needs no server of its own. */
export function isForOwnHosts({ provider, baseUrl, origin }: StoredAccount): boolean {
  const isFree = baseUrl === undefined && origin === undefined;
  return isFree && isPreset(provider) && PRESETS[provider].hosts !== undefined;
}

/** Parses the base URL or origin of an account. Throws UsageError for a damaged one. */
export function parseAccountUrl(baseUrl: string, account: StoredAccount): ParsedBaseUrl {
  return parseBaseUrl(baseUrl, `the base URL of ${describeAccount(account)}`);
}

/** Says that the key of an account is not sent to a server, and what to do. */
export function describeWrongServer(account: StoredAccount, { url }: ParsedBaseUrl): string {
  const option = account.account === DEFAULT_ACCOUNT ? '' : ` --account ${account.account}`;
  const command = `muster login ${account.provider}${option}`;
  return `${describeAccount(account)} ${describeServer(account)}, and is not sent to ${url.origin}: sign in again with "${command}"`;
}

function describeServer(account: StoredAccount): string {
  const { provider, origin, baseUrl = origin } = account;
  if (baseUrl !== undefined) return `is for ${baseUrl}`;
  const isOfKnown = isPreset(provider) && isForOwnHosts(account);
  return isOfKnown
    ? `is for the servers of ${PRESETS[provider].title}`
    : 'does not say for which server its key is';
}
