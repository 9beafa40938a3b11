import { rejectOnAbort } from '../base/async.ts';
import type { ServerProcess } from '../sys/processes/server-process.ts';
import type { StartProgram } from './start-program.ts';

/** The maximum size of the output of a program. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** A program that reads stdin and ends by itself. */
export interface ProgramRun extends Omit<Parameters<StartProgram>[0], 'name'> {
  /** The text for its stdin. Default: stdin is empty. */
  readonly input?: string;
}

/** The end of a program. */
export interface ProgramEnd {
  readonly hasSucceeded: boolean;
  /** The end as a phrase, such as `exited with code 1`. */
  readonly how: string;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program until it ends. Rejects when the signal aborts and when the program prints too much; its processes are
 * then ended.
 */
export async function runProgram(
  start: StartProgram,
  run: ProgramRun,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const [name] = run.argv;
  const program = await start({ ...run, name });
  try {
    program.stdin.on('error', () => {});
    program.stdin.end(run.input ?? '');
    const work = Promise.all([
      readOutput(program.stdout),
      readOutput(program.stderr),
      program.ended,
      program.started,
    ]);
    const [stdout, stderr, how] = await rejectOnAbort(work, signal);
    return { hasSucceeded: how === 'exited with code 0', how, stdout, stderr };
  } finally {
    await program.end();
  }
}

async function readOutput(stream: ServerProcess['stdout']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES) throw new Error('it printed more than 4 MB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
