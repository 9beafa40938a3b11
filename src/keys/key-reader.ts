import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, MusterError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { quoteForShell } from '../base/text.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { findKeyProblem, MAX_KEY_BYTES, parseKey } from '../model/providers/provider-key.ts';
import { KeyUnavailableError, type KeyReader, type KeySource } from '../protocol/api-key.ts';
import type { Environment } from '../sys/env.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { computeKeyLife, type CloudKeySource } from './clouds/cloud-deps.ts';
import { readNamedFile } from '../sys/files/named-file.ts';
import { statIfPresent } from '../sys/files/path-lookup.ts';
import { expandHome } from '../sys/files/paths.ts';
import { spawnProcessGroup, type ProcessGroup } from '../sys/processes/process-group.ts';
import { createKeychain } from './keychain.ts';
import { maskKeys } from './mask-keys.ts';

const READ_MS = 60_000;
/** The time after the end of a command in which its last output is read. */
const LAST_OUTPUT_MS = 250;
const READABLE_BY_OTHERS = 0o004;
const WRITABLE_BY_OTHERS = 0o022;
/** The maximum length of the first line of an error message of a command. */
const MAX_REASON = 200;
/** The time in which a key is read again only once, however many requests were refused with it. */
const RENEWAL_MS = 5_000;
/** The time in which a source that gave no key is not asked again, because the failure may have taken a minute. */
const FAILURE_MS = 2_000;

export interface KeyReaderOptions {
  /** The environment of commands: that of Muster, since password managers need their variables. */
  readonly environment: Environment;
  /** The directory in which commands run, since a file of a project must not change what they do. */
  readonly home: string;
  readonly clock: Clock;
  /** Takes each key before it is used, so that it is removed from logs. */
  readonly onKey: (key: string) => void;
  /** Takes a sentence about a file that others can read or change, once for each file. Default: nobody is told. */
  readonly onNotice?: (line: string) => void;
  /** Sends the requests to the token services of clouds. Default: no credentials of clouds are read. */
  readonly fetch?: HttpFetch;
  /** The time limit of a command or file in milliseconds. Default: a minute, so that a person can unlock something. */
  readonly readMs?: number;
}

interface ReadKey {
  readonly key: Promise<string>;
  /** The times are in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The time until which the key or the failure counts; unlimited while it is being read. */
  readonly expiresAt: number;
  /** True if it was read because a server had refused the key before. */
  readonly isRenewal: boolean;
}

/**
 * Creates the reader of keys from commands, files and the keychain. Several requests at the same time share one read,
 * and a key is kept until its time to live has passed or a server has refused it.
 */
export function createKeyReader({ onNotice, ...given }: KeyReaderOptions): KeyReader {
  const noticed = new Set<string>();
  const options = {
    ...given,
    onNotice: (line: string): void => {
      if (!noticed.has(line)) onNotice?.(line);
      noticed.add(line);
    },
  };
  const known = new Map<string, ReadKey>();
  const start = (name: string, source: KeySource, isRenewal: boolean): Promise<string> => {
    const startedAt = options.clock.now();
    const reading = readKey(source, options);
    const key = reading.then((read) => read.key);
    const entry = { key, startedAt, expiresAt: Number.POSITIVE_INFINITY, isRenewal };
    known.set(name, entry);
    const expireAfter = (ms: number): void => {
      if (known.get(name) !== entry) return;
      known.set(name, { ...entry, expiresAt: options.clock.now() + ms });
    };
    reading.then(
      ({ ttlMs }) => expireAfter(ttlMs),
      () => expireAfter(FAILURE_MS),
    );
    return key;
  };
  return {
    async read(source, { refused } = {}) {
      const name = JSON.stringify(source);
      for (;;) {
        const entry = known.get(name);
        if (entry === undefined || options.clock.now() >= entry.expiresAt) {
          return start(name, source, false);
        }
        const key = await entry.key;
        if (key !== refused) return key;
        // Another request with the same key may have begun to read it again meanwhile.
        if (known.get(name) !== entry) continue;
        const isNew = entry.isRenewal && options.clock.now() < entry.startedAt + RENEWAL_MS;
        return isNew ? key : start(name, source, true);
      }
    },
  };
}

/** A key, and the time in milliseconds for which it is used without being read again. */
interface LimitedKey {
  readonly key: string;
  readonly ttlMs: number;
}

async function readKey(source: KeySource, options: KeyReaderOptions): Promise<LimitedKey> {
  switch (source.kind) {
    case 'aws':
    case 'google':
    case 'azure':
      return readKeyOfCloud(source, options);
    case 'keychain':
      return { key: await readStoredKey(source, options), ttlMs: Number.POSITIVE_INFINITY };
    default:
      return { key: await readStoredKey(source, options), ttlMs: source.ttlMs };
  }
}

async function readKeyOfCloud(
  source: CloudKeySource,
  { environment, home, clock, fetch, onKey }: KeyReaderOptions,
): Promise<LimitedKey> {
  if (fetch === undefined)
    throw new KeyUnavailableError('credentials of a cloud are not read here');
  const { readCloudKey } = await import('./clouds/cloud-key.ts');
  const read = await readCloudKey(source, { environment, home, clock, fetch });
  for (const secret of read.secrets) onKey(secret);
  return { key: read.key, ttlMs: computeKeyLife(read.expiresAt, clock.now()) };
}

type StoredKeySource = Exclude<KeySource, CloudKeySource>;

async function readStoredKey(source: StoredKeySource, options: KeyReaderOptions): Promise<string> {
  const { name, holder, text } = await readText(source, options);
  const key = readFirstLine(text);
  if (key === '') throw new KeyUnavailableError(`${name} gives no key: ${holder} is empty`);
  const problem = findKeyProblem(key);
  if (problem !== null) throw new KeyUnavailableError(`${name} ${problem}`);
  options.onKey(key);
  return key;
}

/** Returns the key in the first line with text, since password managers print further fields below the key. */
function readFirstLine(text: string): string {
  return parseKey(text.trimStart().split(/\r?\n/, 1)[0] ?? '');
}

interface KeyText {
  /** The setting or account, for messages. */
  readonly name: string;
  /** The thing that holds the text, for messages. */
  readonly holder: string;
  readonly text: string;
}

async function readText(source: StoredKeySource, options: KeyReaderOptions): Promise<KeyText> {
  switch (source.kind) {
    case 'command':
      return {
        name: source.setting,
        holder: 'its output',
        text: await runCommand(source, options),
      };
    case 'file':
      return {
        name: source.setting,
        holder: `the file ${source.path}`,
        text: await readKeyFile(source, options),
      };
    case 'keychain':
      return readKeychain(source, options);
  }
}

async function readKeyFile(
  { path, setting }: Extract<KeySource, { kind: 'file' }>,
  { home, readMs = READ_MS, onNotice }: KeyReaderOptions,
): Promise<string> {
  const full = expandHome(path, home);
  try {
    const limits = { maxBytes: MAX_KEY_BYTES, signal: AbortSignal.timeout(readMs) };
    const bytes = await readNamedFile(full, limits);
    const problem = findOpenMode(full);
    if (problem !== null) onNotice?.(`${setting}: ${problem}`);
    return bytes.toString('utf8');
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    if (thrown.code === 'CANCELLED') {
      throw new KeyUnavailableError(`${setting} gave no key within ${readMs / 1000} s: ${path}`);
    }
    throw new KeyUnavailableError(`${setting} cannot be read: ${thrown.message}`);
  }
}

/** Says that others can use a file, and how to change that; null: only the user and the user's group can. */
function findOpenMode(path: string): string | null {
  const mode = (statIfPresent(path)?.mode ?? 0) & 0o777;
  const others = [
    ...((mode & READABLE_BY_OTHERS) === 0 ? [] : ['read']),
    ...((mode & WRITABLE_BY_OTHERS) === 0 ? [] : ['change']),
  ];
  if (others.length === 0) return null;
  const command = `chmod 600 ${quoteForShell(path)}`;
  return `others can ${others.join(' and ')} ${path} (mode ${mode.toString(8)}). To change that: ${command}`;
}

async function readKeychain(
  { provider, account }: Extract<KeySource, { kind: 'keychain' }>,
  { environment }: KeyReaderOptions,
): Promise<KeyText> {
  const name = `the account "${account}" of ${provider}`;
  const text = await createKeychain(environment).read(provider, account);
  if (text === null) {
    throw new KeyUnavailableError(
      `${name} is no longer in the keychain: run "muster login ${provider} --account ${account}"`,
    );
  }
  return { name, holder: 'its entry in the keychain', text };
}

async function runCommand(
  { command, setting }: Extract<KeySource, { kind: 'command' }>,
  { environment, home, readMs = READ_MS }: KeyReaderOptions,
): Promise<string> {
  const [file = '', ...args] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  let group: ProcessGroup;
  try {
    group = spawnProcessGroup(file, args, { cwd: home, env: environment });
    await group.started;
  } catch (thrown) {
    throw new KeyUnavailableError(
      `the command in ${setting} cannot be started in ${home}: ${errorMessage(thrown)}`,
    );
  }
  const { output, errors, problem } = await watchCommand(group, readMs);
  if (problem === null) return output;
  // A script that prints each of its commands would print the key among its errors, even without output.
  const key = readFirstLine(output);
  const [line = ''] = (key === '' ? errors : errors.replaceAll(key, '[key]')).trim().split('\n', 1);
  const reason = sanitizeForTerminal(maskKeys(line), 'exact').slice(0, MAX_REASON);
  throw new KeyUnavailableError(
    `the command in ${setting} ${problem}${reason === '' ? '' : `: ${reason}`}`,
  );
}

interface CommandEnd {
  readonly output: string;
  readonly errors: string;
  /** The reason why the output is not used; null: the command has succeeded. */
  readonly problem: string | null;
}

/** Waits for the end of a command. Ends it with all its processes if it takes too long or prints too much. */
async function watchCommand(group: ProcessGroup, readMs: number): Promise<CommandEnd> {
  let problem: string | null = null;
  const stop = (reason: string): void => {
    problem ??= reason;
    void group.end({ graceMs: 0 });
  };
  const timer = setTimeout(() => stop(`did not end within ${readMs / 1000} s`), readMs);
  const printed = (): void => stop(`printed more than ${MAX_KEY_BYTES} bytes, so it prints no key`);
  const output = collectText(group.stdout, printed);
  const errors = collectText(group.stderr, printed);
  const { code, signal } = await group.exited;
  clearTimeout(timer);
  // A process that the command has left behind may keep the pipes open for ever.
  await Promise.race([Promise.all([output.ended, errors.ended]), sleep(LAST_OUTPUT_MS)]);
  if (code !== 0) problem ??= `ended with ${code === null ? signal : `exit code ${code}`}`;
  if (problem === null) group.release();
  else await group.end({ graceMs: 0 });
  for (const stream of [group.stdout, group.stderr]) stream.destroy();
  return { output: output.text(), errors: errors.text(), problem };
}

interface CollectedText {
  readonly ended: Promise<void>;
  /** Returns the text so far. */
  text(): string;
}

/** Collects the output of a command, and calls `onTooMuch` when it exceeds the limit. */
function collectText(stream: ProcessGroup['stdout'], onTooMuch: () => void): CollectedText {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= MAX_KEY_BYTES) pieces.push(piece);
    else onTooMuch();
  });
  return {
    ended: new Promise((resolve) => stream.once('close', resolve)),
    text: () => Buffer.concat(pieces).toString('utf8'),
  };
}
