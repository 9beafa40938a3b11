import type { TaskEvent } from '../../protocol/events/event.ts';

/** The tool whose calls are commands. */
const COMMAND_TOOL = 'Bash';

/** Watches whether the commands of a run were refused only because this machine has no sandbox. */
export class RefusedCommands {
  private refused = 0;
  private ran = 0;

  add(event: TaskEvent): void {
    if (event.type === 'call.started' && event.tool === COMMAND_TOOL) this.ran += 1;
    if (event.type !== 'call.refused' || event.tool !== COMMAND_TOOL) return;
    if (event.decision?.lacksSandbox !== undefined) this.refused += 1;
  }

  /** Returns a message if every command of the run was refused because there is no sandbox; otherwise null. */
  problem(): string | null {
    if (this.refused === 0 || this.ran > 0) return null;
    return 'no command ran: autonomous mode runs commands in a sandbox, and there is none. If this machine is a container that is itself the sandbox, use --sandbox container ([sandbox] kind = "container"). Otherwise see muster doctor, or allow commands by rules (--allow "Bash(npm test:*)")';
  }
}

/** Returns the exit code of a run: a run that could run no command has not succeeded. */
export function withRefusedCommands(code: number, problem: string | null): number {
  return problem !== null && code === 0 ? 1 : code;
}
