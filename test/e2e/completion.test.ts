import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { BIN, envelopeOf } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld, type World } from './world.ts';

const SHELLS = [
  { shell: 'bash', args: ['--norc', '-i'], setUp: 'eval "$(muster completion bash)"' },
  {
    shell: 'zsh',
    args: ['-f', '-i'],
    setUp: 'autoload -Uz compinit; compinit -D -u; eval "$(muster completion zsh)"',
  },
  { shell: 'fish', args: ['--no-config', '-i'], setUp: 'muster completion fish | source' },
] as const;

/** A shell in a terminal, in which `muster` is completed. */
class Shell implements Disposable {
  readonly terminal: TmuxTerminal;
  private readonly setUp: string;

  constructor({ sandbox }: World, { shell, args, setUp }: (typeof SHELLS)[number]) {
    const bin = join(sandbox.root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'muster'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
      mode: 0o755,
    });
    const { PATH } = sandbox.environment();
    this.setUp = setUp;
    this.terminal = new TmuxTerminal(sandbox, args, {
      env: { PATH: `${bin}:${PATH}`, PS1: '$ ' },
      program: [shell],
      size: [160, 30],
    });
  }

  async ready(): Promise<void> {
    await this.terminal.sees(/[$>%#] ?$/m);
    await this.run(this.setUp);
  }

  async run(command: string): Promise<void> {
    this.terminal.type(`${command}; echo rea""dy`);
    this.terminal.press('Enter');
    await this.terminal.sees(/^ready/m);
    this.terminal.press('C-l');
  }

  /** Types the end of a line, lets the shell complete it, and waits for what it makes of it. */
  async completes(typed: string, whole: string | RegExp): Promise<void> {
    this.terminal.type(typed);
    this.terminal.press('Tab');
    await this.terminal.sees(whole);
  }

  /** The same on a line of its own. */
  async completesLine(typed: string, whole: string | RegExp): Promise<void> {
    this.terminal.press('C-u', 'C-l');
    await this.completes(typed, whole);
  }

  [Symbol.dispose](): void {
    this.terminal[Symbol.dispose]();
  }
}

const FILES = {
  'notes.muster': '',
  'my place/.claude/agents/colon.md': '---\nname: painter\ndescription: Paints.\n---\nPaint.',
  'me@here/x': '',
};

describe.each(SHELLS)('in $shell', (each) => {
  const { shell } = each;

  describe.runIf(needs(shell, shell) && needs('tmux', 'tmux'))('on a terminal', () => {
    it('commands, tasks, values and files are completed', async () => {
      await using world = await openWorld({ files: FILES, script: () => ({ text: 'Found it.' }) });
      const run = await world.run(['-p', 'Look', '--output-format', 'json']);
      const id = envelopeOf(run).data.task_id;
      using session = new Shell(world, each);
      await session.ready();
      await session.completes('muster tas', 'muster tasks');
      await session.completes('sh', 'muster tasks show');
      await session.completes('', `muster tasks show ${id}`);
      session.terminal.press('Enter');
      await session.terminal.sees('Found it.');

      await session.completesLine('muster --model=po', 'muster --model=powerful');
      await session.completes('-p --permission-mode acc', '--permission-mode acceptEdits');
      await session.completesLine('muster tasks import no', 'muster tasks import notes.muster');
      await session.completesLine('muster --cwd=my', 'muster --cwd=my');
      await session.completesLine('muster --cwd me', /muster --cwd me\\?@here\//);
      await session.completesLine('muster agents show Expl', 'muster agents show Explore');
      await session.completesLine('muster agents show "Expl', 'muster agents show "Explore"');
    });

    it('words before the cursor are read as the shell reads them', async () => {
      await using world = await openWorld({ files: FILES });
      using session = new Shell(world, each);
      await session.ready();
      const here = '--trust-project agents show pai';
      const done = 'agents show painter';
      await session.completesLine(`muster --cwd "my place" ${here}`, done);
      await session.completesLine(`muster --cwd=my\\ place ${here}`, done);
      await session.completesLine(
        `muster --cwd '${world.sandbox.workspace}/my place' ${here}`,
        done,
      );
      await session.completesLine('muster --cwd me@here --mod', 'me@here --model');
      await session.completesLine('muster -p hi: --mod', 'hi: --model');
      await session.completesLine('muster tasks answer x = --sc', 'x = --scope');
    });

    it('nothing of the typed line is run', async () => {
      await using world = await openWorld();
      using session = new Shell(world, each);
      await session.ready();
      const attempt = `muster tasks show $(touch pwned) --ht`;
      await session.completesLine(attempt, '(touch pwned) --html');
      expect(existsSync(join(world.sandbox.workspace, 'pwned'))).toBe(false);
    });

    it('without the program there is no message', async () => {
      await using world = await openWorld();
      using session = new Shell(world, each);
      await session.ready();
      await session.run(`rm '${join(world.sandbox.root, 'bin', 'muster')}'`);
      session.terminal.type('muster tas');
      session.terminal.press('Tab');
      session.terminal.type(' and on');
      const screen = await session.terminal.sees('tas and on');
      expect(screen.trim()).toMatch(/^.*[$>%#] muster tas and on$/);
    });
  });
});

it('an unknown shell is refused', async () => {
  await using world = await openWorld();
  const wrong = await world.run(['completion', 'powershell']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('no completion for "powershell"; valid: bash, zsh, fish');
});
