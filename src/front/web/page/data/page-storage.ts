/** The values that the browser did not store, which last as long as the page. */
const unsaved = new Map<string, string>();

/** Returns a value that the page has saved, now or earlier; null if there is none. */
export function readSaved(name: string): string | null {
  try {
    return unsaved.get(name) ?? localStorage.getItem(name);
  } catch {
    // The storage is not available to a page from a file, or if the user forbids it.
    return null;
  }
}

/** Saves a value for this page and later ones of the same server. */
export function save(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
    unsaved.delete(name);
  } catch {
    unsaved.set(name, value);
  }
}
