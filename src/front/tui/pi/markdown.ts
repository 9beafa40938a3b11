import { Markdown, setCapabilities, type MarkdownTheme } from '@earendil-works/pi-tui';
import type { Pen } from '../render/pen.ts';

/**
 * An answer, drawn. `plain`: text that steers no terminal. Links show where they lead, and images stay
 * text, whatever the terminal says that it can do.
 */
export function markdownLines(plain: string, width: number, pen: Pen): readonly string[] {
  setCapabilities({ images: null, trueColor: false, hyperlinks: false });
  const drawn = new Markdown(plain, 0, 0, themeOf(pen), undefined, {
    renderLatex: false,
    preserveOrderedListMarkers: true,
  });
  return drawn.render(width).map((line) => line.trimEnd());
}

function themeOf(pen: Pen): MarkdownTheme {
  const as = (role: Parameters<Pen['paint']>[0]) => (text: string) => pen.paint(role, text);
  const plain = (text: string) => text;
  return {
    heading: as('strong'),
    link: as('accent'),
    linkUrl: as('dim'),
    code: as('code'),
    codeBlock: as('code'),
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
