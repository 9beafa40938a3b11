/** Maps items with an async function, at most `limit` at a time. */
export async function mapLimit(items, limit, fn) {
  const results = [];
  for (let start = 0; start < items.length; start += limit) {
    results.push(...(await Promise.all(items.slice(start, start + limit).map(fn))));
  }
  return results;
}
