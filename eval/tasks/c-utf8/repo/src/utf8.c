#include "utf8.h"

int utf8_next(const unsigned char **text, const unsigned char *end, uint32_t *point) {
  const unsigned char *at = *text;
  if (at == end) return 0;
  if (at[0] < 0x80) {
    *point = at[0];
    *text += 1;
  } else if (at[0] < 0xE0) {
    *point = (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    *text += 2;
  } else if (at[0] < 0xF0) {
    *point = (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    *text += 3;
  } else {
    *point = (at[0] & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
    *text += 4;
  }
  return 1;
}
