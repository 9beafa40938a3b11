export function isMarkdown(path: string): boolean {
  return path.toLowerCase().endsWith('.md');
}

export function isJson(path: string): boolean {
  return path.toLowerCase().endsWith('.json');
}

export function isToml(path: string): boolean {
  return path.toLowerCase().endsWith('.toml');
}

export function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}
