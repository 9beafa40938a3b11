import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startFakeModel, toolResultRounds } from '../../src/testing/index.ts';
import { BIN } from '../e2e/muster.ts';
import { needs } from '../needs.ts';
import { GROUPS, type Group } from './commands.ts';
import { EverydayPlace } from './place.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/sandbox.md');
const [BEGIN, END] = ['<!-- everyday commands -->\n', '<!-- end of everyday commands -->'];
const PATIENCE_MS = 240_000;
/** Packages of npm are kept between runs, outside of any checkout. */
const PACKAGES = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'muster-test/everyday',
);

interface Outcome {
  readonly code: number | null;
  readonly state: readonly string[];
}

const rows: string[] = [];

describe.runIf(process.platform === 'linux' && needs('bwrap', 'bubblewrap'))(
  'everyday commands',
  () => {
    test.each(GROUPS)('$title: as without a sandbox', { timeout: PATIENCE_MS }, async (group) => {
      const missing = Object.entries(group.needs ?? {}).filter(
        ([program, name]) => !needs(program, name),
      );
      expect(missing).toEqual([]);
      const root = realpathSync(mkdtempSync('/var/tmp/muster-everyday-'));
      try {
        const [held, free] = ['held', 'free'].map((name) => new EverydayPlace(join(root, name)));
        if (held === undefined || free === undefined) throw new Error('unreachable');
        const path = [
          ...programsOf(group),
          dirname(realpathSync(process.execPath)),
          '/usr/bin',
          '/bin',
        ].join(':');
        for (const place of [held, free]) inShell(place, group.prepare, { path });
        const inSandbox = await runHeld(held, group, path);
        for (const [index, command] of group.commands.entries()) {
          const { status } = inShell(free, command, { path, cwd: group.cwd });
          const expected = { command, code: status, state: free.state() };
          expect({ command, ...inSandbox[index] }).toEqual(expected);
          rows.push(`| ${group.title} | ${inCode(command)} | ${status} |`);
        }
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    });

    afterAll(() => {
      const all = GROUPS.flatMap(({ commands }) => commands);
      if (rows.length !== all.length) return;
      const table = ['| where | command | exit code |', '|---|---|---|', ...rows, ''].join('\n');
      const page = readFileSync(PAGE, 'utf8');
      const [before = '', rest = ''] = page.split(BEGIN);
      const [shown = '', after = ''] = rest.split(END);
      if (shown === table) return;
      writeFileSync(PAGE, `${before}${BEGIN}${table}${END}${after}`);
      throw new Error(`${PAGE} had another table of commands: it was written anew`);
    });
  },
);

function inCode(command: string): string {
  return `\`${command.replaceAll('|', String.raw`\|`).replaceAll('`', "'")}\``;
}

/** Installs the packages where they were not before, and gives the directories of their programs. */
function programsOf({ packages = [] }: Group): readonly string[] {
  return packages.map((name) => {
    const directory = join(PACKAGES, name);
    const programs = join(directory, 'node_modules/.bin');
    if (!existsSync(programs)) {
      mkdirSync(directory, { recursive: true });
      execFileSync('npm', ['install', '--prefix', directory, '--no-audit', '--no-fund', name], {
        stdio: 'pipe',
      });
    }
    return programs;
  });
}

function inShell(
  place: EverydayPlace,
  command: string,
  { path, cwd = '' }: { readonly path: string; readonly cwd?: string | undefined },
): { readonly status: number | null } {
  const temporary = join(place.root, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', command], {
    cwd: join(place.workspace, cwd),
    env: {
      ...place.environment(path),
      TMPDIR: temporary,
      GIT_EDITOR: 'true',
      PAGER: 'cat',
      TERM: 'dumb',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  });
}

/** An agent runs the commands with Bash, one after another, as a user would have it run them. */
async function runHeld(
  place: EverydayPlace,
  group: Group,
  path: string,
): Promise<readonly Outcome[]> {
  const states: (readonly string[])[] = [];
  const model = await startFakeModel({
    script: (request) => {
      const round = toolResultRounds(request);
      if (round > 0) states.push(place.state());
      const command = group.commands[round];
      return command === undefined
        ? { text: 'done' }
        : { toolCalls: [{ name: 'Bash', input: { command, timeout: 200_000 } }] };
    },
  });
  try {
    const variables = ['GIT_AUTHOR_DATE', 'GIT_COMMITTER_DATE'];
    const { status, stderr } = await runMuster(place, group, {
      ...place.environment(path),
      ...model.env('anthropic'),
      MUSTER_SANDBOX_ENV: JSON.stringify(variables),
    });
    expect({ status, stderr: stderr.includes('no sandbox') }).toEqual({ status: 0, stderr: false });
    const results =
      model.requests.at(-1)?.messages.flatMap(({ toolResults }) => toolResults ?? []) ?? [];
    return results.map(({ text }, index) => ({
      code: Number(/\[exit code (\d+)\]/.exec(text)?.[1] ?? NaN),
      state: states[index] ?? [],
    }));
  } finally {
    await model.close();
  }
}

function runMuster(
  place: EverydayPlace,
  { cwd = '' }: Group,
  env: Record<string, string>,
): Promise<{ readonly status: number | null; readonly stderr: string }> {
  const args = [BIN, '-p', 'go', '--permission-mode', 'autonomous'];
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, args, {
      cwd: join(place.workspace, cwd),
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    child.once('error', failed);
    child.once('close', (status) => done({ status, stderr }));
  });
}
