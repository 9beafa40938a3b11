import { statusPage } from '../update/commands/status-page.ts';
import type { EffectOptions } from './effect-options.ts';

/** Adds the page of `/status`. */
export async function showStatus({ library, state, dispatch }: EffectOptions): Promise<void> {
  const sandbox = await library.sandboxState();
  dispatch({ type: 'page', ...statusPage(state(), library, sandbox) });
}

/** Adds the page of `/hooks`. */
export async function showHooks({ library, dispatch }: EffectOptions): Promise<void> {
  const { hookLines } = await import('../../../report/hook-lines.ts');
  const lines = hookLines(await library.listHooks());
  dispatch({ type: 'page', title: 'Hooks', lines });
}
