import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { plainText } from '../../sys/plain-text.ts';
import type { CommandInDirectory } from './command-directory.ts';
import { describeRun, type RunLimits } from './run-result.ts';
import { startCommand, supervise, type RunOutcome } from './command-run.ts';
import { OutputBuffer } from './output-buffer.ts';
import { failure } from '../shared/output.ts';

const PROGRESS_MS = 250;

/** Runs a command until it ends, `timeout` milliseconds pass or the call is cancelled, and returns its output. */
export async function runInForeground(
  work: CommandInDirectory,
  timeout: number,
  context: ToolContext,
): Promise<ToolOutput> {
  const timeoutMs = Math.min(timeout, context.caps.toolMs);
  const output = new OutputBuffer(context.caps, () => context.spillPath(), context.redactBytes?.());
  const showProgress = progressShower(context);
  try {
    const outcome = await supervise(await startCommand(work, context, { serves: false }), {
      timeoutMs,
      signal: context.signal,
      take: (chunk) => {
        output.add(chunk);
        showProgress(chunk);
        return !output.isOverSpill;
      },
    });
    const location = { cwd: work.directory, roots: context.roots };
    return toOutput(work.line, outcome, output, {
      timeoutMs,
      maxBytes: context.caps.resultBytes,
      location,
    });
  } finally {
    output.close();
  }
}

function toOutput(
  command: string,
  outcome: RunOutcome,
  output: OutputBuffer,
  limits: RunLimits,
): ToolOutput {
  const text = describeRun(outcome, output, limits);
  if (outcome.startError !== undefined) return failure('INTERNAL_ERROR', text);
  const facts = { commands: [{ command, exitCode: outcome.exitCode }] };
  switch (outcome.endedBy) {
    case 'timeout':
      return failure('TIMEOUT', text, facts);
    case 'cancel':
      return { ...failure('CANCELLED', text, facts), forced: outcome.forced };
    case 'output_limit':
      return failure('LIMIT_EXCEEDED', text, facts);
    case 'itself':
      return { text, facts };
  }
}

/** Creates a function that shows the last line of each chunk as progress, at most once in PROGRESS_MS. */
function progressShower({ clock, progress }: ToolContext): (chunk: Buffer) => void {
  let shownAt = -Infinity;
  return (chunk) => {
    const now = clock.monotonic();
    if (now - shownAt < PROGRESS_MS) return;
    shownAt = now;
    const line = lastLine(chunk);
    if (line !== '') progress(line);
  };
}

function lastLine(chunk: Buffer): string {
  const lines = plainText(chunk.toString('utf8')).trimEnd().split('\n');
  return lines.at(-1)?.slice(0, 200) ?? '';
}
