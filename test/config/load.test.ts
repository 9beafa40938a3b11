import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { TRUST_ALL } from '../../src/sys/files/project-file.ts';
import { loadConfig, readConfig } from '../../src/config/load.ts';
import { makePlace, problemsIn, write } from './support.ts';

it('denies agents the files that hold the keys of providers', async () => {
  const user = `
    [permissions]
    deny = ["LS"]
    [models.providers.a]
    api_key_file = "/keys/a (1) [b].txt"
    base_url = "https://a.example"
    [models.providers.b]
    api_key_file = "~/keys/b"
    base_url = "https://b.example"
    [models.providers.c]
    api_key_env = "C"
    base_url = "https://c.example"`;
  const { rules } = await loadConfig(makePlace({ user }).inputs());
  expect(rules.deny.map(({ text }) => text)).toEqual([
    'LS',
    'Read(//keys/a (1) \\[b\\].txt)',
    'Edit(//keys/a (1) \\[b\\].txt)',
    'Read(~/keys/b)',
    'Edit(~/keys/b)',
  ]);
});

describe('layers', () => {
  it('apply in the order defaults, files, environment, flags', async () => {
    const place = makePlace({
      user: '[provider]\nretries = 1\nmax_concurrent = 1\n[task_tool]\nmax_depth = 1\nmax_tasks = 1\n',
      project: '[provider]\nmax_concurrent = 2\n[task_tool]\nmax_depth = 3\nmax_tasks = 2\n',
    });
    const { config } = await loadConfig(
      place.inputs({
        trust: TRUST_ALL,
        environment: { MUSTER_TASK_TOOL_MAX_DEPTH: '4', MUSTER_TASK_TOOL_MAX_TASKS: '3' },
        flags: [{ key: 'task_tool.max_tasks', flag: '--max-tasks', text: '5' }],
      }),
    );
    expect([config.provider.retries, config.provider.maxConcurrent]).toEqual([1, 2]);
    expect([config.taskTool.maxDepth, config.taskTool.maxTasks]).toEqual([4, 5]);
  });

  it('add up for permission rules, each with its own source', async () => {
    const place = makePlace({
      user: '[permissions]\ndeny = ["Write", "Edit"]\n',
      project: '[permissions]\ndeny = ["LS"]\nallow = ["Bash(make)"]\n',
    });
    const loaded = await loadConfig(
      place.inputs({
        trust: TRUST_ALL,
        environment: { MUSTER_PERMISSIONS_DENY: 'Bash(a,b)' },
        flags: [
          { key: 'permissions.deny', flag: '--deny', text: 'Glob' },
          { key: 'permissions.deny', flag: '--deny', text: 'Grep' },
        ],
      }),
    );
    const user = { kind: 'config', where: `${place.userFile}:2` };
    const flag = { kind: 'flag', where: '--deny' };
    const deny = ['Write', 'Edit', 'LS', 'Bash(a,b)', 'Glob', 'Grep'];
    expect(loaded.config.permissions.deny).toEqual(deny);
    expect(loaded.rules.deny.map(({ text, source: from }) => [text, from])).toEqual([
      ['Write', user],
      ['Edit', user],
      ['LS', { kind: 'config', where: `${place.projectFile}:2` }],
      ['Bash(a,b)', { kind: 'env', where: 'MUSTER_PERMISSIONS_DENY' }],
      ['Glob', flag],
      ['Grep', flag],
    ]);
    expect(loaded.rules.allow.map(({ text }) => text)).toEqual(['Bash(make)']);
  });

  it('use the user file of XDG_CONFIG_HOME', async () => {
    const place = makePlace();
    write(join(place.root, 'xdg', 'muster', 'config.toml'), '[provider]\nretries = 9\n');
    const environment = { XDG_CONFIG_HOME: join(place.root, 'xdg') };
    const { config } = await loadConfig(place.inputs({ environment }));
    expect(config.provider.retries).toBe(9);
  });
});

describe('a project', () => {
  const forbidden = [
    '[permissions]',
    'mode = "autonomous"',
    'on_ask = "deny"',
    '[store]',
    'retention_days = 0',
    'durability = "fast"',
    '[sandbox]',
    'kind = "off"',
    'env = ["SECRET"]',
    '[models]',
    'fast = "acme/small"',
    '[models.providers.anthropic]',
    'base_url = "https://evil.example"',
    '[models.catalogue."anthropic/claude-sonnet-5"]',
    'price_input = 0',
    'price_output = 0',
    'output_limit = 1000000',
  ].join('\n');

  it('is not even opened without trust', async () => {
    const place = makePlace({ project: 'not = = toml' });
    const { files, notices, problems } = await readConfig(place.inputs());
    expect({ files, notices, problems }).toEqual({
      files: [
        { path: place.userFile, scope: 'user', state: 'absent' },
        { path: place.projectFile, scope: 'project', state: 'untrusted' },
      ],
      notices: [],
      problems: [],
    });
  });

  it('sets neither providers nor state nor sandbox nor a wider mode, and a notice says so', async () => {
    const place = makePlace({ project: forbidden });
    const { config, notices } = await loadConfig(place.inputs({ trust: TRUST_ALL }));
    expect(config.permissions.mode).toBe('default');
    expect(config.store).toEqual({ retentionDays: 30, durability: 'safe' });
    expect(config.sandbox).toEqual({
      kind: 'auto',
      network: false,
      caches: 'private',
      env: [],
      commandProcesses: 2048,
    });
    expect(config.models).toMatchObject({
      fast: 'acme/small',
      providers: new Map(),
      catalogue: new Map(),
    });
    expect(
      notices.map(({ where, message }) => [where.replace(place.projectFile, 'FILE'), message]),
    ).toEqual([
      ['FILE:5', expect.stringContaining('store.retention_days')],
      ['FILE:6', expect.stringContaining('store.durability')],
      ['FILE:8', expect.stringContaining('sandbox.kind')],
      ['FILE:9', expect.stringContaining('sandbox.env')],
      ['FILE:12', expect.stringContaining('[models.providers.anthropic]')],
      [
        'FILE:14',
        'a project cannot set the price or the limits of a model; [models.catalogue."anthropic/claude-sonnet-5"] is ignored. Put it into your own configuration',
      ],
      [
        'FILE:2',
        'a project cannot widen permissions.mode from your "default" to "autonomous"; ignored',
      ],
    ]);
  });

  it('may narrow the mode, and repeat what the user has', async () => {
    const narrow = makePlace({ project: '[permissions]\nmode = "plan"\n' });
    const same = makePlace({
      user: '[permissions]\nmode = "acceptEdits"\n',
      project: '[permissions]\nmode = "acceptEdits"\n',
    });
    const modes = [];
    for (const place of [narrow, same]) {
      const { config, notices } = await loadConfig(place.inputs({ trust: TRUST_ALL }));
      modes.push([config.permissions.mode, notices]);
    }
    expect(modes).toEqual([
      ['plan', []],
      ['acceptEdits', []],
    ]);
  });

  it.each([
    ['max_tokens', 900_000, 1_100_000],
    ['max_cost_usd', 1, 0],
    ['max_tool_bytes', 1000, 0],
    ['max_turns', 5, null],
    ['task_wall_seconds', 60, 3600],
    ['max_tasks', 10, 1000],
  ])('may narrow task_tool.%s but not widen it', async (name, less, more) => {
    const read = async (user: number | null, project: number) => {
      const section = (value: number | null) =>
        value === null ? '' : `[task_tool]\n${name} = ${value}\n`;
      const place = makePlace({ user: section(user), project: section(project) });
      const { settings, notices } = await loadConfig(place.inputs({ trust: TRUST_ALL }));
      return [settings.get(`task_tool.${name}`)?.value, notices.length];
    };
    expect(await read(more, less)).toEqual([less, 0]);
    expect(await read(less, more ?? less + 1)).toEqual([less, 1]);
  });

  it('has its file in the nearest directory up to the root of its repository', async () => {
    const place = makePlace({ project: '[provider]\nretries = 1\n' });
    const deep = join(place.cwd, 'packages', 'a', 'src');
    mkdirSync(deep, { recursive: true });
    const retries = async (cwd: string) =>
      (await loadConfig(place.inputs({ trust: TRUST_ALL, cwd }))).config.provider.retries;
    expect(await retries(deep)).toBe(1);
    write(join(place.cwd, 'packages', 'a', '.muster', 'config.toml'), '[provider]\nretries = 2\n');
    expect(await retries(deep)).toBe(2);
    write(join(place.root, '.muster', 'config.toml'), '[provider]\nretries = 3\n');
    expect(await retries(place.cwd)).toBe(1);
  });

  it('has no file that is a link out of the project', async () => {
    const place = makePlace();
    writeFileSync(join(place.root, 'secret'), 'token = 1\n');
    mkdirSync(join(place.cwd, '.muster'));
    symlinkSync(join(place.root, 'secret'), place.projectFile);
    const { files, notices, problems } = await readConfig(place.inputs({ trust: TRUST_ALL }));
    expect({ file: files[1]?.state, notices, problems }).toEqual({
      file: 'broken',
      notices: [
        {
          where: place.projectFile,
          message: expect.stringMatching(/^A link out of .* Ignored\.$/),
        },
      ],
      problems: [],
    });
  });
});

describe('an invalid file', () => {
  it('is a UsageError with one line for each problem', async () => {
    const place = makePlace({ user: '[task_tol]\nx = 1\n[budget]\ntree_tokens = -1\n' });
    const failure = await loadConfig(place.inputs()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect(String(failure).split('\n')).toEqual([
      expect.stringContaining(
        `${place.userFile}:1: unknown section [task_tol]; valid: [task_tool], `,
      ),
      expect.stringContaining(`${place.userFile}:4: budget.tree_tokens must be a whole number`),
    ]);
  });

  it.each([
    ['a syntax error', '[a]\nb = \n', /^FILE:2:5: not valid TOML: [^\n]*$/],
    ['a key twice', '[provider]\nretries = 1\nretries = 2\n', /^FILE:3:1: not valid TOML/],
    [
      'a section that is not a table',
      'task_tool = 3\n',
      'FILE:1: write it as a section: [task_tool]',
    ],
    [
      'an array of sections',
      '[[task_tool]]\nnested = true\n',
      'FILE:1: write it as a section: [task_tool]',
    ],
    [
      'a date instead of a number',
      '[provider]\nretries = 2026-01-01\n',
      /^FILE:2: provider.retries must be/,
    ],
    [
      'not a number',
      '[budget]\ntree_cost_usd = nan\n',
      'FILE:2: budget.tree_cost_usd must be a number from 0 to 1000000, not NaN',
    ],
    ['endless', '[budget]\ntree_cost_usd = inf\n', /not Infinity$/],
    [
      'a prototype name',
      '[provider]\n__proto__ = 1\n',
      /^FILE:2: unknown key "__proto__" in \[provider\]/,
    ],
    [
      'a key after a long string',
      '[models]\nfast = """\n[x]\ny = 1\n"""\nfst = "b"\n',
      /^FILE:6: unknown key "fst" in \[models\]; valid: fast, /,
    ],
    [
      'a key in an inline table',
      'provider = { retries = "x" }\n',
      /^FILE:1: provider.retries must be/,
    ],
    ['a dotted key', '\nprovider.retries = "x"\n', /^FILE:2: provider.retries must be/],
    ['a bidi trick', '[provider]\n"a\\u202Eb" = 1\n', /^FILE:2: unknown key "a⟨U\+202E⟩b"/],
  ])('%s', async (_, text, expected) => {
    const match = typeof expected === 'string' ? expected : expect.stringMatching(expected);
    expect(await problemsIn(text)).toEqual([match]);
  });

  it('explains both meanings of dontAsk', async () => {
    const [problem] = await problemsIn('[permissions]\nmode = "dontAsk"\n');
    expect(problem).toMatch(
      /^FILE:2: permissions.mode must be one of plan, .*Claude Code.*autonomous/,
    );
  });

  it.each([
    ['a directory', (file: string) => mkdirSync(file), 'not a regular file'],
    ['a FIFO', (file: string) => execFileSync('mkfifo', [file]), 'not a regular file'],
    [
      'not UTF-8',
      (file: string) => writeFileSync(file, Buffer.from([0x61, 0xff])),
      'not UTF-8 text',
    ],
    [
      'a huge one',
      (file: string) => {
        writeFileSync(file, '');
        truncateSync(file, 1_000_000_000);
      },
      '1000000000 bytes; a configuration file has at most 262144',
    ],
  ])('that is %s is named', async (_, make, message) => {
    const place = makePlace();
    mkdirSync(join(place.home, '.config', 'muster'), { recursive: true });
    make(place.userFile);
    const { problems, files } = await readConfig(place.inputs());
    expect({ problems, files }).toEqual({
      problems: [{ where: place.userFile, message }],
      files: [{ path: place.userFile, scope: 'user', state: 'broken' }],
    });
  });
});

describe('the environment', () => {
  it('names an unknown variable of a known section with the valid ones', async () => {
    const environment = { MUSTER_TASK_TOOL_MAX_DEPT: '1' };
    await expect(loadConfig(makePlace().inputs({ environment }))).rejects.toThrow(
      /^MUSTER_TASK_TOOL_MAX_DEPT: no key of \[task_tool\] has this variable; valid: MUSTER_TASK_TOOL_MAX_DEPTH, /,
    );
  });

  it('reports a name that matches no section and continues; empty and unrelated variables are ignored', async () => {
    const environment = {
      MUSTER_TSK_TOOL_NESTED: '1',
      MUSTER_TASK: 'abc',
      MUSTER_PROCESS: 'abc',
      MUSTER_DATA_DIR: '/x',
      MUSTER_BUDGET_TREE_TOKENS: '',
    };
    const { notices } = await loadConfig(makePlace().inputs({ environment }));
    expect(notices).toEqual([
      {
        where: 'MUSTER_TSK_TOOL_NESTED',
        message: expect.stringContaining('The nearest is MUSTER_TASK_TOOL_NESTED'),
      },
    ]);
  });

  it('configures no providers', async () => {
    const environment = { MUSTER_MODELS_PROVIDERS_ACME_BASE_URL: 'https://x' };
    await expect(loadConfig(makePlace().inputs({ environment }))).rejects.toThrow(/in a file only/);
  });
});

describe('the settings of models', () => {
  it('are read from the user file', async () => {
    const place = makePlace({
      user: [
        '[models.catalogue."anthropic/claude-sonnet-5"]',
        'context_window = 200000',
        'output_limit = 8000',
        'attachments = ["image"]',
        '[models.catalogue."local/a/b:8b"]',
        'price_input = 0.5',
        'price_output = 2',
        'price_cache_read = 0',
      ].join('\n'),
    });
    const { config } = await loadConfig(place.inputs());
    expect(config.models.catalogue).toEqual(
      new Map([
        [
          'anthropic/claude-sonnet-5',
          {
            contextWindow: 200_000,
            outputLimit: 8000,
            attachments: ['image'],
            source: { kind: 'config', where: `${place.userFile}:1` },
          },
        ],
        [
          'local/a/b:8b',
          {
            price: { input: 0.5, output: 2, cacheRead: 0, cacheWrite: 0.5 },
            source: { kind: 'config', where: `${place.userFile}:5` },
          },
        ],
      ]),
    );
  });

  it.each([
    [
      'output_limit = 0',
      'output_limit must be a whole number of tokens from 16 to 1000000000, not 0',
    ],
    ['output_limit = "8k"', 'output_limit must be a whole number of tokens'],
    ['context_window = 1.5', 'context_window must be a whole number of tokens'],
    ['attachments = ["video"]', 'attachments must be a list of "image" and "pdf"'],
    ['attachments = "pdf"', 'attachments must be a list of "image" and "pdf"'],
    ['price_input = -1', 'price_input must be USD per million tokens, a number from 0 to 1000000'],
    ['price_output = nan', 'price_output must be USD per million tokens'],
    ['price = 3', 'unknown key "price" in [models.catalogue."a/b"]; valid: price_input, '],
  ])('%s is refused', async (line, message) => {
    const problems = await problemsIn(`[models.catalogue."a/b"]\n${line}\n`);
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]).toMatch(/^FILE:2: /);
  });

  it.each([
    ['[models.catalogue."a/b"]\nprice_cache_read = 1', 'a price needs both price_input and price_'],
    [
      '[models.catalogue."a/b"]\nprice_input = 1',
      'a price needs both price_input and price_output',
    ],
    [
      '[models.catalogue.gpt-5]\noutput_limit = 100',
      '"gpt-5" is not the name of a model; write "PROVIDER/',
    ],
    ['[models.catalogue."a/"]\noutput_limit = 100', '"a/" is not the name of a model'],
    ['[models]\ncatalogue = 3', 'write it as [models.catalogue."PROVIDER/MODEL"]'],
  ])('%j is refused', async (text, message) => {
    expect(await problemsIn(`${text}\n`)).toEqual([expect.stringContaining(message)]);
  });

  it('come from files only', async () => {
    const environment = { MUSTER_MODELS_CATALOGUE_X_PRICE_INPUT: '0' };
    await expect(loadConfig(makePlace().inputs({ environment }))).rejects.toThrow(/in a file only/);
  });
});

describe('providers', () => {
  it('are read from the user file', async () => {
    const place = makePlace({
      user: [
        '[models.providers.local]',
        'base_url = "http://127.0.0.1:8080/v1"',
        'kind = "openai-compatible"',
        '[models.providers.constructor]',
        'api_key_env = "ACME_KEY"',
        'omit = ["stream_options", "temperature"]',
      ].join('\n'),
    });
    const { config } = await loadConfig(place.inputs());
    expect(config.models.providers).toEqual(
      new Map([
        [
          'local',
          {
            baseUrl: 'http://127.0.0.1:8080/v1',
            kind: 'openai-compatible',
            source: { kind: 'config', where: `${place.userFile}:1` },
          },
        ],
        [
          'constructor',
          {
            apiKeyEnv: 'ACME_KEY',
            omit: ['stream_options', 'temperature'],
            source: { kind: 'config', where: `${place.userFile}:4` },
          },
        ],
      ]),
    );
  });

  it.each([
    ['base_url = "ftp://x"', 'base_url must be an http'],
    ['base_url = "https://me:pw@x"', 'base_url must be an http'],
    ['api_key_env = "sk-ant-secret"', 'api_key_env must be the name of an environment variable'],
    [
      'omit = ["everything"]',
      'omit must be a list of the parts to leave out of its requests: stream_options',
    ],
    ['kind = "carrier-pigeon"', 'kind must be anthropic, '],
    [
      'api_key = "sk-ant-secret"',
      'unknown key "api_key" in [models.providers.acme]; valid: api_key_env, ',
    ],
  ])('with %s is refused, and its value is not repeated', async (line, message) => {
    const problems = await problemsIn(`[models.providers.acme]\n${line}\n`);
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]).toMatch(/^FILE:2: /);
    expect(problems[0]).not.toMatch(/secret|pw@/);
  });

  it('have names without a slash', async () => {
    expect(await problemsIn('[models.providers."a/b"]\nkind = "google"\n')).toEqual([
      expect.stringMatching(/^FILE:1: "a\/b" is not a valid provider name/),
    ]);
  });
});
