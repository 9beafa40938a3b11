import type { Session } from '../../api/index.ts';

/** The sizes of the context windows of models, which are read before they are needed. */
export class ContextWindows {
  readonly #session: Pick<Session, 'contextWindow'>;
  readonly #sizes = new Map<string, number | null>();

  constructor(session: Pick<Session, 'contextWindow'>) {
    this.#session = session;
  }

  /** Returns the size in tokens; null if it is not known, or was not read yet. `model`: `provider/id`. */
  get(model: string): number | null {
    return this.#sizes.get(model) ?? null;
  }

  /** Reads the size for a model once. */
  async read(model: string): Promise<void> {
    if (!this.#sizes.has(model)) this.#sizes.set(model, await this.#session.contextWindow(model));
  }
}
