import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { UiMessage } from '../update/message.ts';
import { errorMessage } from '../../../base/errors.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import type { ShownImage, ImageDescription } from '../../../api/index.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { spawnProcessGroup } from '../../../sys/processes/process-group.ts';

/** The limits of the kept images. The images of sent messages count too, because a message can be sent again. */
const MAX_IMAGES = 20;
const MAX_BYTES = 32 * 1024 * 1024;
const IMAGE_MARK = /\[image #(\d+)\]/g;

interface ImageOptions {
  readonly cwd: string;
  /** Finds out what an image is, and whether it can be shown to the model. */
  readonly lookAtImage: (bytes: Buffer) => Promise<ImageDescription>;
  /** Inserts text into the editor. */
  readonly insert: (text: string) => void;
  readonly dispatch: (message: UiMessage) => void;
}

/** The images that were pasted. A text refers to them by marks such as `[image #1]`. */
export class PastedImages {
  private readonly options: ImageOptions;
  private readonly images = new Map<number, Buffer>();
  private last = 0;

  constructor(options: ImageOptions) {
    this.options = options;
  }

  /** Returns the text to insert for a paste. For the path of an image file it is empty: a mark is inserted once the file has been read. */
  takePaste(pasted: string): string {
    const path = droppedImage(pasted, this.options.cwd);
    if (path === null) return pasted;
    void this.takeFile(path, pasted);
    return '';
  }

  async takeClipboard(): Promise<void> {
    const image = await clipboardImage();
    if (typeof image === 'string') this.hint(image);
    else await this.take(image, null);
  }

  /** Finds the images whose marks are in a text. */
  findImages(text: string): readonly ShownImage[] {
    const numbers = new Set([...text.matchAll(IMAGE_MARK)].map(([, digits]) => Number(digits)));
    return [...numbers].flatMap((number) => {
      const bytes = this.images.get(number);
      return bytes === undefined ? [] : [{ name: formatMark(number), bytes }];
    });
  }

  private async takeFile(path: string, pasted: string): Promise<void> {
    try {
      const { size } = await stat(path);
      if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      await this.take(await readFile(path), pasted);
    } catch (thrown) {
      // The user may have meant the paste as text, for example if there is no such file.
      this.options.insert(pasted);
      this.hint(`taken as text: ${errorMessage(thrown)}`);
    }
  }

  /** Adds an image and inserts its mark. `otherwise` is the text to insert if the image can't be shown; null for no text. */
  private async take(bytes: Buffer, otherwise: string | null): Promise<void> {
    const { lookAtImage, insert } = this.options;
    const { facts, why } = await lookAtImage(bytes);
    if (why !== null) {
      if (otherwise !== null) insert(otherwise);
      this.hint(`not shown: ${why}`);
      return;
    }
    this.last += 1;
    this.images.set(this.last, bytes);
    for (const [number] of this.images) {
      if (this.images.size <= MAX_IMAGES && this.byteCount() <= MAX_BYTES) break;
      this.images.delete(number);
    }
    insert(`${formatMark(this.last)} `);
    this.hint(`${formatMark(this.last)}: ${facts ?? ''}`);
  }

  private hint(text: string): void {
    this.options.dispatch({ type: 'hint', text });
  }

  private byteCount(): number {
    return [...this.images.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

function formatMark(number: number): string {
  return `[image #${number}]`;
}

const IMAGE_FILE = /\.(?:png|jpe?g|gif|webp)$/i;

/**
 * Returns the absolute path of an image file that was pasted or dropped onto the terminal; null for other text.
 * Terminals write a dropped path in quotes, with backslashes as for a shell, or as a `file:` URL.
 */
export function droppedImage(pasted: string, cwd: string): string | null {
  const text = pasted.trim();
  if (text === '' || text.includes('\n') || !IMAGE_FILE.test(text.replace(/['"]$/, '')))
    return null;
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
    // The URL is invalid or names another machine, so the paste is text.
    return null;
  }
}

const CLIPBOARD_TIMEOUT_MS = 5_000;

type ClipboardProgram = readonly [program: string, ...args: readonly string[]];

/** Lists the programs that can print the image of the clipboard as PNG. */
function clipboardPrograms(): readonly ClipboardProgram[] {
  const environment = readEnvironment();
  if (process.platform === 'darwin') return [['pngpaste', '-']];
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  const wayland = ['wl-paste', '--no-newline', '--type', 'image/png'] as const;
  const x11 = ['xclip', '-selection', 'clipboard', '-t', 'image/png', '-o'] as const;
  return [...(isSet('WAYLAND_DISPLAY') ? [wayland] : []), ...(isSet('DISPLAY') ? [x11] : [])];
}

/** Reads the image of the clipboard. If there is none, resolves to a text that says why. */
async function clipboardImage(): Promise<Buffer | string> {
  const known = clipboardPrograms();
  if (known.length === 0) {
    return 'this terminal has no access to a clipboard: name the file of the image with @, or drop it here';
  }
  const missing: string[] = [];
  for (const reader of known) {
    const found = await runClipboardProgram(reader);
    if (found === null) missing.push(reader[0]);
    else if (found.length > 0) return found;
  }
  return missing.length === known.length
    ? `to paste an image, install ${missing.join(' or ')}; or name its file with @`
    : 'the clipboard holds no image';
}

/** Returns the output of a program; null if there is no such program. */
async function runClipboardProgram([program, ...args]: ClipboardProgram): Promise<Buffer | null> {
  const group = spawnProcessGroup(program, args, { cwd: '/', env: readEnvironment() });
  const timer = setTimeout(() => void group.end({ graceMs: 0 }), CLIPBOARD_TIMEOUT_MS);
  const chunks: Buffer[] = [];
  let length = 0;
  group.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_BYTES) void group.end({ graceMs: 0 });
    else chunks.push(chunk);
  });
  group.stderr.resume();
  try {
    const read = new Promise((done) => group.stdout.once('close', done));
    await group.started;
    const { code } = await group.exited;
    await read;
    return code === 0 && length <= MAX_BYTES ? Buffer.concat(chunks) : Buffer.alloc(0);
  } catch {
    // The program is missing or can't be run. The caller tries the next one, and names all missing programs.
    return null;
  } finally {
    clearTimeout(timer);
  }
}
