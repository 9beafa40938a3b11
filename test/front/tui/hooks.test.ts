import { expect, it } from 'vitest';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

it('/hooks shows the hooks that run, and the files whose hooks do not, with deceptive characters in sight', async () => {
  await using stage = new Stage({ columns: 120, rows: 24 });
  stage.hooks = {
    hooks: [
      {
        event: 'PreToolUse',
        matcher: 'Bash',
        kind: 'command',
        what: './guard\u202E.sh',
        source: { kind: 'user', where: '/home/you/.claude/settings.json' },
        path: 'hooks.PreToolUse[0].hooks[0]',
        timeoutSeconds: 600,
        isAsync: false,
        isOnce: true,
      },
    ],
    untrusted: [{ path: '/p/.claude/settings.json', state: 'changed' }],
    problems: [],
  };
  await stage.say('/hooks');
  await expect.poll(() => stage.screen()).toContain('changed since you trusted it');
  const screen = await stage.screen();
  expect(screen).toContain('PreToolUse (Bash)');
  expect(screen).toContain('(once, 600 s, user: /home/you/.claude/settings.json)');
  expect(screen).not.toContain('\u202E');
});
