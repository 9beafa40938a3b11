/** The outputs of `muster -p`: the answer, the result envelope, or every event and then the envelope. */
export const OUTPUT_FORMATS = ['text', 'json', 'stream-json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
