import { isAbsolute, resolve } from 'node:path';
import {
  mapPaths,
  moveRoots,
  toWorkspacePath,
  type WorkspaceInUse,
} from '../protocol/workspace-paths.ts';
import type { StdioTransport } from './server-entry.ts';

/** The place for which a server is started: the directories of the session, or those of a workspace. */
export interface ServerPlace {
  /** The directory in which processes run whose entry names none. Absolute. */
  readonly cwd: string;
  /** The directories that a server may know as the user's workspace. Absolute. Empty for none. */
  readonly roots: readonly string[];
  /** The workspace of the tasks that use the server; null for the directories of the session. */
  readonly workspace: WorkspaceInUse | null;
}

/** A task that uses servers. */
export interface TaskOfCall {
  readonly id: string;
  /** The workspace in which the task works. Default: it works in the directories of the session. */
  readonly workspace?: WorkspaceInUse | undefined;
}

/** Returns the directories of a workspace that stand for those of the session. */
export function placeInWorkspace(session: ServerPlace, workspace: WorkspaceInUse): ServerPlace {
  const { outer, tree } = workspace;
  const { cwd, roots } = outer === undefined ? session : placeInWorkspace(session, outer);
  const [moved = tree] = moveRoots([cwd], workspace);
  const movedRoots = moveRoots(roots, workspace);
  return { cwd: moved, roots: movedRoots.length === 0 ? [tree] : movedRoots, workspace };
}

/** The ends of the names of files that interpreters run. */
const PROGRAM_ENDINGS =
  /\.(?:[cm]?[jt]sx?|py|pyz|rb|php|pl|lua|r|jl|exs?|sh|bash|jar|dll|exe|wasm)$/i;

/**
 * Returns the program, arguments, variables and directory with which a server starts in a place. In a workspace, paths of
 * the session's directories are replaced by those of the workspace. The program itself stays that of the session: the
 * command, and arguments that are paths of files with code. A task may have changed the copies in its workspace, or
 * the workspace may lack them, because git ignores them.
 *
 * @param transport the transport of the entry, with all variables replaced
 * @param isFile tells whether an absolute path is one of a file
 */
export function moveTransport(
  transport: StdioTransport,
  { session, place }: { readonly session: ServerPlace; readonly place: ServerPlace },
  isFile: (path: string) => boolean,
): StdioTransport & { readonly cwd: string } {
  const { command, args, env } = transport;
  const sessionCwd = resolve(session.cwd, transport.cwd ?? '.');
  const { workspace } = place;
  if (workspace === null) return { ...transport, cwd: sessionCwd };
  const toSessionPath = (path: string): string => resolve(sessionCwd, path);
  const isProgram = (arg: string) => PROGRAM_ENDINGS.test(arg) && isFile(toSessionPath(arg));
  const isRelative = command.includes('/') && !isAbsolute(command);
  return {
    ...transport,
    command: isRelative ? toSessionPath(command) : command,
    args: args.map((each) => (isProgram(each) ? toSessionPath(each) : mapPaths(each, workspace))),
    env: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, mapPaths(value, workspace)]),
    ),
    cwd: transport.cwd === null ? place.cwd : toWorkspacePath(sessionCwd, workspace),
  };
}
