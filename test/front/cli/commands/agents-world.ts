import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext } from '../../../../src/front/cli/command.ts';
import { CLI_COMMANDS } from '../../../../src/front/cli/commands.ts';
import { parseCommandLine } from '../../../../src/front/cli/parse.ts';
import { makePlace, write } from '../../../config/support.ts';

type Files = Readonly<Record<string, string>>;

/** An agent's file with this front matter. */
export function agentText(...lines: readonly string[]): string {
  return `---\n${lines.join('\n')}\n---\n\nYou are one of them.\n`;
}

/** A repository and a home with these files; `answers` are what a person at the terminal types. */
export function makeWorld(
  files: Files = {},
  home: Files = {},
  answers?: readonly (string | null)[],
) {
  const place = makePlace();
  for (const [path, text] of Object.entries(files)) write(join(place.cwd, path), text);
  for (const [path, text] of Object.entries(home)) write(join(place.home, path), text);
  const written = { out: '', err: '' };
  const left = [...(answers ?? [])];
  const asked: string[] = [];
  const environment: Record<string, string> = {
    HOME: place.home,
    MUSTER_MODELS_DEFAULT: 'offline',
    MUSTER_DATA_DIR: join(place.root, 'data'),
  };
  const context: CommandContext = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    environment,
    home: place.home,
    cwd: place.cwd,
    questions:
      answers === undefined
        ? null
        : () =>
            Promise.resolve({
              ask: (question) => {
                asked.push(question);
                return Promise.resolve(left.shift() ?? null);
              },
              close: () => asked.push('closed'),
            }),
    confirm: null,
    secret: null,
    commands: () => Promise.resolve(CLI_COMMANDS),
    help: async () => '',
  };
  /** `muster agents …` */
  const run = async (...argv: readonly string[]) => {
    const parsed = await parseCommandLine(['agents', ...argv], context.commands);
    if (parsed === 'version') throw new Error('the version was asked for');
    written.out = '';
    written.err = '';
    const code = await parsed.command.run(parsed.options, context);
    return { code, ...written };
  };
  const file = (path: string): string => readFileSync(join(place.cwd, path), 'utf8');
  return { place, run, file, asked, environment };
}
