import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from '../../src/front/cli/args.ts';
import type { AgentsCommand, Command } from '../../src/front/cli/command.ts';
import { agentsCommand } from '../../src/front/cli/commands/agents/agents.ts';
import type { NewAgentContext } from '../../src/front/cli/commands/agents/new.ts';
import { makePlace, write } from '../config/place.ts';

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
  const context: NewAgentContext = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    environment,
    home: place.home,
    cwd: place.cwd,
    questions:
      answers === undefined
        ? null
        : () => ({
            ask: (question) => {
              asked.push(question);
              return Promise.resolve(left.shift() ?? null);
            },
            close: () => asked.push('closed'),
          }),
  };
  /** `muster agents …` */
  const run = async (...argv: readonly string[]) => {
    const command = parseArgs(['agents', ...argv]);
    if (!isAgentsCommand(command)) throw new Error(command.kind);
    written.out = '';
    written.err = '';
    const code = await agentsCommand(command, context);
    return { code, ...written };
  };
  const file = (path: string): string => readFileSync(join(place.cwd, path), 'utf8');
  return { place, run, file, asked, environment };
}

function isAgentsCommand(command: Command): command is AgentsCommand {
  return command.kind.startsWith('agents-');
}
