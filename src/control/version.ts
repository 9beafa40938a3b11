import { MusterError } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';

/**
 * The version of the lines on a control socket. It goes up when an old peer would misread a new
 * line; a new field in `data`, or a new `type` of line before the reply, is none of that.
 */
export const CONTROL_VERSION = 1;

/**
 * Throws `CONFLICT` for a line in another version. To be asked first: nothing else in such a line
 * means what it seems to. `who` sent it.
 */
export function checkVersion(version: unknown, who: 'client' | 'process'): void {
  if (version === CONTROL_VERSION) return;
  const theirs = typeof version === 'number' ? `version ${version}` : 'no version that can be read';
  const other = who === 'client' ? 'this command' : 'the running Muster process';
  const self = who === 'client' ? 'the running Muster process' : 'this command';
  throw new MusterError(
    'CONFLICT',
    `${other} speaks ${theirs} of the control protocol, ${self} (Muster ${VERSION}) version ${CONTROL_VERSION}: use one release of Muster for both`,
  );
}
