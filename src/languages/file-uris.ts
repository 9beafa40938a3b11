import { fileURLToPath } from 'node:url';

/**
 * Returns the path that a URI of a server means; null if it is not that of a file. Servers write the same URI in
 * different ways, so URIs are compared by their paths.
 */
export function toFilePath(uri: unknown): string | null {
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return null;
  try {
    return fileURLToPath(uri);
  } catch {
    // The server has sent something that is no path.
    return null;
  }
}
