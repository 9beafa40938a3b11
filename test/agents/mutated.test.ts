import { AGENTS } from '../../src/agents/kinds.ts';
import { scanSubtree } from '../../src/agents/loader/subtree-scan.ts';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { workTree } from './support.ts';

const MARKDOWN = [
  '---',
  'name: tester',
  'description: "Runs tests. Use it: often."',
  'tools: Read, Bash',
  'model: sonnet',
  'maxTurns: 7',
  '---',
  '',
  'Run the tests.',
  '',
].join('\n');

/** One file of each format, and what tells that it was loaded. */
const FILES: Readonly<Record<string, string>> = {
  '.muster/agents/a.md': MARKDOWN,
  '.gen/agents/a.md': MARKDOWN,
  '.claude/agents/a.md': MARKDOWN,
  '.opencode/agents/a.md': MARKDOWN.replace('tools: Read, Bash', 'permission: {bash: deny}'),
  '.opencode/opencode.json': '{"agent": {"a": {"description": "Does.", "prompt": "Do."}}}\n',
  '.gemini/agents/a.md': MARKDOWN.replace('maxTurns', 'max_turns'),
  '.qwen/agents/a.md': MARKDOWN.replace('maxTurns: 7', 'approvalMode: plan'),
  '.github/agents/a.agent.md': MARKDOWN,
  '.cursor/agents/a.md': MARKDOWN.replace('maxTurns: 7', 'readonly: true'),
  '.factory/droids/a.md': MARKDOWN.replace('Read, Bash', 'read-only'),
  '.kiro/agents/a.json':
    '{"name": "a", "description": "Does.", "prompt": "Do.", "tools": ["read"]}\n',
  '.codex/agents/a.toml':
    'name = "a"\ndescription = "Does."\nsandbox_mode = "read-only"\ndeveloper_instructions = """\nDo.\n"""\n',
  '.goose/recipes/a.yaml': 'version: 1.0.0\ntitle: a\ndescription: Does.\ninstructions: Do.\n',
  '.pi/agents/a.md': MARKDOWN,
  'subagents/a/SUBAGENT.md': MARKDOWN,
};

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree();
});
afterEach(() => tree.remove());

/** Each file is an agent, or says why it is none: nothing is dropped in silence. */
async function accountedFor(): Promise<{ readonly loaded: number; readonly told: number }> {
  const { items: agents, shadowed, skipped } = await scanSubtree(AGENTS, tree.root);
  const loaded = new Set(
    [...agents, ...shadowed.map(({ item: agent }) => agent)].map((agent) => agent.origin.path),
  );
  const told = new Set(skipped.map(({ path }) => path));
  for (const path of Object.keys(FILES)) {
    const full = tree.path(path);
    expect(loaded.has(full) || told.has(full), path).toBe(true);
  }
  for (const { reason } of skipped) expect(reason).toMatch(/\w.*\.$/);
  return { loaded: loaded.size, told: told.size };
}

function writeAll(change: (text: string) => string | Buffer): void {
  for (const [path, text] of Object.entries(FILES)) tree.write(path, change(text));
}

describe('a file of each format', () => {
  test('as written', async () => {
    writeAll((text) => text);
    expect(await accountedFor()).toEqual({ loaded: Object.keys(FILES).length, told: 0 });
  });

  test.each<[string, (text: string) => string]>([
    ['with a byte order mark', (text) => `\uFEFF${text}`],
    ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['with CR', (text) => text.replaceAll('\n', '\r')],
    ['with blank first lines', (text) => `\n \n${text}`],
    ['with blanks behind its fences', (text) => text.replaceAll('---\n', '--- \t\n')],
    ['with a description of 1 MB', (text) => text.replace(/Does|Runs tests/, 'x'.repeat(2 ** 20))],
  ])('%s still loads', async (_, change) => {
    writeAll(change);
    // A carriage return alone is no line end in TOML.
    const { loaded } = await accountedFor();
    expect(loaded).toBeGreaterThanOrEqual(Object.keys(FILES).length - 1);
  });

  test.each<[string, (text: string) => string | Buffer]>([
    ['cut in the middle', (text) => text.slice(0, text.length / 2)],
    ['empty', () => ''],
    ['of nothing but fences', () => '---\n---\n'],
    ['of binary', (text) => Buffer.concat([Buffer.from(text), Buffer.from([0, 255, 254, 0])])],
    ['in Latin 1', (text) => Buffer.from(text.replace(/Does|Runs/, 'Prüft'), 'latin1')],
    ['in UTF-16', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['twice over', (text) => text + text],
    ['with a key twice', (text) => text.replace(/^(.*(?:description|title).*)$/m, '$1\n$1')],
    [
      'with keys named __proto__ and constructor',
      (text) =>
        text
          .replace(/^name: .*$/m, '__proto__: {polluted: true}\nconstructor: x\nname: a')
          .replace('{"', '{"__proto__": {"polluted": true}, "constructor": 1, "'),
    ],
    [
      'with an alias bomb',
      (text) =>
        text.replace(
          /^(name|version): .*$/m,
          `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nname: a`,
        ),
    ],
    ['nested too deep', (text) => text.replace(/: (?=\S)/, `: ${'['.repeat(20_000)}`)],
    ['with tabs', (text) => text.replaceAll(/^(?=\w)/gm, '\t')],
  ])('%s is loaded or reported', async (_, change) => {
    writeAll(change);
    await accountedFor();
    expect('polluted' in {}).toBe(false);
  });

  test('loads or is reported, wherever it is mutated', async () => {
    const mutation = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat({ max: 12 }),
      put: fc.oneof(
        fc.constantFrom(
          '---',
          '\n',
          ':',
          '"',
          "'",
          '[',
          '{',
          '}',
          '&a',
          '*a',
          '!!x',
          '\t',
          '#',
          '|',
          '\\',
          '\u0000',
          '"""',
          '%',
          '=',
          ',',
        ),
        fc.string({ maxLength: 4 }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
        writeAll((text) =>
          mutations.reduce((changed, { at, cut, put }) => {
            const offset = Math.floor(at * changed.length);
            return changed.slice(0, offset) + put + changed.slice(offset + cut);
          }, text),
        );
        await accountedFor();
      }),
      { numRuns: 150 },
    );
  });

  test.each(['link out of the tree', 'link in a circle', 'pipe', 'directory'])(
    'that is a %s is reported',
    async (kind) => {
      for (const path of Object.keys(FILES)) {
        const full = tree.path(path);
        mkdirSync(dirname(full), { recursive: true });
        if (kind === 'link out of the tree') symlinkSync('/etc/hostname', full);
        if (kind === 'link in a circle') symlinkSync(full, full);
        if (kind === 'pipe') execFileSync('mkfifo', [full]);
        if (kind === 'directory') mkdirSync(full);
      }
      const { items: agents, skipped } = await scanSubtree(AGENTS, tree.root);
      expect(agents).toEqual([]);
      expect(skipped).toHaveLength(kind === 'directory' ? 0 : Object.keys(FILES).length);
    },
  );
});
