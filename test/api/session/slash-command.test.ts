import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageQuoteRequest, RuleChange } from '../../../src/api/index.ts';
import { dropMissing } from '../../../src/base/drop-missing.ts';
import { openSession } from '../../../src/api/open-session.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import type { SessionOptions } from '../../../src/api/setup/options.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const MAKE = '.config/muster/commands/make.md';

/** A session whose user has these command files. */
async function open(
  files: Readonly<Record<string, string>> = { [MAKE]: 'Made: !`mkdir $1`\n' },
  options: Partial<SessionOptions> = {},
) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-test-')));
  opened.push(() => rmSync(home, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const environment = { HOME: home, PATH: '/usr/bin:/bin' };
  const made = await openSession({ cwd, dataDir: join(home, 'data'), environment, ...options });
  opened.push(() => made.close());
  const enclose = (words: string, terms: Partial<MessageQuoteRequest> = {}) =>
    made.enclose({ to: null, words, outputs: [], images: [], ...terms });
  return { home, cwd, made, enclose };
}

const rule = (list: RuleChange['list']): RuleChange => ({
  kind: 'add',
  list,
  rule: 'Bash(mkdir:*)',
  scope: 'task',
});

describe('a shell part of a slash command', () => {
  /** Sends a slash command as the first message of a conversation. */
  async function send(words: string, terms: Partial<MessageQuoteRequest> = {}, files = {}) {
    const { cwd, made, enclose } = await open({ [MAKE]: 'Made: !`mkdir $1`\n', ...files });
    const { mode, rules } = terms;
    const enclosed = await enclose(words, terms);
    const run = made.start({ prompt: words, enclosed, ...dropMissing({ mode, rules }) });
    return { cwd, enclosures: enclosed.enclosures, result: await run.result };
  }

  it('is an item without output until the task runs it', async () => {
    const { cwd, enclose } = await open();
    const { enclosures } = await enclose('/make "a b"');
    expect(enclosures.map(({ kind, name, call }) => [kind, name, call?.command])).toEqual([
      ['slash_command', '/make "a b"', undefined],
      ['shell_part', "mkdir 'a b'", "mkdir 'a b'"],
    ]);
    expect(existsSync(join(cwd, 'a b'))).toBe(false);
  });

  it.each([
    ['nobody is asked', {}, 'Nobody is here to be asked. Allow it with --allow'],
    ['the user has denied it for the conversation', { rules: [rule('deny')] }, 'deny rule'],
    ['the user has chosen plan mode', { mode: 'plan' }, 'lan mode'],
  ] as const)('does not run if %s, and nothing is sent', async (_, terms, reason) => {
    const { cwd, result } = await send('/make out', terms);
    expect(result.status).toBe('error');
    expect(result.error?.message).toContain(
      '/make out is not sent. Its shell part "mkdir out" did not run: ',
    );
    expect(result.error?.message).toContain(reason);
    expect(existsSync(join(cwd, 'out'))).toBe(false);
  });

  it.each([
    ['the user has allowed it for the conversation', { rules: [rule('allow')] }, {}],
    ['the file allows it', {}, { [MAKE]: '---\nallowed-tools: Bash(mkdir:*)\n---\n!`mkdir $1`\n' }],
  ] as const)('runs without a question if %s', async (_, terms, files) => {
    const { cwd, result } = await send('/make out', terms, files);
    expect(result.status).toBe('success');
    expect(existsSync(join(cwd, 'out'))).toBe(true);
  });

  it('is one of at most 16', async () => {
    const { enclose } = await open({ [MAKE]: '!`true`\n'.repeat(17) });
    await expect(enclose('/make')).rejects.toThrow('it has 17 shell parts, and the limit is 16');
  });
});

describe('slash commands of a session', () => {
  it('are listed, and follow a changed file', async () => {
    const { home, made } = await open();
    const make = { name: 'make', description: 'Made: !`mkdir $1`', source: 'user' };
    expect(made.slashCommands).toEqual([make]);
    mkdirSync(join(home, '.codex/prompts'), { recursive: true });
    writeFileSync(join(home, '.codex/prompts/plan.md'), 'Plan.\n');
    await waitUntilPasses(async () => {
      await made.refreshSlashCommands();
      expect(made.slashCommands).toEqual([
        make,
        { name: 'plan', description: 'Plan.', source: 'user, codex' },
      ]);
    });
  });

  it('are messages for a text that only looks like one, unless that is a mistake', async () => {
    const { enclose } = await open();
    expect((await enclose('/maek x')).enclosures).toEqual([]);
    expect((await enclose('/usr/bin is big', { requiresKnownCommand: true })).enclosures).toEqual(
      [],
    );
    await expect(enclose('/maek x', { requiresKnownCommand: true })).rejects.toThrow(
      'there is no slash command /maek here. Similar: /make.',
    );
    await expect(enclose('/help', { requiresKnownCommand: true })).rejects.toThrow(
      '/help is a command of the terminal UI and does nothing here',
    );
  });

  it('attach the files that their text names, under the rules for files', async () => {
    const { cwd, enclose } = await open({
      '.gemini/commands/see.toml': 'prompt = "See @{a b.txt} and @.env, @gone.ts. {{args}}"\n',
    });
    writeFileSync(join(cwd, 'a b.txt'), 'hello');
    writeFileSync(join(cwd, '.env'), 'KEY=1');
    writeFileSync(join(cwd, 'typed.txt'), 'typed');
    const { enclosures, problems } = await enclose('/see @typed.txt');
    expect(enclosures.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'slash_command /see @typed.txt',
      'file typed.txt',
      'file a b.txt',
    ]);
    expect(problems).toEqual([
      '@gone.ts: there is no such file, so the text is sent as it is',
      expect.stringMatching(/^@\.env is not quoted: /),
    ]);
  });
});
