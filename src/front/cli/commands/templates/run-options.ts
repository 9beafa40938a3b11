import type { SessionOptions } from '../../run-options.ts';

/** The forms in which the results of a template run are printed. */
export const TEMPLATE_FORMATS = ['text', 'json', 'csv'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

export interface TemplateRunOptions extends SessionOptions {
  readonly action: TemplateAction;
  readonly format: TemplateFormat;
  /** The file for the results; null: stdout. */
  readonly out: string | null;
  readonly force: boolean;
}

export type TemplateAction =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'start';
      readonly template: string;
      /** A file, a glob, or `-` for stdin. */
      readonly items: string;
      /** The agent for each item; null for the one of the template. */
      readonly agent: string | null;
      readonly maxTurns: number | null;
    }
  /** Continues a run; null: the newest of the directory. */
  | { readonly kind: 'continue'; readonly id: string | null; readonly retryFailed: boolean };
