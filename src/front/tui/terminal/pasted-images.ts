import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../../../base/errors.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import type { ShownImage, ImageDescription } from '../../../api/index.ts';

/** The limits of the images that are kept. Those of sent messages count too, since a message can be sent again. */
const MAX_IMAGES = 20;
const MAX_BYTES = 32 * 1024 * 1024;
const MARK = /\[image #(\d+)\]/g;

interface ImageOptions {
  readonly cwd: string;
  /** Reads what an image is, and whether the model can be shown it. */
  readonly lookAtImage: (bytes: Buffer) => Promise<ImageDescription>;
  /** Inserts text into the editor. */
  readonly insert: (text: string) => void;
  readonly hint: (text: string) => void;
}

/** The images that a message shows; in the text they are `[image #1]`. */
export class PastedImages {
  private readonly options: ImageOptions;
  private readonly images = new Map<number, Buffer>();
  private last = 0;

  constructor(options: ImageOptions) {
    this.options = options;
  }

  /** Returns the text to insert at once. The path of an image file is read first, and inserted later. */
  takePaste(pasted: string): string {
    const path = droppedImage(pasted, this.options.cwd);
    if (path === null) return pasted;
    void this.takeFile(path, pasted);
    return '';
  }

  async takeClipboard(): Promise<void> {
    const { clipboardImage } = await import('./clipboard.ts');
    const image = await clipboardImage();
    if (typeof image === 'string') this.options.hint(image);
    else await this.take(image, null);
  }

  /** The images whose marks a text holds. */
  shownIn(text: string): readonly ShownImage[] {
    const numbers = new Set([...text.matchAll(MARK)].map(([, digits]) => Number(digits)));
    return [...numbers].flatMap((number) => {
      const bytes = this.images.get(number);
      return bytes === undefined ? [] : [{ name: markOf(number), bytes }];
    });
  }

  private async takeFile(path: string, pasted: string): Promise<void> {
    try {
      const { size } = await stat(path);
      if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      await this.take(await readFile(path), pasted);
    } catch (thrown) {
      // The paste may have been meant as text: there may be no such file, for example.
      this.options.insert(pasted);
      this.options.hint(`taken as text: ${errorMessage(thrown)}`);
    }
  }

  /** `otherwise` is the text to insert if the image can't be shown. */
  private async take(bytes: Buffer, otherwise: string | null): Promise<void> {
    const { lookAtImage, insert, hint } = this.options;
    const { facts, why } = await lookAtImage(bytes);
    if (why !== null) {
      if (otherwise !== null) insert(otherwise);
      hint(`not shown: ${why}`);
      return;
    }
    this.last += 1;
    this.images.set(this.last, bytes);
    for (const [number] of this.images) {
      if (this.images.size <= MAX_IMAGES && this.byteCount() <= MAX_BYTES) break;
      this.images.delete(number);
    }
    insert(`${markOf(this.last)} `);
    hint(`${markOf(this.last)}: ${facts ?? ''}`);
  }

  private byteCount(): number {
    return [...this.images.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

function markOf(number: number): string {
  return `[image #${number}]`;
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/**
 * The path of an image file that was pasted or dropped onto the terminal; null for other text. Terminals write a
 * dropped path in quotes, with backslashes as for a shell, or as a `file:` URL.
 */
export function droppedImage(pasted: string, cwd: string): string | null {
  const text = pasted.trim();
  if (text === '' || text.includes('\n') || !IMAGE.test(text.replace(/['"]$/, ''))) return null;
  const path = unquotedPath(text);
  return path === null ? null : toAbsolutePath(path, cwd);
}

function unquotedPath(text: string): string | null {
  const [, , quoted] = /^(['"])(.*)\1$/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  if (!text.startsWith('file://')) return text.replaceAll(/\\(.)/g, '$1');
  try {
    return fileURLToPath(text);
  } catch {
    // A URL of another machine, or no URL at all, is text.
    return null;
  }
}
