import { readFile } from 'node:fs/promises';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { findKeyProblem, parseKey } from '../model/providers/provider-key.ts';
import { KeyUnavailableError, type KeyReader, type KeySource } from '../protocol/api-key.ts';
import type { Environment } from '../sys/env.ts';
import { expandHome } from '../sys/files/paths.ts';
import { spawnProcessGroup } from '../sys/processes/process-group.ts';
import { openKeychain } from './keychain.ts';

/** The time limit of a command, in which a person may have to unlock a password manager. */
const COMMAND_MS = 60_000;
/** No key is longer. More output is not read. */
const MAX_BYTES = 65_536;
/** The maximum length of the first line of an error message of a command. */
const MAX_REASON = 200;

export interface KeyReaderOptions {
  /** The environment of commands: that of Muster, since password managers need their variables. */
  readonly environment: Environment;
  /** The directory in which commands run, since a file of a project must not change what they do. */
  readonly home: string;
  readonly clock: Clock;
  /** Takes each key before it is used, so that it is removed from logs. */
  readonly onKey: (key: string) => void;
}

interface ReadKey {
  readonly key: Promise<string>;
  /** The time in milliseconds since the epoch at which the key is read again. */
  expiresAt: number;
}

/**
 * Creates the reader of keys from commands, files and the keychain. Several requests at the same time share one read,
 * and a key is kept until its time to live has passed or a server has refused it.
 */
export function createKeyReader(options: KeyReaderOptions): KeyReader {
  const known = new Map<string, ReadKey>();
  return {
    read(source, { isFresh } = { isFresh: false }) {
      const name = JSON.stringify(source);
      const now = options.clock.now();
      const before = known.get(name);
      if (before !== undefined && !isFresh && now < before.expiresAt) return before.key;
      const ttlMs = source.kind === 'keychain' ? Number.POSITIVE_INFINITY : source.ttlMs;
      const entry = { key: readKey(source, options), expiresAt: now + ttlMs };
      known.set(name, entry);
      // A failure is not kept: the next request tries again.
      entry.key.catch(() => known.delete(name));
      return entry.key;
    },
  };
}

async function readKey(source: KeySource, options: KeyReaderOptions): Promise<string> {
  const { name, text } = await readText(source, options);
  // Password managers print further fields below the key.
  const key = parseKey(text.trimStart().split(/\r?\n/, 1)[0] ?? '');
  if (key === '') throw new KeyUnavailableError(`${name} gives no key: its output is empty`);
  const problem = findKeyProblem(key);
  if (problem !== null) throw new KeyUnavailableError(`${name} ${problem}`);
  options.onKey(key);
  return key;
}

interface KeyText {
  /** The setting or account, for messages. */
  readonly name: string;
  readonly text: string;
}

async function readText(source: KeySource, options: KeyReaderOptions): Promise<KeyText> {
  switch (source.kind) {
    case 'command':
      return { name: source.setting, text: await runCommand(source, options) };
    case 'file':
      return { name: source.setting, text: await readKeyFile(source, options) };
    case 'keychain':
      return readKeychain(source);
  }
}

async function readKeyFile(
  { path, setting }: Extract<KeySource, { kind: 'file' }>,
  { home }: KeyReaderOptions,
): Promise<string> {
  try {
    return await readFile(expandHome(path, home), { encoding: 'utf8', flag: 'r' });
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    const reason = code === 'ENOENT' ? 'there is no such file' : errorMessage(thrown);
    throw new KeyUnavailableError(`${setting}: ${path} cannot be read: ${reason}`);
  }
}

async function readKeychain({
  provider,
  account,
}: Extract<KeySource, { kind: 'keychain' }>): Promise<KeyText> {
  const name = `the account "${account}" of ${provider}`;
  const keychain = await openKeychain();
  if ('missing' in keychain) {
    throw new KeyUnavailableError(
      `${name} is in the keychain, which cannot be used: ${keychain.missing}. Sign in again with "muster login ${provider} --store file"`,
    );
  }
  const text = await keychain.read(provider, account);
  if (text === null) {
    throw new KeyUnavailableError(
      `${name} is no longer in the keychain: run "muster login ${provider}"`,
    );
  }
  return { name, text };
}

async function runCommand(
  { command, setting }: Extract<KeySource, { kind: 'command' }>,
  { environment, home }: KeyReaderOptions,
): Promise<string> {
  const [file = '', ...args] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  const group = spawnProcessGroup(file, args, { cwd: home, env: environment });
  const timeout = { hasPassed: false };
  const timer = setTimeout(() => {
    timeout.hasPassed = true;
    void group.end({ graceMs: 0 });
  }, COMMAND_MS);
  try {
    const [output, errors, { code, signal }] = await Promise.all([
      readStart(group.stdout),
      readStart(group.stderr),
      group.exited,
    ]);
    if (code === 0) return output;
    const end = timeout.hasPassed
      ? `did not end within ${COMMAND_MS / 1000} s`
      : `ended with ${code === null ? signal : `exit code ${code}`}`;
    const reason = sanitizeForTerminal(errors.trim().split('\n', 1)[0] ?? '', 'exact');
    const cause = reason === '' ? '' : `: ${reason.slice(0, MAX_REASON)}`;
    throw new KeyUnavailableError(`the command in ${setting} ${end}${cause}`);
  } catch (thrown) {
    if (thrown instanceof KeyUnavailableError) throw thrown;
    throw new KeyUnavailableError(
      `the command in ${setting} cannot be started: ${errorMessage(thrown)}`,
    );
  } finally {
    clearTimeout(timer);
    await group.end({ graceMs: 0 });
  }
}

/** Reads a stream to its end, and returns the first bytes as text. */
async function readStart(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    if (length < MAX_BYTES) pieces.push(piece);
    length += piece.length;
  }
  return Buffer.concat(pieces).subarray(0, MAX_BYTES).toString('utf8');
}
