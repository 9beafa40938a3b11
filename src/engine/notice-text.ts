/** What others have written must neither end the notice that it stands in nor begin another item of it. */
export function noticeItem(text: string): string {
  return text.replaceAll(/<(?=\s*\/\s*notice)/gi, '<\\').replaceAll(/\r\n?|\n/g, '\n  ');
}
