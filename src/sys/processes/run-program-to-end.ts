import type { Readable } from 'node:stream';
import { onAbort } from '../../base/async.ts';
import type { Environment } from '../env.ts';
import { spawnProcessGroup } from './process-group.ts';
import { ErrorOutput } from './server-process.ts';

/** A program that is to run until it ends. */
export interface ProgramRunOptions {
  /** Absolute. */
  readonly cwd: string;
  /** The full environment. */
  readonly env: Environment;
  /** The time limit in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum size of its output in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The end of a program that has run by itself. */
export interface RunEnd {
  /** The rest of a sentence about a failure, such as `it exited with code 1: …`. Null if it has succeeded. */
  readonly failure: string | null;
  readonly stdout: Buffer;
}

/** Runs a program until it ends, together with the processes that it starts. Never rejects. */
export async function runProgramToEnd(
  file: string,
  args: readonly string[],
  { cwd, env, timeoutMs, maxBytes, signal }: ProgramRunOptions,
): Promise<RunEnd> {
  const group = spawnProcessGroup(file, args, { cwd, env });
  let stopped: string | null = null;
  const stop = (reason: string): void => {
    stopped ??= reason;
    void group.end({ graceMs: 0 });
  };
  const timer = setTimeout(
    () => stop(`it took longer than ${timeoutMs / 1000} seconds`),
    timeoutMs,
  );
  const removeListener = onAbort(signal, () => stop('it was interrupted'));
  const errors = new ErrorOutput(group.stderr);
  const output = collect(group.stdout, maxBytes, () =>
    stop(`it printed more than ${maxBytes} bytes`),
  );
  try {
    const [{ code, signal: by }, stdout] = await Promise.all([group.exited, output]);
    const end = by === null ? `it exited with code ${code ?? 0}` : `it was ended by ${by}`;
    const text = errors.read(MAX_MESSAGE_LENGTH);
    const failed = code === 0 ? null : `${end}${text === '' ? '' : `: ${text}`}`;
    return { failure: stopped ?? failed, stdout };
  } catch (thrown) {
    return { failure: `it could not be started: ${String(thrown)}`, stdout: Buffer.alloc(0) };
  } finally {
    clearTimeout(timer);
    removeListener();
    await group.end({ graceMs: 0 });
  }
}

const MAX_MESSAGE_LENGTH = 600;

async function collect(stream: Readable, maxBytes: number, onTooMuch: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      onTooMuch();
      break;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
