import { readFile, stat } from 'node:fs/promises';
import type { ImageLook, ShownImage } from '../../../api/enclosing.ts';
import { errorMessage } from '../../../base/errors.ts';
import { fileURLToPath } from 'node:url';
import { absolutePath } from '../../../sys/paths.ts';

/** That are kept for messages to come, those of earlier ones too: a message can be sent again. */
const MOST_IMAGES = 20;
const MOST_BYTES = 32 * 1024 * 1024;
const MARK = /\[image #(\d+)\]/g;

interface Parts {
  readonly cwd: string;
  readonly lookAtImage: (bytes: Buffer) => Promise<ImageLook>;
  readonly insert: (text: string) => void;
  readonly hint: (text: string) => void;
}

/** Images that stand in what is typed as `[image #1]`. */
export class PastedImages {
  private readonly parts: Parts;
  private readonly images = new Map<number, Buffer>();
  private last = 0;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** What of a paste goes into the text at once: the path of an image is looked at first. */
  takePaste(pasted: string): string {
    const path = droppedImage(pasted, this.parts.cwd);
    if (path === null) return pasted;
    void this.takeFile(path, pasted);
    return '';
  }

  async takeClipboard(): Promise<void> {
    const { clipboardImage } = await import('./clipboard.ts');
    const image = await clipboardImage();
    if (typeof image === 'string') this.parts.hint(image);
    else await this.take(image, null);
  }

  /** Those that a text shows. */
  in(text: string): readonly ShownImage[] {
    const numbers = new Set([...text.matchAll(MARK)].map(([, digits]) => Number(digits)));
    return [...numbers].flatMap((number) => {
      const bytes = this.images.get(number);
      return bytes === undefined ? [] : [{ name: markOf(number), bytes }];
    });
  }

  private async takeFile(path: string, pasted: string): Promise<void> {
    try {
      const { size } = await stat(path);
      if (size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
      await this.take(await readFile(path), pasted);
    } catch (thrown) {
      // It may have been meant as text: no such file, for one.
      this.parts.insert(pasted);
      this.parts.hint(`taken as text: ${errorMessage(thrown)}`);
    }
  }

  /** `otherwise`: what stands in the text where it can't be shown. */
  private async take(bytes: Buffer, otherwise: string | null): Promise<void> {
    const { lookAtImage, insert, hint } = this.parts;
    const { facts, why } = await lookAtImage(bytes);
    if (why !== null) {
      if (otherwise !== null) insert(otherwise);
      hint(`not shown: ${why}`);
      return;
    }
    this.last += 1;
    this.images.set(this.last, bytes);
    for (const [number] of this.images) {
      if (this.images.size <= MOST_IMAGES && this.bytes() <= MOST_BYTES) break;
      this.images.delete(number);
    }
    insert(`${markOf(this.last)} `);
    hint(`${markOf(this.last)}: ${facts ?? ''}`);
  }

  private bytes(): number {
    return [...this.images.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

function markOf(number: number): string {
  return `[image #${number}]`;
}

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
