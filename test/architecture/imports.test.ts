import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const src = join(root, 'src');

interface Import {
  /** Path below src of the importing file. */
  readonly from: string;
  /** Path below src, or the name of a package. */
  readonly to: string;
  readonly kind: 'value' | 'type' | 'dynamic';
}

const STATEMENT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

function sourceFiles(): readonly string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .toSorted();
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(src, file), 'utf8');
  return [...text.matchAll(STATEMENT)].map(([, typeOnly, fixed, dynamic]) => {
    const target = fixed ?? dynamic ?? '';
    const to = target.startsWith('.')
      ? relative(src, resolve(src, dirname(file), target))
      : target.startsWith('node:')
        ? target
        : target
            .split('/')
            .slice(0, target.startsWith('@') ? 2 : 1)
            .join('/');
    const kind = dynamic !== undefined ? 'dynamic' : typeOnly !== undefined ? 'type' : 'value';
    return { from: file, to, kind };
  });
}

const files = sourceFiles();
const imports = files.flatMap(importsOf);
const own = imports.filter(({ to }) => files.includes(to));

/** Each module of `src`, with the modules that it may import. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  sys: ['base'],
  protocol: ['base'],
  model: ['protocol', 'sys', 'base'],
  policy: ['protocol', 'sys', 'base'],
  agents: ['protocol', 'sys', 'base'],
  store: ['protocol', 'sys', 'base'],
  receipts: ['protocol', 'base'],
  acceptance: ['protocol', 'sys', 'base'],
  workspaces: ['protocol', 'sys', 'base'],
  web: ['protocol', 'sys', 'base'],
  languages: ['protocol', 'sys', 'base'],
  tools: ['web', 'mcp', 'protocol', 'sys', 'base'],
  mcp: ['protocol', 'sys', 'base'],
  hooks: ['protocol', 'sys', 'base'],
  remote: ['model', 'protocol', 'sys', 'base'],
  control: ['base'],
  keys: ['model', 'store', 'protocol', 'sys', 'base'],
  config: ['model', 'policy', 'agents', 'protocol', 'sys', 'base'],
  engine: [
    'acceptance',
    'receipts',
    'model',
    'policy',
    'agents',
    'store',
    'tools',
    'protocol',
    'sys',
    'base',
  ],
  replay: ['engine', 'store', 'protocol', 'sys', 'base'],
  report: ['engine', 'receipts', 'protocol', 'sys', 'base'],
  telemetry: ['protocol', 'sys', 'base'],
  trust: [
    'config',
    'engine',
    'policy',
    'agents',
    'store',
    'tools',
    'mcp',
    'hooks',
    'protocol',
    'sys',
    'base',
  ],
  plugins: [
    'trust',
    'config',
    'agents',
    'store',
    'mcp',
    'languages',
    'hooks',
    'protocol',
    'sys',
    'base',
  ],
  api: [
    'plugins',
    'hooks',
    'remote',
    'acceptance',
    'trust',
    'report',
    'replay',
    'telemetry',
    'config',
    'control',
    'keys',
    'engine',
    'receipts',
    'workspaces',
    'model',
    'policy',
    'agents',
    'store',
    'tools',
    'web',
    'mcp',
    'languages',
    'protocol',
    'sys',
    'base',
  ],
  front: ['api', 'config', 'trust', 'report', 'protocol', 'sys', 'base'],
  testing: ['model', 'protocol', 'base'],
  // The entry points of the package.
  library: ['api', 'config', 'protocol', 'base'],
  'library.ts': ['library', 'api', 'protocol'],
  'ai-sdk.ts': ['library'],
  'events.ts': ['protocol', 'base'],
};

/** The rooms of a large module, the lowest first: a room never imports a room that stands after it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  engine: [
    'limits',
    'memory',
    'shells',
    'task',
    'prompt',
    'turn',
    'hooks',
    'questions',
    'permissions',
    'process',
    'calls',
    'quote',
    'compaction',
    'structured',
    'acceptance',
    'workspace',
    'results',
    'rewind',
    'delegation',
    'fan-out',
    'reuse',
    'task-tools',
    'loop',
  ],
  store: [
    'task-store.ts',
    'files',
    'redact',
    'locks',
    'state',
    'log',
    'blobs',
    'index',
    'store-parts.ts',
    'delete-tasks.ts',
    'sweep-record.ts',
    'export',
  ],
  model: [
    'limiter',
    'settings',
    'providers',
    'catalogue',
    'selection',
    'adapters',
    'listing',
    'offline',
    'watchdog.ts',
    'model-port.ts',
    'probe',
  ],
  api: [
    'setup',
    'plugins',
    'mcp',
    'remote',
    'context',
    'agents',
    'templates',
    'workspaces',
    'tasks',
    'session',
    'hooks',
    'explain',
  ],
};

/** The module of a file: its first folder below `src`. */
function moduleOf(file: string): string {
  return file.split('/')[0] ?? '';
}

/**
 * The position of a file in the order of its module's rooms. A file directly in the module is a room of its own if the
 * order lists it; otherwise it stands above all rooms.
 */
function roomNumber(rooms: readonly string[], file: string): number {
  const [, room = '', ...rest] = file.split('/');
  return rest.length === 0 && !rooms.includes(room) ? rooms.length : rooms.indexOf(room);
}

describe('imports', () => {
  it('point down between modules', () => {
    const upward = own
      .filter(
        ({ from, to }) =>
          moduleOf(from) !== moduleOf(to) && !ALLOWED[moduleOf(from)]?.includes(moduleOf(to)),
      )
      .map(({ from, to }) => `${from} → ${to}`);
    expect(upward).toEqual([]);
  });

  it.each(Object.entries(ROOMS))('point down between the parts of %s', (name, rooms) => {
    const inside = own.filter(({ from, to }) => moduleOf(from) === name && moduleOf(to) === name);
    const unknown = files.filter((file) => moduleOf(file) === name && roomNumber(rooms, file) < 0);
    const upward = inside
      .filter(({ from, to }) => roomNumber(rooms, to) > roomNumber(rooms, from))
      .map(({ from, to }) => `${from} → ${to}`);
    expect({ unknown, upward }).toEqual({ unknown: [], upward: [] });
  });

  it('between front ends do not exist', () => {
    const front = (file: string) => file.split('/').slice(0, 2).join('/');
    const sideways = own.filter(
      ({ from, to }) =>
        moduleOf(from) === 'front' && moduleOf(to) === 'front' && front(from) !== front(to),
    );
    // The command line chooses which front to load, and so may name each, dynamically.
    const wrong = sideways.filter(
      ({ from, kind }) => !(front(from) === 'front/cli' && kind === 'dynamic'),
    );
    expect(wrong).toEqual([]);
  });

  it('of front ends reach the library through its index alone', () => {
    const behind = own.filter(
      ({ from, to }) =>
        moduleOf(from) === 'front' && moduleOf(to) === 'api' && to !== 'api/index.ts',
    );
    expect(behind).toEqual([]);
  });

  it('form no cycle', () => {
    const next = Map.groupBy(own, ({ from }) => from);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
        return;
      }
      if (done.has(file)) return;
      for (const { to } of next.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('load heavy packages only when they are used', () => {
    const heavy = new Set([
      '@ai-sdk/amazon-bedrock',
      '@ai-sdk/anthropic',
      '@ai-sdk/google',
      '@ai-sdk/openai',
      '@ai-sdk/openai-compatible',
      '@aws-sdk/credential-providers',
      '@cfworker/json-schema',
      '@earendil-works/pi-tui',
      '@modelcontextprotocol/client',
      'aws4fetch',
      'google-auth-library',
      'highlight.js',
      'hono',
      'ipaddr.js',
      'htmlparser2',
      'unpdf',
      'vscode-languageserver-protocol',
      '@pydantic/genai-prices',
      '@vscode/ripgrep',
      'smol-toml',
      'unbash',
      'undici',
      'yaml',
      'zod',
    ]);
    const reached = staticallyReached(['front/cli/bin.ts', 'api/open-session.ts', 'library.ts']);
    const loaded = imports
      .filter(({ from, to, kind }) => reached.has(from) && kind === 'value' && heavy.has(to))
      .map(({ from, to }) => `${from} → ${to}`);
    expect(loaded).toEqual([]);
  });
});

it('one file loads the client of MCP, when a connection is opened', () => {
  const sdk = imports.filter(
    ({ to, kind }) => to.startsWith('@modelcontextprotocol/') && kind === 'value',
  );
  // The server of Muster is a front end, and uses the other package of the SDK.
  const isServer = ({ from, to }: (typeof sdk)[number]) =>
    from.startsWith('front/mcp-server/') && to.startsWith('@modelcontextprotocol/server');
  expect(sdk.every((each) => each.from.startsWith('mcp/') || isServer(each))).toBe(true);
  const users = new Set(sdk.map(({ from }) => from));
  const reached = staticallyReached(['mcp/connections.ts', 'mcp/read-servers.ts']);
  expect([...reached].filter((file) => users.has(file))).toEqual([]);
  const loaders = own.filter(({ to, kind }) => to === 'mcp/open-session.ts' && kind === 'dynamic');
  expect(loaders.map(({ from }) => from)).toEqual(['mcp/start-session.ts']);
});
it('the protocol of language servers is loaded when a server is started', () => {
  const users = new Set(
    imports
      .filter(({ to, kind }) => to.startsWith('vscode-') && kind === 'value')
      .map(({ from }) => from),
  );
  expect([...users]).toEqual(['languages/connection.ts']);
  const reached = staticallyReached(['api/setup/languages.ts', 'languages/open-languages.ts']);
  expect([...reached].filter((file) => users.has(file))).toEqual([]);
});
/** The modules that a headless run imports dynamically one after the other, before its first request. */
const START_OF_A_RUN = [
  'front/cli/bin.ts',
  'front/cli/main.ts',
  'front/cli/run-prompt.ts',
  'api/open-session.ts',
  'front/headless/headless.ts',
];

/** The modules that the terminal UI imports dynamically one after the other, before its first picture. */
const START_OF_THE_UI = [
  'front/cli/bin.ts',
  'front/cli/main.ts',
  'front/cli/interactive.ts',
  'api/open-session.ts',
  'front/tui/tui.ts',
];

describe.each([
  ['a run', START_OF_A_RUN],
  ['the terminal UI', START_OF_THE_UI],
])('the start of %s', (_, start) => {
  it('loads nothing of hooks, slash commands, plugins, telemetry and the board but what tells whether they are used', () => {
    const reached = [...staticallyReached(start)];
    expect(reached).toContain('engine/engine.ts');
    const isOptional = (file: string): boolean =>
      /^(?:hooks|plugins|telemetry)\//.test(file) ||
      file.startsWith('agents/commands/') ||
      (/hook|slash|plugin|telemetry|board/.test(file) && !file.startsWith('front/'));
    expect(reached.filter(isOptional).toSorted()).toEqual([
      // The places of the files, and the names that a typed text may mean.
      'agents/commands/find-command.ts',
      'agents/commands/kind.ts',
      // Of an agent's file, the hooks are kept as they are.
      'agents/fields/hooks.ts',
      'agents/loader/plugins.ts',
      'api/session/session-hooks.ts',
      'api/setup/plugins.ts',
      'api/setup/telemetry.ts',
      'config/telemetry-keys.ts',
      // The occasions, which first ask whether there is a hook.
      'engine/calls/call-hooks.ts',
      'engine/hook-ports.ts',
      'engine/hooks/model-hooks.ts',
      'engine/hooks/prompt-hooks.ts',
      'engine/hooks/run-hooks.ts',
      'engine/hooks/task-hooks.ts',
      'engine/permissions/hooks-before-call.ts',
      // The description of the tool, and the list of the findings in memory.
      'engine/task-tools/board.ts',
      'engine/task/tree-board.ts',
      'policy/hook-condition.ts',
      'protocol/board.ts',
      'protocol/hook-fields.ts',
      'protocol/hook-text.ts',
      'protocol/slash-text.ts',
      'report/board-lines.ts',
      'trust/hook-files.ts',
    ]);
  });
});

describe('a run', () => {
  it('loads neither the readers of other vendors’ files nor modules that only other commands need', () => {
    const reached = staticallyReached(START_OF_A_RUN);
    const readers = files
      .filter((file) => file === 'agents/formats/vendors.ts')
      .flatMap(importsOf)
      .filter(({ kind }) => kind === 'dynamic')
      .map(({ to }) => to);
    expect(readers.length).toBe(10);
    const others = [
      ...readers,
      'agents/formats/detect-format.ts',
      'agents/skills/read-skill.ts',
      'agents/skills/lint-skill.ts',
      'agents/write-agent.ts',
      'api/agents/list-agents.ts',
      'api/agents/list-skills.ts',
    ];
    expect(others.filter((file) => !files.includes(file) || reached.has(file))).toEqual([]);
    const commands = [...reached].filter((file) => file.startsWith('front/cli/commands'));
    expect(commands.toSorted()).toEqual([
      'front/cli/commands/help.ts',
      'front/cli/commands/prompt.ts',
    ]);
  });

  it('compiles patterns with Unicode properties only when they are used', () => {
    const compiledAtOnce = [...staticallyReached(START_OF_A_RUN)].filter((file) =>
      /^(?:export )?const \w+[^=\n]*=\s*(?:\/|new RegExp\()[^\n]*\\p\{/m.test(
        readFileSync(join(src, file), 'utf8'),
      ),
    );
    // `lazy` of base/lazy.ts delays them: each takes up to a millisecond.
    expect(compiledAtOnce).toEqual([]);
  });
});

it('the help, the version and the list of commands load neither the engine nor its dependencies', () => {
  const reached = staticallyReached([
    'front/cli/bin.ts',
    'front/cli/main.ts',
    'front/cli/help.ts',
    'front/cli/commands.ts',
  ]);
  const heavy = new Set(['engine', 'model', 'store', 'tools', 'testing']);
  expect([...reached].filter((file) => heavy.has(moduleOf(file)))).toEqual([]);
  // The names of configuration keys and their values, and the names of examples.
  const light = ['agents/example-agents.ts', 'policy/modes.ts'];
  const others = [...reached].filter((file) => ['agents', 'policy'].includes(moduleOf(file)));
  expect(others.toSorted()).toEqual(light);
});

function staticallyReached(entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>(entries);
  for (const file of reached) {
    for (const { from, to, kind } of own) {
      if (from === file && kind === 'value') reached.add(to);
    }
  }
  return reached;
}

/** Reads a file without its doc comments, whose examples are programs of users. */
function readCode(file: string): string {
  return readFileSync(join(src, file), 'utf8').replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\//gm, '');
}

describe('the environment', () => {
  it('is read in one file', () => {
    const readers = files.filter((file) => readCode(file).includes('process.env'));
    expect(readers).toEqual(['sys/env.ts']);
  });
});

it('all output goes through one writer, which makes it safe for a terminal', () => {
  // `bin.ts` runs on any Node, where nothing else loads; the fake model is a tool for tests.
  const writers = new Set(['sys/print.ts', 'front/cli/bin.ts', 'testing/fake-model-main.ts']);
  const raw = files.filter((file) =>
    /\bstd(?:out|err)\.write\(|\bconsole\.\w+\(/.test(readCode(file)),
  );
  expect(raw.filter((file) => !writers.has(file))).toEqual([]);
});
