import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { BIN, envelopeOf } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const SHELLS = [
  { shell: 'bash', args: ['--norc', '-i'], setUp: 'eval "$(muster completion bash)"' },
  {
    shell: 'zsh',
    args: ['-f', '-i'],
    setUp: 'autoload -Uz compinit; compinit -D -u; eval "$(muster completion zsh)"',
  },
  { shell: 'fish', args: ['--no-config', '-i'], setUp: 'muster completion fish | source' },
] as const;

const HOSTILE = '---\nname: "wrong$(touch pwned)"\ndescription: Reviews.\n---\nReview.';
const PLAIN = '---\nname: reviewer\ndescription: "Reviews\\e]0;owned\\a."\n---\nReview.';

describe.each(SHELLS)('in $shell', ({ shell, args, setUp }) => {
  it.runIf(needs(shell, shell) && needs('tmux', 'tmux'))(
    'words, tasks, values and files are completed, and nothing that is typed or found is run',
    async () => {
      await using world = await openWorld({
        files: {
          'notes.muster': '',
          '.claude/agents/hostile.md': HOSTILE,
          '.claude/agents/plain.md': PLAIN,
        },
        script: () => ({ text: 'Found it.' }),
      });
      const { sandbox } = world;
      const run = await world.run(['-p', 'Look', '--output-format', 'json']);
      expect(await world.run(['trust', 'add', '--yes'])).toMatchObject({ code: 0 });
      const id = envelopeOf(run).data.task_id;
      const bin = join(sandbox.root, 'bin');
      mkdirSync(bin);
      writeFileSync(join(bin, 'muster'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
        mode: 0o755,
      });
      const { PATH } = sandbox.environment();
      using terminal = new TmuxTerminal(sandbox, args, {
        env: { PATH: `${bin}:${PATH}`, PS1: '$ ' },
        program: [shell],
      });
      /** Types a line, lets the shell complete its end, and waits for what it makes of it. */
      const completes = async (typed: string, whole: string | RegExp): Promise<void> => {
        terminal.type(typed);
        terminal.press('Tab');
        await terminal.sees(whole);
      };
      await terminal.sees(/[$>%#] ?$/m);
      terminal.type(`${setUp}; echo rea""dy`);
      terminal.press('Enter');
      await terminal.sees(/^ready/m);

      await completes('muster tas', 'muster tasks');
      await completes('sh', 'muster tasks show');
      await completes('', `muster tasks show ${id}`);
      terminal.press('Enter');
      await terminal.sees('Found it.');

      terminal.press('C-l');
      await completes('muster --model=po', 'muster --model=powerful');
      await completes('-p --permission-mode acc', '--permission-mode acceptEdits');
      terminal.press('C-u', 'C-l');
      await completes('muster tasks import no', 'muster tasks import notes.muster');
      terminal.press('C-u', 'C-l');
      await completes('muster agents show rev', 'muster agents show reviewer');
      terminal.press('C-u', 'C-l');
      terminal.type('muster tasks show $(touch pwned) ');
      terminal.press('Tab');
      await sleep(1_000);
      terminal.press('C-u');
      expect(existsSync(join(sandbox.workspace, 'pwned'))).toBe(false);
    },
  );
});

it('a shell that there is none for is refused', async () => {
  await using world = await openWorld();
  const wrong = await world.run(['completion', 'powershell']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('no completion for "powershell"; valid: bash, zsh, fish');
});
