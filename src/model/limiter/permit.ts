import type { ModelFailure, ModelPart, ModelRequest } from '../../protocol/model.ts';
import type { ResponseHeaders } from './limit-headers.ts';

/** Receives what happens to an admitted request. */
export interface PermitListener {
  /** Called when the first byte of the answer has arrived. */
  accepted(permit: Permit): void;
  /** Called with the headers of a response of any status. */
  responded(permit: Permit, headers: ResponseHeaders): void;
  /** Called when the request has ended. `failure`: null if the request succeeded or was never sent. */
  ended(permit: Permit, failure: ModelFailure | null): void;
}

/** The permission to send one request. The holder reports the progress of the request, and must call `end` when it is over. */
export class Permit {
  readonly request: ModelRequest;
  /** The number of requests in flight when this request was sent, including itself. */
  readonly inFlightAtSend: number;
  /** The era of the window (`ConcurrencyWindow.era`) when the request was sent. */
  readonly era: number;
  private readonly listener: PermitListener;
  private hasEnded = false;

  constructor(
    listener: PermitListener,
    request: ModelRequest,
    sent: Pick<Permit, 'inFlightAtSend' | 'era'>,
  ) {
    this.listener = listener;
    this.request = request;
    this.inFlightAtSend = sent.inFlightAtSend;
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
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.listener.ended(this, failure);
  }
}
