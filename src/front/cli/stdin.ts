import { fstatSync } from 'node:fs';
import { MusterError, UsageError } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';
import { drawNonce, markOutside } from '../../protocol/outside-text.ts';

/**
 * The time to wait for the first byte of context. A pipe that nobody writes to and nobody closes must not block a
 * prompt for ever, but a command that is slow to print its first line (`npm test | muster -p …`) must still be read.
 */
const FIRST_BYTE_MS = 3_000;
const MAX_BYTES = 10_000_000;

/** Reads the next message of a conversation as `readPrompt` does. Resolves to null if there is no message. */
export async function readMessage(
  typed: string | null,
  signal?: AbortSignal,
): Promise<string | null> {
  if (typed !== null) return readPrompt(typed, signal);
  if (!mayHoldContext()) return null;
  const message = await readStdin({ firstByteMs: FIRST_BYTE_MS, signal });
  return message.trim() === '' ? null : message;
}

/**
 * Reads the prompt of a run: the typed text, the text from stdin, or both. The signal ends the waiting at once
 * with a `CANCELLED` error.
 */
export async function readPrompt(typed: string | null, signal?: AbortSignal): Promise<string> {
  if (typed === null) return await readRequiredPrompt(signal);
  const context = mayHoldContext() ? await readStdin({ firstByteMs: FIRST_BYTE_MS, signal }) : '';
  if (context.trim() === '') return typed;
  // Anybody may have written the context, for example a diff or a log, so it is marked as outside text.
  return `${typed}\n\n<stdin>\n${markOutside(context, drawNonce(context))}\n</stdin>`;
}

async function readRequiredPrompt(signal: AbortSignal | undefined): Promise<string> {
  if (process.stdin.isTTY === true) {
    throw new UsageError('no prompt: give one after -p, or pipe one in');
  }
  const prompt = await readStdin({ firstByteMs: null, signal });
  if (prompt.trim() === '') throw new UsageError('no prompt: stdin is empty');
  return prompt;
}

/**
 * Reads all of stdin. The signal ends the waiting at once with a `CANCELLED` error. `reader`: the flag or command that
 * reads stdin, for the UsageError if stdin is a terminal.
 */
export async function readAll(reader: string, signal?: AbortSignal): Promise<string> {
  if (process.stdin.isTTY === true) {
    throw new UsageError(`${reader} reads stdin, and nothing is piped in`);
  }
  return readStdin({ firstByteMs: null, signal });
}

/** Whether stdin may hold text: files, pipes and sockets may; terminals and /dev/null do not. */
function mayHoldContext(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice();
  } catch {
    // A closed stdin has nothing to read.
    return false;
  }
}

async function readStdin({
  firstByteMs,
  signal,
}: {
  readonly firstByteMs: number | null;
  readonly signal: AbortSignal | undefined;
}): Promise<string> {
  const { stdin } = process;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The timer may fire late. Text that is in the pipe by then is read within this turn of the event loop, so that
  // stdin is given up only after this turn.
  const giveUp = () => setImmediate(() => bytes === 0 && stdin.destroy());
  const waiting = firstByteMs === null ? null : setTimeout(giveUp, firstByteMs);
  const stop = () => stdin.destroy();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stdin) {
      clearTimeout(waiting ?? undefined);
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes > MAX_BYTES) {
        throw new UsageError(`stdin holds more than the limit of ${MAX_BYTES} bytes`);
      }
    }
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    if (signal?.aborted === true) {
      throw new MusterError('CANCELLED', 'stdin was not read to its end', { cause: thrown });
    }
    // `giveUp` destroyed stdin, because no byte arrived in time.
    printError(`muster: nothing came from stdin in ${firstByteMs} ms; continuing without it\n`);
  } finally {
    clearTimeout(waiting ?? undefined);
    signal?.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks).toString('utf8');
}
