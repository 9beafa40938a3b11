import type { KeyHeader } from '../provider-key.ts';
import type { Endpoint } from './dialect.ts';

/** A server as it is configured. */
export interface AskedServer extends Endpoint {
  /** Tried once where the server knows nothing under the first. Absent: there is no other one. */
  readonly otherBaseUrl?: string;
  /** Stands behind every address that is asked. Absent: nothing does. */
  readonly query?: string;
  /** The environment variable that the key comes from. Absent: not known, or no key. */
  readonly keyFrom?: string;
  /** The header that the key is sent in. Absent: the one that the package of the protocol uses. */
  readonly keyHeader?: KeyHeader;
}
