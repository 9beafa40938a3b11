import type { ModelFailure, ModelPart, ModelRequest } from '../../protocol/model.ts';
import type { ResponseHeaders } from './limit-headers.ts';

/** Receives what happens to an admitted request. */
export interface PermitListener {
  accepted(permit: Permit): void;
  responded(permit: Permit, headers: ResponseHeaders): void;
  /** The request has ended. `failure`: null if it succeeded or was never sent. */
  ended(permit: Permit, failure: ModelFailure | null): void;
}

/** The permission to send one request. Its owner reports what happens, and must call `end` at last. */
export class Permit {
  readonly request: ModelRequest;
  /** Number of requests in flight when it was sent, itself included. */
  readonly level: number;
  /** The era of the window when it was sent. */
  readonly era: number;
  private readonly listener: PermitListener;
  private isOver = false;

  constructor(
    listener: PermitListener,
    request: ModelRequest,
    sent: { readonly level: number; readonly era: number },
  ) {
    this.listener = listener;
    this.request = request;
    this.level = sent.level;
    this.era = sent.era;
  }

  observe(part: ModelPart): void {
    if (part.type === 'accepted') this.listener.accepted(this);
    else if (part.type === 'finished') this.end();
    else if (part.type === 'failed') this.end(part.failure);
  }

  responded(headers: ResponseHeaders): void {
    this.listener.responded(this, headers);
  }

  /** Ends the request. A second call does nothing. */
  end(failure: ModelFailure | null = null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.listener.ended(this, failure);
  }
}
