import { detectFormat } from '../../../src/agents/formats/detect-format.ts';
import { codex, copilot, factory, goose, kiro } from '../../../src/agents/formats/vendors.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DefinitionFormat, FileDefinitions } from '../../../src/agents/loader/format.ts';

interface Sample {
  readonly format: DefinitionFormat;
  readonly path: string;
  readonly text: string;
}

const FIELDS =
  'name description title tools allowedTools model agents infer target permissions toolsSettings prompt instructions extensions settings parameters recipe mcpServers reasoningEffort sandbox_mode approval_policy web_search skills hooks developer_instructions __proto__ constructor'.split(
    ' ',
  );

const json = (value: unknown): string => JSON.stringify(value);
const yaml = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}: ${json(value)}`)
    .join('\n');

const SAMPLES: readonly Sample[] = [
  {
    format: copilot.agents,
    path: '/a/x.agent.md',
    text: '---\nname: x\ndescription: y\ntools: [read, edit]\nagents: [a]\ninfer: false\n---\nDo.\n',
  },
  {
    format: factory.agents,
    path: '/a/x.md',
    text: '---\nname: x\nmodel: inherit\ntools: read-only\nmcpServers: [a]\n---\nDo.\n',
  },
  {
    format: kiro.agents,
    path: '/a/x.json',
    text: json({
      name: 'x',
      prompt: 'file://./y.md',
      tools: ['@builtin'],
      toolsSettings: { shell: { deniedCommands: ['(a|b).*'] }, read: { deniedPaths: ['/x/**'] } },
      permissions: [{ capability: 'shell', effect: 'deny', match: ['rm *'] }],
    }),
  },
  {
    format: codex.agents,
    path: '/a/x.toml',
    text: 'name = "x"\nsandbox_mode = "read-only"\ndeveloper_instructions = """\nDo.\n"""\n[tools]\nweb_search = false\n',
  },
  {
    format: codex.agents,
    path: '/a/config.toml',
    text: '[agents]\nmax_depth = 1\n[agents.x]\ndescription = "y"\nconfig_file = "x.toml"\n',
  },
  {
    format: goose.agents,
    path: '/a/x.yaml',
    text: 'title: x\ndescription: y\ninstructions: |\n  Do {{ it }}.\nextensions:\n  - {type: builtin, name: developer}\nparameters:\n  - {key: it, default: 1}\nsettings: {max_turns: 3}\n',
  },
  {
    format: goose.agents,
    path: '/a/x.json',
    text: json({ recipe: { title: 'x', prompt: '{{ a }}' } }),
  },
];

/** What a reader must give for any text: an agent, or why there is none; and nothing that is not plain data. */
function check(path: string, { items, problems }: FileDefinitions): void {
  expect(items.length + problems.length).toBeGreaterThan(0);
  for (const agent of items) {
    expect(agent.origin.path).toBe(path);
    expect(agent.name).not.toBe('');
    expect(structuredClone(agent)).toEqual(agent);
    expect(Object.getPrototypeOf(agent.extra)).toBe(Object.prototype);
    expect(Object.keys(agent.extra)).not.toContain('__proto__');
    expect(agent.problems.length).toBeLessThanOrEqual(100);
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
}

async function readText({ format, path }: Sample, text: string): Promise<FileDefinitions> {
  const beside = (): { ok: true; text: string } => ({ ok: true, text });
  const loaded = await format.read({ path, scope: 'user', text, readReferenced: beside });
  detectFormat(path, text);
  await format.referencedFiles(path, text);
  check(path, loaded);
  return loaded;
}

describe.each(SAMPLES.map((sample) => [`${sample.format.vendor} ${sample.path}`, sample] as const))(
  '%s',
  (_, sample) => {
    test('a byte order mark and other line ends have no effect', async () => {
      const plain = await readText(sample, sample.text);
      expect(plain.items.length).toBe(1);
      for (const text of [`\uFEFF${sample.text}`, sample.text.replaceAll('\n', '\r\n')]) {
        expect(await readText(sample, text)).toEqual(plain);
      }
    });

    test('is read or refused when it is cut, doubled or has anything inserted', async () => {
      const odd = fc.constantFrom(
        '\n',
        '"',
        "'",
        '"""',
        '{',
        '}',
        '[',
        ']',
        '---\n',
        ': ',
        ' = ',
        '&a ',
        '*a',
        '\u0000',
        '\u001B[2J',
        '\uD800',
        '__proto__',
        '<<: ',
        '- ',
        '|',
        '#',
        '\\',
        '{{',
        '}}',
        ',',
      );
      const size = sample.text.length;
      const change = fc.tuple(fc.nat(size), fc.nat(size), fc.oneof(odd, fc.string()));
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const text = changes.reduce(
            (before, [from, to, put]) =>
              before.slice(0, Math.min(from, to)) +
              put +
              before.slice(Math.max(from, Math.min(to, from + 8))),
            sample.text,
          );
          await readText(sample, text);
        }),
        { numRuns: 60 },
      );
    });

    test('a value of the wrong type for every field', async () => {
      const values = fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue({ maxDepth: 3 }), {
        minKeys: 1,
        maxKeys: 8,
        noNullPrototype: true,
      });
      await fc.assert(
        fc.asyncProperty(values, async (fields) => {
          await readText(sample, inForm(sample.path, fields));
        }),
        { numRuns: 60 },
      );
    });

    test('too deep, too many, too long', async () => {
      const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
      const many = `[${'1,'.repeat(120_000)}1]`;
      for (const value of [
        deep,
        many,
        json('x'.repeat(1_000_000)),
        json('\n,:-{'.repeat(50_000)),
      ]) {
        const text = sample.path.endsWith('.json')
          ? `{"name": "x", "title": "x", "prompt": "y", "tools": ${value}}`
          : sample.path.endsWith('.toml')
            ? `name = "x"\ntools = ${value}\n`
            : sample.path.endsWith('.md')
              ? `---\nname: x\ntools: ${value}\n---\n`
              : `title: x\nextensions: ${value}\n`;
        await readText(sample, text);
      }
    });
  },
);

function inForm(path: string, fields: Readonly<Record<string, unknown>>): string {
  if (path.endsWith('.json')) return json(fields);
  if (path.endsWith('.md')) return `---\n${yaml(fields)}\n---\nDo.\n`;
  if (path.endsWith('.yaml')) return yaml(fields);
  return Object.entries(fields)
    .map(([key, value]) => `${key} = ${inToml(value)}`)
    .join('\n');
}

function inToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inToml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return json(value ?? 'null');
  return `{${Object.entries(value)
    .map(([key, each]) => `${json(key)} = ${inToml(each)}`)
    .join(', ')}}`;
}

test('nested aliases that would fill the memory give no agent, and do not hang', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, level) => `b${level + 1}: &b${level + 1} [*b${level}, *b${level}, *b${level}]`,
  );
  const bomb = ['title: x', 'instructions: y', 'b0: &b0 [1]', ...levels, 'settings: *b12'].join(
    '\n',
  );
  const { items } = await goose.agents.read({ path: '/a/x.yaml', scope: 'user', text: bomb });
  expect(items.map(({ problems }) => problems[0]?.code)).toEqual(['invalid-yaml']);
});
