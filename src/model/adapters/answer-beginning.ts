import type { HttpResponse, ResponseBody } from '../../sys/http/http-types.ts';
import { isWebPage } from './web-page.ts';

/** Types under which no server and no proxy sends a web page. */
const ANSWER_TYPE = /^(?:text\/event-stream|application\/(?:[\w.+-]+\+)?(?:x-)?(?:nd)?json)/i;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml)/i;

/** A JSON document, a comment of a stream, or one of its fields. */
const ANSWER = /^(?:[{[:]|(?:data|event|id|retry|error):)/;
/** As far as the first piece of a stream may have come before it shows what it is. */
const UNFINISHED_FIELD =
  /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?|r(?:r(?:or?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)?$/;
/** Characters that are enough to tell a page from other text that begins with `<`. */
const ENOUGH = 16;

/** The kind of a body, by its beginning; `undecided`: more of it is needed. */
export type Beginning = 'answer' | 'page' | 'undecided';

/**
 * Decides by its first characters whether a body is an answer or a web page. The type that the server gives
 * decides only about text that is neither: some servers and proxies send streams as `text/html`.
 */
export function beginningKind(text: string, contentType: string): Beginning {
  const start = text.trimStart();
  if (UNFINISHED_FIELD.test(start)) return 'undecided';
  if (ANSWER.test(start)) return 'answer';
  if (PAGE_TYPE.test(contentType) || isWebPage(start)) return 'page';
  return start.startsWith('<') && start.length < ENOUGH ? 'undecided' : 'answer';
}

/** A body of which the beginning has been looked at. */
export interface SeenBody {
  readonly isPage: boolean;
  /** Gives the whole body, its beginning included. */
  readonly body: ResponseBody | null;
}

/** Reads as much of a body as is needed to tell whether it is a web page, where its type leaves that open. */
export async function seeBeginning({ headers, body }: HttpResponse): Promise<SeenBody> {
  const type = headers.get('content-type') ?? '';
  if (ANSWER_TYPE.test(type) || body === null) return { isPage: PAGE_TYPE.test(type), body };
  const decoder = new TextDecoder();
  const pieces: Uint8Array[] = [];
  let text = '';
  let kind: Beginning = 'undecided';
  while (kind === 'undecided') {
    const piece = await body.read();
    // A body that ends without showing what it is: an empty page is a page.
    if (piece === null) return { isPage: PAGE_TYPE.test(type), body: withPieces(pieces, body) };
    // Copied, since the memory of a piece belongs to whoever reads the socket.
    pieces.push(piece.slice());
    // Blank pieces are kept for the reader, and need not be looked at twice.
    text = (text + decoder.decode(piece, { stream: true })).trimStart();
    kind = beginningKind(text, type);
  }
  return { isPage: kind === 'page', body: withPieces(pieces, body) };
}

/** The body with pieces that were read already in front of it. */
function withPieces(pieces: readonly Uint8Array[], body: ResponseBody): ResponseBody {
  let next = 0;
  return {
    read: () => {
      const piece = pieces[next];
      next += 1;
      return piece === undefined ? body.read() : Promise.resolve(piece);
    },
    cancel: () => body.cancel(),
  };
}
