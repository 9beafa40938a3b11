/** A page as it came from the network. */
export interface RawPage {
  readonly bytes: Uint8Array;
  /** The value of the header `Content-Type`, or null. */
  readonly contentType: string | null;
  /** The address after all redirects. */
  readonly url: URL;
}

/** A page as a model reads it. */
export type ConvertedPage =
  | {
      readonly kind: 'html' | 'text' | 'json' | 'feed' | 'pdf';
      readonly title: string | null;
      readonly text: string;
    }
  /** An image in a format that models accept, which the bytes prove. */
  | { readonly kind: 'image'; readonly mediaType: string }
  /** A format without text, or a damaged or encrypted document. */
  | { readonly kind: 'unsupported'; readonly mediaType: string };

/** The message that asks the worker for a conversion. It handles one at a time. */
export interface ConversionRequest {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  readonly url: string;
}

/** The worker's answer. */
export type ConversionReply = { readonly page: ConvertedPage } | { readonly error: string };
