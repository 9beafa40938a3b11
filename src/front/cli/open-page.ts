import { spawn } from 'node:child_process';
import type { Environment } from '../../sys/env.ts';

/** The program that opens a page in the browser, with its arguments. */
export type PageOpener = readonly [program: string, ...args: readonly string[]];

/** Finds the program that opens pages. Returns null on a machine without a screen, or in a session from elsewhere. */
export function findPageOpener(
  platform: NodeJS.Platform,
  environment: Environment,
): PageOpener | null {
  if (isSet(environment['SSH_CONNECTION'])) return null;
  if (platform === 'darwin') return ['open'];
  const hasScreen = isSet(environment['DISPLAY']) || isSet(environment['WAYLAND_DISPLAY']);
  return platform === 'linux' && hasScreen ? ['xdg-open'] : null;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

/**
 * Opens a page in the browser without waiting for it. No shell is involved. `onFailure` is called if the program cannot
 * be started or fails.
 *
 * @param page an address that begins with http:// or https://
 */
export function openPage(
  [program, ...args]: PageOpener,
  page: string,
  onFailure: () => void,
): void {
  const child = spawn(program, [...args, page], { detached: true, stdio: 'ignore' });
  child.once('error', onFailure);
  child.once('exit', (code) => {
    if (code !== 0) onFailure();
  });
  child.unref();
}
