import type { HttpResponse } from '../../sys/http/http-types.ts';

/** Bytes of an error's body that are read: its message is a line, and the rest is a proxy's page or worse. */
const MOST_BYTES = 65_536;

/**
 * Reads the beginning of a body; what comes after it is not waited for. The status of a refusal tells enough,
 * whatever is missing of its reasons: a body that breaks off ends where it does.
 */
export async function beginningOf({ body }: Pick<HttpResponse, 'body'>): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let remaining = MOST_BYTES;
  try {
    while (remaining > 0) {
      const piece = await body.read();
      if (piece === null) return text + decoder.decode();
      text += decoder.decode(piece.subarray(0, remaining), { stream: true });
      remaining -= piece.length;
    }
    await body.cancel();
  } catch {
    // Broken off: what has come is what there is.
  }
  return text;
}
