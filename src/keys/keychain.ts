import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { collapseWhitespace } from '../base/text.ts';
import { KeyUnavailableError } from '../protocol/api-key.ts';
import type { Environment } from '../sys/env.ts';
import { registerForShutdown } from '../sys/processes/process-group.ts';

/** The error for a keychain that cannot be used. */
export class KeychainError extends KeyUnavailableError {
  /** The reason alone, without what to do. */
  readonly reason: string;

  constructor(provider: string, account: string, reason: string) {
    const remedy = `Unlock it, or sign in with "muster login ${provider} --account ${account} --store file"`;
    super(
      `the keychain cannot be used for the account "${account}" of ${provider}: ${reason}. ${remedy}`,
    );
    this.reason = reason;
  }
}

/** The keychain of the operating system. Methods reject with KeychainError. */
export interface Keychain {
  /** Returns the key; null: the keychain has none for this account. */
  read(provider: string, account: string): Promise<string | null>;
  write(provider: string, account: string, key: string): Promise<void>;
  /** Deletes the key. Does nothing if there is none. */
  delete(provider: string, account: string): Promise<void>;
}

const PACKAGE = '@napi-rs/keyring';
/** The name under which the keychain lists the keys. */
const SERVICE = 'muster';
/** The time in which a person can unlock the keychain. */
const UNLOCK_MS = 60_000;

/**
 * The program that uses the keychain. It runs in a process of its own, because the native package blocks: a keychain
 * that does not answer would stop Muster for ever. A new key comes from stdin and the result goes to stdout, since other
 * programs can see arguments.
 *
 * On Linux, it uses the Secret Service of the desktop. Without this option the package would fall back to the keyring
 * of the kernel, which forgets everything at a restart.
 */
const PROGRAM = `
const [path, service, name, operation] = process.argv.slice(1);
const { readFileSync, writeSync } = require('node:fs');
const answer = (value) => writeSync(1, JSON.stringify(value));
try {
  const { Entry } = require(path);
  const entry = new Entry(service, name, { linux: { store: 'secret-service' } });
  if (operation === 'read') answer({ key: entry.getPassword() });
  if (operation === 'write') answer(entry.setPassword(readFileSync(0, 'utf8')) ?? {});
  if (operation === 'delete') answer({ deleted: entry.deletePassword() });
} catch (thrown) {
  answer({ problem: String(thrown?.message ?? thrown) });
}`;

type Operation = 'read' | 'write' | 'delete';

/**
 * Creates the access to the keychain.
 *
 * @param environment the environment of the user, which leads to the keychain of the session
 * @param options.unlockMs the time limit of each use in milliseconds. Default: a minute.
 */
export function createKeychain(
  environment: Environment,
  { unlockMs = UNLOCK_MS }: { readonly unlockMs?: number } = {},
): Keychain {
  const use = async (operation: Operation, provider: string, account: string, key = '') => {
    const request = { environment, key, unlockMs };
    const result = await run(operation, `${provider}/${account}`, request);
    if (typeof result !== 'string') return result;
    throw new KeychainError(provider, account, result);
  };
  return {
    async read(provider, account) {
      const { key } = await use('read', provider, account);
      return typeof key === 'string' ? key : null;
    },
    async write(provider, account, key) {
      await use('write', provider, account, key);
    },
    async delete(provider, account) {
      await use('delete', provider, account);
    },
  };
}

interface KeychainRequest {
  readonly environment: Environment;
  /** The key to write. */
  readonly key: string;
  readonly unlockMs: number;
}

/** Runs the program. Resolves to its answer, or to a text that says why there is none. */
function run(
  operation: Operation,
  name: string,
  { environment, key, unlockMs }: KeychainRequest,
): Promise<Readonly<Record<string, unknown>> | string> {
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve(PACKAGE);
  } catch {
    return Promise.resolve(`the optional package ${PACKAGE} is not installed`);
  }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--input-type=commonjs', '--eval', PROGRAM, '--', path, SERVICE, name, operation],
      // Options for Node, such as a debugger, are for Muster alone.
      {
        cwd: '/',
        env: { ...environment, NODE_OPTIONS: '' },
        timeout: unlockMs,
        killSignal: 'SIGKILL',
      },
      (error, output) => {
        unregister();
        const answer = parseJsonLine(output);
        if (!isJsonObject(answer)) {
          const isLate = error !== null && error.killed === true;
          resolve(isLate ? `no answer within ${unlockMs / 1000} s` : 'its helper process failed');
        } else {
          const { problem } = answer;
          resolve(typeof problem === 'string' ? describeProblem(problem) : answer);
        }
      },
    );
    const unregister = registerForShutdown(async () => child.kill('SIGKILL'));
    // The program has ended before it read the key. Its answer says why.
    child.stdin?.on('error', () => {}).end(key);
  });
}

/** Matches the errors of a session on Linux in which no program keeps keys. */
const NO_SECRET_SERVICE = /DBus error|not provided by any \.service|ServiceUnknown/;

/** Describes an error of the package in words that do not presume a desktop. */
function describeProblem(problem: string): string {
  return NO_SECRET_SERVICE.test(problem)
    ? 'no Secret Service, such as GNOME Keyring or KWallet, runs in this session'
    : collapseWhitespace(problem);
}
