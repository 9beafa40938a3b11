import { formatClockTime } from '../../base/local-time.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import type { RemoteReference } from '../../protocol/events/event.ts';
import type { ClosableServerPort, ServerPort } from '../../protocol/server-message.ts';
import type {
  AnyTool,
  FollowContext,
  ShellWork,
  ToolCaps,
  ToolContext,
  ToolOutput,
} from '../../protocol/tool.ts';

/** The maximum number of states of one piece of work that its output file contains. */
const MAX_REPORTS = 200;

/** The call, or the work that it has started, during which a server may speak to the user. */
export interface PortSetup {
  readonly callId: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The id of work that goes on when the call has ended. Absent for the call itself. */
  readonly workId?: string;
  /** Runs a wait for an answer of the user. */
  readonly runWait: <T>(wait: () => Promise<T>) => Promise<T>;
}

/** Creates the port through which a server asks the user while it works. */
export type PortFactory = (setup: PortSetup) => ClosableServerPort;

/** The call that has started work of a server. */
export interface RemoteCall extends Pick<ToolContext, 'callId' | 'signal' | 'progress'> {
  /** The name of the tool. */
  readonly tool: string;
  readonly attach: ToolContext['attach'];
  /** Runs the waits for answers of the user while the call waits for the work. */
  readonly runWait: PortSetup['runWait'];
  readonly createServerPort: PortFactory;
}

/** Limits the waits that a call runs to the time until it has returned. The answer may come later. */
export function limitWaits(
  runWait: PortSetup['runWait'],
  returned: Promise<void>,
): PortSetup['runWait'] {
  let hasReturned = false;
  void returned.then(() => (hasReturned = true));
  return async (wait) => {
    const answered = wait();
    const untilReturn = () => Promise.race([answered.catch(() => {}), returned]);
    if (!hasReturned) await runWait(untilReturn);
    return await answered;
  };
}

/** Work of a server to follow. */
interface RemoteSetup extends Pick<FollowContext, 'taskId' | 'workspace'> {
  readonly title: string;
  readonly remote: RemoteReference;
  readonly follow: NonNullable<AnyTool['follow']>;
  readonly server: ServerPort;
  /** Returns the port for images as long as the call waits for the work. Default: images are described. */
  readonly attach?: () => ToolContext['attach'];
  /** Shows a state to people. Default: it is only written to the output file. */
  readonly progress?: (line: string) => void;
}

/** Work of a server in the form of a shell, and the output of the work for the call that waits for it. */
interface RemoteShell {
  readonly work: ShellWork;
  readonly output: Promise<ToolOutput>;
}

/**
 * Gives work of a server the form of a shell. The output of the shell consists of the states of the work and of its
 * result. The exit code is 0 for success and 1 for an error.
 */
export function createRemoteShell({
  title,
  remote,
  follow,
  attach,
  progress,
  server,
  taskId,
  workspace,
}: RemoteSetup): RemoteShell {
  const output = Promise.withResolvers<ToolOutput>();
  // Nobody may wait for the output.
  output.promise.catch(() => {});
  const begin: ShellWork['begin'] = (write, signal) => {
    const work = follow(remote.reference, {
      signal,
      taskId,
      workspace,
      server,
      // The call may stop waiting before the result is there.
      getAttachPort: () => attach?.(),
      report: createReporter(write, progress),
    });
    const ended = work.then(
      (outcome) => {
        write(Buffer.from(`${outcome.output.text}\n`));
        output.resolve(outcome.output);
        if (outcome.isLost) return { how: 'lost', exitCode: null } as const;
        return { how: 'exited', exitCode: outcome.output.error === undefined ? 0 : 1 } as const;
      },
      (thrown: unknown) => {
        output.reject(thrown);
        if (signal.aborted) return { how: 'stopped', exitCode: null } as const;
        throw thrown;
      },
    );
    return Promise.resolve({ ended });
  };
  return { work: { command: title, begin }, output: output.promise };
}

/** Creates the function that writes states, each on one line with its time. */
function createReporter(
  write: (chunk: Buffer) => void,
  progress: (line: string) => void = () => {},
): (line: string) => void {
  let count = 0;
  return (line) => {
    progress(sanitizeLine(line));
    count += 1;
    if (count > MAX_REPORTS) return;
    const text = count === MAX_REPORTS ? `no more than ${MAX_REPORTS} states are kept` : line;
    write(Buffer.from(`[${formatClockTime(Date.now())}] ${sanitizeLine(text)}\n`));
  };
}

/** The share of `tool_seconds` for which a call waits for work of a server: it must return before they have passed. */
const TOOL_SECONDS_SHARE = 0.9;

/** Finds the limit after which a call no longer waits for work of a server, and the reason to give then. */
export function findWaitLimit({
  foregroundMs,
  caps,
}: {
  readonly foregroundMs: number;
  readonly caps: Pick<ToolCaps, 'toolMs'>;
}): { readonly ms: number; readonly reason: string } {
  const toolMs = caps.toolMs * TOOL_SECONDS_SHARE;
  return foregroundMs <= toolMs
    ? {
        ms: foregroundMs,
        reason: `the limit default_timeout_seconds = ${foregroundMs / 1000} is reached`,
      }
    : { ms: toolMs, reason: `the limit tool_seconds = ${caps.toolMs / 1000} is near` };
}

/**
 * Formats the report that work of a server goes on without its call.
 *
 * @param reason why the call no longer waits; null if it was not to wait
 */
export function formatDetached(id: string, path: string, reason: string | null): ToolOutput {
  const state = reason === null ? 'runs' : `is still running: ${reason}. It goes on`;
  const text = `Call ${id} ${state} in the background; you are told when it ends. Its output: TaskOutput(task_id: "${id}"); stop it with TaskStop(task_id: "${id}"). Its states and its result are written to ${path}.`;
  return { text };
}
