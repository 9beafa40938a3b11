import { MusterError } from '../../base/errors.ts';
import type { KeyReader } from '../../protocol/api-key.ts';
import { fail, ok, type Check } from '../../protocol/check.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';

/**
 * Reads the credentials of a cloud, and says whether they were found. They are never shown. For another provider,
 * returns `described`, which says where its key comes from.
 */
export async function checkCredentials(
  { cloud, keyFrom, keySource }: ConfiguredProvider,
  described: Check,
  keys: KeyReader | undefined,
): Promise<Check> {
  if (cloud === undefined || keySource === undefined || keys === undefined) return described;
  if (described.status === 'fail') return described;
  try {
    await keys.read(keySource);
    return ok('key', `credentials found: ${keyFrom ?? 'those of the cloud'}`);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return fail('key', thrown.message, 'sign in to the cloud, or set a key (docs/clouds.md)');
  }
}
