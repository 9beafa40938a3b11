import { Markdown, setCapabilities, type MarkdownTheme } from '@earendil-works/pi-tui';
import type { Pen } from './pen.ts';

/**
 * Draws a text as markdown. `plain` is text without control characters. Links show their targets, and images stay text,
 * whatever the terminal can do. `isOpen` says whether the text is still being written.
 */
export function markdownLines(
  plain: string,
  { width, isOpen }: { readonly width: number; readonly isOpen: boolean },
  pen: Pen,
): readonly string[] {
  setCapabilities({ images: null, trueColor: false, hyperlinks: false });
  const drawn = new Markdown(
    plain,
    0,
    0,
    createMarkdownTheme(pen, isOpen ? plain.trimEnd() : ''),
    undefined,
    {
      renderLatex: false,
      preserveOrderedListMarkers: true,
    },
  );
  return drawn.render(width).map((line) => line.trimEnd());
}

/** Creates the theme. `open` is the text whose last code block still grows; empty if the text is complete. */
function createMarkdownTheme(pen: Pen, open: string): MarkdownTheme {
  const as = (role: Parameters<Pen['paint']>[0]) => (text: string) => pen.paint(role, text);
  const plain = (text: string) => text;
  return {
    heading: as('strong'),
    link: as('accent'),
    linkUrl: as('dim'),
    code: as('code'),
    codeBlock: as('code'),
    highlightCode: (code, language = '') =>
      pen.code(code, fenceLanguage(language), {
        isOpen: open !== '' && open.endsWith(code.trimEnd()),
      }),
    codeBlockBorder: as('dim'),
    quote: as('dim'),
    quoteBorder: as('dim'),
    hr: as('dim'),
    listBullet: as('accent'),
    bold: as('strong'),
    italic: plain,
    strikethrough: plain,
    underline: plain,
  };
}

/** Returns the first word after a fence: `ts` for `ts` and for `ts title="a.ts"`. */
function fenceLanguage(info: string): string {
  return /^[\w+#.-]{1,30}/.exec(info)?.[0].toLowerCase() ?? '';
}
