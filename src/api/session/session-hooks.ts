import { systemClock } from '../../base/clock.ts';
import { isInside } from '../../base/path-inside.ts';
import type { ConfineHook } from '../../hooks/run-command-hook.ts';
import type { HookRunner } from '../../hooks/hook-runner.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import type { WebAccess } from '../../protocol/web.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import type { SessionConfig } from './session-config.ts';

/** The parts of a process that hooks need. */
interface HookParts {
  readonly sandbox: Sandbox;
  readonly web: () => Promise<WebAccess>;
}

/**
 * Opens the hooks of a session, which stay as they are until the session ends. Returns null if there are none, and then
 * nothing is loaded. Reports what has no effect as notices.
 */
export async function openSessionHooks(
  session: SessionConfig,
  { sandbox, web }: HookParts,
): Promise<HookRunner | null> {
  const { hookFiles, onNotice, environment, roots } = session;
  for (const problem of hookFiles.problems) onNotice(problem);
  if (hookFiles.files.length === 0) return null;
  const { readHookDefinitions } = await import('../../trust/hook-definitions.ts');
  const { hooks, problems } = readHookDefinitions(hookFiles.files);
  for (const problem of problems) onNotice(problem);
  if (hooks.length === 0) return null;
  const { createHookRunner } = await import('../../hooks/hook-runner.ts');
  const needsSandbox = hooks.some(
    ({ source, action }) => source.kind !== 'user' && action.kind === 'command',
  );
  const state = needsSandbox ? await sandbox.state() : null;
  return createHookRunner({
    hooks,
    clock: systemClock,
    env: environment,
    projectDirectory: roots[0],
    confine: state?.on === true ? confineHooks(session, sandbox, 'workspace') : null,
    confinesOwn: false,
    withoutSandbox: state?.on === false && state.instead === 'container' ? 'run' : 'refuse',
    send: async (request) => (await web()).send(request),
  });
}

/**
 * Creates the function that confines hooks. With the access `workspace` they may do what commands of their task may do;
 * with `read-only` they change nothing and reach no network.
 */
export function confineHooks(
  { loaded, roots, state }: Pick<SessionConfig, 'loaded' | 'roots' | 'state'>,
  sandbox: Sandbox,
  access: 'workspace' | 'read-only',
): ConfineHook {
  const home = toRealPath(state.home);
  const network = access === 'workspace' && loaded.config.sandbox.network;
  return (command, { cwd }) => {
    // A task in a workspace of its own works outside of the roots of the session.
    const own = roots.some((root) => isInside(root, cwd)) ? roots : [cwd];
    const denied = findDeniedPaths({ rules: loaded.rules, roots: own }, { home });
    const confinement = { access, roots: own, network, denied } as const;
    return Promise.resolve(sandbox.confine({ ...command, confinement, stderr: 'command' }));
  };
}
