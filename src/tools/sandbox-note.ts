import type { RunOutcome } from './bash-run.ts';

/** What programs say where something can't be written, made or moved. */
const NOT_WRITABLE =
  /read-only file ?system|permission denied|operation not permitted|device or resource busy|\bE(ROFS|ACCES|PERM|BUSY)\b/i;
/** What they say without a network. */
const NO_NETWORK =
  /network is unreachable|could not resolve|name resolution|name or service not known|connection refused|nodename nor servname|unknown host|\b(ENETUNREACH|EAI_AGAIN|ENOTFOUND|ECONNREFUSED)\b/i;

/** For a command that failed as one does which the sandbox holds back: what that allows. Null: it did not. */
export function sandboxNote(
  { held, exitCode, endedBy }: Pick<RunOutcome, 'held' | 'exitCode' | 'endedBy'>,
  output: string,
): string | null {
  if (held === null || exitCode === 0 || endedBy !== 'itself') return null;
  if (NOT_WRITABLE.test(output)) {
    return held.access === 'read-only'
      ? '[the sandbox of this task is read-only: nothing can be written but $TMPDIR]'
      : '[the sandbox allows writing only inside the workspace and $TMPDIR, and neither .git/hooks, .git/config nor other protected files there]';
  }
  if (!held.network && NO_NETWORK.test(output)) {
    return '[the sandbox has no network: only what this task runs in the background can be reached; the user can allow it with sandbox.network]';
  }
  return null;
}
