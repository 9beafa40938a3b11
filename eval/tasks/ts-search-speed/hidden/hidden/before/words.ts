/** The words of a text in lower case: letters and digits, also with single apostrophes between them (`don't`). */
export function words(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+(?:'[a-z0-9]+)*/g) ?? [];
}
