/** What `muster -p` writes: the answer, the result envelope, or every event and the envelope last. */
export const OUTPUT_FORMATS = ['text', 'json', 'stream-json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
