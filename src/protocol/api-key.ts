import { MusterError } from '../base/errors.ts';

/** A key that is read when the first request needs it, since reading it takes time or the key changes. */
export type KeySource =
  | {
      readonly kind: 'command';
      /** One text for the shell, or the program and its arguments. */
      readonly command: string | readonly string[];
      readonly ttlMs: number;
      /** The setting that names the command, for messages. */
      readonly setting: string;
    }
  | {
      readonly kind: 'file';
      /** The path as a person has written it. */
      readonly path: string;
      readonly ttlMs: number;
      /** The setting that names the file, for messages. */
      readonly setting: string;
    }
  | { readonly kind: 'keychain'; readonly provider: string; readonly account: string }
  | {
      /** The credentials of AWS, as `formatAwsKey` writes them. */
      readonly kind: 'aws';
      /** The region of the model, which is also that of the token service if a profile names none. */
      readonly region: string | null;
      /** The profile in the files of the AWS command line; null: none is chosen. */
      readonly profile: string | null;
    }
  /** An access token of Google. */
  | { readonly kind: 'google' }
  /** An access token of Microsoft Entra ID. */
  | { readonly kind: 'azure' };

/** The error for a key that cannot be read or stored. It says what to do and never holds a key. */
export class KeyUnavailableError extends MusterError {
  override readonly name: string = 'KeyUnavailableError';

  constructor(message: string) {
    super('PERMISSION_DENIED', message);
  }
}

/** The port to keys that are not in the environment. */
export interface KeyReader {
  /**
   * Reads a key. `refused`: the key that a server has just refused, so that the key is read again unless that has
   * happened in the meantime. Rejects with KeyUnavailableError.
   */
  read(source: KeySource, options?: { readonly refused?: string }): Promise<string>;
}

/** A key that `muster login` has stored. */
export interface StoredAccount {
  /** The name of the provider. */
  readonly provider: string;
  /** The name that tells several accounts of a provider apart. */
  readonly account: string;
  /** The key; null: it is in the keychain of the system. */
  readonly key: string | null;
  /** The address of a server that only this account brings. Default: that of the known or configured provider. */
  readonly baseUrl?: string;
  /**
   * The only server to which the key may be sent, such as `https://llm.corp.example`. Default: that of `baseUrl`, or
   * else those of the known provider, if it has hosts of its own.
   */
  readonly origin?: string;
}
