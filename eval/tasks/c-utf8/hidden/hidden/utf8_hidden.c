#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#define CHECK(x) \
  do { if (!(x)) { fprintf(stderr, "line %d: %s\n", __LINE__, #x); exit(1); } } while (0)

/* Decodes a copy in memory of exactly its size. Errors are '!', characters are written in hexadecimal. */
static void decodes(const char *text, size_t n, const char *expected) {
  unsigned char *copy = malloc(n);
  char seen[400] = "";
  memcpy(copy, text, n);
  const unsigned char *at = copy;
  uint32_t point;
  int result;
  while ((result = utf8_next(&at, copy + n, &point)) != 0) {
    if (result == -1) { CHECK(point == 0xFFFD); strcat(seen, "!"); }
    else sprintf(seen + strlen(seen), "%X,", point);
  }
  CHECK(at == copy + n);
  free(copy);
  if (strcmp(seen, expected) != 0) {
    fprintf(stderr, "got %s, expected %s\n", seen, expected);
    exit(1);
  }
}
#define DECODES(text, expected) decodes(text, sizeof(text) - 1, expected)

static size_t encode(uint32_t point, unsigned char *out) {
  if (point < 0x80) { out[0] = (unsigned char)point; return 1; }
  if (point < 0x800) { out[0] = (unsigned char)(0xC0 | point >> 6); out[1] = (unsigned char)(0x80 | (point & 63)); return 2; }
  if (point < 0x10000) {
    out[0] = (unsigned char)(0xE0 | point >> 12); out[1] = (unsigned char)(0x80 | (point >> 6 & 63)); out[2] = (unsigned char)(0x80 | (point & 63));
    return 3;
  }
  out[0] = (unsigned char)(0xF0 | point >> 18); out[1] = (unsigned char)(0x80 | (point >> 12 & 63));
  out[2] = (unsigned char)(0x80 | (point >> 6 & 63)); out[3] = (unsigned char)(0x80 | (point & 63));
  return 4;
}

int main(void) {
  for (uint32_t point = 0; point <= 0x10FFFF; point++) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    unsigned char text[4];
    size_t n = encode(point, text);
    const unsigned char *at = text;
    uint32_t decoded;
    CHECK(utf8_next(&at, text + n, &decoded) == 1 && decoded == point && at == text + n);
  }
  DECODES("", "");
  DECODES("a\0b", "61,0,62,");
  DECODES("\xE2\x82" "A", "!41,");
  DECODES("\xF0\x80\x80", "!!!");
  DECODES("\xC0\x80\xC1\xBF", "!!!!");
  DECODES("\xE0\x9F\xBF", "!!!");
  DECODES("\xED\xA0\x80\xED\xBF\xBF", "!!!!!!");
  DECODES("\xED\x9F\xBF", "D7FF,");
  DECODES("\xF4\x8F\xBF\xBF\xF4\x90\x80\x80", "10FFFF,!!!!");
  DECODES("\xF5\x80\xFF\xFE", "!!!!");
  DECODES("\x80\xBF" "z", "!!7A,");
  DECODES("\xC3", "!");
  DECODES("\xE2\x82", "!");
  DECODES("\xF0\x9F\x98", "!");
  DECODES("\xF0\x9F\x98" "x", "!78,");
  DECODES("\xF1\x80\xE1\x80\xC2" "a", "!!!61,");
  DECODES("\xC3\xC3\xA9", "!E9,");

  unsigned char out[16];
  const unsigned char *text = (const unsigned char *)"a\xE2\x82\xAC\xFF" "b";
  const char *repaired = "a\xE2\x82\xAC\xEF\xBF\xBD" "b";
  CHECK(utf8_repair(text, 6, NULL, 0) == 8);
  for (size_t size = 0; size <= 9; size++) {
    /* The number of bytes that complete characters fill. */
    size_t filled = size >= 8 ? 8 : size >= 7 ? 7 : size >= 4 ? 4 : size >= 1 ? 1 : 0;
    memset(out, '#', sizeof out);
    CHECK(utf8_repair(text, 6, out, size) == 8);
    CHECK(memcmp(out, repaired, filled) == 0);
    for (size_t i = filled; i < sizeof out; i++) CHECK(out[i] == '#');
  }
  CHECK(utf8_columns(text, 6) == 4);
  CHECK(utf8_columns((const unsigned char *)"e\xCC\x81\xE2\x80\x8B\xE2\x80\x8D\xEF\xB8\x8F\xCD\xB0", 14) == 2);
  CHECK(utf8_columns(text, 0) == 0);
  return 0;
}
