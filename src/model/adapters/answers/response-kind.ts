import { isWebPage } from '../errors/markup.ts';
import type { HttpResponse, ResponseBody } from '../../../sys/http/http-types.ts';

/** Matches the content types with which no server and no proxy sends a web page. */
const ANSWER_TYPE = /^(?:text\/event-stream|application\/(?:[\w.+-]+\+)?(?:x-)?(?:nd)?json)/i;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml)/i;

/** Matches the beginning of a JSON document, or a comment or field of a stream. */
const ANSWER = /^(?:[{[:]|(?:data|event|id|retry|error):)/;
/** Matches the beginning of a field name, after which the kind of the body is still unknown. */
const UNFINISHED_FIELD =
  /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?|r(?:r(?:or?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)?$/;
/** The number of characters that distinguish a web page from other text that begins with `<`. */
const DECIDING_LENGTH = 16;

/** The kind of a body. `undecided`: more of it is needed. */
export type ResponseKind = 'answer' | 'page' | 'undecided';

/**
 * Classifies a body as an answer or a web page by its first characters. The content type decides only about text
 * that is neither, since some servers and proxies send streams as `text/html`.
 */
export function classifyResponse(text: string, contentType: string): ResponseKind {
  const start = text.trimStart();
  if (UNFINISHED_FIELD.test(start)) return 'undecided';
  if (ANSWER.test(start)) return 'answer';
  if (PAGE_TYPE.test(contentType) || isWebPage(start)) return 'page';
  return start.startsWith('<') && start.length < DECIDING_LENGTH ? 'undecided' : 'answer';
}

/** A body of which the beginning has been inspected. */
export interface InspectedBody {
  readonly isPage: boolean;
  /** The full body, including its beginning. */
  readonly body: ResponseBody | null;
}

/** Finds out if a body is a web page. Reads as much of it as needed if its content type does not say so. */
export async function inspectResponse({ headers, body }: HttpResponse): Promise<InspectedBody> {
  const type = headers.get('content-type') ?? '';
  if (ANSWER_TYPE.test(type) || body === null) return { isPage: PAGE_TYPE.test(type), body };
  const decoder = new TextDecoder();
  const pieces: Uint8Array[] = [];
  let text = '';
  let kind: ResponseKind = 'undecided';
  while (kind === 'undecided') {
    const piece = await body.read();
    // The body has ended without showing its kind. An empty page is a page.
    if (piece === null) return { isPage: PAGE_TYPE.test(type), body: prependPieces(pieces, body) };
    // The piece is copied, since its memory is reused for the next one.
    pieces.push(piece.slice());
    // Blank text is kept for the reader, but need not be inspected again.
    text = (text + decoder.decode(piece, { stream: true })).trimStart();
    kind = classifyResponse(text, type);
  }
  return { isPage: kind === 'page', body: prependPieces(pieces, body) };
}

/** Returns a body that gives pieces that were read before, and then the rest. */
function prependPieces(pieces: readonly Uint8Array[], body: ResponseBody): ResponseBody {
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
