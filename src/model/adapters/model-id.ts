import { lazy } from '../../base/lazy.ts';

const ASCII = /^[!-~][ -~]{0,255}$/;
const PRINTABLE = lazy(() => /^[^\s\p{C}][^\p{C}]{0,255}$/u);

/** What a server may call its model: the name stands in every log, table and result. */
export function isModelId(text: string): boolean {
  return ASCII.test(text) || PRINTABLE().test(text);
}
