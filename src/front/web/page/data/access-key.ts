import { parseKeyFragment } from '../model/page-route.ts';
import { readSaved, save } from './page-storage.ts';

const SAVED_NAME = 'muster.accessKey';

/**
 * Takes the key that the server has put into the address, saves it, and removes it from the address. The storage belongs to
 * one port of the machine, which a cookie does not.
 */
export function takeAccessKey(): void {
  const key = parseKeyFragment(location.hash);
  if (key === null) return;
  save(SAVED_NAME, key);
  history.replaceState(null, '', `${location.pathname}${location.search}`);
}

/** Returns the key that the server wants with each request to change something; null if the page has got none. */
export function readAccessKey(): string | null {
  // Another page may have saved the key of a newer server since this one began.
  return readSaved(SAVED_NAME);
}
