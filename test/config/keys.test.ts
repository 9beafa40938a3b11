import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { type ConfigKey } from '../../src/config/keys.ts';
import { ALL_KEYS } from '../../src/config/key-entry.ts';
import { loadConfig, readConfig } from '../../src/config/load.ts';
import { listConfigEntries } from '../../src/config/show.ts';
import { makePlace, problemsIn } from './support.ts';

/** Key, default, another valid value with its texts, and wrong values as TOML and as text. */
interface Row {
  readonly initial: unknown;
  readonly other: unknown;
  readonly toml: string;
  readonly text: string;
  readonly wrongToml: string;
  readonly wrongText: string;
}

const flag = (initial: boolean): Row => ({
  initial,
  other: !initial,
  toml: String(!initial),
  text: String(!initial),
  wrongToml: '"true"',
  wrongText: 'yes',
});
const whole = (initial: unknown): Row => ({
  initial,
  other: 7,
  toml: '7',
  text: '7',
  wrongToml: '7.5',
  wrongText: '7e1',
});
const megabytes = (initial: unknown): Row => ({
  ...whole(initial),
  other: 64,
  toml: '64',
  text: '64',
});
const decimal = (initial: unknown): Row => ({
  initial,
  other: 7.5,
  toml: '7.5',
  text: '7.5',
  wrongToml: '-1',
  wrongText: '7s',
});
const word = (initial: unknown, other: string): Row => ({
  initial,
  other,
  toml: `"${other}"`,
  text: other,
  wrongToml: '7',
  wrongText: 'nonsense',
});
const model: Row = { ...word(null, 'acme/large'), wrongText: ' ' };
const list: Row = {
  initial: [],
  other: ['Read', 'Bash(a,b)'],
  toml: '["Read", "Bash(a,b)"]',
  text: '["Read", "Bash(a,b)"]',
  wrongToml: '["Read", 7]',
  wrongText: '["Read",',
};

const models: Row = {
  ...list,
  other: ['acme/large', 'fast'],
  toml: '["acme/large", "fast"]',
  text: 'acme/large, fast',
  wrongText: 'acme/large,',
};

const ROWS: Readonly<Record<ConfigKey, Row>> = {
  'task_tool.enabled': flag(true),
  'task_tool.max_depth': whole(2),
  'task_tool.nested': flag(false),
  'task_tool.default_timeout_seconds': decimal(300),
  'task_tool.task_wall_seconds': decimal(1800),
  'task_tool.max_tokens': whole(1_000_000),
  'task_tool.max_cost_usd': decimal(0),
  'task_tool.max_tool_bytes': whole(0),
  'task_tool.max_turns': whole(null),
  'task_tool.result_max_tokens': whole(2000),
  'task_tool.max_parallel': whole(16),
  'task_tool.max_tasks': whole(500),
  'task_tool.enable_verbose_logging': flag(false),
  'task_tool.allow_model_override': flag(true),
  'task_tool.cache': flag(false),
  'budget.tree_tokens': whole(0),
  'budget.tree_cost_usd': decimal(0),
  'budget.tree_turns': whole(0),
  'budget.tree_wall_seconds': decimal(0),
  'budget.tree_tool_bytes': whole(0),
  'budget.max_processes': whole(64),
  'liveness.connect_seconds': decimal(20),
  'liveness.first_token_seconds': decimal(null),
  'liveness.stream_idle_seconds': decimal(120),
  'liveness.silent_retries': whole(1),
  'liveness.tool_seconds': decimal(600),
  'liveness.no_progress_calls': whole(8),
  'output.tool_result_bytes': { ...whole(30_000), other: 700, toml: '700', text: '700' },
  'output.read_bytes': { ...whole(262_144), other: 700, toml: '700', text: '700' },
  'output.server_tools_bytes': whole(35_000),
  'output.spill_bytes': whole(52_428_800),
  'models.default': model,
  'models.fast': model,
  'models.balanced': model,
  'models.powerful': model,
  'models.fallback': models,
  'models.fallback_fast': models,
  'models.fallback_balanced': models,
  'models.fallback_powerful': models,
  'models.family': word('auto', 'kimi'),
  'provider.retries': whole(6),
  'provider.max_wait_seconds': decimal(null),
  'provider.max_concurrent': whole(64),
  'provider.cache_hold_ms': whole(2_000),
  'provider.requests_per_minute': whole(0),
  'permissions.mode': word('default', 'plan'),
  'permissions.allow': list,
  'permissions.ask': list,
  'permissions.deny': list,
  'permissions.agent_modes': {
    initial: [],
    other: ['coder=acceptEdits', 'x=autonomous'],
    toml: '["coder=acceptEdits", "x=autonomous"]',
    text: '["coder=acceptEdits", "x=autonomous"]',
    wrongToml: '["coder=plan"]',
    wrongText: 'coder',
  },
  'permissions.on_ask': word('deny', 'park'),
  'sandbox.kind': word('auto', 'off'),
  'sandbox.network': flag(false),
  'sandbox.caches': word('private', 'shared'),
  'sandbox.env': {
    initial: [],
    other: ['CI', 'GIT_AUTHOR_NAME'],
    toml: '["CI", "GIT_AUTHOR_NAME"]',
    text: '["CI", "GIT_AUTHOR_NAME"]',
    wrongToml: '["CI", "GIT_SSH_COMMAND"]',
    wrongText: 'BASH_ENV',
  },
  'sandbox.command_processes': whole(2048),
  'code.feedback': flag(true),
  'code.format': flag(true),
  'code.check': list,
  'code.servers': {
    ...list,
    other: ['python=pylsp'],
    toml: '["python=pylsp"]',
    text: '["python=pylsp"]',
  },
  'code.check_seconds': decimal(3),
  'code.start_seconds': decimal(20),
  'code.command_seconds': decimal(30),
  'code.format_seconds': decimal(10),
  'code.project_programs': flag(false),
  'workspaces.uncommitted': flag(true),
  'workspaces.packages': word('link', 'copy'),
  'workspaces.package_directories': {
    initial: ['node_modules'],
    other: ['node_modules', '.venv'],
    toml: '["node_modules", ".venv"]',
    text: '["node_modules", ".venv"]',
    wrongToml: '["../x"]',
    wrongText: '/usr',
  },
  'workspaces.setup': { ...word(null, 'npm ci'), wrongText: ' ' },
  'workspaces.max_copy_bytes': whole(524_288_000),
  'workspaces.max_copy_files': whole(50_000),
  'process.heap_mb': megabytes(512),
  'process.memory_mb': megabytes(4_096),
  'process.cpu_seconds': whole(1_800),
  'web.search': word('auto', 'off'),
  'web.searxng_url': { ...word(null, 'http://localhost:8888'), wrongText: ' ' },
  'remote.a2a_origins': {
    ...list,
    other: ['https://agents.example', 'http://127.0.0.1:4000'],
    toml: '["https://agents.example", "http://127.0.0.1:4000"]',
    text: '["https://agents.example", "http://127.0.0.1:4000"]',
    wrongToml: '["https://agents.example/"]',
    wrongText: 'agents.example',
  },
  'terminal.notify': word('bell', 'desktop'),
  'terminal.title': flag(true),
  'terminal.hints': flag(true),
  'terminal.theme': word('auto', 'light'),
  'terminal.detail': word('full', 'short'),
  'terminal.thinking': word('short', 'full'),
  'otel.endpoint': { ...word(null, 'http://localhost:4318'), wrongText: ' ' },
  'otel.headers_env': { ...word(null, 'OTEL_HEADERS'), wrongText: ' ' },
  'otel.content': flag(false),
  'log.file': { ...word(null, '/tmp/muster.log'), wrongText: ' ' },
  'log.level': word('info', 'debug'),
  'store.retention_days': whole(30),
  'store.durability': word('safe', 'fast'),
};

const names = Object.keys(ROWS) as ConfigKey[];

function rowOf(key: ConfigKey) {
  const row = ROWS[key];
  const [section, name] = key.split('.');
  const variable = `MUSTER_${section}_${name}`.toUpperCase();
  return { ...row, section, name, variable };
}

async function entryOf(key: ConfigKey, place: ReturnType<typeof makePlace>, changes = {}) {
  const loaded = await loadConfig(place.inputs(changes));
  const entry = listConfigEntries(loaded).find((candidate) => candidate.key === key);
  return { value: entry?.value, source: entry?.source };
}

it('has exactly the keys of the specification', () => {
  expect(ALL_KEYS.map((entry) => entry.key)).toEqual(names);
});

it('accepts keys that have no effect yet, and says so', async () => {
  const loaded = await loadConfig(makePlace({}).inputs());
  const idle = listConfigEntries(loaded).filter((entry) => !entry.acts);
  expect(idle.map((entry) => entry.key)).toEqual([]);
});

describe.each(names)('%s', (key) => {
  const row = rowOf(key);
  const file = `# a comment\n\n[${row.section}]\n${row.name} = ${row.toml}\n`;

  it('has its default', async () => {
    expect(await entryOf(key, makePlace())).toEqual({ value: row.initial, source: 'default' });
  });

  it('is read from a file, with its line', async () => {
    const place = makePlace({ user: file });
    expect(await entryOf(key, place)).toEqual({ value: row.other, source: `${place.userFile}:4` });
  });

  it('is read from the environment', async () => {
    const environment = { [row.variable]: row.text };
    expect(await entryOf(key, makePlace(), { environment })).toEqual({
      value: row.other,
      source: row.variable,
    });
  });

  it('is read from a flag', async () => {
    const flags = [{ key, flag: '--flag', text: row.text }];
    expect(await entryOf(key, makePlace(), { flags })).toEqual({
      value: row.other,
      source: '--flag',
    });
  });

  it('refuses a wrong value in a file', async () => {
    const problems = await problemsIn(`[${row.section}]\n${row.name} = ${row.wrongToml}\n`);
    expect(problems).toEqual([expect.stringMatching(`^FILE:2: ${key} must be .+, not `)]);
  });

  it('refuses a wrong value in the environment and in a flag', async () => {
    const { problems } = await readConfig(
      makePlace().inputs({
        environment: { [row.variable]: row.wrongText },
        flags: [{ key, flag: '--flag', text: row.wrongText }],
      }),
    );
    const message = expect.stringContaining(`${key} must be `);
    expect(problems).toEqual([
      { where: row.variable, message },
      { where: '--flag', message },
    ]);
  });

  it('is suggested when its name is misspelled', async () => {
    const problems = await problemsIn(`[${row.section}]\n${row.name}x = 1\n`);
    expect(problems).toEqual([
      expect.stringContaining(
        `FILE:2: unknown key "${row.name}x" in [${row.section}]; valid: ${row.name}`,
      ),
    ]);
  });
});

it('has its type from the table', () => {
  expectTypeOf<Config['taskTool']['maxDepth']>().toEqualTypeOf<number>();
  expectTypeOf<Config['taskTool']['maxTurns']>().toEqualTypeOf<number | null>();
  expectTypeOf<Config['permissions']['onAsk']>().toEqualTypeOf<'deny' | 'park'>();
  expectTypeOf<Config['permissions']['deny']>().toEqualTypeOf<readonly string[]>();
});

it('gives the defaults as one value in camel case', async () => {
  const { config } = await loadConfig(makePlace().inputs());
  expect(config.taskTool).toEqual({
    enabled: true,
    maxDepth: 2,
    nested: false,
    defaultTimeoutSeconds: 300,
    taskWallSeconds: 1800,
    maxTokens: 1_000_000,
    maxCostUsd: 0,
    maxToolBytes: 0,
    maxTurns: null,
    resultMaxTokens: 2000,
    maxParallel: 16,
    maxTasks: 500,
    enableVerboseLogging: false,
    allowModelOverride: true,
    cache: false,
  });
  expect(config.models).toEqual({
    default: null,
    family: 'auto',
    fast: null,
    balanced: null,
    powerful: null,
    fallback: [],
    fallbackFast: [],
    fallbackBalanced: [],
    fallbackPowerful: [],
    providers: new Map(),
    catalogue: new Map(),
  });
});
