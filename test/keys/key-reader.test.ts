import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { createKeyReader, type KeyReaderOptions } from '../../src/keys/key-reader.ts';
import { KeyUnavailableError, type KeySource } from '../../src/protocol/api-key.ts';

const SETTING = 'models.providers.x.api_key_command';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-keys-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A reader with a clock that only the test moves, and the keys that the reader has reported. */
function openReader(options: Partial<KeyReaderOptions> = {}) {
  const keys: string[] = [];
  const time = { ms: 1_000_000 };
  const reader = createKeyReader({
    environment: { PATH: process.env['PATH'], HOME: home, MARK: 'of the user' },
    home,
    clock: { now: () => time.ms, monotonic: () => time.ms },
    onKey: (key) => void keys.push(key),
    ...options,
  });
  return { reader, keys, time };
}

function command(text: string | readonly string[], ttlMs = 60_000): KeySource {
  return { kind: 'command', command: text, ttlMs, setting: SETTING };
}

function file(path: string, ttlMs = 60_000): KeySource {
  return { kind: 'file', path, ttlMs, setting: 'models.providers.x.api_key_file' };
}

/** A command that counts its runs in a file and prints a new key in each. */
function counting(): { readonly source: KeySource; runs(): number } {
  const path = join(home, 'runs');
  return {
    source: command(`echo run >> ${path}; echo key-$(wc -l < ${path})`),
    runs: () => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0),
  };
}

async function messageOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KeyUnavailableError);
  return error instanceof Error ? error.message : '';
}

describe('a command', () => {
  it.each<[title: string, command: string | readonly string[], key: string]>([
    ['a line', 'echo sk-1', 'sk-1'],
    ['no line end', 'printf sk-1', 'sk-1'],
    ['empty lines before the key', String.raw`printf '\n \nsk-1\n'`, 'sk-1'],
    ['further fields below the key', String.raw`printf 'sk-1\r\nlogin: me\n'`, 'sk-1'],
    ['a byte order mark', String.raw`printf '\357\273\277sk-1'`, 'sk-1'],
    ['a header', 'echo "Authorization: Bearer sk-1"', 'sk-1'],
    ['quotes', `echo '"sk-1"'`, 'sk-1'],
    ['warnings on stderr', 'echo warning >&2; echo sk-1', 'sk-1'],
    ['program and arguments, which no shell reads', ['printf', '%s', '$(id)'], '$(id)'],
    ['the variables of the user', 'echo "$MARK" | tr " " -', 'of-the-user'],
    ['no input', 'read -r line || echo sk-1', 'sk-1'],
  ])('may print %s', async (_, text, key) => {
    const { reader, keys } = openReader();
    expect([await reader.read(command(text)), keys]).toEqual([key, [key]]);
  });

  it('runs in the home directory', async () => {
    expect(await openReader().reader.read(command('pwd'))).toBe(home);
  });

  it.each<[title: string, command: string | readonly string[], message: RegExp]>([
    ['prints nothing', 'true', /api_key_command gives no key: its output is empty$/],
    ['fails', 'echo locked >&2; exit 3', /command in .* ended with exit code 3: locked$/],
    ['is killed', 'kill -9 $$', /command in .* ended with SIGKILL$/],
    ['is no program', ['/nonexistent/pass'], /cannot be started in .*ENOENT/],
    ['prints a control character', String.raw`printf 'sk-\033[2J'`, /character 4 of 7 is U\+001B/],
    ['prints a letter that no header can hold', 'echo schlüssel', /character 5 of 9 is U\+00FC/],
    [
      'prints control characters when it fails',
      String.raw`printf '\033]0;x\007no \033[31mkey' >&2; exit 1`,
      /exit code 1: ⟨U\+001B⟩\]0;x⟨U\+0007⟩no ⟨U\+001B⟩\[31mkey$/,
    ],
    [
      'prints the key among its errors',
      'set -x; echo sk-very-secret; exit 1',
      /exit code 1: \+ echo \[key\]$/,
    ],
    [
      'prints the key among its errors only',
      'set -x; echo sk-right-key-0123456789 >&2; exit 1',
      /exit code 1: \+ echo \[key\]$/,
    ],
    [
      'names a path and a program in its errors',
      'echo "pass: /home/u/.password-store/work-0123456789abcdef.gpg: no such file" >&2; exit 1',
      /exit code 1: pass: \/home\/u\/\.password-store\/work-0123456789abcdef\.gpg: no such file$/,
    ],
    ['prints a long error', 'seq -s, 10000 >&2; exit 1', /exit code 1: [\d,]{200}$/],
  ])('that %s gives an error', async (_, text, message) => {
    const { reader, keys } = openReader();
    expect(await messageOf(reader.read(command(text)))).toMatch(message);
    expect(keys).toEqual([]);
  });

  it.each([
    ['never ends', 'sleep 1000', /did not end within 0\.3 s$/],
    ['ignores signals', 'trap "" TERM HUP INT; while :; do sleep 1; done', /did not end within/],
    ['prints for ever', 'yes key', /printed more than 65536 bytes, so it prints no key$/],
    ['prints errors for ever', 'yes error >&2', /printed more than 65536 bytes/],
    ['prints without line ends', 'tr "\\0" k < /dev/zero', /printed more than 65536 bytes/],
    [
      'leaves its group and never ends',
      'setsid sleep 1000 & setsid sh -c "sleep 1000 & sleep 1001" & wait',
      /did not end within/,
    ],
  ])('that %s is ended with all its processes', async (_, text, message) => {
    const mark = `MARK_OF_TEST=${home}`;
    const environment = { PATH: process.env['PATH'], HOME: home, MARK_OF_TEST: home };
    const readMs = text.includes('sleep') ? 300 : 30_000;
    const { reader } = openReader({ environment, readMs });
    expect(await messageOf(reader.read(command(text)))).toMatch(message);
    expect(listMarked(mark)).toEqual([]);
  });

  it('is not waited for longer if it leaves a process with its output, which is ended', async () => {
    const environment = { PATH: process.env['PATH'], HOME: home, MARK_OF_TEST: home };
    const { reader } = openReader({ environment });
    expect(await reader.read(command('sleep 1000 & echo sk-1'))).toBe('sk-1');
    await sleep(50);
    expect(listMarked(`MARK_OF_TEST=${home}`)).toEqual([]);
  });

  it('may leave an agent in a session of its own, for its next call', async () => {
    const environment = { PATH: process.env['PATH'], HOME: home, MARK_OF_TEST: home };
    const { reader } = openReader({ environment });
    const agent = 'setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1; echo sk-1';
    expect(await reader.read(command(agent))).toBe('sk-1');
    const left = listMarked(`MARK_OF_TEST=${home}`);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(left.length).toBe(1);
  });
});

/** The processes with this entry in their environment. */
function listMarked(mark: string): readonly number[] {
  const script = 'grep -lsz "^$0$" /proc/[0-9]*/environ || true';
  const found = execFileSync('/bin/sh', ['-c', script, mark], { encoding: 'utf8', env: {} });
  return found
    .split('\n')
    .flatMap((path) => /^\/proc\/(\d+)\//.exec(path)?.[1] ?? [])
    .map(Number);
}

describe('a file', () => {
  it.each([
    ['a line', 'sk-1\n'],
    ['Windows line ends', '\uFEFFsk-1\r\n'],
    ['more below the key', 'sk-1\nnotes'],
  ])('may hold %s', async (_, text) => {
    writeFileSync(join(home, 'key'), text);
    const { reader } = openReader();
    expect(await reader.read(file('~/key'))).toBe('sk-1');
    expect(await reader.read(file(join(home, 'key')))).toBe('sk-1');
  });

  it.each<[title: string, make: (path: string) => void, message: RegExp]>([
    ['is missing', () => {}, /api_key_file cannot be read: \/.*\/key does not exist$/],
    ['is a directory', (path) => mkdirSync(path), /is a directory, and not a file$/],
    [
      'is empty',
      (path) => writeFileSync(path, ' \n'),
      /api_key_file gives no key: the file \/.*\/key is empty$/,
    ],
    ['is huge', (path) => writeFileSync(path, 'k'.repeat(70_000)), /larger than .* 65536 bytes/],
    [
      'is a pipe without a writer',
      (path) => void execFileSync('mkfifo', [path]),
      /gave no key within/,
    ],
  ])('that %s gives an error', async (_, make, message) => {
    make(join(home, 'key'));
    const { reader } = openReader({ readMs: 300 });
    expect(await messageOf(reader.read(file(join(home, 'key'))))).toMatch(message);
  });

  it.each([
    [0o600, null],
    [0o640, null],
    [0o644, 'read'],
    [0o660, 'change'],
    [0o646, 'read and change'],
  ])('that others can use is named once: mode %o', async (mode, use) => {
    const path = join(home, 'the key');
    writeFileSync(path, 'sk-1');
    chmodSync(path, mode);
    const notices: string[] = [];
    const { reader, time } = openReader({ onNotice: (line) => void notices.push(line) });
    for (let read = 0; read < 2; read += 1) {
      expect(await reader.read(file('~/the key', 1_000))).toBe('sk-1');
      time.ms += 1_000;
    }
    const notice = `models.providers.x.api_key_file: others can ${use} ${path} (mode ${mode.toString(8)}). To change that: chmod 600 '${path}'`;
    expect(notices).toEqual(use === null ? [] : [notice]);
  });

  it('is read again after its time to live, and not before', async () => {
    const path = join(home, 'key');
    writeFileSync(path, 'old');
    const { reader, keys, time } = openReader();
    const source = file(path, 5_000);
    expect(await reader.read(source)).toBe('old');
    writeFileSync(path, 'new');
    time.ms += 4_999;
    expect(await reader.read(source)).toBe('old');
    time.ms += 1;
    expect(await reader.read(source)).toBe('new');
    expect(keys).toEqual(['old', 'new']);
  });
});

describe('reads', () => {
  test('at the same time share one run', async () => {
    const { source, runs } = counting();
    const { reader } = openReader();
    const read = await Promise.all(Array.from({ length: 20 }, () => reader.read(source)));
    expect([new Set(read), runs()]).toEqual([new Set(['key-1']), 1]);
  });

  test('of different sources do not', async () => {
    const { reader } = openReader();
    const read = ['a', 'b'].map((key) => reader.read(command(`echo ${key}`)));
    expect(await Promise.all(read)).toEqual(['a', 'b']);
  });

  test('of a refused key run the command once, however many requests were refused', async () => {
    const { source, runs } = counting();
    const { reader } = openReader();
    await reader.read(source);
    const refused = { refused: 'key-1' };
    const read = await Promise.all(Array.from({ length: 20 }, () => reader.read(source, refused)));
    expect([new Set(read), runs()]).toEqual([new Set(['key-2']), 2]);
    expect([await reader.read(source, refused), runs()]).toEqual(['key-2', 2]);
  });

  test('of a key that stays refused run the command again only after a while', async () => {
    const path = join(home, 'runs');
    const source = command(`echo run >> ${path}; echo same`);
    const runs = () => readFileSync(path, 'utf8').trim().split('\n').length;
    const { reader, time } = openReader();
    await reader.read(source);
    const refused = { refused: 'same' };
    await Promise.all(Array.from({ length: 20 }, () => reader.read(source, refused)));
    expect(runs()).toBe(2);
    time.ms += 5_000;
    await reader.read(source, refused);
    expect(runs()).toBe(3);
  });

  test('after a failure try again, but not at once', async () => {
    const path = join(home, 'key');
    const { reader, time } = openReader();
    const failure = await messageOf(reader.read(file(path)));
    writeFileSync(path, 'sk-1');
    time.ms += 1_999;
    expect(await messageOf(reader.read(file(path)))).toBe(failure);
    time.ms += 1;
    expect(await reader.read(file(path))).toBe('sk-1');
  });

  test('that take longer than the time to live are shared, and count from their end', async () => {
    const path = join(home, 'key');
    const { reader, time } = openReader();
    execFileSync('mkfifo', [path]);
    const first = reader.read(file(path, 1_000));
    time.ms += 1_500;
    const second = reader.read(file(path, 1_000));
    writeFileSync(path, 'sk-1');
    expect(await Promise.all([first, second])).toEqual(['sk-1', 'sk-1']);
    rmSync(path);
    writeFileSync(path, 'sk-2');
    time.ms += 999;
    expect(await reader.read(file(path, 1_000))).toBe('sk-1');
    time.ms += 1;
    expect(await reader.read(file(path, 1_000))).toBe('sk-2');
  });
});
