/** What others have written must not begin another item of the notice that it stands in. */
export function noticeItem(text: string): string {
  return text.replaceAll(/\r\n?|[\n\u0085\u2028\u2029]/g, '\n  ');
}
