import { spawn } from 'node:child_process';
import { byteLength, plural } from '../../../base/text.ts';
import type { Environment } from '../../../sys/env.ts';

/** The maximum size of a copied text in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;
/** The maximum size of a text that is copied through the terminal. Terminals drop longer sequences. */
const MAX_SEQUENCE_BYTES = 74_000;
const TIMEOUT_MS = 5_000;

/** The way to the clipboard: a program that reads the text from stdin, or the terminal itself. */
export type ClipboardWay =
  | { readonly program: string; readonly args: readonly string[] }
  | { readonly program: null; readonly isKnown: boolean };

/**
 * Lists the ways to the clipboard in the order in which they are tried. The terminal comes first if it is known to copy
 * for programs (OSC 52), because this also works over SSH; otherwise last, because it does not report whether it copied.
 */
export function clipboardWays(
  environment: Environment,
  { platform, bytes }: { readonly platform: NodeJS.Platform; readonly bytes: number },
): readonly ClipboardWay[] {
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  const isInside = isSet('TMUX') || isSet('STY');
  const isKnown = !isInside && isKnownToCopy(environment);
  const terminal = bytes > MAX_SEQUENCE_BYTES ? [] : [{ program: null, isKnown }];
  const programs = [
    ...(isSet('TMUX') ? [{ program: 'tmux', args: ['load-buffer', '-w', '-'] }] : []),
    ...(platform === 'darwin' ? [{ program: 'pbcopy', args: [] }] : []),
    ...(isSet('WAYLAND_DISPLAY') ? [{ program: 'wl-copy', args: [] }] : []),
    ...(isSet('DISPLAY') ? [{ program: 'xclip', args: ['-selection', 'clipboard'] }] : []),
  ];
  return isKnown ? [...terminal, ...programs] : [...programs, ...terminal];
}

function isKnownToCopy({ TERM = '', TERM_PROGRAM = '', ...environment }: Environment): boolean {
  return (
    /^(?:xterm-kitty|xterm-ghostty|foot|alacritty|wezterm)/.test(TERM) ||
    ['WezTerm', 'ghostty', 'vscode'].includes(TERM_PROGRAM) ||
    (environment['WT_SESSION'] ?? '') !== ''
  );
}

/** Copies a text and returns a sentence about it. `write` writes a sequence to the terminal; null if that cannot be done. */
export async function copyToClipboard(
  text: string,
  environment: Environment,
  write: ((sequence: string) => void) | null,
): Promise<string> {
  const bytes = byteLength(text);
  const size = plural(bytes, 'byte');
  if (bytes > MAX_BYTES) return `not copied: ${size} are too many; /export writes a file`;
  for (const way of clipboardWays(environment, { platform: process.platform, bytes })) {
    if (way.program !== null) {
      if (await runWithInput(way, text, environment)) return `copied with ${way.program} (${size})`;
      continue;
    }
    if (write === null) continue;
    write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
    return way.isKnown
      ? `copied through the terminal (${size})`
      : `sent to the terminal (${size}); wl-copy or xclip is surer`;
  }
  return `not copied (${size}): install wl-copy or xclip, or use /export`;
}

/** Runs a program with a text as its stdin. Returns whether it succeeded; false also if it is missing. */
async function runWithInput(
  { program, args }: { readonly program: string; readonly args: readonly string[] },
  text: string,
  environment: Environment,
): Promise<boolean> {
  const child = spawn(program, args, {
    cwd: '/',
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: TIMEOUT_MS,
  });
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    // xclip stays alive in the background to serve the text, so that only the end of the process itself counts.
    child.once('exit', (code) => resolve(code === 0));
  });
  // A program that is missing or does not read its input has closed the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  return ended;
}
