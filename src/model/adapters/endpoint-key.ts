import type { KeyReader } from '../../protocol/api-key.ts';
import type { ModelFailure } from '../../protocol/model.ts';
import type { Endpoint } from './protocol-adapter.ts';

/**
 * Supplies the key of one request, which may have to be read first. A key that the server refuses is read once more,
 * since it may have been replaced in the meantime.
 */
export class EndpointKey {
  /** The server with the key that was read last. */
  endpoint: Endpoint;
  private readonly keys: KeyReader | undefined;
  private hasRenewed = false;

  constructor(endpoint: Endpoint, keys: KeyReader | undefined) {
    this.endpoint = endpoint;
    this.keys = keys;
  }

  /** Reads the key if it is not known from the start. Rejects with KeyUnavailableError. */
  async read(): Promise<void> {
    await this.load({ isFresh: false });
  }

  /** Reads the key again if the server has refused it. Returns true if there is another one now. */
  async renew({ kind, status }: ModelFailure): Promise<boolean> {
    // Some servers refuse a wrong key with another status than 401. With 403, the key is right but lacks a right.
    const isRefused = kind === 'auth' && status !== undefined && status !== 403;
    if (!isRefused || this.hasRenewed || this.endpoint.keySource === undefined) return false;
    this.hasRenewed = true;
    const before = this.endpoint.apiKey;
    await this.load({ isFresh: true });
    return this.endpoint.apiKey !== before;
  }

  private async load(options: { readonly isFresh: boolean }): Promise<void> {
    const { keySource } = this.endpoint;
    if (keySource === undefined || this.keys === undefined) return;
    const apiKey = await this.keys.read(keySource, options);
    if (apiKey !== this.endpoint.apiKey) this.endpoint = { ...this.endpoint, apiKey };
  }
}
