/** Writes rows of fields as CSV text. */
export function stringify(rows) {
  return rows.map((row) => row.map(quote).join(',')).join('\n');
}

function quote(field) {
  return field.includes(',') ? `"${field}"` : field;
}
