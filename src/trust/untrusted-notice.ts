import { plural } from '../base/text.ts';
import type { ConfigFile } from '../config/files.ts';
import { UNTRUSTED, type DiscoveryResult } from '../agents/loader/discovery-result.ts';

/** The files that a run found, including those that it did not use. */
export interface UnusedFiles {
  readonly files: readonly Pick<ConfigFile, 'state'>[];
  readonly skipped?: DiscoveryResult<unknown>['skipped'];
}

/** Returns one line that counts the project's untrusted files and says what to do, or null if there are none. */
export function createUntrustedNotice(unused: UnusedFiles): string | null {
  const summary = summarizeUntrusted(unused);
  if (summary === null) return null;
  return `${summary}: see \`muster trust list\`, then \`muster trust add\`; --trust-project trusts all files for one run`;
}

/**
 * Counts the project's untrusted files in a text like `3 files of this project were not used, because …`. Returns null
 * if there are none.
 */
export function summarizeUntrusted({ files, skipped = [] }: UnusedFiles): string | null {
  const states = [...files.map(({ state }) => state), ...skipped.map(({ code }) => code)];
  const unused = states.filter((state) => UNTRUSTED.has(state));
  if (unused.length === 0) return null;
  const changed = unused.filter((state) => state === 'changed').length;
  const since = changed === 0 ? '' : ` (${changed} changed since you did)`;
  const [was, them] = unused.length === 1 ? ['was', 'it'] : ['were', 'them'];
  return `${plural(unused.length, 'file')} of this project ${was} not used, because you have not trusted ${them}${since}`;
}
