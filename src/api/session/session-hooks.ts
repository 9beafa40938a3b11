import { systemClock } from '../../base/clock.ts';
import { isInside } from '../../base/path-inside.ts';
import type { HookDefinition } from '../../hooks/hook-definition.ts';
import type { HooksOfFile } from '../../hooks/read-hooks.ts';
import type { HookRunner } from '../../hooks/hook-runner.ts';
import type { ConfineHook } from '../../hooks/run-command-hook.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import type {
  DefinitionHooks,
  HookEventName,
  HookOccasion,
  HookTask,
  LateHookOutcome,
} from '../../protocol/hook.ts';
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
 * Opens the hooks of a session. Those of the settings stay as they are until the session ends. Nothing is loaded before there
 * is a hook to run. Reports what of the settings has no effect as notices.
 */
export async function openSessionHooks(
  session: SessionConfig,
  parts: HookParts,
): Promise<HookRunner> {
  const { hookFiles, plugins, program, onNotice } = session;
  for (const problem of hookFiles.problems) onNotice(problem);
  if (hookFiles.files.length === 0 && plugins.hooks.length === 0)
    return new SessionHooks(session, parts, program.hooks);
  const { hooks, problems } = await readSessionHooks(session);
  for (const problem of problems) onNotice(problem);
  return new SessionHooks(session, parts, [...program.hooks, ...hooks]);
}

/** Reads the hooks of the settings and of the active plugins. */
export async function readSessionHooks({
  hookFiles,
  plugins,
}: Pick<SessionConfig, 'hookFiles' | 'plugins'>): Promise<HooksOfFile> {
  const { readHookDefinitions } = await import('../../trust/hook-definitions.ts');
  const { readPluginHooks } = await import('../../plugins/plugin-hooks.ts');
  const [settings, own] = [readHookDefinitions(hookFiles.files), readPluginHooks(plugins.hooks)];
  return {
    hooks: [...settings.hooks, ...own.hooks],
    problems: [...settings.problems, ...own.problems],
  };
}

/** The hooks of a session, whose runner is loaded when the first hook may run. */
class SessionHooks implements HookRunner {
  readonly #session: SessionConfig;
  readonly #parts: HookParts;
  readonly #hooks: readonly HookDefinition[];
  readonly #sessions = new Map<string, HookTask>();
  #runner: Promise<HookRunner> | null = null;
  #opened: HookRunner | null = null;

  constructor(session: SessionConfig, parts: HookParts, hooks: readonly HookDefinition[]) {
    this.#session = session;
    this.#parts = parts;
    this.#hooks = hooks;
  }

  has(event: HookEventName, definitions: readonly DefinitionHooks[]): boolean {
    return definitions.length > 0 || this.#hooks.some((hook) => hook.event === event);
  }

  beginSession(root: HookTask): boolean {
    const isNew = !this.#sessions.has(root.id);
    this.#sessions.set(root.id, root);
    return isNew;
  }

  async run(occasion: HookOccasion, signal: AbortSignal) {
    return await (await this.#load()).run(occasion, signal);
  }

  takeLate(task: string): readonly LateHookOutcome[] {
    return this.#opened?.takeLate?.(task) ?? [];
  }

  async close(): Promise<void> {
    if (this.#runner === null && !this.has('SessionEnd', [])) return;
    const runner = await this.#load();
    for (const root of this.#sessions.values()) runner.beginSession(root);
    await runner.close();
  }

  #load(): Promise<HookRunner> {
    return (this.#runner ??= this.#openRunner());
  }

  async #openRunner(): Promise<HookRunner> {
    const { environment, roots, onNotice } = this.#session;
    const { sandbox, web } = this.#parts;
    const { createHookRunner } = await import('../../hooks/hook-runner.ts');
    const { readHookCondition } = await import('../../trust/hook-conditions.ts');
    return (this.#opened = createHookRunner({
      onLostFailure: onNotice,
      readCondition: readHookCondition,
      hooks: this.#hooks,
      clock: systemClock,
      env: environment,
      projectDirectory: roots[0],
      confinement: async () => {
        const state = await sandbox.state();
        if (state.on) return confineHooks(this.#session, sandbox, 'workspace');
        return state.instead === 'container' ? 'unconfined' : 'refused';
      },
      confinesOwn: false,
      send: async (request) => (await web()).send(request),
    }));
  }
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
  return (command, { cwd, mode }) => {
    // What a task may not do, its hooks may not do for it.
    const granted = mode === 'plan' ? 'read-only' : access;
    const network = granted === 'workspace' && loaded.config.sandbox.network;
    // A task in a workspace of its own works outside of the roots of the session.
    const own = roots.some((root) => isInside(root, cwd)) ? roots : [cwd];
    const denied = findDeniedPaths({ rules: loaded.rules, roots: own }, { home });
    const confinement = { access: granted, roots: own, network, denied } as const;
    return Promise.resolve(sandbox.confine({ ...command, confinement, stderr: 'command' }));
  };
}
