/** Parses CSV text into rows of fields. */
export function parse(text) {
  const rows = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    rows.push(splitLine(line));
  }
  return rows;
}

function splitLine(line) {
  const fields = [];
  let field = '';
  let quoted = false;
  for (const char of line) {
    if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted) {
      fields.push(field);
      field = '';
    } else field += char;
  }
  if (field !== '') fields.push(field);
  return fields;
}
