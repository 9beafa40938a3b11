import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseGitConfig } from '../../../src/sys/git/config-file.ts';
import { needs } from '../../needs.ts';
import { tempDirectory } from '../temp.ts';

/** What git itself reads there; null: it takes the file for bad. */
function readByGit(text: string): unknown {
  const file = join(tempDirectory(), 'config');
  writeFileSync(file, text);
  try {
    const out = execFileSync('git', ['config', '-z', '-f', file, '--list', '--no-includes'], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return out
      .split('\0')
      .slice(0, -1)
      .map((entry) => {
        const [name = '', ...rest] = entry.split('\n');
        return { name, value: rest.length === 0 ? null : rest.join('\n') };
      });
  } catch {
    // It ends with an error.
    return null;
  }
}

test
  .runIf(needs('git', 'git'))
  .each([
    '',
    '\uFEFF[core]\r\n\tbare = false\r\n',
    '# a comment\n; another [x]\n[core] # more\n\tbare ; true\n',
    '[core]bare\n',
    '[Core] Bare=false[user]\n',
    '[core]\n\tworktree = a b  \t# comment\n',
    '[core]\n\tworktree = "a # b" ; comment\n',
    '[core]\n\tworktree = a" b "c  \n',
    '[core]\n\tworktree = a\\\n   b\n',
    '[core]\n\tworktree = "a\\\n b"\n',
    '[core]\n\tworktree = \\\n\n[x]y=1',
    '[core]\n\tworktree = a\\tb\\n\\"\\\\c\n',
    '[core]\n\tworktree = a\\q\n',
    '[core]\n\tworktree = "open\n',
    '[core]\n\tworktree =\n',
    '[core]\n\tworktree\n',
    '[core]\n\tworktree = ""\n',
    '[core]\n\tworktree = a\\',
    '[includeIf "gitdir:~/a \\"b\\" \\\\ ]"]\n\tpath = x\n',
    '[a.B "C"]\n\tk-1 = v\n',
    '[a.B.c]\n\tk = v\n',
    '[ core]\n\tk = v\n',
    '[core ]\n\tk = v\n',
    '[core "x" ]\n\tk = v\n',
    '[core]\n\t1k = v\n',
    '[core]\n\tk.l = v\n',
    'k = v\n',
    '[core\n',
    '[core] [user] name = x\n',
    '[core]\n\tworktree\t =\ta\n',
    '[core] k = [x] y\n',
  ])('a configuration is read as git reads it: %j', (text) => {
  expect(parseGitConfig(text)).toEqual(readByGit(text));
});
