/** The text of a page, or the reason why it has none. */
export type ConvertedPage =
  | {
      readonly kind: 'html' | 'text' | 'json' | 'feed' | 'pdf';
      readonly title: string | null;
      readonly text: string;
    }
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'unsupported'; readonly mediaType: string };

export async function convertPage(
  { bytes }: { readonly bytes: Buffer; readonly contentType: string | null; readonly url: URL },
  _options: { readonly signal: AbortSignal },
): Promise<ConvertedPage> {
  return { kind: 'text', title: null, text: bytes.toString('utf8') };
}
