import type { EngineContext } from './delegation/engine-context.ts';
import type { HookPorts } from './task/task-run.ts';

/** Creates the ports by which hooks of a task use other parts of the engine, which are loaded with their first use. */
export function createHookPorts(context: () => EngineContext): HookPorts {
  return {
    askAgent: async (run, ...asked) => {
      const { askVerifier } = await import('./delegation/ask-verifier.ts');
      return await askVerifier(context(), run, ...asked);
    },
    callTool: async (run, ...called) => {
      const { callToolForHook } = await import('./calls/call-tool-for-hook.ts');
      return await callToolForHook(context().deps, run, ...called);
    },
    findUrlProblem: async (run, url) => {
      const { findUrlProblem } = await import('./calls/check-hook-url.ts');
      return await findUrlProblem(context().deps, run, url);
    },
  };
}
