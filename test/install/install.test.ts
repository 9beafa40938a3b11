import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  firstUserText,
  startFakeModel,
  type Answer,
  type FakeModel,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { Sandbox } from '../e2e/muster.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { needs } from '../needs.ts';
import { expectNoViolations } from '../no-violations.ts';
import { NODE_VERSIONS, nodeProgram } from '../package/nodes.ts';
import { createCertificates, type Certificates } from './certificates.ts';
import { Internet, KEY, PORTS, PROVIDER, PROXY, PROXY_USER } from './internet.ts';
import { PrivateNetwork } from './network.ts';
import { Registry, REGISTRY } from './registry.ts';
import { UserRoot, type CommandOptions, type Ended } from './user-root.ts';

const PROGRAMS = {
  bwrap: 'bubblewrap',
  gcc: 'gcc',
  nsenter: 'util-linux',
  openssl: 'openssl',
  tmux: 'tmux',
};
const CAN_RUN =
  process.platform === 'linux' &&
  Object.entries(PROGRAMS).every(([program, name]) => needs(program, name));

const AUTHORITY = '/etc/authority.pem';
const CLOCK = '/etc/late-clock.so';
const ANSWER = 'The notes say hello.\n';
const TASK = { description: 'read', prompt: 'Read notes.txt.', subagent_type: 'Explore' };
const CHILD_ANSWER = 'It says hello.';
const LOOKS = [
  { name: 'Read', input: { file_path: 'notes.txt' } },
  { name: 'Grep', input: { pattern: 'H.llo', output_mode: 'content' } },
];
const NOT_KEPT =
  /^muster: this run keeps no log, so it cannot be continued, and its prompts and approvals are not remembered: (.+)\n$/;

/** Delegates the question to a child that reads and searches a file. An error of a tool becomes the answer. */
function answerRequest(request: RecordedRequest): Answer {
  const isChild = firstUserText(request).includes(TASK.prompt);
  const results = request.messages.flatMap(({ toolResults = [] }) => toolResults);
  if (results.length === 0) return { toolCalls: isChild ? LOOKS : [{ name: 'Task', input: TASK }] };
  const texts = results.map(({ text }) => text);
  const isRight = texts.every((text) => text.includes(isChild ? 'Hello' : CHILD_ANSWER));
  if (!isRight) return { text: texts.join('\n') };
  return { text: isChild ? CHILD_ANSWER : ANSWER.trimEnd() };
}

const NODES: { readonly version: string; readonly node: string }[] = [];
for (const version of CAN_RUN ? NODE_VERSIONS : []) {
  const node = await nodeProgram(version);
  if (node !== null) NODES.push({ version, node });
}

let directory = '';
let certificates: Certificates;
let network: PrivateNetwork;
let registry: Registry;
let model: FakeModel;
let internet: Internet;

beforeAll(async () => {
  if (!CAN_RUN) return;
  directory = mkdtempSync(join(tmpdir(), 'muster-install-'));
  for (const name of ['noexec', 'authority']) mkdirSync(join(directory, name));
  certificates = createCertificates(join(directory, 'authority'), [REGISTRY, PROVIDER, PROXY]);
  const source = join(import.meta.dirname, 'late-clock.c');
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-o', join(directory, 'clock.so'), source]);
  registry = await Registry.pack(join(directory, 'packages'));
  model = await startFakeModel({
    models: ['claude-haiku-4-5', 'claude-sonnet-5', 'claude-opus-5-5'],
    script: answerRequest,
  });
  network = await PrivateNetwork.open(Object.values(PORTS), join(directory, 'noexec'));
  internet = new Internet(network, { certificates, registry, model: model.url });
});

afterAll(async () => {
  if (!CAN_RUN) return;
  internet[Symbol.dispose]();
  network[Symbol.dispose]();
  await model.close();
  rmSync(directory, { recursive: true, force: true });
  expectNoViolations(model);
});

/** A user on a new machine with this Node. `hosts`: the names that the machine can resolve. */
function newUser(
  node: string,
  {
    home = '/home/user',
    hosts = [REGISTRY, PROVIDER],
  }: { home?: string; hosts?: readonly string[] },
): UserRoot {
  const root = mkdtempSync(join(directory, 'user-'));
  const names = join(root, 'hosts');
  const user = new UserRoot({
    enter: network.enter,
    node,
    directory: root,
    home,
    files: {
      '/etc/hosts': names,
      [AUTHORITY]: certificates.authority,
      [CLOCK]: join(directory, 'clock.so'),
    },
    environment: { NODE_EXTRA_CA_CERTS: AUTHORITY },
  });
  user.write('hosts', `127.0.0.1 localhost ${hosts.join(' ')}\n`);
  user.write('home/my work/notes.txt', 'Hello.\n');
  return user;
}

async function succeeds(running: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await running;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const QUESTION = ['muster', '-p', 'What do the notes say?'];
const WITH_KEY = { ANTHROPIC_API_KEY: KEY };

/** Asks a question that is delegated, checks the answer and the requests, and returns what stderr says. */
async function delegatedAnswer(
  user: UserRoot,
  options: CommandOptions = {},
  command: readonly string[] = QUESTION,
): Promise<string> {
  const before = model.requests.length;
  const { code, stdout, stderr } = await user.run(command, options);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ANSWER, stderr });
  const requests = model.requests.slice(before);
  expect(requests.map(({ headers }) => headers['x-api-key'])).toEqual(Array(4).fill(KEY));
  return stderr;
}

/** Prints the user, the rights, the network and the programs of the machine. */
const DESCRIBE_MACHINE = `
const fs = require('node:fs');
const names = (path) => (fs.existsSync(path) ? fs.readdirSync(path).sort() : []);
console.log(JSON.stringify({
  user: process.getuid(),
  rights: fs.readFileSync('/proc/self/status', 'utf8').match(/CapEff:\\t(.*)/)[1],
  devices: Object.keys(require('node:os').networkInterfaces()),
  root: names('/'),
  programs: [...names('/bin'), ...names('/usr/bin')],
  settings: names('/etc'),
  libraries: names('/lib/' + process.argv[1]).map((name) => name.split('.')[0]),
}));`;

describe.runIf(CAN_RUN).each(NODES)('under Node $version', ({ node }) => {
  it('the machine has an ordinary user, Node, the C library and nothing else', async () => {
    const libraries = process.arch === 'x64' ? 'x86_64-linux-gnu' : 'aarch64-linux-gnu';
    const shown = await succeeds(
      newUser(node, {}).run(['node', '-e', DESCRIBE_MACHINE, libraries]),
    );
    const machine = JSON.parse(shown);
    expect(machine).toEqual({
      user: 1000,
      rights: '0000000000000000',
      devices: ['lo'],
      root: expect.any(Array),
      programs: ['env'],
      settings: ['authority.pem', 'hosts', 'late-clock.so', 'passwd'],
      libraries: expect.any(Array),
    });
    const directories = ['dev', 'etc', 'home', 'lib', 'lib64', 'proc', 'tmp', 'usr'];
    expect(directories).toEqual(expect.arrayContaining(machine.root));
    expect(
      machine.libraries.filter(
        (name: string) =>
          !/^(?:ld-linux|lib(?:atomic|gcc_s|stdc\+\+|c|dl|m|pthread|resolv|rt|util)$)/.test(name),
      ),
    ).toEqual([]);
  });

  describe.each([
    ['a plain home directory', '/home/user'],
    ['a home directory with spaces and other letters', '/home/José Müller/日本 “x”'],
  ])('in %s', (_, home) => {
    let user: UserRoot;
    beforeAll(() => void (user = newUser(node, { home })));

    it('three commands install, sign in and delegate', async () => {
      internet.reached.length = 0;
      registry.requested.length = 0;
      expect(await succeeds(user.run(['npm', 'install', '-g', 'muster-agent']))).toMatch(
        /added 5 packages/,
      );
      const fetched = registry.requested.filter((path) => path.includes('/-/'));
      const platform = `${process.platform}-${process.arch}`;
      expect(fetched.map((path) => path.split('/-/')[0]).toSorted()).toEqual([
        '@napi-rs/keyring',
        `@napi-rs/keyring-${platform}-gnu`,
        '@vscode/ripgrep',
        `@vscode/ripgrep-${platform}`,
        'muster-agent',
      ]);
      expect(await succeeds(user.run(['muster', 'login', 'anthropic'], { stdin: KEY }))).toMatch(
        /^Anthropic accepts the key\.\nThe keychain is not used: no Secret Service, [^\n]+\nThe key is in .*, which only you can read\./,
      );
      expect(await delegatedAnswer(user)).toBe('');
      expect(new Set(internet.reached)).toEqual(new Set([REGISTRY, PROVIDER]));
    });

    it('a wrong key is not stored, and the right one can be typed in a terminal', async () => {
      const wrong = await user.run(['muster', 'login', 'anthropic'], { stdin: 'sk-ant-wrong' });
      expect([wrong.code, wrong.stdout]).toEqual([1, '']);
      expect(wrong.stderr).toMatch(
        /^muster: Anthropic refuses the key: .*\nmuster: Nothing was stored/,
      );
      using sandbox = new Sandbox();
      const command = ['muster', 'login', 'anthropic', '--account', 'second'];
      const program = user.commandLine(command, { environment: { TERM: 'screen-256color' } });
      using terminal = new TmuxTerminal(sandbox, [], { env: {}, program });
      await terminal.sees('API key of Anthropic');
      terminal.type(KEY);
      terminal.press('Enter');
      expect(await terminal.sees('exit 0')).not.toContain(KEY);
      const accounts = await succeeds(user.run(['muster', 'login', '--list']));
      expect(accounts).toMatch(/^anthropic +default +key in the file .*\nanthropic +second /);
      expect(statSync(user.inHome('.local/share/muster/credentials.json')).mode & 0o777).toBe(
        0o600,
      );
    });

    it('`muster --version`, `doctor` and `models` find everything', async () => {
      expect(await succeeds(user.run(['muster', '--version']))).toMatch(/^\d+\.\d+\.\d+\n$/);
      const doctor = await succeeds(user.run(['muster', 'doctor']));
      expect(doctor).not.toMatch(/^fail/m);
      expect(doctor).toMatch(/^ok +model +anthropic\//m);
      expect(doctor).toMatch(/^ok +ripgrep +\S/m);
      const models = await succeeds(user.run(['muster', 'models']));
      expect(models).toMatch(/^anthropic +\S+ +ready/m);
    });

    it('`muster` shows its screen in a terminal', async () => {
      using sandbox = new Sandbox();
      const program = user.commandLine(['muster'], {
        environment: { TERM: 'screen-256color' },
      });
      using terminal = new TmuxTerminal(sandbox, [], { env: {}, program });
      expect(await terminal.sees('/help')).toContain('anthropic/');
      terminal.type('What do the notes say?');
      terminal.press('Enter');
      await terminal.sees(ANSWER.trimEnd());
      terminal.press('C-d', 'C-d');
      await terminal.sees('exit 0');
    });
  });

  it('npx runs it without an installation; npm itself needs a shell for this', async () => {
    const user = newUser(node, {});
    const command = ['npx', '--yes', 'muster-agent', '-p', 'What do the notes say?'];
    const options = { environment: WITH_KEY, hasShell: true };
    expect(await delegatedAnswer(user, options, command)).toBe('');
    expect(readdirSync(user.inHome('node/lib/node_modules'))).toEqual(['npm']);
  });

  it('it can be installed below another prefix', async () => {
    const home = '/home/user name';
    const user = newUser(node, { home });
    const prefix = join(home, '.local');
    await succeeds(user.run(['npm', 'install', '-g', '--prefix', prefix, 'muster-agent']));
    const command = [join(prefix, 'bin/muster'), '-p', 'What do the notes say?'];
    expect(await delegatedAnswer(user, { environment: WITH_KEY }, command)).toBe('');
  });

  describe('on a machine that lacks something', () => {
    const environment = WITH_KEY;
    let user: UserRoot;
    beforeAll(async () => {
      user = newUser(node, {});
      await succeeds(user.run(['npm', 'install', '-g', 'muster-agent']));
    });

    const reason = (stderr: string) => NOT_KEPT.exec(stderr)?.[1];

    it('a read-only home directory stops no answer', async () => {
      const readOnly = { home: 'read-only', environment } as const;
      expect(reason(await delegatedAnswer(user, readOnly))).toMatch(
        /: EROFS: read-only file system/,
      );
      // Not even temporary files can be written.
      expect(reason(await delegatedAnswer(user, { ...readOnly, temporary: null }))).toMatch(
        /EROFS/,
      );
      expect(await delegatedAnswer(user, readOnly, [...QUESTION, '--no-log'])).toBe('');
      const doctor = await succeeds(user.run(['muster', 'doctor'], readOnly));
      expect(doctor).toMatch(/^warn +data directory .*EROFS: nothing can be written/m);
      expect(readdirSync(user.inHome('.'))).not.toContain('.local');
    });

    it('in a read-only home directory, a key needs another place, and a stored one is used', async () => {
      const login = ['muster', 'login', 'anthropic'];
      const refused = await user.run(login, { home: 'read-only', stdin: KEY });
      expect([refused.code, refused.stdout]).toEqual([1, 'Anthropic accepts the key.\n']);
      expect(refused.stderr).toMatch(/EROFS.*The key is not stored: it needs a data directory/);
      const temporary = mkdtempSync(join(directory, 'temporary-'));
      const other = {
        home: 'read-only',
        temporary,
        environment: { MUSTER_DATA_DIR: '/tmp/kept' },
      } as const;
      await succeeds(user.run(login, { ...other, stdin: KEY }));
      expect(await delegatedAnswer(user, other)).toBe('');
      await succeeds(user.run(login, { stdin: KEY }));
      expect(reason(await delegatedAnswer(user, { home: 'read-only' }))).toMatch(/EROFS/);
      await succeeds(user.run(['muster', 'logout', 'anthropic']));
    });

    it.each(['MUSTER_DATA_DIR', 'XDG_DATA_HOME'])(
      'in a read-only home directory, %s names the place for logs',
      async (variable) => {
        const temporary = mkdtempSync(join(directory, 'temporary-'));
        const options = { home: 'read-only', temporary } as const;
        const place = { ...environment, [variable]: '/tmp/kept' };
        expect(await delegatedAnswer(user, { ...options, environment: place })).toBe('');
        const listed = await succeeds(
          user.run(['muster', 'tasks', 'list'], { ...options, environment: place }),
        );
        expect(listed).toMatch(/completed +main: What do the notes say\?/);
      },
    );

    it('without HOME, the user database says where the home directory is', async () => {
      const options = { environment: { ...environment, HOME: null } };
      expect(await delegatedAnswer(user, options)).toBe('');
      expect(await succeeds(user.run(['muster', 'tasks', 'list'], options))).toMatch(/completed/);
    });

    it('without HOME and without an entry in the user database, nothing is kept', async () => {
      const options = { environment: { ...environment, HOME: null }, isListed: false };
      expect(reason(await delegatedAnswer(user, options))).toMatch(/there is no home directory/);
      expect(await succeeds(user.run(['muster', 'doctor'], options))).toMatch(
        /^warn +data directory +there is no home directory/m,
      );
      expect(await succeeds(user.run(['muster', '--version'], options))).toMatch(/^\d/);
    });

    it('nothing has to be run from /tmp', async () => {
      const options = { environment, temporary: join(directory, 'noexec') };
      expect(await delegatedAnswer(user, options)).toBe('');
    });

    it('a umask of 077 and a limit of 64 open files are enough', async () => {
      const before = 'umask 077; ulimit -n 64';
      expect(await delegatedAnswer(user, { environment, before })).toMatch(
        /^muster: the limit of 64 open files \(ulimit -n\) allows only 2 tasks of a tree at a time.*\n$/,
      );
    });

    it('a umask of 0 opens nothing to others', async () => {
      expect(await delegatedAnswer(user, { environment, before: 'umask 0' })).toBe('');
      const data = user.inHome('.local/share/muster');
      const open = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter(
        (name) => (statSync(join(data, name)).mode & 0o077) !== 0,
      );
      expect(open).toEqual([]);
    });

    it('a clock that is twenty years late breaks nothing but certificates', async () => {
      const late = { ...environment, LD_PRELOAD: CLOCK };
      const local = { ...late, ANTHROPIC_BASE_URL: `http://127.0.0.1:${PORTS.local}` };
      expect(await delegatedAnswer(user, { environment: local })).toBe('');
      const { code, stderr } = await user.run(QUESTION, { environment: late });
      expect(code).toBe(1);
      expect(stderr).toMatch(/certificate is not yet valid .*; the clock of this machine says 20/);
    });

    it('a locale is not needed, and a wrong one does no harm', async () => {
      for (const LANG of [null, 'C', 'xx_YY.ISO-8859-1']) {
        // oxlint-disable-next-line no-await-in-loop -- the requests of one answer are counted
        expect(await delegatedAnswer(user, { environment: { ...environment, LANG } })).toBe('');
      }
    });
  });

  describe.each([
    ['http', `http://${PROXY_USER}@${PROXY}:${PORTS.proxy}`],
    ['https', `https://${PROXY_USER}@${PROXY}:${PORTS.tlsProxy}`],
  ])('behind an %s proxy whose authority the system does not know', (_, HTTPS_PROXY) => {
    const environment = { HTTPS_PROXY };
    let user: UserRoot;
    beforeAll(() => void (user = newUser(node, { hosts: [PROXY] })));

    it('the three commands work with NODE_EXTRA_CA_CERTS', async () => {
      internet.tunnels.length = 0;
      await succeeds(user.run(['npm', 'install', '-g', 'muster-agent'], { environment }));
      await succeeds(user.run(['muster', 'login', 'anthropic'], { environment, stdin: KEY }));
      expect(await delegatedAnswer(user, { environment })).toBe('');
      expect(new Set(internet.tunnels)).toEqual(new Set([`${REGISTRY}:443`, `${PROVIDER}:443`]));
    });

    it('SSL_CERT_FILE is enough for Muster', async () => {
      const file = { ...environment, NODE_EXTRA_CA_CERTS: null, SSL_CERT_FILE: AUTHORITY };
      expect(await delegatedAnswer(user, { environment: file })).toBe('');
    });

    it('without its authority, the error says what to set', async () => {
      const { code, stdout, stderr } = await user.run(QUESTION, {
        environment: { ...environment, NODE_EXTRA_CA_CERTS: null },
      });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/no trusted connection: .*set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE/);
    });
  });
});
