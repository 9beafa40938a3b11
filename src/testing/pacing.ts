import type { Answer } from './answer.ts';
import type { Frame } from './wire/codec.ts';

/** How often a fault without end gives a sign, where the script does not say. */
export const DEFAULT_DRIP_MS = 50;

/** When each frame of an answer is due: the wait before it, in milliseconds. */
export class Pacing {
  private readonly firstMs: number;
  private readonly pieceMs: number;
  private contentBegun = false;
  private piecesBegun = false;

  constructor({ fault, firstTokenMs = 0, chunkMs = 0 }: Answer) {
    this.firstMs = firstTokenMs;
    this.pieceMs =
      fault?.kind === 'thinking_forever' ? (fault.everyMs ?? DEFAULT_DRIP_MS) : chunkMs;
  }

  before(frame: Frame): number {
    let pauseMs = 0;
    if (frame.stage === 'content' && !this.contentBegun) {
      this.contentBegun = true;
      pauseMs = this.firstMs;
    }
    if (frame.piece === true) {
      if (this.piecesBegun) pauseMs += this.pieceMs;
      this.piecesBegun = true;
    }
    return pauseMs;
  }
}
