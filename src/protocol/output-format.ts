/** The outputs of `muster -p`: the answer, the result envelope, or every event and then the envelope. */
export const OUTPUT_FORMATS = ['text', 'json', 'stream-json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The inputs of `muster -p`: the text of a prompt, or messages and answers as lines of JSON. */
export const INPUT_FORMATS = ['text', 'stream-json'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];
