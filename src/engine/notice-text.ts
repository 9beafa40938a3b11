/** Words of others must not end the notice that they stand in. */
export function unmarked(text: string): string {
  return text.replaceAll('</notice', '<\\/notice');
}
