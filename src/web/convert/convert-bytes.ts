import { removeHiddenCharacters } from '../../base/hidden-characters.ts';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { decodePage } from './charset.ts';
import { convertJsonFeed, convertXmlFeed } from './feed.ts';
import { convertHtml } from './html/convert-html.ts';
import { formatJson } from './json-text.ts';
import { determineKind } from './media-type.ts';
import type { ConvertedPage, RawPage } from './page.ts';

/** The longest text that is returned. A page of some megabytes can become longer by its links. */
const MAX_LENGTH = 8_000_000;

/** Converts a page. It runs in a worker, since a hostile page can take much time and memory. */
export async function convertBytes(page: RawPage): Promise<ConvertedPage> {
  const converted = await convert(page);
  if (!('text' in converted)) return converted;
  const { kind, title, text } = converted;
  const whole = clean(text);
  return {
    kind,
    title: title === null ? null : clean(title).replaceAll(/\s+/g, ' ').trim() || null,
    text:
      whole.length > MAX_LENGTH
        ? `${whole.slice(0, MAX_LENGTH)}\n\n(The rest of the page is left out.)`
        : whole,
  };
}

/** Removes escape sequences, and characters that a person does not see and that could give a model instructions. */
function clean(text: string): string {
  return removeHiddenCharacters(sanitizeForTerminal(text, 'plain')).text;
}

async function convert({ bytes, contentType, url }: RawPage): Promise<ConvertedPage> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = determineKind(buffer, contentType);
  if ('mediaType' in found) return found;
  if (found.kind === 'pdf') {
    const { convertPdf } = await import('./pdf.ts');
    return await convertPdf(bytes);
  }
  const text = decodePage(buffer, contentType);
  switch (found.kind) {
    case 'html':
      return { kind: 'html', ...convertHtml(text, url) };
    case 'json': {
      const feed = convertJsonFeed(text, url);
      return feed === null
        ? { kind: 'json', title: null, text: formatJson(text) }
        : { kind: 'feed', ...feed };
    }
    case 'xml': {
      const feed = convertXmlFeed(text, url);
      return feed === null ? { kind: 'text', title: null, text } : { kind: 'feed', ...feed };
    }
    default:
      return { kind: 'text', title: null, text };
  }
}
