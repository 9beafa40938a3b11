import { fileURLToPath } from 'node:url';
import { absolutePath } from '../../../sys/paths.ts';

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/**
 * The path of an image file that was pasted, or dropped onto the terminal, which writes it in quotes, with
 * backslashes before what a shell would take, or as a `file:` address; null: it is some other text.
 */
export function droppedImage(pasted: string, cwd: string): string | null {
  const text = pasted.trim();
  if (text === '' || text.includes('\n') || !IMAGE.test(text.replace(/['"]$/, ''))) return null;
  const path = barePath(text);
  if (path === null) return null;
  return absolutePath(path, cwd);
}

function barePath(text: string): string | null {
  const [, , quoted] = /^(['"])(.*)\1$/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  if (!text.startsWith('file://')) return text.replaceAll(/\\(.)/g, '$1');
  try {
    return fileURLToPath(text);
  } catch {
    // Of another machine, or no address at all: text.
    return null;
  }
}
