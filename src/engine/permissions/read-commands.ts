import type { ResolvedCall } from '../../policy/call.ts';
import { loadShellParser } from '../../policy/shell/load-parser.ts';
import type { ShellParser } from '../../policy/shell/parsed-line.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { buildCommandPath } from '../../sys/processes/command-environment.ts';
import { readEnvironment } from '../../sys/env.ts';
import { proveCommands, redirectedWrites } from './command-proof.ts';
import type { EngineDeps } from '../task/deps.ts';
import { readTaskVariables } from '../task/task-variables.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { CallingTask } from './calling-task.ts';

export interface CommandReading extends Pick<ResolvedCall, 'proof' | 'redirectedWrites'> {
  readonly shellParser: ShellParser;
}

/** What the commands of a call are known to do. Loaded with the first call that has any. */
export async function readCommands(
  deps: EngineDeps,
  run: Omit<CallingTask, 'view'>,
  { access }: ReadyCall,
  { sandboxed }: { readonly sandboxed: boolean },
): Promise<CommandReading> {
  const { spec } = run;
  const { rights } = run.permissions;
  const shellParser = await loadShellParser();
  const described = access ?? NO_ACCESS;
  const place = { cwd: spec.cwd, home: deps.home, rights };
  const proof = await proveCommands(described, shellParser, {
    ...place,
    searchPath: buildCommandPath(readEnvironment()),
    variables: Object.keys(readTaskVariables(run)),
    clock: deps.clock,
    sandboxed,
  });
  return { shellParser, proof, redirectedWrites: redirectedWrites(described, shellParser, place) };
}
