import type { Deadlines } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type { AnyTool, ToolOutput } from '../../protocol/tool.ts';
import type {
  AccessBasis,
  CallForProcess,
  CallProcess,
  ProcessProgram,
  TaskProcesses,
} from '../task/call-process.ts';
import type { CallData } from './messages.ts';
import { ProcessConnection, type ConnectionEnd } from './process-connection.ts';
import {
  findOwnProgram,
  prepareStart,
  type PreparedStart,
  type StartParts,
} from './prepare-start.ts';
import type { FileToolAccess } from '../../sys/sandbox/sandbox.ts';

/** The parts of a `TaskProcess`. */
export interface TaskProcessParts
  extends
    TaskProcesses,
    Pick<StartParts, 'taskId' | 'sandbox' | 'environment' | 'home' | 'readRights'> {
  readonly deadlines: Pick<Deadlines, 'after'>;
  /** Called when the process has ended although the task needs it. The task then has to fail. */
  readonly onFailure: (error: MusterError) => void;
}

/**
 * The maximum number of attempts to start the process. One may fail although the sandbox works, if a file that is to be
 * hidden disappears meanwhile.
 */
const MAX_ATTEMPTS = 4;

/** A process that runs, and the calls that can run in it. */
interface RunningProcess extends Pick<PreparedStart, 'allows'> {
  readonly connection: ProcessConnection;
}

/**
 * The process of one isolated task. It is started at once, so that the first call does not wait long for it. After the
 * stop of a turn, in which it may have been ended, the next call starts it again.
 */
export class TaskProcess implements CallProcess {
  private readonly parts: TaskProcessParts;
  private readonly program: ProcessProgram;
  private running: Promise<RunningProcess> | null;
  private isOver = false;

  constructor(parts: TaskProcessParts) {
    this.parts = parts;
    this.program = parts.program ?? findOwnProgram();
    this.running = this.start();
    // A call that waits for the process gets the same error.
    this.running.catch(() => {});
  }

  runs(tool: AnyTool): boolean {
    return this.program.tools.includes(tool);
  }

  async run(call: CallForProcess): Promise<ToolOutput> {
    const { basis, context, input, tool } = call;
    const { connection, allows } = await (this.running ??= this.start());
    if (!allows(listAccess(basis))) return await tool.run(input, context);
    return await connection.run(call, createCallData(call));
  }

  async end(): Promise<void> {
    this.isOver = true;
    const running = await this.running?.catch(() => null);
    await running?.connection.end();
  }

  /** Starts the process. Rejects, after the task was told to fail, if it cannot be started. */
  private async start(): Promise<RunningProcess> {
    const { onFailure } = this.parts;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const running = await this.startOnce();
        const ended = await running.connection.begin();
        if (ended === null) return running;
        if (attempt === MAX_ATTEMPTS && ended.error !== null) throw ended.error;
      }
    } catch (thrown) {
      this.running = null;
      const text = `the process of the task could not start: ${errorMessage(thrown)}`;
      const error =
        thrown instanceof MusterError ? thrown : new MusterError('INTERNAL_ERROR', text);
      if (!this.isOver) onFailure(error);
      throw error;
    }
  }

  private async startOnce(): Promise<RunningProcess> {
    const { taskId, limits, deadlines } = this.parts;
    const { file, args, options, allows, release } = await prepareStart({
      ...this.parts,
      program: this.program.path,
    });
    if (this.isOver) {
      release();
      throw new Error('the task has ended');
    }
    const onEnd = (end: ConnectionEnd): void => {
      release();
      if (end.hasBegun) this.noteEnd(end);
    };
    const parts = { taskId, file, args, options, limits, deadlines, onEnd };
    return { connection: new ProcessConnection(parts), allows };
  }

  private noteEnd({ error }: ConnectionEnd): void {
    this.running = null;
    if (error !== null) this.parts.onFailure(error);
  }
}

/**
 * Lists what a call reads and writes, by the paths that it names and by those to which they lead. A call without a basis
 * opens no files.
 */
function listAccess(basis: AccessBasis | null): FileToolAccess {
  const { reads = [], writes = [] } = basis?.call.access ?? {};
  return {
    reads: [
      ...reads.flatMap(({ asked, real }) => [asked, real]),
      ...writes.map(({ asked }) => asked),
    ],
    writes: writes.map(({ real }) => real),
  };
}

function createCallData({ basis, context }: CallForProcess): CallData {
  const { taskId, callId, cwd, caps, roots, judged } = context;
  const ports = {
    keepFormer: context.keepFormer !== undefined,
    attach: context.attach !== undefined,
  };
  return { taskId, callId, cwd, caps, roots, judged: [...judged], basis, ports };
}
