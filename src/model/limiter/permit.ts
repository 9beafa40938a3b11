import type { ModelFailure, ModelPart, ModelRequest } from '../../protocol/model.ts';
import type { ResponseHeaders } from './limit-headers.ts';

/** What a permit tells of its request. */
export interface PermitListener {
  accepted(permit: Permit): void;
  responded(permit: Permit, headers: ResponseHeaders): void;
  /** It is over. */
  left(permit: Permit, failure: ModelFailure | null): void;
}

/** One request in flight. What is seen of it is passed on; `leave` must be called at its end. */
export class Permit {
  readonly request: ModelRequest;
  /** Requests in flight when it was sent, itself counted. */
  readonly level: number;
  readonly era: number;
  private readonly holder: PermitListener;
  private isOver = false;

  constructor(
    holder: PermitListener,
    request: ModelRequest,
    sent: { readonly level: number; readonly era: number },
  ) {
    this.holder = holder;
    this.request = request;
    this.level = sent.level;
    this.era = sent.era;
  }

  saw(part: ModelPart): void {
    if (part.type === 'accepted') this.holder.accepted(this);
    else if (part.type === 'finished') this.leave();
    else if (part.type === 'failed') this.leave(part.failure);
  }

  responded(headers: ResponseHeaders): void {
    this.holder.responded(this, headers);
  }

  /** Twice does nothing. */
  leave(failure: ModelFailure | null = null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.holder.left(this, failure);
  }
}
