import { readEnvironment } from '../../../sys/env.ts';
import { spawnProcessGroup } from '../../../sys/processes/process-group.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_MS = 5_000;

interface Reader {
  readonly program: string;
  readonly args: readonly string[];
}

/** The programs that print the image of the clipboard as PNG. */
function readers(): readonly Reader[] {
  const environment = readEnvironment();
  if (process.platform === 'darwin') return [{ program: 'pngpaste', args: ['-'] }];
  const wayland = { program: 'wl-paste', args: ['--no-newline', '--type', 'image/png'] };
  const x11 = { program: 'xclip', args: ['-selection', 'clipboard', '-t', 'image/png', '-o'] };
  return [
    ...((environment['WAYLAND_DISPLAY'] ?? '') === '' ? [] : [wayland]),
    ...((environment['DISPLAY'] ?? '') === '' ? [] : [x11]),
  ];
}

/** Reads the image of the clipboard. Returns a text that says why there is none. */
export async function clipboardImage(): Promise<Buffer | string> {
  const known = readers();
  if (known.length === 0) {
    return 'no clipboard is in reach of this terminal: name the file of the image with @, or drop it here';
  }
  const missing: string[] = [];
  for (const reader of known) {
    const found = await outputOf(reader);
    if (found === null) missing.push(reader.program);
    else if (found.length > 0) return found;
  }
  return missing.length === known.length
    ? `to paste an image, install ${missing.join(' or ')}; or name its file with @`
    : 'the clipboard holds no image';
}

/** Returns the output of a program; null if there is no such program. */
async function outputOf({ program, args }: Reader): Promise<Buffer | null> {
  const group = spawnProcessGroup(program, args, { cwd: '/', env: readEnvironment() });
  const timer = setTimeout(() => void group.end({ graceMs: 0 }), MAX_MS);
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
    // The program is missing or can't be run: the caller tries the next one, and names them all.
    return null;
  } finally {
    clearTimeout(timer);
  }
}
