/** Merges two objects. */
export function merge(base, extra) {
  for (const key in extra) {
    if (typeof base[key] === 'object' && typeof extra[key] === 'object') merge(base[key], extra[key]);
    else base[key] = extra[key];
  }
  return base;
}
