import { rejectOnAbort } from '../../base/async.ts';
import type { KeyReader } from '../../protocol/api-key.ts';
import type { TrafficObserver } from '../../sys/http/http-types.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import { HttpStatusError } from './errors/answer-errors.ts';
import { isRefusalOfCredentials } from './errors/cloud-hints.ts';
import type { Endpoint } from './protocol-adapter.ts';

/** The time between two signs of life while a key is read. It is shorter than any limit for a connection. */
const SIGN_OF_LIFE_MS = 250;

/** The request for which a key is read. */
export interface KeyRequest {
  readonly signal: AbortSignal;
  /** Gets signs of life, since a person may need longer to unlock a password manager than a connection may take. */
  readonly observer: TrafficObserver | undefined;
}

/**
 * Supplies the key of one request, which may have to be read first. A key that the server refuses is read once more,
 * since it may have been replaced in the meantime.
 */
export class EndpointKey {
  /** The server with the key that was read last. */
  endpoint: Endpoint;
  private readonly keys: KeyReader | undefined;
  private readonly request: KeyRequest;
  /** The key that the server has refused; null: none so far. */
  private refused: string | null = null;

  constructor(endpoint: Endpoint, keys: KeyReader | undefined, request: KeyRequest) {
    this.endpoint = endpoint;
    this.keys = keys;
    this.request = request;
  }

  /**
   * Reads the key if it is not known from the start. Rejects with KeyUnavailableError, or with the reason of the
   * signal.
   */
  async read(): Promise<void> {
    const { keySource } = this.endpoint;
    if (keySource === undefined || this.keys === undefined) return;
    const options = this.refused === null ? {} : { refused: this.refused };
    const { signal, observer } = this.request;
    const signs = setInterval(() => observer?.bytes?.(new Uint8Array()), SIGN_OF_LIFE_MS);
    const reading = this.keys.read(keySource, options);
    const apiKey = await rejectOnAbort(reading, signal).finally(() => clearInterval(signs));
    if (apiKey !== this.endpoint.apiKey) this.endpoint = { ...this.endpoint, apiKey };
  }

  /**
   * Reads the key again if the server has refused it for the first time. `failure`: the meaning of the error. Returns the
   * error after which the request fails; null: there is another key now, so that the request can be sent again.
   */
  async renew(thrown: unknown, { kind, status }: ModelFailure): Promise<unknown> {
    const { apiKey, keySource } = this.endpoint;
    // Some servers refuse a wrong key with another status than 401. With 403, the key is right but lacks a right, except
    // at AWS.
    const isMissingRight =
      status === 403 && !(thrown instanceof HttpStatusError && isRefusalOfCredentials(thrown));
    const isRefused = kind === 'auth' && status !== undefined && !isMissingRight;
    if (!isRefused || this.refused !== null || apiKey === null || keySource === undefined) {
      return thrown;
    }
    this.refused = apiKey;
    try {
      await this.read();
    } catch (unavailable) {
      return unavailable;
    }
    return this.endpoint.apiKey === apiKey ? thrown : null;
  }
}
