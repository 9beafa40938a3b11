/**
 * Takes the place of `Intl.Segmenter` in the built program (scripts/bundle.ts).
 *
 * To make the real one takes 9 ms for the first time, which is a tenth of the time until the terminal UI is visible.
 * The UI measures texts that nearly always consist of letters and lines only, where each character is one grapheme.
 */
export class GraphemeSegmenter {
  private readonly args: ConstructorParameters<typeof Intl.Segmenter>;
  private readonly isByGrapheme: boolean;
  private full: Intl.Segmenter | null = null;

  constructor(...args: ConstructorParameters<typeof Intl.Segmenter>) {
    this.args = args;
    this.isByGrapheme = (args[1]?.granularity ?? 'grapheme') === 'grapheme';
  }

  segment(text: string): Iterable<Intl.SegmentData> {
    if (this.isByGrapheme && SINGLE_CHARACTERS.test(text)) return segmentCharacters(text);
    this.full ??= new globalThis.Intl.Segmenter(...this.args);
    return this.full.segment(text);
  }
}

/**
 * Texts in which each UTF-16 unit is a grapheme of its own: ASCII without control characters, Latin letters,
 * punctuation, arrows, mathematical and box-drawing characters. None of these joins with another (Unicode Standard
 * Annex 29: their property Grapheme_Cluster_Break is "Other").
 */
const SINGLE_CHARACTERS =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u23ff\u2500-\u25ff]*$/;

function* segmentCharacters(text: string): Generator<Intl.SegmentData> {
  for (let index = 0; index < text.length; index += 1) {
    yield { segment: text.charAt(index), index, input: text };
  }
}
