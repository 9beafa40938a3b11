/** Reads the value at a path such as `a.b.c`. */
export function getPath(object, path) {
  return path.split('.').reduce((at, key) => at?.[key], object);
}

/** Sets the value at a path such as `a.b.c`. */
export function setPath(object, path, value) {
  const keys = path.split('.');
  const last = keys.pop();
  let at = object;
  for (const key of keys) at = at[key] ??= {};
  at[last] = value;
}
