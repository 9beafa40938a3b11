import { MusterError } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import type { WebResponse } from '../../protocol/web.ts';
import { parseWebUrl } from '../../web/parse-url.ts';
import type { ConvertedPage } from '../../web/convert/page.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';
import { failure, fitLines } from '../shared/output.ts';

/** The number of bytes that are reserved for the heading and the note after the lines. */
const NOTE_BYTES = 600;
/** A page of at most this many characters is returned as it is, because an answer would hardly be shorter. */
const SHORT_PAGE = 3_000;
/** The number of lines that are shown of the page that a server sends with an error. */
const ERROR_PAGE_LINES = 20;

export const webFetchTool = defineBuiltinTool({
  name: 'WebFetch',
  kind: 'network',
  replay: 'pure',
  description:
    'Read a public web page as markdown (also text, JSON, feeds, PDF, images). With prompt, a small model answers it from the page: use this for large pages.',
  input: {
    type: 'object',
    properties: {
      url: { type: 'string', minLength: 1 },
      prompt: { type: 'string' },
      offset: { type: 'integer', minimum: 1, description: 'first line' },
      limit: { type: 'integer', minimum: 1 },
    },
    required: ['url'],
  },
  aliases: { uri: 'url', link: 'url', query: 'prompt', question: 'prompt', instruction: 'prompt' },
  describe: (input) => {
    const parsed = parseWebUrl(input.url);
    return {
      ...NO_ACCESS,
      hosts: parsed.ok ? [parsed.url.hostname] : [],
      onlyFetches: true,
    };
  },
  async run(input, context) {
    const parsed = parseWebUrl(input.url);
    if (!parsed.ok) throw new MusterError('INVALID_PARAM', `url: ${parsed.problem}`);
    const { web } = context;
    if (web === undefined) return failure('NOT_FOUND', 'The web cannot be reached from here.');
    const response = await web.get(parsed.url);
    const { redirectTo } = response;
    if (redirectTo !== undefined) {
      return { text: `[redirected to another host: call WebFetch again with ${redirectTo.href}]` };
    }
    const page = await convertResponse(response, context.signal);
    if (page.kind === 'image') {
      const { attachWebImage } = await import('./web-image.ts');
      return await attachWebImage(response, context);
    }
    if (page.kind === 'unsupported') {
      const text = `${response.url.href} is ${page.mediaType}, which has no text (${plural(response.body.length, 'byte')}). To keep the file, download it with Bash.`;
      return failure('INVALID_PARAM', text);
    }
    if (response.status >= 400) {
      const code = response.status < 500 ? 'NOT_FOUND' : 'PROVIDER_ERROR';
      const beginning = formatLines(page, { limit: ERROR_PAGE_LINES }, context);
      return failure(code, `HTTP ${response.status} from ${response.url.href}:\n${beginning}`);
    }
    const heading = formatHeading(response, page);
    const { prompt, offset, limit } = input;
    const isPaged = offset !== undefined || limit !== undefined;
    if (prompt !== undefined && prompt.trim() !== '' && !isPaged && page.text.length > SHORT_PAGE) {
      const { answerFromPage } = await import('./answer-from-page.ts');
      const answer = await answerFromPage({ url: response.url, text: page.text, prompt }, context);
      if (answer.ok) return { text: `${heading}\n${answer.text}` };
      const note = `[no answer from the page: ${answer.problem}. This is the page itself]`;
      return { text: [heading, note, formatLines(page, {}, context)].join('\n') };
    }
    return { text: `${heading}\n${formatLines(page, { offset, limit }, context)}` };
  },
});

type TextPage = Exclude<ConvertedPage, { kind: 'image' | 'unsupported' }>;

/** The pages of responses that were converted. The cache of the tree returns the same response for an equal request. */
const convertedPages = new WeakMap<WebResponse, Promise<ConvertedPage>>();

async function convertResponse(response: WebResponse, signal: AbortSignal): Promise<ConvertedPage> {
  const known = convertedPages.get(response);
  if (known !== undefined) return await known;
  // The parsers are loaded only when a page is read.
  const { convertPage } = await import('../../web/convert/convert-page.ts');
  const { body: bytes, url, headers } = response;
  const contentType = headers.get('content-type');
  const converted = convertPage({ bytes, contentType, url }, { signal });
  convertedPages.set(response, converted);
  try {
    return await converted;
  } catch (thrown) {
    convertedPages.delete(response);
    throw thrown;
  }
}

function formatHeading({ url, isCut }: WebResponse, { title }: TextPage): string {
  const cut = isCut ? ', cut at the size limit' : '';
  return `[${url.href}${title === null ? '' : `: ${title}`}${cut}]`;
}

interface LineRange {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Returns the wanted lines of a page, as far as they fit, and a note that says how to read on. */
function formatLines(
  { text }: TextPage,
  { offset = 1, limit }: LineRange,
  { caps }: ToolContext,
): string {
  if (text.trim() === '') return '[the page has no text]';
  const all = text.split('\n');
  if (offset > all.length) return `[the page has only ${plural(all.length, 'line')}]`;
  const wanted = all.slice(offset - 1, limit === undefined ? undefined : offset - 1 + limit);
  const { lines } = fitLines(wanted, caps.readBytes - NOTE_BYTES);
  if (lines.length === 0) {
    // A single line is longer than the result may be.
    const [first = ''] = wanted;
    return `${first.slice(0, Math.floor((caps.readBytes - NOTE_BYTES) / 4))}\n[line ${offset} is cut: ${first.length} characters]`;
  }
  const last = offset - 1 + lines.length;
  if (last >= all.length) return lines.join('\n');
  return `${lines.join('\n')}\n[lines ${offset} to ${last} of ${all.length}; read on with offset ${last + 1}]`;
}
