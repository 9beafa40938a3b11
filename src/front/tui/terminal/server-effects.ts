import { plural } from '../../../base/text.ts';
import type { EffectOf, EffectOptions } from './effect-options.ts';

/** Does something with an MCP server, and adds a note about it. Rejects if it is not possible. */
export async function changeServer(
  { library: { servers }, dispatch }: Pick<EffectOptions, 'library' | 'dispatch'>,
  { id, action }: EffectOf<'change-server'>,
): Promise<void> {
  switch (action) {
    case 'restart':
      await servers.restart(id);
      break;
    case 'accept':
      await servers.accept(id);
      break;
    case 'enable':
    case 'disable':
      servers.setEnabled(id, action === 'enable');
      break;
  }
  const { tools = null } = servers.list().find((server) => server.id === id) ?? {};
  const count = tools === null ? '' : `, ${plural(tools.length, 'tool')}`;
  const done = {
    restart: `runs${count}`,
    accept: `has ${tools === null ? 'its' : plural(tools.length, 'accepted tool')} for tasks that begin from now on`,
    enable: 'is enabled for tasks that begin from now on',
    disable: 'is disabled in this session',
  }[action];
  dispatch({ type: 'note', level: 'info', text: `MCP server ${id} ${done}` });
}
