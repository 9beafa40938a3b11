import { detectFormat } from '../../../src/agents/formats/detect-format.ts';
import { codex } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import type { DefinitionFile, FileDefinitions } from '../../../src/agents/loader/format.ts';
import { codes, plainAgent, read } from '../support.ts';

const PATH = '/home/.codex/agents/tracer.toml';
const HEAD = ['name = "tracer"', 'description = "Traces."', 'developer_instructions = "Trace."'];

const PLAIN = plainAgent('codex', {
  name: 'tracer',
  description: 'Traces.',
  prompt: 'Trace.',
  path: PATH,
});

async function readToml(...lines: readonly string[]) {
  const { items, problems } = await read(codex.agents, lines.join('\n'), PATH);
  if (items[0] === undefined) throw new Error(JSON.stringify(problems));
  return items[0];
}

test('an agent file with every field', async () => {
  const agent = await readToml(
    'name = "tracer"',
    'description = "Traces."',
    'model = "some-model"',
    'model_reasoning_effort = "xhigh"',
    'sandbox_mode = "read-only"',
    'developer_instructions = """',
    'Trace.',
    '',
    'model = "in the text"',
    '"""',
    'nickname_candidates = ["Ada", "Bo"]',
    'web_search = "disabled"',
    'made = 2026-01-02',
    'mood = "calm"',
    '[tools]',
    'view_image = false',
    '[mcp_servers.wiki]',
    'url = "http://localhost:1"',
    '[[skills.config]]',
    'path = "x"',
  );
  expect(agent).toEqual({
    ...PLAIN,
    prompt: 'Trace.\n\nmodel = "in the text"',
    disallowedTools: ['WebSearch'],
    model: 'some-model',
    effort: 'xhigh',
    permissionMode: 'plan',
    mode: 'plan',
    extra: {
      nickname_candidates: ['Ada', 'Bo'],
      made: '2026-01-02',
      mood: 'calm',
      mcp_servers: { wiki: { url: 'http://localhost:1' } },
      'tools.view_image': false,
      'skills.config': [{ path: 'x' }],
    },
    problems: [
      {
        code: 'inactive-field',
        message:
          'These fields have no effect yet: nickname_candidates, mcp_servers, tools.view_image, skills.config. Unknown fields: made, mood.',
        path: PATH,
        line: 11,
      },
    ],
  });
});

describe('rights', () => {
  test.each([
    ['sandbox_mode = "workspace-write"', { permissionMode: 'acceptEdits', mode: 'acceptEdits' }],
    [
      'sandbox_mode = "danger-full-access"',
      { permissionMode: 'bypassPermissions', mode: 'autonomous' },
    ],
    ['sandbox_mode = "some"', { permissionMode: null, mode: 'default' }],
    ['approval_policy = "untrusted"', { mode: 'default' }],
    [
      'sandbox_mode = "workspace-write"\napproval_policy = "untrusted"',
      { permissionMode: 'acceptEdits', mode: 'default' },
    ],
    [
      'sandbox_mode = "read-only"\napproval_policy = "untrusted"',
      { permissionMode: 'plan', mode: 'plan', extra: { approval_policy: 'untrusted' } },
    ],
    ['web_search = false', { disallowedTools: ['WebSearch'] }],
    ['tools = {web_search = false}', { disallowedTools: ['WebSearch'] }],
    ['web_search = "live"', { extra: { web_search: 'live' } }],
  ])('%s', async (lines, fields) => {
    const agent = await readToml(...HEAD, lines);
    expect(agent).toEqual({ ...PLAIN, ...fields, problems: expect.any(Array) });
  });
});

test('missing fields are reported, and the file loads', async () => {
  const bare = await readToml('developer_instructions = "Trace."');
  expect([bare.name, codes(bare)]).toEqual([
    'tracer',
    ['name-from-filename', 'missing-description'],
  ]);
  const empty = await readToml('name = "tracer"', 'developer_instructions = " "');
  expect([empty.prompt, codes(empty)]).toEqual(['', ['missing-description', 'missing-prompt']]);
});

test('invalid TOML is reported with line and reason, and another TOML file is not an agent', async () => {
  const broken = await read(codex.agents, [...HEAD, 'model = gpt'].join('\n'), PATH);
  expect(broken).toEqual({
    items: [],
    problems: [
      {
        code: 'invalid-toml',
        message: expect.stringMatching(/^It is not valid TOML at line 4: .+\. Correct it\.$/),
        path: PATH,
        line: 4,
      },
    ],
  });
  const other = await read(codex.agents, '[package]\nname = "x"\n', PATH);
  expect([other.items, other.problems.map(({ code }) => code)]).toEqual([[], ['not-an-agent']]);
  const isCodex = (text: string): boolean => detectFormat('some/file.toml', text) === codex.agents;
  expect([
    isCodex('[package]\nname = "x"\n'),
    isCodex(HEAD.join('\n')),
    isCodex('[agents.tracer]\n'),
  ]).toEqual([false, true, true]);
});

describe('config.toml', () => {
  const CONFIG = '/home/.codex/config.toml';
  const files = new Map([
    ['/home/.codex/roles/tracer.toml', 'developer_instructions = "Trace."\nmodel = "some-model"\n'],
    ['/home/.codex/roles/named.toml', HEAD.join('\n')],
    ['/home/.codex/roles/broken.toml', 'a = '],
    ['/home/.codex/agents/found.toml', 'developer_instructions = "Find."'],
  ]);
  const beside: DefinitionFile['readReferenced'] = (path) => {
    const text = files.get(path);
    return text === undefined ? { ok: false, reason: 'Not there.' } : { ok: true, text };
  };
  const readConfig = (...lines: readonly string[]): Promise<FileDefinitions> =>
    codex.agents.read({
      path: CONFIG,
      scope: 'user',
      text: lines.join('\n'),
      readReferenced: beside,
    });
  const origin = { ...PLAIN.origin, path: CONFIG };

  test('a declared agent has the fields of its file, which have precedence', async () => {
    const { items, problems } = await readConfig(
      'model = "main-model"',
      '[agents.tracer]',
      'description = "Traces."',
      'config_file = "roles/tracer.toml"',
      '[agents.other]',
      'description = "Declared."',
      'config_file = "./roles/named.toml"',
      '[agents.bare]',
      'description = "Has no file."',
    );
    expect([items, problems]).toEqual([
      [
        {
          ...PLAIN,
          model: 'some-model',
          origin,
          problems: [expect.objectContaining({ code: 'name-from-filename' })],
        },
        { ...PLAIN, origin },
        {
          ...PLAIN,
          name: 'bare',
          description: 'Has no file.',
          prompt: '',
          origin,
          problems: [
            expect.objectContaining({ code: 'name-from-filename' }),
            expect.objectContaining({ code: 'missing-prompt' }),
          ],
        },
      ],
      [],
    ]);
  });

  test.each([
    ['none.toml', 'Its `config_file` /home/.codex/none.toml cannot be used: Not there.'],
    [
      'roles/broken.toml',
      'Its `config_file` /home/.codex/roles/broken.toml cannot be used: It is not valid TOML at line 1: invalid value. Correct it.',
    ],
  ])('%s cannot be used, so the agent cannot be started', async (file, unusable) => {
    const { items } = await readConfig(
      '[agents.tracer]',
      'description = "x"',
      `config_file = "${file}"`,
    );
    expect(items.map((agent) => [agent.name, agent.unusable, codes(agent)[0]])).toEqual([
      ['tracer', unusable, 'config-file'],
    ]);
  });

  test('limits are reported, and agents with a file in agents/ are left to that file', async () => {
    const declared = ['[agents.tracer]', 'config_file = "agents/found.toml"'];
    expect(await readConfig('[agents]', 'max_threads = 4', 'max_depth = 2', ...declared)).toEqual({
      items: [],
      problems: [
        {
          code: 'inactive-field',
          message:
            "These keys of `[agents]` have no effect: max_threads, max_depth. Muster's own limits are in `[task_tool]` of its configuration.",
          path: CONFIG,
          line: 1,
        },
      ],
    });
    const other = await readConfig(...declared);
    expect([other.items, other.problems.map(({ code }) => code)]).toEqual([[], ['not-an-agent']]);
    const twice = await readConfig(
      ...declared,
      '[agents.second]',
      'config_file = "agents/found.toml"',
    );
    expect(twice.items.map((agent) => [agent.name, agent.prompt])).toEqual([['second', 'Find.']]);
    const none = await readConfig('model = "x"');
    expect([none.items, none.problems.map(({ code }) => code)]).toEqual([[], ['not-an-agent']]);
  });

  test('config.toml fills the gaps of a file in agents/', async () => {
    const config = [
      '[agents.finder]',
      'description = "Finds."',
      'config_file = "agents/deep/found.toml"',
      'nickname_candidates = ["Ada"]',
    ].join('\n');
    const file = (port: DefinitionFile['readReferenced']): DefinitionFile => ({
      path: '/home/.codex/agents/deep/found.toml',
      scope: 'user',
      text: 'developer_instructions = "Find."',
      ...(port === undefined ? {} : { readReferenced: port }),
    });
    const reads = await Promise.all(
      [
        (path: string) =>
          path === CONFIG
            ? { ok: true as const, text: config }
            : { ok: false as const, reason: 'No.' },
        () => ({ ok: true as const, text: 'agents = 3' }),
        () => ({ ok: true as const, text: 'a = ' }),
        undefined,
      ].map((port) => codex.agents.read(file(port))),
    );
    expect(
      reads
        .flatMap(({ items }) => items)
        .map(({ name, description, extra }) => [name, description, extra]),
    ).toEqual([
      ['finder', 'Finds.', { nickname_candidates: ['Ada'] }],
      ['found', '', {}],
      ['found', '', {}],
      ['found', '', {}],
    ]);
  });

  test('the format lists the files in advance', async () => {
    const text = '[agents.a]\nconfig_file = "a.toml"\n[agents.b]\n  config_file=\'/b.toml\'\n';
    expect(await codex.agents.referencedFiles(CONFIG, text)).toEqual([
      '/home/.codex/a.toml',
      '/b.toml',
    ]);
  });
});
