import { fileURLToPath } from 'node:url';
import type { Deadlines } from '../../base/deadlines.ts';
import type { MusterError } from '../../base/errors.ts';
import type { AnyTool, ToolOutput } from '../../protocol/tool.ts';
import { readEnvironment } from '../../sys/env.ts';
import { buildCommandEnvironment } from '../../sys/processes/command-environment.ts';
import { withCpuLimit } from '../../sys/processes/cpu-limit.ts';
import { PROCESS_TOOLS } from '../../tools/process-tools.ts';
import type {
  CallForProcess,
  CallProcess,
  ProcessProgram,
  TaskProcesses,
} from '../task/call-process.ts';
import { ProcessConnection } from './process-connection.ts';

/** The parts of a `TaskProcess`. */
export interface TaskProcessParts extends TaskProcesses {
  readonly taskId: string;
  readonly deadlines: Pick<Deadlines, 'after'>;
  /** Called when the process has ended although the task needs it. The task then has to fail. */
  readonly onFailure: (error: MusterError) => void;
}

/** The program of the process of an isolated task. In dist/, it is a file of its own. */
function findOwnProgram(): ProcessProgram {
  const name = import.meta.url.endsWith('.ts') ? './main.ts' : './task-process.js';
  return { path: fileURLToPath(new URL(name, import.meta.url)), tools: PROCESS_TOOLS };
}

/**
 * The process of one isolated task. It is started at once, so that the first call does not wait long for it. After the
 * stop of a turn, in which it may have been ended, the next call starts it again.
 */
export class TaskProcess implements CallProcess {
  private readonly parts: TaskProcessParts;
  private readonly program: ProcessProgram;
  private connection: ProcessConnection | null;
  private isOver = false;

  constructor(parts: TaskProcessParts) {
    this.parts = parts;
    this.program = parts.program ?? findOwnProgram();
    this.connection = this.connect();
  }

  runs(tool: AnyTool): boolean {
    return this.program.tools.includes(tool);
  }

  async run(call: CallForProcess): Promise<ToolOutput> {
    const { basis, context } = call;
    const { taskId, callId, cwd, caps, roots, judged } = context;
    const ports = {
      keepFormer: context.keepFormer !== undefined,
      attach: context.attach !== undefined,
    };
    const data = { taskId, callId, cwd, caps, roots, judged: [...judged], basis, ports };
    if (this.isOver) throw new Error('the process of the task has ended with the task');
    this.connection ??= this.connect();
    return await this.connection.run(call, data);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.connection?.end();
  }

  private connect(): ProcessConnection {
    const { taskId, limits, deadlines, onFailure } = this.parts;
    const heap = `--max-old-space-size=${limits.heapMb}`;
    const argv = [process.execPath, heap, this.program.path];
    const [file, ...args] = withCpuLimit(argv, limits.cpuSeconds);
    const git = { access: 'read-only', confined: false } as const;
    const env = buildCommandEnvironment(readEnvironment(), { taskId, git });
    return new ProcessConnection({
      taskId,
      file,
      args,
      options: { cwd: '/', env },
      limits,
      deadlines,
      onEnd: (error) => {
        this.connection = null;
        if (error !== null) onFailure(error);
      },
    });
  }
}
